//! The section of a report that shows one experiment.

use super::kind::{AnyDebug, Heading};
use super::{Figures, RunExtracts};
use experiment::Experiment;
use metrics::MetricError;
use report::{Section, TextTable};

/// Builds the section of one experiment while its runs are made.
#[derive(Debug)]
pub struct SectionBuilder<'e> {
    experiment: &'e Experiment,
    figures: &'e Figures,
    runs: Vec<RunExtracts>,
}

impl<'e> SectionBuilder<'e> {
    /// The section of an experiment without any run.
    #[must_use]
    pub fn new(experiment: &'e Experiment, figures: &'e Figures) -> Self {
        Self { experiment, figures, runs: Vec::new() }
    }

    /// Adds a run.
    pub fn add(&mut self, run: RunExtracts) {
        self.runs.push(run);
    }

    /// The section with the figures of all runs added so far.
    #[must_use]
    pub fn section(&self) -> Section {
        let experiment = self.experiment;
        let mut figures = Vec::new();
        let mut faults = Vec::new();
        for (index, figure) in self.figures.0.iter().enumerate() {
            let heading = Heading {
                experiment,
                cells: &figure.cells,
                id: format!("{}-{}", experiment.name, index + 1),
                title: &figure.title,
                caption: &figure.caption,
            };
            match self.by_cell(index) {
                Ok(by_cell) => figures.extend(figure.kind.assemble(heading, by_cell)),
                Err(error) => {
                    faults.push(format!("The figure '{}' cannot be drawn: {error}.", figure.title));
                }
            }
        }
        let source = if experiment.source.is_empty() {
            String::new()
        } else {
            format!("{}.", experiment.source)
        };
        let runs = match experiment.runs {
            1 => "One run per cell".to_owned(),
            runs => format!("{runs} runs per cell"),
        };
        let seeds = format!("{runs}, seeds from {}.", experiment.seed);
        let (about, table) = text_and_table(&experiment.about);
        let text = [source, about, seeds].into_iter().chain(faults).filter(|text| !text.is_empty());
        Section {
            id: experiment.name.clone(),
            title: experiment.title.clone(),
            text: text.collect::<Vec<_>>().join("\n\n"),
            figures,
            compared: Vec::new(),
            table,
        }
    }

    /// The extracts of one figure by cell, then by run; the first error if there is one.
    fn by_cell(&self, figure: usize) -> Result<Vec<Vec<&dyn AnyDebug>>, &MetricError> {
        let mut cells = vec![Vec::new(); self.experiment.cells().len()];
        for run in &self.runs {
            if let Some(extract) = run.by_figure.get(figure) {
                cells[run.job.cell].extend(extract.as_ref()?.as_deref());
            }
        }
        Ok(cells)
    }
}

/// The text of `about` as one paragraph, and the table of its lines `| … | … |`, of which the first
/// has the headings.
fn text_and_table(about: &str) -> (String, Option<TextTable>) {
    let is_row = |line: &&str| line.trim_start().starts_with('|');
    let text = about.lines().filter(|line| !is_row(line));
    let text = text.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    let mut rows = about.lines().filter(is_row).map(|line| {
        line.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    });
    let table = rows.next().map(|columns| TextTable {
        caption: "The testbed".to_owned(),
        columns,
        rows: rows.collect(),
    });
    (text, table)
}

/// A section builder per experiment, each with its figures.
#[must_use]
pub fn section_builders<'e>(
    experiments: &'e [Experiment],
    figures: &'e [Figures],
) -> Vec<SectionBuilder<'e>> {
    experiments.iter().zip(figures).map(|(of, figures)| SectionBuilder::new(of, figures)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_between_bars_are_a_table() {
        let about = "\nOne.\n| what | paper |\n| shaper | a | b |\nTwo\nthree.\n";
        let (text, table) = text_and_table(about);
        assert_eq!(text, "One. Two three.");
        let table = table.unwrap();
        assert_eq!(table.columns, ["what", "paper"]);
        assert_eq!(table.rows, [["shaper", "a", "b"]]);
        assert_eq!(text_and_table("Plain\ntext."), ("Plain text.".to_owned(), None));
    }
}
