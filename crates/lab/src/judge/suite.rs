//! The experiments of a suite, and the values of their runs.

use crate::external;
use crate::runner::{Job, Outcome, RunFailure, Runner, Summary};
use document::FileError;
use experiment::Experiment;
use metrics::{Better, Request, Unit};
use sim::recording::StreamKind;
use sim::{Options, Recording, Scenario};

/// A controller that is judged, and its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The controller, as in an experiment.
    pub controller: String,
    /// The settings that differ from it: (name, value).
    pub settings: Vec<(String, String)>,
}

impl Candidate {
    /// The controller with its settings: `gcc:libwebrtc, aimd.decrease = 0.95`.
    #[must_use]
    pub fn label(&self) -> String {
        let settings = self.settings.iter().map(|(name, value)| format!(", {name} = {value}"));
        std::iter::once(self.controller.clone()).chain(settings).collect()
    }
}

/// Experiments with which controllers are judged. Each is an area.
#[derive(Clone, Debug)]
pub struct Suite {
    experiments: Vec<Experiment>,
}

/// The experiments of the suites: thirty cells, and the thirteen of them that find most.
const STANDARD: [&str; 6] =
    ["judge/capacity", "judge/impairments", "judge/tcp", "judge/calls", "judge/wifi", "judge/lte"];
const QUICK: [&str; 2] = ["judge/capacity", "judge/calls"];

impl Suite {
    /// The suite `standard` or `quick`, or one experiment by name or file.
    ///
    /// # Errors
    /// If there is no such experiment, or one of its cells has no video call.
    pub fn open(name: &str) -> Result<Self, FileError> {
        let names: &[&str] = match name {
            "standard" => &STANDARD,
            "quick" => &QUICK,
            other => &[other],
        };
        let open = |name: &&str| crate::open(name)?.simulated();
        let experiments: Vec<Experiment> = names.iter().map(open).collect::<Result<_, _>>()?;
        for experiment in &experiments {
            if experiment.controllers().next().is_none() {
                let reason = "no call has video, so there is no controller to judge";
                return Err(FileError::file(&experiment.path, reason, "add a [call] with video"));
            }
        }
        Ok(Self { experiments })
    }

    /// The areas, by title.
    pub fn areas(&self) -> impl Iterator<Item = &str> {
        self.experiments.iter().map(|experiment| experiment.title.as_str())
    }

    pub(super) fn experiments(&self) -> &[Experiment] {
        &self.experiments
    }

    /// The number of cells of all experiments.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.experiments.iter().map(|experiment| experiment.cells().len()).sum()
    }

    /// The experiments with this controller in every call. The seeds begin `later` seeds later than
    /// those of the files; `runs` replaces their number.
    ///
    /// # Errors
    /// If there is no such controller or setting.
    pub fn with(
        &self,
        candidate: &Candidate,
        later: u64,
        runs: Option<u32>,
    ) -> Result<Vec<Experiment>, FileError> {
        let set = |experiment: &Experiment| {
            let first = experiment.seed.0 + later;
            let settings = candidate.settings.iter();
            let edits: Vec<(String, String)> = settings
                .map(|(name, value)| (format!("call.*.settings.'{name}'"), value.clone()))
                .chain([("seed".to_owned(), first.to_string())])
                .chain(runs.map(|runs| ("runs".to_owned(), runs.to_string())))
                .collect();
            experiment.with_controller(&candidate.controller)?.with_overrides(&edits)
        };
        self.experiments.iter().map(set).collect()
    }
}

/// A metric by which controllers are judged, and the least difference that counts: both the share
/// of the baseline and the absolute one. Our choices: a user hardly notices less.
pub(super) struct Criterion {
    pub(super) metric: &'static str,
    pub(super) unit: Unit,
    pub(super) better: Better,
    pub(super) relative: f64,
    pub(super) absolute: f64,
}

