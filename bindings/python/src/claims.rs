//! Published claims.

use crate::{errors, running};
use lab::claims::{Catalogue, Claim, Plan};
use lab::runner::{RunCache, Runner};
use lab::sweep::{Sweep, SweepError};
use pyo3::prelude::*;
use std::path::PathBuf;
use store::Store;

/// Verifies claims, and returns one JSON object per verdict. `weir.verify` reads them.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "each one is an argument in Python")]
#[pyo3(signature = (claims, set, runs, quick, points, jobs, store))]
pub(crate) fn verify(
    py: Python<'_>,
    claims: Vec<String>,
    mut set: Vec<(String, String)>,
    runs: Option<u32>,
    quick: bool,
    points: Option<usize>,
    jobs: Option<usize>,
    store: Option<PathBuf>,
) -> PyResult<Vec<String>> {
    let catalogue = Catalogue::embedded().map_err(|error| errors::in_file(&error))?;
    let named = claims;
    let claims = catalogue.select(&named).map_err(errors::other)?;
    let about_sweeps = |claim: &&&Claim| {
        claim.is_sweep && named.iter().any(|name| name.eq_ignore_ascii_case(&claim.id))
    };
    let about_sweeps: Vec<&Claim> = claims.iter().filter(about_sweeps).copied().collect();
    let changed = !set.is_empty() || runs.is_some() || quick;
    let sweeps = sweeps(&about_sweeps, points, changed)?;
    set.extend(runs.map(|runs| ("runs".to_owned(), runs.to_string())));
    let plan = Plan::new(claims, |experiment| {
        let experiment = if quick { experiment.quick()? } else { experiment };
        experiment.with_overrides(&set)?.simulated()
    });
    let printed = plan.as_printed();
    let cache = RunCache::open(store.as_deref()).map_err(errors::other)?;
    let work = |runner: Runner<'_>| {
        let (mut verdicts, summary) = plan.run(runner, |_, _| (), |_, ()| ());
        let mut cancelled = summary.cancelled;
        if !cancelled {
            printed.add_printed(runner, &mut verdicts);
        }
        for (claim, sweep) in &sweeps {
            if cancelled {
                break;
            }
            let mut store = store.as_deref().map(Store::create_or_open).transpose()?;
            let swept = claim.run_sweep(sweep, runner, store.as_mut())?;
            cancelled = swept.summary.cancelled;
            let place = verdicts.iter_mut().find(|verdict| verdict.id == claim.id);
            place.into_iter().for_each(|place| *place = swept.verdict.clone());
        }
        Ok::<_, SweepError>(verdicts)
    };
    let verdicts = running::run(py, running::jobs(jobs)?, &cache, work)?.map_err(errors::other)?;
    if let Some(error) = cache.finish().error {
        return Err(errors::other(error));
    }
    let lines = verdicts.iter().map(serde_json::to_string);
    lines.collect::<Result<_, _>>().map_err(errors::other)
}

/// The sweeps of the claims that are named by their id; the others are too long to be run along.
fn sweeps<'c>(
    claims: &[&'c Claim],
    points: Option<usize>,
    changed: bool,
) -> PyResult<Vec<(&'c Claim, Sweep)>> {
    let Some(first) = claims.first() else {
        return match points {
            None => Ok(Vec::new()),
            Some(_) => Err(errors::other(
                "points is for claims about a sweep that are named by their id, such as C-14; \
                 leave out points",
            )),
        };
    };
    if changed {
        return Err(errors::other(format!(
            "{} is about a sweep, which takes no set, runs or quick; use points, or copy the sweep \
             {} to a file and change it",
            first.id, first.experiment
        )));
    }
    let open = |claim: &&'c Claim| {
        let sweep = Sweep::open(&claim.experiment)?;
        let sweep = match points {
            Some(points) => sweep.coarse(points)?,
            None => sweep,
        };
        Ok((*claim, sweep))
    };
    let opened = claims.iter().map(open).collect::<Result<_, document::FileError>>();
    opened.map_err(|error| errors::in_file(&error))
}
