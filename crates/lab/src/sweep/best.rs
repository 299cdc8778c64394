//! The table of the best points.

use super::{PointResult, Setting, Sweep};
use report::TextTable;

/// The number of points in the table of the best. Our choice.
const BEST: usize = 20;

impl Sweep {
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