#[rustfmt::skip]
pub(super) const CRITERIA: [Criterion; 6] = [
    Criterion { metric: "received_rate", unit: Unit::BitsPerSecond, better: Better::Higher, relative: 0.05, absolute: 10e3 },
    Criterion { metric: "frame_delay_p95", unit: Unit::Seconds, better: Better::Lower, relative: 0.1, absolute: 0.01 },
    Criterion { metric: "loss", unit: Unit::Share, better: Better::Lower, relative: 0.1, absolute: 0.005 },
    Criterion { metric: "freeze_share", unit: Unit::Share, better: Better::Lower, relative: 0.1, absolute: 0.01 },
    Criterion { metric: "ramp_time", unit: Unit::Seconds, better: Better::Lower, relative: 0.2, absolute: 0.5 },
    Criterion { metric: "jain_of_means", unit: Unit::Share, better: Better::Higher, relative: 0.0, absolute: 0.05 },
];

/// The values of a run, in the order of [`CRITERIA`]; not-a-number where there is none.
pub(super) type Values = [f64; CRITERIA.len()];

fn values(recording: &Recording) -> Values {
    let is_flow = |kind| matches!(kind, StreamKind::Video | StreamKind::Tcp);
    let flows = recording.streams.iter().filter(|stream| is_flow(stream.kind)).count();
    CRITERIA.map(|criterion| {
        let among_flows = criterion.metric == "jain_of_means";
        let streams: Vec<&str> = recording
            .streams
            .iter()
            .filter(|stream| {
                stream.kind == StreamKind::Video || among_flows && is_flow(stream.kind)
            })
            .map(|stream| stream.name.as_str())
            .collect();
        if among_flows && flows < 2 {
            return f64::NAN;
        }
        let request = Request::new(criterion.metric, &streams, None);
        // A metric without a value in this run is compared in the other runs.
        request.and_then(|request| request.compute(recording)).unwrap_or(f64::NAN)
    })
}

/// The runs of a controller: for each experiment and cell the values of every seed.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub(super) runs: Vec<Vec<Vec<Option<Values>>>>,
    /// The runs that failed, in words.
    pub failed: Vec<String>,
}

/// Runs each list of experiments of [`Suite::with`].
pub fn measure(runner: Runner<'_>, lists: &[Vec<Experiment>]) -> (Vec<Measured>, Summary) {
    measure_by(runner, lists, external::simulate)
}

/// As [`measure`], but with `simulate`, for controllers that are code of the caller.
pub fn measure_by(
    runner: Runner<'_>,
    lists: &[Vec<Experiment>],
    simulate: impl Fn(&Scenario, Options<'_>) -> Result<Recording, RunFailure> + Sync,
) -> (Vec<Measured>, Summary) {
    let all: Vec<Experiment> = lists.concat();
    let mut measured: Vec<Measured> = lists
        .iter()
        .map(|list| {
            let empty = |experiment: &Experiment| {
                vec![vec![None; experiment.seeds().count()]; experiment.cells().len()]
            };
            Measured { runs: list.iter().map(empty).collect(), failed: Vec::new() }
        })
        .collect();
    let owner: Vec<(usize, usize)> = (0..lists.len())
        .flat_map(|list| (0..lists[list].len()).map(move |place| (list, place)))
        .collect();
    let each = |_: Job, recording: &Recording| values(recording);
    let summary = runner.run_by(&all, simulate, each, |outcome: Outcome<Values>| {
        let (list, place) = owner[outcome.job.experiment];
        let Job { cell, run, seed, .. } = outcome.job;
        match outcome.result {
            Ok(values) => measured[list].runs[place][cell][run as usize] = Some(values),
            Err(failure) => {
                let experiment = &all[outcome.job.experiment];
                let label = experiment.cells()[cell].label();
                let text = format!("{} ({label}), seed {seed}: {failure}", experiment.name);
                measured[list].failed.push(text);
            }
        }
    });
    (measured, summary)
}
