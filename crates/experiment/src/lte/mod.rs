//! `[lte.NAME]` and the key `lte` of a host: LTE networks and their terminals.

mod bearer;
mod filter;
mod signal;
mod terminal;
#[cfg(test)]
mod tests;

pub(super) use terminal::read as read_terminal;

use super::files::Files;
use super::name::check_name;
use super::technology::Technology;
use super::values::{between, choice, within};
use document::{Fault, Location, Node, Problem, Reader};
use net::{ChannelBandwidth, Handover, HostConfig, Layout, LteConfig, Scheduler};
use std::ops::RangeInclusive;
use units::{Dbm, Decibels, Duration, Frequency, Metres};

/// LTE as experiment files and errors name it.
pub(super) const TECHNOLOGY: Technology =
    Technology { key: "lte", name: "LTE", section: "LTE network", member_of: "an LTE network" };

/// From the lowest band below 1 GHz to the highest below 6 GHz (36.101 table 5.5-1).
const CARRIERS: RangeInclusive<Frequency> = Frequency::from_mhz(450)..=Frequency::from_mhz(6_000);
/// Usual are 43 and 46 dBm (25.814 table A.2.1.1-3); home base stations have 20 dBm (36.104 table
/// 6.2-1) and less.
const TX_POWERS: RangeInclusive<Dbm> = Dbm::new(0)..=Dbm::new(60);
/// From an antenna with long cables to a narrow beam.
const GAINS: RangeInclusive<Decibels> = Decibels::new(-10)..=Decibels::new(30);
/// Usual are 5 and 9 dB (25.814 § A.2.1.1).
const NOISE_FIGURES: RangeInclusive<Decibels> = Decibels::ZERO..=Decibels::new(30);
/// One codeword per layer, at most two.
const LAYERS: RangeInclusive<u8> = 1..=2;
/// 36.331 § 6.3.2: maxHARQ-Tx is one more.
const HARQ: RangeInclusive<u8> = 0..=7;
/// The periods of scheduling requests (36.213 table 10.1.5-1), in milliseconds.
const PERIODS: [u64; 7] = [1, 2, 5, 10, 20, 40, 80];
/// From a subframe to the duration of a long run.
const WINDOWS: RangeInclusive<Duration> = Duration::from_millis(1)..=Duration::from_secs(1_000);
/// Sites closer than 100 m are probably a typo.
const SITE_DISTANCES: RangeInclusive<Metres> = Metres::new(100)..=Metres::new(50_000);
/// The defaults: 500 m between sites of three sectors each (25.814 table A.2.1.1-1).
const SECTORS: u8 = 3;
/// The distance of that case.
const INTER_SITE_DISTANCE: Metres = Metres::new(500);
/// Hysteresis is up to 30 half decibels (36.331 § 6.3.5).
const HYSTERESES: RangeInclusive<Decibels> = Decibels::ZERO..=Decibels::new(15);
/// `TimeToTrigger` is up to 5120 ms (36.331 § 6.3.5).
const TRIGGERS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_millis(5_120);
/// T304, after which a handover has failed, is up to 10 s (36.331 § 6.3.4).
const INTERRUPTIONS: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(10);

/// The LTE networks of a document with these hosts, in the order of the file.
pub(super) fn read_networks(
    top: &mut Reader<'_>,
    hosts: &[&str],
    files: &Files,
) -> Result<Vec<(LteConfig, Location)>, Fault> {
    let entries = top.entries("lte")?.into_iter();
    entries.map(|(name, node)| Ok((network(name, node, hosts, files)?, node.location))).collect()
}

