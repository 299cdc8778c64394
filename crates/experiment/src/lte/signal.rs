//! What a signal loses on its way, and how it changes.

use crate::files::Files;
use crate::words::{between, in_range};
use document::{Fault, Node, Reader, Value};
use net::{FadingTrace, FastFading, Shadowing, UrbanLoss};
use std::ops::RangeInclusive;
use std::sync::Arc;
use units::{Decibels, Metres};

/// Free space at 450 MHz is 85 dB at a kilometre, dense cities at 6 GHz some 150 dB; somewhat more
/// to either side.
const LOSSES: RangeInclusive<Decibels> = Decibels::new(60)..=Decibels::new(200);
/// 2 to 6 are published (Rappaport 2002 table 4.2); somewhat more to either side.
const EXPONENTS: RangeInclusive<f64> = 1.0..=8.0;
/// 10 and 20 dB are assumed (25.814 table A.2.1.1-1); thick walls have more.
const PENETRATIONS: RangeInclusive<Decibels> = Decibels::ZERO..=Decibels::new(100);
/// 8 and 10 dB are assumed (25.814 table A.2.1.1-3, 36.942 § 4.5.2); twice that.
const DEVIATIONS: RangeInclusive<Decibels> = Decibels::ZERO..=Decibels::new(20);
/// Obstacles are not smaller than a metre, and landscapes not larger than tens of kilometres.
const DISTANCES: RangeInclusive<Metres> = Metres::new(1)..=Metres::new(50_000);

/// `path_loss = { at_a_kilometre = "128.1dB", exponent = 3.76, penetration = "10dB" }`.
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

/// `shadowing = { deviation = "8dB", distance = "50m" }`; none if it is left out.
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

/// A word for a model, or `{ trace = "FILE" }`.
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
                Value::Text(word) => format!("no fast_fading '{word}'"),
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
    let text = files.text(&name).map_err(fault)?;
    let trace = FadingTrace::parse(&text).map_err(|error| fault(format!("{name}: {error}")))?;
    Ok(FastFading::Trace(Arc::new(trace)))
}
