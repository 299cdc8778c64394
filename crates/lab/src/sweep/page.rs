//! The page of a sweep: the objective over each pair of neighbouring parameters, along each
//! parameter, and the best points.

use super::{PointResult, Setting, Sweep, Table};
use report::{
    Contour, Figure, Lines, Mark, MarkAt, MarkKind, Panel, PlaneAxis, Role, Section, Series,
    SeriesStyle, TextTable,
};

/// The number of points in the table of the best. Our choice.
const BEST: usize = 20;

/// The figures and the table of a sweep's results.
#[must_use]
pub fn section(sweep: &Sweep, table: &Table) -> Section {
    let ranked = table.ranked();
    let mut figures = Vec::new();
    if let Some(best) = ranked.first() {
        if sweep.is_grid() {
            let count = sweep.parameters.len();
            let planes = (0..count).flat_map(|y| (0..y).map(move |x| (x, y)));
            figures.extend(planes.flat_map(|(x, y)| sweep.planes(table, best, (x, y))));
        }
        figures
            .extend((0..sweep.parameters.len()).filter_map(|axis| sweep.along(table, best, axis)));
    }
    Section {
        id: sweep.name.clone(),
        title: sweep.title.clone(),
        text: sweep.about.clone(),
        compared: Vec::new(),
        figures,
        table: Some(sweep.best(&ranked)),
    }
}

impl Sweep {
    fn is_grid(&self) -> bool {
        self.method == super::Method::Grid
    }

    /// The values of a parameter that are numbers, ascending.
    fn axis(&self, index: usize) -> Option<PlaneAxis> {
        let parameter = &self.parameters[index];
        let values = (0..parameter.count()).map(|index| parameter.at_index(index).number);
        let mut values = values.collect::<Option<Vec<f64>>>()?;
        values.sort_by(f64::total_cmp);
        Some(PlaneAxis { label: parameter.label.clone(), values, log: parameter.is_log() })
    }

    /// The objective over two parameters where the others have their best values, as a heat map
    /// and as contour lines. `None` if a parameter is no number.
    fn planes(&self, table: &Table, best: &PointResult, (x, y): (usize, usize)) -> Vec<Figure> {
        let (Some(x_axis), Some(y_axis)) = (self.axis(x), self.axis(y)) else { return Vec::new() };
        let mut values = vec![f64::NAN; x_axis.values.len() * y_axis.values.len()];
        let place = |axis: &PlaneAxis, setting: &Setting| {
            let number = setting.number?;
            axis.values.iter().position(|value| *value == number)
        };
        for point in table.points.iter().filter(|point| shares(point, best, &[x, y])) {
            let column = place(&x_axis, &point.settings[x]);
            let row = place(&y_axis, &point.settings[y]);
            if let Some((column, row)) = column.zip(row) {
                values[row * x_axis.values.len() + column] = point.objective;
            }
        }
        let number = |setting: &Setting| setting.number.unwrap_or(f64::NAN);
        let at = (number(&best.settings[x]), number(&best.settings[y]));
        let mut marks = vec![("maximum".to_owned(), at, false)];
        if let Some(published) = self.parameters[x].published.zip(self.parameters[y].published) {
            marks.push(("published".to_owned(), published, true));
        }
        let contour = |heat| Contour {
            x: x_axis.clone(),
            y: y_axis.clone(),
            label: "objective".to_owned(),
            values: values.clone(),
            heat,
            marks: marks.clone(),
        };
        [(true, "heat map"), (false, "contour lines")]
            .map(|(heat, kind)| Figure {
                id: format!("{}-{x}-{y}-{}", self.name, if heat { "heat" } else { "contour" }),
                title: format!("Objective over {} and {}: {kind}", x_axis.label, y_axis.label),
                caption: String::new(),
                body: Box::new(contour(heat)),
            })
            .into()
    }

    /// The objective along one parameter: its greatest value over the others, and its value where
    /// the others are best.
    fn along(&self, table: &Table, best: &PointResult, index: usize) -> Option<Figure> {
        let parameter = &self.parameters[index];
        let mut points: Vec<(f64, f64, bool)> = Vec::with_capacity(table.points.len());
        for point in &table.points {
            let number = point.settings[index].number?;
            points.push((number, point.objective, shares(point, best, &[index])));
        }
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
        let style = if self.is_grid() { SeriesStyle::Line } else { SeriesStyle::Dots };
        let line = |name: &str, points: Vec<(f64, f64)>, number: usize| Series {
            name: name.to_owned(),
            points,
            style,
            role: Role::Series(number),
            ..Series::default()
        };
        let mut series = vec![line("greatest over the others", greatest, 0)];
        if self.is_grid() && self.parameters.len() > 1 {
            series.push(line("where the others are best", at_best, 1));
        }
        let marks = parameter.published.map(|value| Mark {
            kind: MarkKind::Published,
            at: MarkAt::X(value),
            label: format!("{value:?}"),
        });
        let panel = Panel {
            y_label: "objective".to_owned(),
            series,
            marks: marks.into_iter().collect(),
            ..Panel::default()
        };
        let label = &parameter.label;
        Some(Figure {
            id: format!("{}-{index}", self.name),
            title: format!("Objective along {label}"),
            caption: String::new(),
            body: Box::new(Lines { panel, x_label: label.clone(), log_x: parameter.is_log() }),
        })
    }

    /// The best points with the objectives of the scenarios.
    #[must_use]
    pub fn best(&self, ranked: &[&PointResult]) -> TextTable {
        let columns = std::iter::once("rank".to_owned())
            .chain(self.parameters.iter().map(|parameter| parameter.label.clone()))
            .chain(std::iter::once("objective".to_owned()))
            .chain(self.scenarios.iter().map(|scenario| scenario.name.clone()));
        let row = |(rank, point): (usize, &&PointResult)| {
            std::iter::once(rank.to_string())
                .chain(point.settings.iter().map(Setting::short))
                .chain(std::iter::once(format!("{:.4}", point.objective)))
                .chain(point.scenarios.iter().map(|one| format!("{:.3}", one.normalised)))
                .collect()
        };
        TextTable {
            caption: format!("The best of {} points", ranked.len()),
            columns: columns.collect(),
            rows: (1..).zip(ranked.iter().take(BEST)).map(row).collect(),
        }
    }
}

/// Whether two points have the same values of all parameters except `free`.
fn shares(one: &PointResult, other: &PointResult, free: &[usize]) -> bool {
    let pairs = one.settings.iter().zip(&other.settings).enumerate();
    pairs.filter(|(index, _)| !free.contains(index)).all(|(_, (one, other))| one == other)
}
