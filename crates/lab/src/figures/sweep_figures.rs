//! The figures of a sweep: those of its `[[figure]]` tables, or the usual ones.

use super::SWEEP_KINDS;
use super::axis_line::AxisLine;
use super::plane::{Contour, Heatmap};
use super::sweep_kind::{SweepKind, Swept, axis};
use crate::sweep::{Sweep, Table};
use document::{Fault, FileError, Node, Problem, Reader};
use report::Section;
use std::sync::Arc;

/// The figures of a sweep, in the order of the file; the usual ones if there are none: each pair of
/// parameters as heat map and contour lines, and the objective along each parameter.
#[derive(Clone, Debug)]
pub struct SweepFigures(Vec<SweepFigure>);

/// One figure.
#[derive(Clone, Debug)]
struct SweepFigure {
    title: String,
    caption: String,
    kind: Arc<dyn SweepKind>,
}

impl SweepFigures {
    /// Reads the `[[figure]]` tables of a sweep.
    ///
    /// # Errors
    /// When a table is not a figure of this sweep.
    pub fn read(sweep: &Sweep) -> Result<Self, FileError> {
        let figures = sweep.figures().iter().map(|node| figure(node, sweep));
        let figures = figures.collect::<Result<Vec<_>, _>>();
        let figures = figures.map_err(|fault| fault.in_file(&sweep.path))?;
        Ok(Self(if figures.is_empty() { usual(sweep) } else { figures }))
    }

    /// The section of a page with these figures and the best points. A sweep without any objective
    /// has no figures.
    #[must_use]
    pub fn section(&self, sweep: &Sweep, table: &Table) -> Section {
        let ranked = table.ranked();
        let swept = ranked.first().map(|best| Swept { sweep, table, best });
        let figures = swept.iter().flat_map(|swept| {
            (1..).zip(&self.0).map(|(number, figure)| report::Figure {
                id: format!("{}-{number}", sweep.name),
                title: figure.title.clone(),
                caption: figure.caption.clone(),
                body: figure.kind.draw(swept),
            })
        });
        Section {
            id: sweep.name.clone(),
            title: sweep.title.clone(),
            text: sweep.about.clone(),
            compared: Vec::new(),
            figures: figures.collect(),
            table: Some(sweep.best(&ranked)),
        }
    }
}

fn figure(node: &Node, sweep: &Sweep) -> Result<SweepFigure, Fault> {
    let mut table = Reader::new(node, "figure")?;
    let kind: String = table.required("kind")?;
    let title = table.required("title")?;
    let caption = table.or("caption", String::new())?;
    let Some((_, read)) = SWEEP_KINDS.iter().find(|(name, _)| *name == kind) else {
        let known = SWEEP_KINDS.iter().map(|(name, _)| *name);
        let problem = Problem::unknown("kind", &kind, known, "the kinds of figures of sweeps are");
        return Err(table.problem("kind", problem));
    };
    let kind = read(&mut table, sweep)?;
    table.finish()?;
    Ok(SweepFigure { title, caption, kind })
}

