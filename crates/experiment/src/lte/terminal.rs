//! A host as a terminal: which network it is in, where, and how fast it goes.

use super::{NOISE_FIGURES, find};
use crate::words::{between, in_range};
use document::{Fault, Location, Node, Reader};
use net::{Layout, LteConfig, LteTerminal, Start};
use std::ops::RangeInclusive;
use units::{Dbm, Decibels, Metres, Speed};

/// Nearer than any antenna on a roof, and farther than any terminal is heard.
const DISTANCES: RangeInclusive<Metres> = Metres::new(1)..=Metres::new(50_000);
/// As much as no signal passes.
const OBSTACLES: RangeInclusive<Decibels> = Decibels::ZERO..=Decibels::new(100);
/// The fastest that LTE is made for (25.913 § 7.3).
const SPEEDS: RangeInclusive<Speed> = Speed::ZERO..=Speed::from_kmh(500);
/// From the least output power (36.101 table 6.3.2.1-1) to somewhat above that of power class 1
/// (table 6.2.2-1).
const TX_POWERS: RangeInclusive<Dbm> = Dbm::new(-40)..=Dbm::new(33);

/// The `lte` of a host, in one of these networks.
pub(crate) fn read(
    node: &Node,
    path: &str,
    networks: &[(LteConfig, Location)],
) -> Result<LteTerminal, Fault> {
    let mut table = Reader::new(node, path)?;
    let usual = LteTerminal::default();
    let (network, config) = find(&mut table, networks)?;
    let place = match config.layout {
        Layout::Single => at(&mut table)?,
        Layout::Hexagonal { .. } => anywhere(&mut table)?,
    };
    let speed = between(&mut table, "speed", usual.speed, &SPEEDS)?;
    let tx_power = between(&mut table, "tx_power", usual.tx_power, &TX_POWERS)?;
    let noise_figure = between(&mut table, "noise_figure", usual.noise_figure, &NOISE_FIGURES)?;
    table.finish()?;
    Ok(LteTerminal { network, place, speed, tx_power, noise_figure })
}

fn at(table: &mut Reader<'_>) -> Result<Start, Fault> {
    let distance = table.required("distance")?;
    let distance = in_range(table, "distance", distance, &DISTANCES)?;
    let obstacles = between(table, "obstacles", Decibels::ZERO, &OBSTACLES)?;
    Ok(Start::At { distance, obstacles })
}

/// Where there are several sites nothing says from which one a distance is.
fn anywhere(table: &mut Reader<'_>) -> Result<Start, Fault> {
    for key in ["distance", "obstacles"] {
        if table.node(key).is_some() {
            let reason = "there are several base stations, and a terminal is anywhere among them";
            return Err(table.fault(
                key,
                reason,
                "leave it out, or write sites = 1 in the network",
            ));
        }
    }
    Ok(Start::Anywhere)
}
