//! A job that verifies claims.

use super::{Board, Job};
use crate::messages::{ValueRow, VerdictRow};
use lab::claims::{Plan, Status, Verdict};
use lab::figures::{Figures, section_builders};
use lab::runner::Summary;
use report::{FileFormat, Report, figure_files};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Claims to verify.
pub(crate) struct VerifyTask {
    /// Ids of claims.
    pub(crate) claims: Vec<String>,
    /// The number of seeds per cell; `None`: that of the experiment.
    pub(crate) runs: Option<u32>,
}

pub(super) fn work(board: &Board, job: &Job, task: &VerifyTask) -> Result<Summary, String> {
    let claims = board.catalogue.select(&task.claims).map_err(|error| error.to_string())?;
    let plan = Plan::new(claims, |experiment| {
        let runs = task.runs.map(|runs| ("runs".to_owned(), runs.to_string()));
        experiment.with_overrides(runs.as_slice())?.simulated()
    });
    let figures = plan.experiments.iter().map(Figures::read).collect::<Result<Vec<_>, _>>();
    let figures = figures.map_err(|error| error.to_string())?;
    let mut builders = section_builders(&plan.experiments, &figures);
    let mut verdicts = Vec::new();
    let summary = board.with_runner(job, |runner| {
        let each = |job: lab::runner::Job, recording: &_| {
            let experiment = &plan.experiments[job.experiment];
            figures[job.experiment].extract(experiment, job, recording)
        };
        let (found, summary) =
            plan.run(runner, each, |job, extracts| builders[job.experiment].add(extracts));
        verdicts = found;
        Ok(summary)
    })?;
    if summary.cancelled {
        return Ok(summary);
    }
    let mut files = Vec::new();
    let mut numbers = BTreeMap::new();
    for builder in &builders {
        let section = builder.section();
        let name = section.id.clone();
        let drawn = Report { sections: vec![section], ..Report::default() };
        let all = figure_files(&drawn, FileFormat::Svg, None).map_err(|error| error.to_string())?;
        // Tables are files of CSV; the page shows pictures.
        let pictures = all.into_iter().filter(|file| file.name.ends_with(".svg"));
        let first = files.len();
        files.extend(pictures);
        numbers.insert(name, (first..files.len()).collect::<Vec<usize>>());
    }
    job.find(|found| found.figures = Arc::new(files));
    let mut known = board.verdicts_locked();
    for verdict in verdicts {
        let figures = numbers.get(&verdict.experiment).cloned().unwrap_or_default();
        let row = row(verdict, job.id, figures);
        known.insert(row.id.clone(), row);
    }
    drop(known);
    Ok(summary)
}

/// A verdict, as the pages show it.
pub(super) fn row(verdict: Verdict, job: u64, figures: Vec<usize>) -> VerdictRow {
    let value = |value: lab::claims::Measured| ValueRow {
        cell: value.cell,
        name: value.name,
        value: value.unit.show(value.mean),
    };
    let not_run = verdict.status == Status::NotRun;
    VerdictRow {
        id: verdict.id,
        status: verdict.status.to_string(),
        measured: verdict.measured,
        note: verdict.note,
        runs: if not_run { 0 } else { verdict.runs },
        who: verdict.who,
        values: verdict.values.into_iter().map(value).collect(),
        job,
        figures,
    }
}