fn usual(sweep: &Sweep) -> Vec<SweepFigure> {
    let one = |title: String, kind: Arc<dyn SweepKind>| SweepFigure {
        title,
        caption: String::new(),
        kind,
    };
    let parameters = &sweep.parameters;
    let numbers: Vec<usize> =
        (0..parameters.len()).filter(|index| axis(&parameters[*index]).is_some()).collect();
    let mut figures = Vec::new();
    let planes = numbers.iter().flat_map(|y| numbers.iter().map(move |x| (*x, *y)));
    for (x, y) in planes.filter(|(x, y)| x < y && sweep.is_grid()) {
        let over = format!("Objective over {} and {}", parameters[x].label, parameters[y].label);
        let heat = Arc::new(Heatmap::of_objective(x, y));
        figures.push(one(format!("{over}: heat map"), heat));
        let contour = Arc::new(Contour::of_objective(x, y));
        figures.push(one(format!("{over}: contour lines"), contour));
    }
    for x in numbers {
        let title = format!("Objective along {}", parameters[x].label);
        figures.push(one(title, Arc::new(AxisLine::of_objective(x))));
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A sweep over a number and a word, with this figure.
    fn sweep(figure: &str) -> Sweep {
        let text = format!(
            r#"
title = "x"
[parameter.start]
key = "call.main.start_rate"
from = 100
to = 300
points = 3
unit = "kbit/s"
[parameter.loss]
key = "host.alice.up.loss"
list = [0.0, 0.01]
[parameter.queue]
key = "host.alice.up.queue"
list = ["droptail limit 150ms", "fq_codel"]
[scenario.alone]
experiment = "carlucci-2017/fig10"
cell = {{ bottleneck = "tbf" }}
value.rate = {{ metric = "received_rate", stream = "main.video" }}
objective = "rate"
{figure}
"#
        );
        Sweep::parse(&text, "s.toml").unwrap()
    }

    fn titles(sweep: &Sweep) -> Vec<String> {
        let figures = SweepFigures::read(sweep).unwrap().0;
        figures.into_iter().map(|figure| figure.title).collect()
    }

    #[test]
    fn a_sweep_without_figures_has_the_usual_ones_over_its_numbers() {
        let usual = [
            "Objective over start and loss: heat map",
            "Objective over start and loss: contour lines",
            "Objective along start",
            "Objective along loss",
        ];
        assert_eq!(titles(&sweep("")), usual);
    }

    #[test]
    fn a_sweep_has_the_figures_of_its_file_only() {
        let figure = r#"
[[figure]]
kind = "contour"
title = "One"
x = "start"
y = "loss"
value = "alone.rate"
[[figure]]
kind = "axis-line"
title = "Two"
x = "loss"
"#;
        assert_eq!(titles(&sweep(figure)), ["One", "Two"]);
    }

    #[test]
    fn wrong_figures_are_refused_with_line_and_key() {
        for (keys, message) in [
            (
                "kind = \"conture\"",
                "figure.kind: there is no kind 'conture'; did you mean contour?",
            ),
            ("kind = \"bars\"", "the kinds of figures of sweeps are contour, heatmap, axis-line"),
            (
                "kind = \"contour\"\nx = \"start\"\ny = \"queue\"",
                "values of 'queue' are not numbers",
            ),
            (
                "kind = \"contour\"\nx = \"start\"\ny = \"start\"",
                "figure.y: it is the parameter of x",
            ),
            (
                "kind = \"axis-line\"\nx = \"stat\"",
                "there is no parameter 'stat'; did you mean start?",
            ),
            (
                "kind = \"axis-line\"\nx = \"start\"\nvalue = \"alone.rat\"",
                "figure.value: there is no value 'alone.rat'; did you mean alone.rate?",
            ),
            ("kind = \"axis-line\"\nx = \"start\"\nz = 1", "figure.z: there is no such key"),
        ] {
            let sweep = sweep(&format!("[[figure]]\ntitle = \"t\"\n{keys}"));
            let error = SweepFigures::read(&sweep).unwrap_err().to_string();
            assert!(error.starts_with("s.toml:") && error.contains(message), "{keys}: {error}");
        }
        let text =
            sweep("[[figure]]\ntitle = \"t\"\nkind = \"heatmap\"\nx = \"start\"\ny = \"loss\"")
                .text
                .replace("title = \"x\"", "title = \"x\"\nmethod = \"sobol\"\nsamples = 4");
        let samples = Sweep::parse(&text, "s.toml").unwrap();
        let error = SweepFigures::read(&samples).unwrap_err().to_string();
        assert!(error.contains("figure.kind: the points of the sweep are no grid"), "{error}");
    }

    #[test]
    fn the_schema_has_the_keys_that_are_read() {
        let figure = "[[figure]]\ntitle = \"t\"\nkind = \"contour\"\nx = \"start\"\ny = \"loss\"";
        let sweep = sweep(figure);
        let asked = document::asked_keys(|| drop(SweepFigures::read(&sweep)));
        let asked: BTreeSet<&str> =
            asked.iter().filter(|(path, _)| path == "figure").map(|(_, key)| *key).collect();
        let schema = crate::sweep::schema();
        let keys = schema["properties"]["figure"]["items"]["properties"].as_object().unwrap();
        assert_eq!(keys.keys().map(String::as_str).collect::<BTreeSet<_>>(), asked);
    }

    #[test]
    fn the_figures_of_the_built_in_sweeps_are_valid() {
        for name in crate::sweep::names() {
            let sweep = Sweep::open(&name).unwrap();
            SweepFigures::read(&sweep).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}
