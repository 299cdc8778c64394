use super::Piece;
use super::unit::Unit;
use document::{Fault, Node, Reader};
use metrics::{Estimate, MetricError, Request};
use report::Scale;
use sim::Recording;

/// A metric with the name and the unit under which it is shown.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) request: Request,
    /// One that fits the values if it is not said.
    pub(super) scale: Option<Scale>,
}

impl Measured {
    /// Reads a metric, and its `unit`; its name stands under `name`, and is the metric's own if it
    /// is left out.
    pub(super) fn read(table: &mut Reader<'_>, name: &'static str) -> Result<Self, Fault> {
        let (name, unit): (Option<String>, Option<String>) =
            (table.optional(name)?, table.optional("unit")?);
        let request = Request::read_table(table, "")?;
        let scale = unit.map(|text| scale(table, &text, &request)).transpose()?;
        let name = name.unwrap_or_else(|| request.metric.replace('_', " "));
        Ok(Self { name, request, scale })
    }

    /// The same of a table that has nothing else in it.
    pub(super) fn only(node: &Node, path: &str, name: &'static str) -> Result<Self, Fault> {
        let mut table = Reader::new(node, path)?;
        let measured = Self::read(&mut table, name)?;
        table.finish()?;
        Ok(measured)
    }
}

fn scale(table: &Reader<'_>, text: &str, request: &Request) -> Result<Scale, Fault> {
    let unit: Unit = text.parse().map_err(|reason: String| table.fault("unit", reason, ""))?;
    let fitting = Unit::of(request.unit());
    if fitting.contains(&unit.name) {
        return Ok(unit.into());
    }
    let names: Vec<&str> = fitting.iter().copied().filter(|name| !name.is_empty()).collect();
    let suggestion = if names.is_empty() {
        "leave it out".to_owned()
    } else {
        format!("write {}", names.join(" or "))
    };
    Err(table.fault("unit", format!("{} is not in {text}", request.metric), suggestion))
}

/// What one run gives, in the units of the metrics.
pub(super) fn piece<'a>(
    measured: impl Iterator<Item = &'a Measured>,
    recording: &Recording,
    known: &[String],
) -> Result<Piece, MetricError> {
    let numbers = measured.map(|measured| measured.request.compute_among(recording, known));
    Ok(Piece::Numbers(numbers.collect::<Result<_, _>>()?))
}

/// The mean over the runs of a cell of the number at this place.
pub(super) fn estimate(pieces: &[&Piece], place: usize) -> Estimate {
    let of = |piece: &&Piece| match piece {
        Piece::Numbers(numbers) => numbers.get(place).copied(),
        _ => None,
    };
    Estimate::of(&pieces.iter().filter_map(of).collect::<Vec<_>>())
}
