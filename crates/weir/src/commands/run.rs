use super::lines::{CellLine, StreamsLine};
use super::{close, conclude, eprint, outputs_apart, with_runner};
use crate::cli::Run;
use crate::failure::Failure;
use crate::output::{Output, Rows};
use experiment::Experiment;
use lab::runner::{Job, Outcome, RunCache, Runner};
use metrics::{Estimate, StreamSummary, Unit, condensed, summary};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

/// A run as one line of JSON.
#[derive(Serialize, JsonSchema)]
pub(super) struct RunLine<'a> {
    /// The name of the experiment.
    experiment: &'a str,
    cell: CellLine,
    /// The number of the run within its cell, from 0.
    run: u32,
    /// The seed.
    seed: u64,
    streams: StreamsLine,
}

pub(crate) fn run(args: &Run) -> Result<ExitCode, Failure> {
    let outputs: Vec<&Path> = args.pcap.iter().map(AsRef::as_ref).collect();
    let store = args.running.store.as_deref();
    outputs_apart(
        &outputs,
        &store.into_iter().chain([Path::new(&args.experiment)]).collect::<Vec<_>>(),
    )?;
    let experiment = args.running.chosen.of(lab::open(&args.experiment)?)?.simulated()?;
    let experiments = [experiment];
    let cache = RunCache::open(store)?;
    let mut shown = Shown {
        json: args.running.json,
        out: Output::new(),
        cells: vec![Vec::new(); experiments[0].cells().len()],
        fault: None,
    };
    let work = |runner: Runner<'_>| {
        let each = |_, recording: &_| summary(recording);
        runner.run(&experiments, each, |outcome: Outcome<_>| match outcome.result {
            Err(failure) => eprint(&format!("seed {}: {failure}", outcome.job.seed)),
            Ok(streams) => shown.add(&experiments[0], outcome.job, streams, runner),
        })
    };
    let done = with_runner((args.running.jobs, args.running.quiet), &cache, work)?;
    shown.finish(&experiments[0])?;
    close(cache, args.running.quiet)?;
    if let Some(path) = &args.pcap {
        let first = Job { experiment: 0, cell: 0, run: 0, seed: experiments[0].seed };
        lab::runner::capture(&experiments[0], first, path)?;
    }
    conclude(done, ExitCode::SUCCESS)
}

/// The output: one line per run at once, or tables at the end.
struct Shown {
    json: bool,
    out: Output,
    cells: Vec<Vec<Vec<StreamSummary>>>,
    fault: Option<Failure>,
}

impl Shown {
    fn add(
        &mut self,
        experiment: &Experiment,
        job: Job,
        streams: Vec<StreamSummary>,
        runner: Runner<'_>,
    ) {
        if !self.json {
            self.cells[job.cell].push(condensed(streams));
        } else if self.fault.is_none() {
            self.fault = self.out.json(&line(experiment, job, &streams)).err();
            if self.fault.is_some() {
                // The reader has closed the pipe: start no new run.
                runner.cancel.store(true, Ordering::Relaxed);
            }
        }
    }

    fn finish(mut self, experiment: &Experiment) -> Result<(), Failure> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if !self.json {
            print(&mut self.out, experiment, &self.cells)?;
        }
        self.out.finish()
    }
}

fn line<'a>(experiment: &'a Experiment, job: Job, streams: &[StreamSummary]) -> RunLine<'a> {
    RunLine {
        experiment: &experiment.name,
        cell: CellLine::new(&experiment.cells()[job.cell].params),
        run: job.run,
        seed: job.seed.0,
        streams: StreamsLine::new(streams),
    }
}

/// Heading, metric and unit of each column, and whether the column is shown even if it is empty.
#[rustfmt::skip]
const COLUMNS: [(&str, &str, Unit, bool); 10] = [
    ("sent", "sent_rate", Unit::BitsPerSecond, true),
    ("received", "received_rate", Unit::BitsPerSecond, true),
    ("loss", "loss", Unit::Share, false),
    ("RTT median", "rtt_median", Unit::Seconds, true),
    ("RTT p95", "rtt_p95", Unit::Seconds, true),
    ("frame p95", "frame_delay_p95", Unit::Seconds, false),
    ("fps", "fps_mean", Unit::FramesPerSecond, false),
    ("freezes", "freeze_count", Unit::Count, false),
    ("retransmitted", "retransmissions", Unit::Share, false),
    ("completed in", "completion_time", Unit::Seconds, false),
];

/// The means over the runs of each cell, one row per stream.
fn print(
    out: &mut Output,
    experiment: &Experiment,
    cells: &[Vec<Vec<StreamSummary>>],
) -> Result<(), Failure> {
    let words = if experiment.runs == 1 { "run" } else { "runs" };
    let what = if experiment.runs == 1 { "" } else { "; mean ± 95 % interval" };
    let seeds =
        format!("{} {words} per cell, seeds from {}{what}", experiment.runs, experiment.seed);
    out.line(format_args!("{}: {} ({seeds})", experiment.name, experiment.title))?;
    for (cell, runs) in experiment.cells().iter().zip(cells) {
        if runs.is_empty() {
            continue;
        }
        if !cell.params.is_empty() {
            out.line("")?;
            out.line(cell.label())?;
        }
        out.table(&streams_table(runs))?;
    }
    Ok(())
}

/// The mean with half the width of its 95 % confidence interval, if there are several runs.
fn estimated(unit: Unit, estimate: &Estimate) -> String {
    let mean = shown(unit, estimate.mean);
    let interval = estimate.half_width.map(|half| format!(" ± {}", unit.show(half)));
    let note = estimate.incomplete().map(|note| format!(" ({note})"));
    format!("{mean}{}{}", interval.unwrap_or_default(), note.unwrap_or_default())
}

/// The means over the runs, one row per stream.
pub(super) fn streams_table(runs: &[Vec<StreamSummary>]) -> Rows {
    let some = |metric: &str| {
        let known = |stream: &StreamSummary| {
            stream.values.iter().any(|(name, _, value)| *name == metric && value.is_finite())
        };
        runs.iter().flatten().any(known)
    };
    let columns: Vec<_> =
        COLUMNS.iter().filter(|(_, metric, _, always)| *always || some(metric)).collect();
    let mut rows =
        Rows::new(std::iter::once("stream").chain(columns.iter().map(|(head, ..)| *head)));
    for (place, stream) in runs.first().into_iter().flatten().enumerate() {
        let show = |(_, name, unit, _): &&(&str, &str, Unit, bool)| {
            let of = |run: &Vec<StreamSummary>| {
                run[place]
                    .values
                    .iter()
                    .find(|(other, _, _)| other == name)
                    .map(|(_, _, value)| *value)
            };
            let values: Vec<f64> = runs.iter().filter_map(of).collect();
            estimated(*unit, &Estimate::of(&values))
        };
        rows.add(std::iter::once(stream.stream.clone()).chain(columns.iter().map(show)));
    }
    rows
}

/// The lines of an emulation, one row per line.
pub(super) fn lines_table(lines: &[StreamSummary]) -> Rows {
    let mut rows = Rows::new(["line", "rate", "queue delay", "p95", "dropped"]);
    for line in lines {
        let values = line.values.iter().map(|(_, unit, value)| shown(*unit, *value));
        rows.add(std::iter::once(line.stream.clone()).chain(values));
    }
    rows
}

fn shown(unit: Unit, value: f64) -> String {
    if value.is_finite() { unit.show(value) } else { "–".to_owned() }
}
