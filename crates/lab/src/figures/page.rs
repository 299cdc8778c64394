//! Figures put together from the pieces of the runs, and the page of a verification.

use super::spec::{Body, CellFilter, Figure};
use super::time::{LineSpec, PanelSpec, TimePlot};
use super::{Figures, Piece, Pieces};
use crate::claims::{Status, Verdict};
use crate::runner::Job;
use experiment::Experiment;
use metrics::MetricError;
use report::{self, ClaimRow, Line, Panel, Report, Role, Section};
use sim::Recording;
use sim::recording::StreamKind;

/// The most cells of an experiment without figures of its own that are shown.
const MAX_USUAL: usize = 4;

/// The figures of an experiment while its runs come in.
#[derive(Debug)]
pub struct Drawings<'e> {
    experiment: &'e Experiment,
    figures: &'e Figures,
    runs: Vec<Pieces>,
}

impl Figures {
    /// What the figures need of one run of `experiment`, from which they were read.
    #[must_use]
    pub fn pieces(&self, experiment: &Experiment, job: Job, recording: &Recording) -> Pieces {
        let known = experiment.streams();
        let cell = &experiment.cells()[job.cell];
        let piece = |figure: &Figure| {
            if figure.cells.fits(cell) {
                figure.piece(job, recording, known)
            } else {
                Ok(Piece::None)
            }
        };
        let pieces = if !self.0.is_empty() {
            self.0.iter().map(piece).collect()
        } else if job.run == 0 && job.cell < MAX_USUAL {
            vec![usual(recording).panels(recording, known).map(Piece::Panels)]
        } else {
            vec![Ok(Piece::None)]
        };
        Pieces { job, pieces }
    }
}

impl<'e> Drawings<'e> {
    /// Figures of an experiment, without any run yet.
    #[must_use]
    pub fn new(experiment: &'e Experiment, figures: &'e Figures) -> Self {
        Self { experiment, figures, runs: Vec::new() }
    }

    /// Adds a run.
    pub fn add(&mut self, pieces: Pieces) {
        self.runs.push(pieces);
    }

    /// The section of the report that shows the experiment.
    #[must_use]
    pub fn section(&self) -> Section {
        let experiment = self.experiment;
        let mut figures = Vec::new();
        let mut faults = Vec::new();
        let usual = [Figure {
            title: experiment.title.clone(),
            caption: String::new(),
            cells: CellFilter::default(),
            body: Body::Time(TimePlot {
                run: 0,
                series: None,
                reference: None,
                panels: Vec::new(),
            }),
        }];
        let specs = if self.figures.0.is_empty() { &usual[..] } else { self.figures.0.as_slice() };
        for (place, figure) in specs.iter().enumerate() {
            match self.of(place) {
                Ok(runs) => self.draw(place, figure, &runs, &mut figures),
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
            1 => "One run a cell".to_owned(),
            runs => format!("{runs} runs a cell"),
        };
        let seeds = format!("{runs}, seeds from {}.", experiment.seed);
        let about = experiment.about.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = [source, about, seeds].into_iter().chain(faults).filter(|text| !text.is_empty());
        Section {
            id: experiment.name.clone(),
            title: experiment.title.clone(),
            text: text.collect::<Vec<_>>().join("\n\n"),
            figures,
            compared: Vec::new(),
            table: None,
        }
    }

    /// The pieces of a figure by cell.
    fn of(&self, place: usize) -> Result<Vec<Vec<&Piece>>, &MetricError> {
        let mut cells = vec![Vec::new(); self.experiment.cells().len()];
        for run in &self.runs {
            if let Some(piece) = run.pieces.get(place) {
                cells[run.job.cell].push(piece.as_ref()?);
            }
        }
        Ok(cells)
    }

    fn draw(
        &self,
        place: usize,
        figure: &Figure,
        runs: &[Vec<&Piece>],
        out: &mut Vec<report::Figure>,
    ) {
        let id = format!("{}-{}", self.experiment.name, place + 1);
        let (title, caption) = (figure.title.clone(), figure.caption.clone());
        match &figure.body {
            Body::Time(TimePlot { series: Some(axis), reference, .. }) => {
                let cells = self.experiment.cells().iter().zip(runs);
                let panels = superpose(
                    cells.filter_map(|(cell, pieces)| {
                        let name = cell
                            .params
                            .iter()
                            .find(|(name, _)| name == axis)
                            .map(|(_, value)| value.as_str());
                        Some((name.unwrap_or_default(), panels_of(pieces)?))
                    }),
                    reference.as_deref(),
                );
                if !panels.is_empty() {
                    let body = report::Body::Time { panels, x_label: "time (s)".to_owned() };
                    out.push(report::Figure { id, title, caption, body });
                }
            }
            Body::Time(_) => {
                for (cell, pieces) in self.experiment.cells().iter().zip(runs) {
                    let Some(panels) = panels_of(pieces).cloned() else { continue };
                    let title = if cell.params.is_empty() {
                        title.clone()
                    } else {
                        format!("{title}: {}", cell.label())
                    };
                    let id = format!("{id}-{}", cell.index + 1);
                    let body = report::Body::Time { panels, x_label: "time (s)".to_owned() };
                    out.push(report::Figure { id, title, caption: caption.clone(), body });
                }
            }
            Body::Bars(bars) => {
                let body = bars.draw(self.experiment, &figure.cells, runs);
                out.push(report::Figure { id, title, caption, body });
            }
            Body::Cdf(cdf) => {
                let body = cdf.draw(self.experiment, &figure.cells, runs);
                out.push(report::Figure { id, title, caption, body });
            }
            Body::Table(table) => {
                let body = table.draw(self.experiment, &figure.cells, runs);
                out.push(report::Figure { id, title, caption, body });
            }
            Body::Scatter(scatter) => {
                let body = scatter.draw(self.experiment, &figure.cells, runs);
                out.push(report::Figure { id, title, caption, body });
            }
        }
    }
}

/// Figures of several experiments, each with its own, without any run yet.
#[must_use]
pub fn drawings<'e>(experiments: &'e [Experiment], figures: &'e [Figures]) -> Vec<Drawings<'e>> {
    experiments.iter().zip(figures).map(|(of, figures)| Drawings::new(of, figures)).collect()
}

/// The panels of the run of a cell that is shown.
fn panels_of<'a>(pieces: &[&'a Piece]) -> Option<&'a Vec<Panel>> {
    pieces.iter().find_map(|piece| match piece {
        Piece::Panels(panels) => Some(panels),
        _ => None,
    })
}

