//! A quantity along one parameter of a sweep.

use super::sweep_kind::{Shown, SweepKind, Swept, read_parameter, shares};
use crate::sweep::Sweep;
use document::{Fault, Reader};
use report::{Drawable, Lines, Mark, MarkAt, MarkKind, Panel, Role, Series, SeriesStyle};

/// A quantity along one parameter: its greatest value over the other parameters, and its value
/// where they have the values of the best point.
#[derive(Debug)]
pub(super) struct AxisLine {
    x: usize,
    shown: Shown,
}

impl AxisLine {
    /// The objective along the parameter with this index.
    pub(super) fn of_objective(x: usize) -> Self {
        Self { x, shown: Shown::objective() }
    }
}

impl SweepKind for AxisLine {
    fn read(table: &mut Reader<'_>, sweep: &Sweep) -> Result<Self, Fault> {
        Ok(Self { x: read_parameter(table, "x", sweep)?, shown: Shown::read(table, sweep)? })
    }

    fn draw(&self, swept: &Swept<'_>) -> Box<dyn Drawable> {
        let Swept { sweep, table, best } = swept;
        let parameter = &sweep.parameters[self.x];
        let all = || table.points.iter().map(|point| self.shown.quantity.of(point));
        let (factor, y_label) = self.shown.scaled(sweep, all());
        let points = table.points.iter().filter_map(|point| {
            let x = point.settings[self.x].number?;
            let y = self.shown.quantity.of(point) * factor;
            Some((x, y, shares(point, best, &[self.x])))
        });
        let mut points: Vec<(f64, f64, bool)> = points.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut greatest: Vec<(f64, f64)> = Vec::new();
        for (x, y, _) in points.iter().filter(|(_, y, _)| y.is_finite()) {
            match greatest.last_mut() {
                Some(last) if last.0 == *x => last.1 = last.1.max(*y),
                _ => greatest.push((*x, *y)),
            }
        }
        let at_best: Vec<(f64, f64)> =
            points.iter().filter(|(.., shared)| *shared).map(|(x, y, _)| (*x, *y)).collect();
        let style = if sweep.is_grid() { SeriesStyle::Line } else { SeriesStyle::Dots };
        let line = |name: &str, points: Vec<(f64, f64)>, number: usize| Series {
            name: name.to_owned(),
            points,
            style,
            role: Role::Series(number),
            ..Series::default()
        };
        let mut series = vec![line("greatest over the others", greatest, 0)];
        if sweep.is_grid() && sweep.parameters.len() > 1 {
            series.push(line("where the others are best", at_best, 1));
        }
        let marks = parameter.published.map(|value| Mark {
            kind: MarkKind::Published,
            at: MarkAt::X(value),
            label: format!("{value:?}"),
        });
        let panel =
            Panel { y_label, series, marks: marks.into_iter().collect(), ..Panel::default() };
        Box::new(Lines { panel, x_label: parameter.axis_label(), log_x: parameter.is_log() })
    }
}
