//! Advice for a call.

use crate::experiment::Experiment;
use crate::{errors, running};
use ::experiment::{Bottleneck, Home, Use};
use lab::remedies::{Advice, Group, selected};
use lab::runner::RunCache;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Ranks remedies, and returns (heading, verdict in words, one JSON object per remedy, best first).
/// `weir.advise` reads them.
#[pyfunction]
#[pyo3(signature = (experiment, line, beside, modem, weight, remedies, dev, jobs, store))]
#[expect(clippy::too_many_arguments, reason = "each one is an argument in Python")]
pub(crate) fn advise(
    py: Python<'_>,
    experiment: Option<&Experiment>,
    line: Option<String>,
    beside: Vec<String>,
    modem: bool,
    weight: f64,
    remedies: Vec<String>,
    dev: &str,
    jobs: Option<usize>,
    store: Option<PathBuf>,
) -> PyResult<(String, String, Vec<String>)> {
    let in_file = |error| errors::in_file(&error);
    let (name, experiment) = match (experiment, line) {
        (Some(given), None) => (given.0.name.clone(), given.0.clone()),
        (None, Some(line)) => {
            let home = home(&line, &beside, modem)?;
            ("home".to_owned(), home.experiment().map_err(in_file)?)
        }
        _ => return Err(errors::other("give either an experiment or a line")),
    };
    let experiment = experiment.simulated().map_err(in_file)?;
    let (group, _) = Group::of(&name, &[experiment], &[]).map_err(in_file)?;
    if group.situations.is_empty() {
        let reason = "there is no call with video; add one, because its frames are judged";
        return Err(errors::other(format!("{name}: {reason}")));
    }
    let remedies = selected(&remedies).map_err(errors::other)?;
    let mut advice = Advice::new(group, remedies).map_err(in_file)?;
    let cache = RunCache::open(store.as_deref()).map_err(errors::other)?;
    let done = running::run(py, running::jobs(jobs)?, &cache, |runner| {
        advice.run(runner, |_, _| (), |_| ())
    })?;
    done.map_err(|error| errors::other(format!("cannot judge a run: {error}")))?;
    if let Some(error) = cache.finish().error {
        return Err(errors::other(error));
    }
    if !advice.is_ranked() {
        return Err(errors::other(advice.left_out().join("; ")));
    }
    let runs = advice.group.situations.iter().map(|situation| situation.experiment.runs);
    let ranks = advice.ranks(runs.max().unwrap_or(1) as usize, weight);
    let lines = advice.lines(&ranks, dev);
    let lines: Result<Vec<String>, _> = lines.iter().map(serde_json::to_string).collect();
    Ok((advice.heading(), advice.verdict(&ranks), lines.map_err(errors::other)?))
}

/// The line at home.
fn home(line: &str, beside: &[String], modem: bool) -> PyResult<Home> {
    let of = |word: &String| {
        Use::ALL.into_iter().find(|one| one.as_str() == word).ok_or_else(|| {
            errors::other(format!("there is no use '{word}'; write upload or download"))
        })
    };
    let mut uses: Vec<Use> = beside.iter().map(of).collect::<PyResult<_>>()?;
    uses.sort_unstable();
    uses.dedup();
    Ok(Home {
        line: line.parse().map_err(errors::other)?,
        bottleneck: if modem { Bottleneck::Modem } else { Bottleneck::Interface },
        beside: uses,
    })
}
