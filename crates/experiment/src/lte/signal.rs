//! Path loss, shadowing and fading.

use crate::files::Files;
use crate::values::{between, in_range};
use document::{Fault, Node, Reader, Value};
use net::{FadingTrace, FastFading, Shadowing, UrbanLoss};
use std::ops::RangeInclusive;
use std::sync::Arc;
use units::{Decibels, Metres};

/// The loss at 1 km is 85 dB in free space at 450 MHz and about 150 dB in dense cities at 6 GHz;
/// the range is somewhat wider.
const LOSSES: RangeInclusive<Decibels> = Decibels::new(60)..=Decibels::new(200);
/// Published are 2 to 6 (Rappaport 2002 table 4.2); the range is somewhat wider.
const EXPONENTS: RangeInclusive<f64> = 1.0..=8.0;
/// Usual are 10 and 20 dB (25.814 table A.2.1.1-1); thick walls have more.
const PENETRATIONS: RangeInclusive<Decibels> = Decibels::ZERO..=Decibels::new(100);
/// Usual are 8 and 10 dB (25.814 table A.2.1.1-3, 36.942 § 4.5.2); the range goes to twice that.
const DEVIATIONS: RangeInclusive<Decibels> = Decibels::ZERO..=Decibels::new(20);
/// From the size of small obstacles to that of landscapes.
const DISTANCES: RangeInclusive<Metres> = Metres::new(1)..=Metres::new(50_000);

/// Reads `path_loss = { at_a_kilometre = "128.1dB", exponent = 3.76, penetration = "10dB" }`.
pub(super) fn path_loss(table: &mut Reader<'_>) -> Result<UrbanLoss, Fault> {
    let path = table.path("path_loss");
    let usual = UrbanLoss::default();
    let Some(node) = table.node("path_loss") else { return Ok(usual) };
    let mut table = Reader::new(node, &path)?;
    let at_a_kilometre = between(&mut table, "at_a_kilometre", usual.at_a_kilometre, &LOSSES)?;
    let exponent = between(&mut table, "exponent", usual.exponent, &EXPONENTS)?;
    let penetration = between(&mut table, "penetration", usual.penetration, &PENETRATIONS)?;
    table.finish()?;
    Ok(UrbanLoss { at_a_kilometre, exponent, penetration })
}

/// Reads `shadowing = { deviation = "8dB", distance = "50m" }`; none if the key is missing.
pub(super) fn shadowing(table: &mut Reader<'_>) -> Result<Shadowing, Fault> {
    let path = table.path("shadowing");
    let usual = Shadowing::NONE;
    let Some(node) = table.node("shadowing") else { return Ok(usual) };
    let mut table = Reader::new(node, &path)?;
    let deviation = table.required("deviation")?;
    let deviation = in_range(&table, "deviation", deviation, &DEVIATIONS)?;
    let distance = between(&mut table, "distance", usual.distance, &DISTANCES)?;
    table.finish()?;
    Ok(Shadowing { deviation, distance })
}

/// The fast fading: the name of a model or `{ trace = "FILE" }`.
pub(super) fn fast_fading(table: &mut Reader<'_>, files: &Files) -> Result<FastFading, Fault> {
    let path = table.path("fast_fading");
    match table.node("fast_fading") {
        None => Ok(FastFading::default()),
        Some(node @ Node { value: Value::Table(_), .. }) => trace(node, &path, files),
        Some(Node { value: Value::Text(word), .. }) if word == "rayleigh" => {
            Ok(FastFading::Rayleigh)
        }
        Some(Node { value: Value::Text(word), .. }) if word == "none" => Ok(FastFading::None),
        Some(node) => {
            let reason = match &node.value {
                Value::Text(word) => format!("there is no fast_fading '{word}'"),
                other => format!("{} where a word or a table belongs", other.what()),
            };
            Err(table.fault("fast_fading", reason, "write rayleigh, none or { trace = \"FILE\" }"))
        }
    }
}

fn trace(node: &Node, path: &str, files: &Files) -> Result<FastFading, Fault> {
    let mut table = Reader::new(node, path)?;
    let name: String = table.required("trace")?;
    table.finish()?;
    let fault = |reason: String| Fault::new(node.location, path, reason, "");
    let text = files.text(&name).map_err(|error| fault(error.to_string()))?;
    let trace = FadingTrace::parse(&text).map_err(|error| fault(format!("{name}: {error}")))?;
    Ok(FastFading::Trace(Arc::new(trace)))
}
