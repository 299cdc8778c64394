//! The keys `unit` and `marks`, which several kinds have.

use super::unit;
use document::{Fault, Node, Reader};
use report::{Mark, MarkAt, MarkKind, Scale};

/// The unit under `unit`; no unit if the key is missing.
pub(super) fn read_unit(table: &mut Reader<'_>) -> Result<Scale, Fault> {
    let text = table.or("unit", String::new())?;
    unit::parse(&text).map_err(|error| table.fault("unit", error.to_string(), ""))
}

/// The marks under `marks`: `{ y = 0.9, label = "90 %" }`, in the figure's unit. `x` makes a
/// vertical mark; `from` and `to` limit a horizontal one. A mark is a published value unless
/// `reference = true`.
pub(super) fn read_marks(table: &mut Reader<'_>) -> Result<Vec<Mark>, Fault> {
    let path = table.path("marks");
    table.items("marks")?.unwrap_or_default().iter().map(|node| mark(node, &path)).collect()
}

fn mark(node: &Node, path: &str) -> Result<Mark, Fault> {
    let mut table = Reader::new(node, path)?;
    let (x, y): (Option<f64>, Option<f64>) = (table.optional("x")?, table.optional("y")?);
    let (from, to): (Option<f64>, Option<f64>) = (table.optional("from")?, table.optional("to")?);
    let at = match (x, y, from, to) {
        (Some(x), None, None, None) => MarkAt::X(x),
        (None, Some(y), None, None) => MarkAt::Y(y),
        (None, Some(y), Some(from), Some(to)) => MarkAt::YBetween { y, from, to },
        _ => return Err(table.fault("y", "a mark needs x, or y, or y with from and to", "")),
    };
    let kind =
        if table.or("reference", false)? { MarkKind::Reference } else { MarkKind::Published };
    let label = table.or("label", String::new())?;
    table.finish()?;
    Ok(Mark { at, label, kind })
}
