//! Published claims.

use crate::{errors, running};
use lab::claims::{Catalogue, Plan};
use lab::runner::RunCache;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Verifies claims, and returns one JSON object per verdict. `weir.verify` reads them.
#[pyfunction]
#[pyo3(signature = (claims, set, runs, quick, jobs, store))]
pub(crate) fn verify(
    py: Python<'_>,
    claims: Vec<String>,
    mut set: Vec<(String, String)>,
    runs: Option<u32>,
    quick: bool,
    jobs: Option<usize>,
    store: Option<PathBuf>,
) -> PyResult<Vec<String>> {
    let catalogue = Catalogue::embedded().map_err(|error| errors::in_file(&error))?;
    let claims = catalogue.select(&claims).map_err(errors::other)?;
    set.extend(runs.map(|runs| ("runs".to_owned(), runs.to_string())));
    let plan = Plan::new(claims, |experiment| {
        let experiment = if quick { experiment.quick()? } else { experiment };
        experiment.with_overrides(&set)?.simulated()
    });
    let printed = plan.as_printed();
    let cache = RunCache::open(store.as_deref()).map_err(errors::other)?;
    let verdicts = running::run(py, running::jobs(jobs)?, &cache, |runner| {
        let (mut verdicts, summary) = plan.run(runner, |_, _| (), |_, ()| ());
        if !summary.cancelled {
            printed.add_printed(runner, &mut verdicts);
        }
        verdicts
    })?;
    if let Some(error) = cache.finish().error {
        return Err(errors::other(error));
    }
    let lines = verdicts.iter().map(serde_json::to_string);
    lines.collect::<Result<_, _>>().map_err(errors::other)
}
