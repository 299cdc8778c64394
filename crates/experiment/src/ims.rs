//! `[ims]`: the functions of an IP multimedia subsystem (3GPP TS 23.228) that the calls of a measured
//! run pass. A simulation has the bearers that they request, and no signalling.

use super::traffic;
use super::values::choice;
use document::{Fault, Problem, Reader};
use net::{AccessConfig, BearerConfig, Field, Filter, HostId, Match, NetworkConfig, RlcMode};
use sim::CallConfig;
use units::Bitrate;

/// The highest guaranteed bit rate of a bearer unless the file sets another: twice what Chromium
/// sends at most.
const MAX_GBR: Bitrate = Bitrate::from_mbps(5);
/// IANA's number of UDP.
const UDP: u32 = 17;
/// What a session requests for a video beyond its maximum rate, percent: headers of 40 bytes per
/// packet of about 1100 bytes, and 5 % RTCP (RFC 3550 § 6.2). The call page requests the same
/// (`web/src/ims.ts`).
const OVERHEAD_PERCENT: u64 = 10;
/// What a session requests for audio: Opus at 32 kbit/s in 50 packets per second, with their
/// headers.
const AUDIO: Bitrate = Bitrate::from_kbps(64);

/// An IMS: the hosts of its functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Ims {
    /// The proxy call session control function, with secure WebSockets (eP-CSCF).
    pub pcscf: HostId,
    /// The interrogating call session control function.
    pub icscf: HostId,
    /// The serving call session control function.
    pub scscf: HostId,
    /// The home subscriber server.
    pub hss: HostId,
    /// The policy and charging rules function; `None`: the P-CSCF requests no bearers.
    pub pcrf: Option<HostId>,
    /// The access gateway of the media, IMS-AGW.
    pub agw: HostId,
    /// The highest guaranteed bit rate of a bearer that the PCRF allows.
    pub max_gbr: Bitrate,
    /// The RLC mode of the bearers.
    pub rlc: RlcMode,
    /// What fails.
    pub fault: Option<ImsFault>,
    /// The bearers that the simulation has in place of those that are requested: the index of the
    /// LTE network, and the bearer.
    bearers: Vec<(usize, BearerConfig)>,
}

/// A failure in an IMS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImsFault {
    /// The caller has a wrong password.
    WrongPassword,
    /// The called user has no subscription.
    UnknownUser,
    /// The PCRF does not run.
    PcrfDown,
    /// The PCRF does not answer requests for sessions.
    PcrfSilent,
    /// The PCRF refuses every session.
    BearerRefused,
    /// The access gateway does not run.
    AgwDown,
    /// The P-CSCF is killed in the middle of the first call, and started again.
    PcscfKilled,
}

impl ImsFault {
    /// Every fault and its word in a file.
    pub const ALL: [(&'static str, Self); 7] = [
        ("wrong-password", Self::WrongPassword),
        ("unknown-user", Self::UnknownUser),
        ("pcrf-down", Self::PcrfDown),
        ("pcrf-silent", Self::PcrfSilent),
        ("bearer-refused", Self::BearerRefused),
        ("agw-down", Self::AgwDown),
        ("pcscf-killed", Self::PcscfKilled),
    ];

    /// Whether calls get no bearer with this fault.
    const fn prevents_bearers(self) -> bool {
        matches!(self, Self::PcrfDown | Self::PcrfSilent | Self::BearerRefused)
    }
}

impl Ims {
    /// Adds the bearers of the calls to the networks of the simulation.
    pub(super) fn add_bearers(&mut self, network: &mut NetworkConfig, calls: &[CallConfig]) {
        if self.pcrf.is_none() || self.fault.is_some_and(ImsFault::prevents_bearers) {
            return;
        }
        for call in calls {
            for (host, peer) in [(call.from, call.to), (call.to, call.from)] {
                let AccessConfig::Lte(terminal) = &network.hosts[usize::from(host.0)].access else {
                    continue;
                };
                let bearer = self.bearer(call, host, peer);
                network.lte[terminal.network].bearers.push(bearer.clone());
                self.bearers.push((terminal.network, bearer));
            }
        }
    }

    /// Removes the bearers of [`Self::add_bearers`].
    pub(super) fn remove_bearers(&self, network: &mut NetworkConfig) {
        for (lte, bearer) in &self.bearers {
            network.lte[*lte].bearers.retain(|other| other != bearer);
        }
    }

