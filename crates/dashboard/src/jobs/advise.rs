//! A job that ranks remedies for a network. The ranking fills while runs finish.

use super::{Board, Job};
use crate::messages::{RankRow, Ranking};
use experiment::Experiment;
use lab::remedies::{Advice, Group, Rank, selected};
use lab::runner::Summary;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A network for which advice is asked.
pub(crate) struct AdviseTask {
    pub(crate) name: String,
    pub(crate) experiment: Experiment,
    /// The weight of the call against other traffic, 0 to 1.
    pub(crate) weight: f64,
    /// The device in the printed commands.
    pub(crate) device: String,
}

pub(super) fn work(board: &Board, job: &Job, task: &AdviseTask) -> Result<Summary, String> {
    let experiments = std::slice::from_ref(&task.experiment);
    let (group, _) = Group::of(&task.name, experiments, &[]).map_err(|error| error.to_string())?;
    if group.situations.is_empty() {
        return Err(format!(
            "{}: there is no call with video; add one, because its frames are judged",
            task.name
        ));
    }
    let remedies = selected(&[]).map_err(|problem| problem.to_string())?;
    let mut advice = Advice::new(group, remedies).map_err(|error| error.to_string())?;
    let total = advice.runs();
    job.progress(0, total);
    let seen = AtomicUsize::new(0);
    let summary = board.with_runner(job, |runner| {
        let failed = |run: lab::runner::Job, reason: &str| {
            job.fail(format!("seed {}: {reason}", run.seed));
        };
        let observe = |advice: &Advice| {
            let count = seen.fetch_add(1, Ordering::Relaxed) + 1;
            show(job, task, advice, (count, total));
            board.changed(job);
        };
        advice.run(runner, failed, observe).map_err(|error| format!("cannot judge a run: {error}"))
    })?;
    if !summary.cancelled {
        if !advice.is_ranked() {
            return Err(advice.left_out().join("; "));
        }
        show(job, task, &advice, (total, total));
    }
    Ok(summary)
}

/// Shows the ranking over the runs so far.
fn show(job: &Job, task: &AdviseTask, advice: &Advice, (seen, total): (usize, usize)) {
    let mut ranks = advice.ranks(usize::MAX, task.weight);
    ranks.retain(|rank| !rank.standing.scores.is_empty());
    let ranking = ranking(task, advice, &ranks, (seen, total));
    job.find(|found| found.ranking = Some(Arc::new(ranking)));
}

fn ranking(
    task: &AdviseTask,
    advice: &Advice,
    ranks: &[Rank],
    (seen, total): (usize, usize),
) -> Ranking {
    let table = advice.table(ranks);
    let heads = table.columns.iter().enumerate();
    let columns = heads.map(|(place, column)| table.unit(place).label(&column.name)).collect();
    let lines = advice.lines(ranks, &task.device);
    let row = |(place, rank): (usize, &Rank)| {
        let line = &lines[place];
        let set = line.set.iter();
        let set = set.map(|(key, value)| (key.clone(), value.as_str().unwrap_or("").to_owned()));
        RankRow {
            name: line.remedy.to_owned(),
            about: line.about.to_owned(),
            source: line.source.to_owned(),
            is_as_good: rank.as_good,
            cells: (0..table.columns.len()).map(|column| table.text(place, column)).collect(),
            tc: line.tc.join("\n"),
            set: set.collect(),
        }
    };
    let unfit = advice.unfit().into_iter();
    Ranking {
        heading: advice.heading(),
        columns,
        rows: ranks.iter().enumerate().map(row).collect(),
        verdict: if seen == total && !ranks.is_empty() {
            advice.verdict(ranks)
        } else {
            String::new()
        },
        unfit: unfit.map(|(names, reason)| format!("{}: {reason}", names.join(", "))).collect(),
        seeds: seen,
        all_seeds: total,
    }
}
