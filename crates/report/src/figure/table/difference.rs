//! How a value compares with that of another row.

use super::{Column, Table};
use crate::scale::{Scale, signed};
use metrics::{Better, Estimate, Unit};

/// From this ratio on, growth is written as a factor (`× 12`) and not in per cent.
const MIN_FACTOR: f64 = 10.0;

/// The difference between two values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Difference {
    /// The difference with its sign and unit; empty if one of the values is infinite.
    pub(super) text: String,
    /// Whether the value is better; `None` if the difference may be chance, or if neither direction
    /// is better.
    pub(super) is_better: Option<bool>,
}

/// The difference between a cell and the same cell of the row with which its row is compared;
/// `None` if there is nothing to compare.
pub(super) fn of(
    table: &Table,
    row: usize,
    column: usize,
    of: &Column,
    scale: Scale,
) -> Option<Difference> {
    let reference = table.rows.get(row)?.reference.filter(|reference| *reference != row)?;
    against(table.value(row, column)?, table.value(reference, column)?, of, scale)
}

fn against(
    value: &Estimate,
    reference: &Estimate,
    column: &Column,
    scale: Scale,
) -> Option<Difference> {
    if value.mean.is_nan() || reference.mean.is_nan() {
        return None;
    }
    let improves = |rises: bool| match column.better {
        Better::Higher => Some(rises),
        Better::Lower => Some(!rises),
        Better::Neither => None,
    };
    match (value.mean.is_infinite(), reference.mean.is_infinite()) {
        (true, true) => return None,
        (false, false) => {}
        (rises, _) => {
            // From never to a finite value, or back.
            let is_better = Some(improves(rises)?);
            return Some(Difference { text: String::new(), is_better });
        }
    }
    let difference = value.mean - reference.mean;
    let is_clear = difference != 0.0
        && value.is_complete()
        && reference.is_complete()
        && difference.abs() > uncertainty(value, reference);
    let is_better = if is_clear { improves(difference > 0.0) } else { None };
    Some(Difference { text: words(value.mean, reference.mean, column.unit, scale), is_better })
}

/// Half the width of the confidence interval of the difference: the errors of the two means are
/// independent. Infinite if there is only one run.
fn uncertainty(value: &Estimate, reference: &Estimate) -> f64 {
    let half = |estimate: &Estimate| {
        if estimate.runs > 1 { estimate.half_width.unwrap_or(0.0) } else { f64::INFINITY }
    };
    libm::hypot(half(value), half(reference))
}

/// The difference as a share of the reference; for shares in percentage points, for decibels in
/// decibels.
fn words(value: f64, reference: f64, unit: Unit, scale: Scale) -> String {
    let difference = value - reference;
    match unit {
        Unit::Share => format!("{} points", signed(difference * 100.0)),
        Unit::Dbm | Unit::Decibels => format!("{} dB", signed(difference)),
        _ if reference == 0.0 => scale.difference(difference),
        _ if value / reference >= MIN_FACTOR => {
            format!("× {}", signed(value / reference).trim_start_matches('+'))
        }
        _ => percent(difference / reference.abs() * 100.0),
    }
}

fn percent(percent: f64) -> String {
    let places = if percent.abs() < 9.95 { 10.0 } else { 1.0 };
    let rounded = libm::round(percent * places) / places;
    let sign = if rounded > 0.0 { "+" } else { "" };
    format!("{sign}{} %", rounded + 0.0).replace('-', "−")
}