    /// The bearer of a call at the terminal `host`: conversational video (29.213 § 6.3), or voice.
    fn bearer(&self, call: &CallConfig, host: HostId, peer: HostId) -> BearerConfig {
        let video = call.video.as_ref().map(|video| {
            let rate = video.encoder.max_rate.as_bps();
            Bitrate::from_bps(rate + rate * OVERHEAD_PERCENT / 100)
        });
        let audio = call.audio.as_ref().map_or(Bitrate::ZERO, |_| AUDIO);
        BearerConfig {
            qci: if video.is_some() { 2 } else { 1 },
            gbr: Some(video.unwrap_or(Bitrate::ZERO) + audio),
            rlc: self.rlc,
            filters: vec![between(host, peer), between(peer, host)],
            ..BearerConfig::default()
        }
    }
}

/// The UDP packets from a host to another.
fn between(from: HostId, to: HostId) -> Filter {
    let matches = vec![
        Match { field: Field::Protocol, value: UDP, mask: 0xff },
        Match { field: Field::Src, value: from.address().to_bits(), mask: u32::MAX },
        Match { field: Field::Dst, value: to.address().to_bits(), mask: u32::MAX },
    ];
    // The numbers order the classes of a queue, which a bearer is not.
    Filter { prio: 1, ipv6: None, matches, class: 0 }
}

/// Reads `[ims]`.
pub(super) fn read(
    top: &mut Reader<'_>,
    network: &NetworkConfig,
    calls: &[CallConfig],
) -> Result<Option<Ims>, Fault> {
    let Some(node) = top.node("ims") else { return Ok(None) };
    let mut table = Reader::new(node, "ims")?;
    let host = |table: &mut Reader<'_>, key| {
        let host = traffic::host(table, network, key)?;
        if calls.iter().any(|call| [call.from, call.to].contains(&host)) {
            let reason = "a host that calls or is called cannot be a function of the IMS";
            return Err(table.problem(key, Problem::new(reason, "name another host")));
        }
        Ok(host)
    };
    let pcrf = if table.node("pcrf").is_some() { Some(host(&mut table, "pcrf")?) } else { None };
    let fault = if table.node("fault").is_some() {
        Some(choice(&mut table, "fault", &ImsFault::ALL)?)
    } else {
        None
    };
    let ims = Ims {
        pcscf: host(&mut table, "pcscf")?,
        icscf: host(&mut table, "icscf")?,
        scscf: host(&mut table, "scscf")?,
        hss: host(&mut table, "hss")?,
        pcrf,
        agw: host(&mut table, "agw")?,
        max_gbr: table.or("max_gbr", MAX_GBR)?,
        // A bearer for conversational media has a loss rate that unacknowledged mode reaches
        // (23.203 table 6.1.7).
        rlc: choice(
            &mut table,
            "rlc",
            &[("um", RlcMode::Unacknowledged), ("am", RlcMode::Acknowledged)],
        )?,
        fault,
        bearers: Vec::new(),
    };
    let hosts = [ims.pcscf, ims.icscf, ims.scscf, ims.hss, ims.agw];
    let all: Vec<HostId> = hosts.into_iter().chain(ims.pcrf).collect();
    if (1..all.len()).any(|index| all[..index].contains(&all[index])) {
        let reason = "two functions are on one host";
        return Err(table.problem("pcscf", Problem::new(reason, "give each a host of its own")));
    }
    if ims.max_gbr == Bitrate::ZERO {
        return Err(table.fault("max_gbr", "zero is not allowed", "write a rate like \"3Mbit/s\""));
    }
    if ims.pcrf.is_none() && ims.fault.is_some_and(ImsFault::prevents_bearers) {
        return Err(table.fault("fault", "there is no PCRF", "add pcrf = \"HOST\""));
    }
    table.finish()?;
    Ok(Some(ims))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Experiment, ExperimentError};
    use units::Seed;

    const TEXT: &str = r#"
title = "A call through an IMS"
duration = "60s"

[lte.cell]

[host.phone]
lte = { network = "cell", distance = "100m" }

[host.office]

[host.pcscf]

[host.icscf]

[host.scscf]

[host.hss]

[host.pcrf]

[host.agw]

[call.main]
from = "phone"
to = "office"
two_way = true
video = { max_rate = "2Mbit/s" }

[ims]
pcscf = "pcscf"
icscf = "icscf"
scscf = "scscf"
hss = "hss"
agw = "agw"
"#;

    fn read(more: &str) -> Result<Experiment, ExperimentError> {
        Experiment::parse(&format!("{TEXT}{more}"), "x.toml")
    }

    fn bearers(more: &str) -> Vec<BearerConfig> {
        let experiment = read(more).unwrap();
        let cell = &experiment.cells()[0];
        let mut bearers = cell.scenario(Seed(1)).network.lte[0].bearers.clone();
        let measured = cell.without_requested_bearers().scenario(Seed(1)).network;
        assert_eq!(measured.lte[0].bearers.len(), 1, "the default bearer");
        bearers.remove(0);
        bearers
    }

    #[test]
    fn a_simulation_has_the_bearers_that_the_calls_request() {
        let [bearer] = &bearers("pcrf = \"pcrf\"")[..] else { panic!("one terminal") };
        assert_eq!((bearer.qci, bearer.gbr), (2, Some(Bitrate::from_kbps(2_200))));
        assert_eq!((bearer.rlc, bearer.filters.len()), (RlcMode::Unacknowledged, 2));
        assert!(bearers("").is_empty(), "no PCRF");
        assert!(bearers("pcrf = \"pcrf\"\nfault = \"bearer-refused\"").is_empty());
        assert_eq!(bearers("pcrf = \"pcrf\"\nfault = \"pcscf-killed\"").len(), 1);
    }

    #[test]
    fn an_impossible_ims_is_refused_with_a_fix() {
        for (more, key, expected) in [
            ("pcrf = \"agw\"", "ims.pcscf", "two functions are on one host"),
            ("pcrf = \"phone\"", "ims.pcrf", "cannot be a function of the IMS"),
            ("pcrf = \"pcfr\"", "ims.pcrf", "pcfr"),
            ("fault = \"pcrf-down\"", "ims.fault", "there is no PCRF"),
            ("fault = \"rain\"", "ims.fault", "rain"),
            ("max_gbr = \"0bit/s\"", "ims.max_gbr", "zero"),
            ("colour = 1", "ims.colour", "colour"),
        ] {
            let error = read(more).unwrap_err();
            assert_eq!(error.key, key, "{more}: {error}");
            assert!(error.to_string().contains(expected), "{more}: {error}");
        }
    }
}
