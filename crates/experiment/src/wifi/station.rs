//! A host as a station: which cell it is in, and where.

use super::device;
use crate::words::within;
use document::{Fault, Location, Node, Reader, did_you_mean};
use net::{Fading, RateControl, WifiConfig, WifiDevice, WifiStation};
use std::ops::RangeInclusive;
use units::{Decibels, Duration};

/// As many walls as no signal passes.
const WALLS: RangeInclusive<u8> = 0..=50;
/// The greatest spread that is modelled; shadowing is published with 3 to 14 dB within buildings
/// (Rappaport 2002 § 4.11.3).
const MAX_DEVIATION: Decibels = Decibels::new(20);
/// A signal that changes faster than that changes within a transmission, of which the model knows
/// nothing.
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
        let suggestion = match cells {
            [] => format!("add [wifi.{wanted}]"),
            _ => did_you_mean(&wanted, names, "the cells are"),
        };
        return Err(table.fault("cell", format!("there is no cell '{wanted}'"), suggestion));
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

/// Refuses a fixed rate of more streams than the other end has.
fn check_streams(table: &Reader<'_>, device: &WifiDevice, cell: &WifiConfig) -> Result<(), Fault> {
    let ends = [("it", device, &cell.ap), ("the access point", &cell.ap, device)];
    for (who, sender, receiver) in ends {
        let most = 8 * receiver.spatial_streams - 1;
        if let RateControl::Fixed(mcs) = sender.rate
            && mcs > most
        {
            let reason =
                format!("{who} sends mcs {mcs}, of more spatial streams than the other end has");
            return Err(table.fault(
                "spatial_streams",
                reason,
                format!("let it send \"mcs {most}\" or below, or give both two"),
            ));
        }
    }
    Ok(())
}

/// Changes of the signal; none if they are left out.
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
