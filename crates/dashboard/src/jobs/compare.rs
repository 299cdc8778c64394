//! A job that compares the stored runs of several sources: browsers, the emulator, simulations.

use super::{Board, Job, verify};
use crate::messages::{ComparedClaim, Comparisons, DifferenceRow};
use lab::StoredExperiments;
use lab::comparison::{Comparison, differences};
use lab::runner::Summary;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use store::StoredRun;

pub(super) fn work(board: &Board, job: &Job) -> Result<Summary, String> {
    let claims = board.catalogue.select(&[]).map_err(|error| error.to_string())?;
    let mut notes = Vec::new();
    let mut runs = board.runs.all().map_err(|error| error.to_string())?;
    let mut experiments = StoredExperiments::default();
    runs.retain(|run| is_readable(run, &mut experiments, &mut notes));
    let mut comparisons = Comparison::of(&runs, &claims).map_err(|error| error.to_string())?;
    // Only what several sources ran, or what a claim is about, is compared.
    let is_tested = |comparison: &Comparison<'_>| {
        comparison.sources.len() > 1
            || comparison.experiment().is_some_and(|experiment| {
                claims.iter().any(|claim| claim.experiment == experiment.name)
            })
    };
    comparisons.retain(is_tested);
    let sources = || comparisons.iter().flat_map(|comparison| &comparison.sources);
    let total: usize = sources().map(|source| source.stored.len()).sum();
    let mut done = 0;
    for source in comparisons.iter_mut().flat_map(|comparison| &mut comparison.sources) {
        for (id, run, limited) in source.stored.clone() {
            if job.cancelled().load(Ordering::Relaxed) {
                return Ok(Summary { total, done, failed: 0, cancelled: true });
            }
            let recording = board.runs.recording(id).map_err(|error| error.to_string())?;
            let facts = source.facts(run, &recording, limited);
            source.add(facts);
            done += 1;
            job.progress(done, total);
            board.changed(job);
        }
    }
    let mut result = Comparisons { notes, ..Comparisons::default() };
    for verdict in comparisons.iter().flat_map(Comparison::verdicts) {
        let known = result.claims.iter().position(|claim| claim.id == verdict.id);
        let index = known.unwrap_or_else(|| {
            result.claims.push(ComparedClaim {
                id: verdict.id.clone(),
                paper: verdict.paper.clone(),
                place: verdict.location.clone(),
                published: verdict.published.clone(),
                experiment: verdict.experiment.clone(),
                findings: Vec::new(),
            });
            result.claims.len() - 1
        });
        result.claims[index].findings.push(verify::row(verdict, job.id, Vec::new()));
    }
    let differences = comparisons.iter().flat_map(differences);
    result.differences = differences
        .map(|one| {
            let [cell, who, stream, metric, measured, simulated, difference] = one.row();
            let experiment = one.experiment.clone();
            DifferenceRow { experiment, cell, who, stream, metric, measured, simulated, difference }
        })
        .collect();
    job.find(|found| found.comparisons = Some(Arc::new(result)));
    Ok(Summary { total, done, failed: 0, cancelled: false })
}

fn is_readable(
    run: &StoredRun,
    experiments: &mut StoredExperiments,
    notes: &mut Vec<String>,
) -> bool {
    match experiments.of(run) {
        Ok(_) => true,
        Err(error) => {
            notes.push(format!("run {} is left out: {error}", run.id));
            false
        }
    }
}
