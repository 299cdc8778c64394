//! The key `lte` of a host: its network, position, speed and radio.

use super::{NOISE_FIGURES, find};
use crate::values::{between, in_range};
use document::{Fault, Location, Node, Reader};
use net::{Layout, LteConfig, LteTerminal, Start};
use std::ops::RangeInclusive;
use units::{Dbm, Decibels, Metres, Speed};

/// From closer than any antenna on a roof to farther than any terminal reaches.
const DISTANCES: RangeInclusive<Metres> = Metres::new(1)..=Metres::new(50_000);
/// More attenuation than any signal survives.
const OBSTACLES: RangeInclusive<Decibels> = Decibels::ZERO..=Decibels::new(100);
/// LTE supports up to 500 km/h (25.913 § 7.3).
const SPEEDS: RangeInclusive<Speed> = Speed::ZERO..=Speed::from_kmh(500);
/// From the minimum output power (36.101 table 6.3.2.1-1) to somewhat above that of power class 1
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
        Layout::Single => at_distance(&mut table)?,
        Layout::Hexagonal { .. } => at_random(&mut table)?,
    };
    let speed = between(&mut table, "speed", usual.speed, &SPEEDS)?;
    let tx_power = between(&mut table, "tx_power", usual.tx_power, &TX_POWERS)?;
    let noise_figure = between(&mut table, "noise_figure", usual.noise_figure, &NOISE_FIGURES)?;
    table.finish()?;
    Ok(LteTerminal { network, place, speed, tx_power, noise_figure })
}

/// The start at the distance from the only base station.
fn at_distance(table: &mut Reader<'_>) -> Result<Start, Fault> {
    let distance = table.required("distance")?;
    let distance = in_range(table, "distance", distance, &DISTANCES)?;
    let obstacles = between(table, "obstacles", Decibels::ZERO, &OBSTACLES)?;
    Ok(Start::At { distance, obstacles })
}

/// A random start. A distance is refused: with several base stations it is ambiguous.
fn at_random(table: &mut Reader<'_>) -> Result<Start, Fault> {
    for key in ["distance", "obstacles"] {
        if table.node(key).is_some() {
            let reason = "with several base stations a terminal starts at a random position";
            return Err(table.fault(
                key,
                reason,
                "leave it out, or write sites = 1 in the network",
            ));
        }
    }
    Ok(Start::Anywhere)
}
