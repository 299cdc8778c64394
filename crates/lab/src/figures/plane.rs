//! A quantity over two parameters of a sweep: contour lines, or a heat map.

use super::sweep_kind::{Shown, SweepKind, Swept, axis, read_parameter, shares};
use crate::sweep::{Setting, Sweep};
use document::{Fault, Reader};
use report::{Drawable, PlaneAxis};

/// A quantity over a plane, where the other parameters have the values of the best point.
#[derive(Debug)]
pub(super) struct Plane<const HEAT: bool> {
    x: usize,
    y: usize,
    shown: Shown,
}

/// Contour lines.
pub(super) type Contour = Plane<false>;
/// Filled cells with contour lines.
pub(super) type Heatmap = Plane<true>;

impl<const HEAT: bool> Plane<HEAT> {
    /// The objective over two parameters, by their indices.
    pub(super) fn of_objective(x: usize, y: usize) -> Self {
        Self { x, y, shown: Shown::objective() }
    }
}

impl<const HEAT: bool> SweepKind for Plane<HEAT> {
    fn read(table: &mut Reader<'_>, sweep: &Sweep) -> Result<Self, Fault> {
        let (x, y) = (read_parameter(table, "x", sweep)?, read_parameter(table, "y", sweep)?);
        if x == y {
            return Err(table.fault("y", "it is the parameter of x", "name another parameter"));
        }
        if !sweep.is_grid() {
            let suggestion = "use axis-line, or leave out method";
            return Err(table.fault("kind", "the points of the sweep are no grid", suggestion));
        }
        Ok(Self { x, y, shown: Shown::read(table, sweep)? })
    }

    fn draw(&self, swept: &Swept<'_>) -> Box<dyn Drawable> {
        let Swept { sweep, table, best } = swept;
        let of = |index: usize| axis(&sweep.parameters[index]).unwrap_or_default();
        let (x, y) = (of(self.x), of(self.y));
        let place = |axis: &PlaneAxis, setting: &Setting| {
            let number = setting.number?;
            axis.values.iter().position(|value| *value == number)
        };
        let mut values = vec![f64::NAN; x.values.len() * y.values.len()];
        for point in table.points.iter().filter(|point| shares(point, best, &[self.x, self.y])) {
            let column = place(&x, &point.settings[self.x]);
            let row = place(&y, &point.settings[self.y]);
            if let Some((column, row)) = column.zip(row) {
                values[row * x.values.len() + column] = self.shown.quantity.of(point);
            }
        }
        let (factor, label) = self.shown.scaled(sweep, values.iter().copied());
        values.iter_mut().for_each(|value| *value *= factor);
        let number = |index: usize| best.settings[index].number.unwrap_or(f64::NAN);
        let mut marks = vec![("maximum".to_owned(), (number(self.x), number(self.y)), false)];
        let published = |index: usize| sweep.parameters[index].published;
        if let Some(published) = published(self.x).zip(published(self.y)) {
            marks.push(("published".to_owned(), published, true));
        }
        Box::new(report::Contour { x, y, label, values, heat: HEAT, marks })
    }
}
