//! The facts of a built-in experiment that need neither its network nor its calls.

use super::{Experiment, ExperimentError, catalogue, grid};
use document::{Fault, Node, Reader};

/// What a list of experiments shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The name: `carlucci-2017/fig11`.
    pub name: String,
    /// The title, one line.
    pub title: String,
    /// Where the experiment was published; empty if it was not.
    pub source: String,
    /// The number of seeds with which every cell is run.
    pub runs: u32,
    /// The number of combinations of the grid's values; 1 without a grid.
    pub cells: usize,
}

impl Outline {
    /// The outline of the built-in experiment of this name; `None` if there is none. Its cells are
    /// counted and not read: reading the cells of all experiments takes seconds.
    ///
    /// # Errors
    /// If the text is not TOML, or one of these keys has an error.
    pub fn of(name: &str) -> Option<Result<Self, ExperimentError>> {
        let (text, _) = catalogue::find(name)?;
        let outline = document::parse(text).and_then(|document| Self::read(name, &document));
        Some(outline.map_err(|fault| fault.in_file(&format!("{name}.toml"))))
    }

    /// The outline of this text.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn from_text(text: &str, name: &str) -> Result<Self, ExperimentError> {
        let outline = document::parse(text).and_then(|document| Self::read(name, &document));
        outline.map_err(|fault| fault.in_file(name))
    }

    fn read(name: &str, document: &Node) -> Result<Self, Fault> {
        let mut top = Reader::new(document, "")?;
        Ok(Self {
            name: name.to_owned(),
            title: top.required("title")?,
            source: top.or("source", String::new())?,
            runs: top.or("runs", 1)?,
            cells: grid::axes(&mut top)?.iter().map(|axis| axis.points.len()).product(),
        })
    }
}

impl From<&Experiment> for Outline {
    fn from(experiment: &Experiment) -> Self {
        let (name, title) = (experiment.name.clone(), experiment.title.clone());
        let (source, runs) = (experiment.source.clone(), experiment.runs);
        Self { name, title, source, runs, cells: experiment.cells().len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    #[test]
    fn the_outline_of_every_experiment_agrees_with_the_experiment() {
        for name in names() {
            let experiment = Experiment::open(name).unwrap();
            assert_eq!(Outline::of(name), Some(Ok(Outline::from(&experiment))));
        }
        assert_eq!(Outline::of("no/such"), None);
    }

    #[test]
    fn an_outline_reads_no_cell() {
        let text =
            "title = \"t\"\nruns = 3\n[grid]\n\"host.a.up.rate\" = [\"not a rate\", \"nor this\"]";
        let document = document::parse(text).unwrap();
        assert_eq!(Outline::read("n", &document).unwrap().cells, 2);
        assert!(Experiment::parse(text, "n").is_err());
    }
}