/// The panels of several cells over one another, each cell a colour; lines are called after their
/// cells.
fn superpose<'a>(
    cells: impl Iterator<Item = (&'a str, &'a Vec<Panel>)>,
    reference: Option<&str>,
) -> Vec<Panel> {
    let mut all: Vec<Panel> = Vec::new();
    let mut place = 0;
    for (name, panels) in cells {
        let is_reference = reference == Some(name);
        for (index, panel) in panels.iter().enumerate() {
            let alone = panel.lines.len() == 1;
            let renamed = panel.lines.iter().map(|line| Line {
                name: if alone { name.to_owned() } else { format!("{name}, {}", line.name) },
                role: if is_reference { Role::Reference } else { Role::Series(place) },
                ..line.clone()
            });
            match all.get_mut(index) {
                Some(there) => there.lines.extend(renamed),
                None => all.push(Panel { lines: renamed.collect(), ..panel.clone() }),
            }
        }
        place += usize::from(!is_reference);
    }
    all
}

impl Figure {
    fn piece(
        &self,
        job: Job,
        recording: &Recording,
        known: &[String],
    ) -> Result<Piece, MetricError> {
        match &self.body {
            Body::Time(plot) if plot.run == job.run => {
                Ok(Piece::Panels(plot.panels(recording, known)?))
            }
            Body::Time(_) => Ok(Piece::None),
            Body::Bars(bars) => bars.piece(recording, known),
            Body::Cdf(cdf) => cdf.piece(recording, known),
            Body::Table(table) => table.piece(recording, known),
            Body::Scatter(scatter) => scatter.piece(recording, known),
        }
    }
}

/// Rates, loss and round-trip times of every video stream and TCP flow, for experiments that say
/// nothing of figures.
fn usual(recording: &Recording) -> TimePlot {
    let panel = |label: &str, unit: &str, value: &str, kinds: &[StreamKind]| PanelSpec {
        label: label.to_owned(),
        unit: unit.parse().unwrap_or_default(),
        log: false,
        lines: recording
            .streams
            .iter()
            .filter(|stream| kinds.contains(&stream.kind))
            .map(|stream| LineSpec {
                stream: stream.name.clone(),
                value: value.to_owned(),
                name: stream.name.clone(),
                reference: false,
                dots: false,
            })
            .collect(),
        marks: Vec::new(),
    };
    let panels = [
        panel("received", "kbit/s", "received_rate", &[StreamKind::Video, StreamKind::Tcp]),
        panel("fraction lost", "%", "fractionLost", &[StreamKind::Video]),
        panel("congestion window", "kB", "congestionWindow", &[StreamKind::Tcp]),
        panel("RTT", "ms", "roundTripTime", &[StreamKind::Video, StreamKind::Tcp]),
    ];
    TimePlot {
        run: 0,
        series: None,
        reference: None,
        panels: panels.into_iter().filter(|panel| !panel.lines.is_empty()).collect(),
    }
}

impl From<Status> for report::Status {
    fn from(status: Status) -> Self {
        match status {
            Status::Reproduced => Self::Reproduced,
            Status::NotReproduced => Self::NotReproduced,
            Status::NotRun => Self::NotRun,
        }
    }
}

/// The report of a verification: the claims, then an experiment a section. `facts` say what the
/// numbers rest on.
#[must_use]
pub fn report(
    title: &str,
    facts: Vec<(String, String)>,
    verdicts: &[Verdict],
    sections: Vec<Section>,
) -> Report {
    let row = |verdict: &Verdict| ClaimRow {
        id: verdict.id.clone(),
        paper: verdict.paper.clone(),
        source: verdict.location.clone(),
        setting: verdict.setting.clone(),
        published: verdict.published.clone(),
        check: verdict.check.clone(),
        status: report::Status::from(verdict.status),
        measured: verdict.measured.clone(),
        note: verdict.note.clone(),
        beside: verdict
            .beside
            .iter()
            .map(|other| (other.controller.clone(), other.holds, other.measured.clone()))
            .collect(),
        anchor: sections
            .iter()
            .any(|section| section.id == verdict.experiment)
            .then(|| verdict.experiment.clone()),
    };
    Report {
        title: title.to_owned(),
        subtitle: String::new(),
        facts,
        claims: verdicts.iter().map(row).collect(),
        sections,
    }
}
