//! The key `wifi` of a host: its cell, position and device.

use super::device;
use crate::values::within;
use document::{Fault, Location, Node, Problem, Reader};
use net::{Fading, RateControl, WifiConfig, WifiDevice, WifiStation};
use std::ops::RangeInclusive;
use units::{Decibels, Duration};

/// More walls than any signal passes.
const WALLS: RangeInclusive<u8> = 0..=50;
/// The largest standard deviation that is modelled. Published for shadowing in buildings are 3 to
/// 14 dB (Rappaport 2002 § 4.11.3).
const MAX_DEVIATION: Decibels = Decibels::new(20);
/// The model has one signal strength per transmission, so faster changes are not modelled.
const MIN_COHERENCE: Duration = Duration::from_millis(1);

/// The `wifi` of a host, in one of these cells.
pub(crate) fn read(
    node: &Node,
    path: &str,
    cells: &[(WifiConfig, Location)],
) -> Result<WifiStation, Fault> {
    let mut table = Reader::new(node, path)?;
    let wanted: String = table.required("cell")?;
    let Some(cell) = cells.iter().position(|(cell, _)| cell.name == wanted) else {
        let names = cells.iter().map(|(cell, _)| cell.name.as_str());
        let mut problem = Problem::unknown("cell", &wanted, names, "the cells are");
        if cells.is_empty() {
            problem.suggestion = format!("add [wifi.{wanted}]");
        }
        return Err(table.problem("cell", problem));
    };
    let distance = table.required("distance")?;
    let walls = within(&mut table, "walls", 0, WALLS)?;
    let shadowing = fading(&mut table, "shadowing")?;
    let fading = fading(&mut table, "fading")?;
    let device = device::read(&mut table)?;
    check_streams(&table, &device, &cells[cell].0)?;
    table.finish()?;
    Ok(WifiStation { cell, distance, walls, shadowing, fading, device })
}

/// Refuses a fixed rate with more spatial streams than the receiver has.
fn check_streams(table: &Reader<'_>, device: &WifiDevice, cell: &WifiConfig) -> Result<(), Fault> {
    let links = [("the station", device, &cell.ap), ("the access point", &cell.ap, device)];
    for (name, sender, receiver) in links {
        let highest = 8 * receiver.spatial_streams - 1;
        if let RateControl::Fixed(mcs) = sender.rate
            && mcs > highest
        {
            let reason = format!(
                "{name} sends mcs {mcs}, which needs more spatial streams than the receiver has"
            );
            return Err(table.fault(
                "spatial_streams",
                reason,
                format!("use \"mcs {highest}\" or below, or spatial_streams = 2 for both"),
            ));
        }
    }
    Ok(())
}

/// The random changes of the signal under `key`; none if the key is missing.
fn fading(table: &mut Reader<'_>, key: &'static str) -> Result<Fading, Fault> {
    let path = table.path(key);
    let Some(node) = table.node(key) else { return Ok(Fading::NONE) };
    let mut table = Reader::new(node, &path)?;
    let deviation = table.required("deviation")?;
    if !(Decibels::ZERO..=MAX_DEVIATION).contains(&deviation) {
        let suggestion = format!("write {} to {MAX_DEVIATION}", Decibels::ZERO);
        return Err(table.fault("deviation", format!("{deviation} is out of range"), suggestion));
    }
    let coherence = table.required("coherence")?;
    if coherence < MIN_COHERENCE {
        let suggestion = format!("write a time from {MIN_COHERENCE} up");
        return Err(table.fault(
            "coherence",
            format!("{coherence} is below {MIN_COHERENCE}"),
            suggestion,
        ));
    }
    table.finish()?;
    Ok(Fading { deviation, coherence })
}