/// Refuses a network without a host.
pub(super) fn check_used(
    networks: &[(LteConfig, Location)],
    hosts: &[HostConfig],
) -> Result<(), Fault> {
    let used = |index| hosts.iter().any(|host| host.access.lte_network() == Some(index));
    let Some((_, (network, location))) =
        networks.iter().enumerate().find(|(index, _)| !used(*index))
    else {
        return Ok(());
    };
    let distance = if network.layout == Layout::Single { ", distance = \"100m\"" } else { "" };
    let suggestion = format!(
        "write lte = {{ network = \"{}\"{distance} }} in a host, or leave the network out",
        network.name
    );
    Err(Fault::new(
        *location,
        format!("lte.{}", network.name),
        "no host is in this LTE network",
        suggestion,
    ))
}

fn network(name: &str, node: &Node, hosts: &[&str], files: &Files) -> Result<LteConfig, Fault> {
    let path = format!("lte.{name}");
    check_name(node.location, &path, name)?;
    let mut table = Reader::new(node, &path)?;
    let usual = LteConfig::default();
    let bandwidth = bandwidth(&mut table)?;
    let carrier = between(&mut table, "carrier", usual.carrier, &CARRIERS)?;
    let layout = layout(&mut table)?;
    let path_loss = signal::path_loss(&mut table)?;
    let shadowing = signal::shadowing(&mut table)?;
    let fast_fading = signal::fast_fading(&mut table, files)?;
    let tx_power = between(&mut table, "tx_power", usual.tx_power, &TX_POWERS)?;
    let antenna_gain = between(&mut table, "antenna_gain", usual.antenna_gain, &GAINS)?;
    let noise_figure = between(&mut table, "noise_figure", usual.noise_figure, &NOISE_FIGURES)?;
    let layers = within(&mut table, "layers", usual.layers, LAYERS)?;
    let scheduler = scheduler(&mut table)?;
    let harq_retransmissions =
        within(&mut table, "harq_retransmissions", usual.harq_retransmissions, HARQ)?;
    let scheduling_request_period = period(&mut table, usual.scheduling_request_period)?;
    let handover = handover(&mut table, layout)?;
    let bearers = bearer::read(&mut table, hosts)?;
    table.finish()?;
    Ok(LteConfig {
        name: name.to_owned(),
        bandwidth,
        carrier,
        layout,
        path_loss,
        shadowing,
        fast_fading,
        tx_power,
        antenna_gain,
        noise_figure,
        layers,
        scheduler,
        bearers,
        harq_retransmissions,
        scheduling_request_period,
        handover,
    })
}

fn bandwidth(table: &mut Reader<'_>) -> Result<ChannelBandwidth, Fault> {
    let usual = ChannelBandwidth::default();
    let wanted = table.or("bandwidth", usual.frequency())?;
    let found = ChannelBandwidth::ALL.into_iter().find(|bandwidth| bandwidth.frequency() == wanted);
    found.ok_or_else(|| {
        let known: Vec<_> =
            ChannelBandwidth::ALL.iter().map(|one| one.frequency().to_string()).collect();
        let suggestion = format!("write one of {}", known.join(", "));
        table.fault("bandwidth", format!("there is no LTE bandwidth of {wanted}"), suggestion)
    })
}

/// A single site, or a hexagonal grid of seven.
fn layout(table: &mut Reader<'_>) -> Result<Layout, Fault> {
    match table.or("sites", 1_u64)? {
        1 => {
            for key in ["sectors", "inter_site_distance"] {
                if table.node(key).is_some() {
                    let reason = "a single site has one cell and no neighbour";
                    return Err(table.fault(key, reason, "leave it out, or write sites = 7"));
                }
            }
            Ok(Layout::Single)
        }
        7 => {
            let sectors: u64 = table.or("sectors", u64::from(SECTORS))?;
            let sectors = match sectors {
                1 => 1,
                3 => 3,
                other => {
                    return Err(table.fault(
                        "sectors",
                        format!("{other} sectors per site are not modelled"),
                        "write 1 or 3",
                    ));
                }
            };
            let inter_site_distance =
                between(table, "inter_site_distance", INTER_SITE_DISTANCE, &SITE_DISTANCES)?;
            Ok(Layout::Hexagonal { inter_site_distance, sectors })
        }
        other => {
            let suggestion = "write 1, or 7 for a hexagonal grid";
            Err(table.fault("sites", format!("{other} sites are not modelled"), suggestion))
        }
    }
}

/// The scheduler and, for proportional fair, its window.
fn scheduler(table: &mut Reader<'_>) -> Result<Scheduler, Fault> {
    let fair = [("pf", true), ("proportional-fair", true), ("rr", false), ("round-robin", false)];
    let fair = choice(table, "scheduler", &fair)?;
    if !fair {
        if table.node("scheduler_window").is_some() {
            let reason = "round-robin has no window";
            return Err(table.fault(
                "scheduler_window",
                reason,
                "leave it out, or write scheduler = \"pf\"",
            ));
        }
        return Ok(Scheduler::RoundRobin);
    }
    let Scheduler::ProportionalFair { window: usual } = Scheduler::default() else {
        unreachable!("the usual scheduler is proportional fair")
    };
    Ok(Scheduler::ProportionalFair { window: between(table, "scheduler_window", usual, &WINDOWS)? })
}

/// The period of scheduling requests.
fn period(table: &mut Reader<'_>, usual: Duration) -> Result<Duration, Fault> {
    let period = table.or("scheduling_request_period", usual)?;
    let known = PERIODS.map(Duration::from_millis);
    if known.contains(&period) {
        return Ok(period);
    }
    let known = known.map(|known| known.to_string()).join(", ");
    let reason = format!("there is no period of {period}");
    Err(table.fault("scheduling_request_period", reason, format!("write one of {known}")))
}

fn handover(table: &mut Reader<'_>, layout: Layout) -> Result<Handover, Fault> {
    let path = table.path("handover");
    let usual = Handover::default();
    let Some(node) = table.node("handover") else { return Ok(usual) };
    if layout.cells() == 1 {
        let reason = "a single site has one cell, so there are no handovers";
        return Err(table.fault("handover", reason, "leave it out, or write sites = 7"));
    }
    let mut table = Reader::new(node, &path)?;
    let hysteresis = between(&mut table, "hysteresis", usual.hysteresis, &HYSTERESES)?;
    let time_to_trigger = between(&mut table, "time_to_trigger", usual.time_to_trigger, &TRIGGERS)?;
    let interruption = between(&mut table, "interruption", usual.interruption, &INTERRUPTIONS)?;
    table.finish()?;
    Ok(Handover { hysteresis, time_to_trigger, interruption })
}

/// The network under `network`; the only one if the key is missing.
fn find<'a>(
    table: &mut Reader<'_>,
    networks: &'a [(LteConfig, Location)],
) -> Result<(usize, &'a LteConfig), Fault> {
    let Some(wanted) = table.optional::<String>("network")? else {
        return match networks {
            [(only, _)] => Ok((0, only)),
            [] => Err(Fault::new(
                table.location(),
                table.path("network"),
                "there is no LTE network",
                "add [lte.city]",
            )),
            several => {
                let names: Vec<_> =
                    several.iter().map(|(network, _)| network.name.as_str()).collect();
                let reason = format!("there are {} LTE networks", names.len());
                let suggestion = format!("write network = one of {}", names.join(", "));
                Err(Fault::new(table.location(), table.path("network"), reason, suggestion))
            }
        };
    };
    let found = networks.iter().enumerate().find(|(_, (network, _))| network.name == wanted);
    found.map(|(index, (network, _))| (index, network)).ok_or_else(|| {
        let names = networks.iter().map(|(network, _)| network.name.as_str());
        let mut problem = Problem::unknown("LTE network", &wanted, names, "the networks are");
        if networks.is_empty() {
            problem.suggestion = format!("add [lte.{wanted}]");
        }
        table.problem("network", problem)
    })
}
