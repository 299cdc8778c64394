//! A controller that is code of the caller.

use super::{Candidate, Judged, Suite, measure_by};
use crate::runner::{NO_CACHE, Runner, Summary, all_cores};
use cc::{ControllerConfig, Controllers, Sender};
use document::FileError;
use sim::{MakeControllers, Options};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The name of the caller's controller in the experiments. No program is started: the caller makes
/// it.
const OWN: &str = "external:own";

/// Makes the controller of a direction of a call, which decides at the sender.
pub type MakeSender = fn(&ControllerConfig) -> Box<dyn Sender>;

/// Judges a controller that is code of the caller, on all cores and with the least differences of
/// the suite. The summary counts the runs of both controllers; runs that failed are left out.
///
/// # Errors
/// If there is no such baseline.
pub fn judge_own(
    suite: &Suite,
    make: MakeSender,
    baseline: &Candidate,
) -> Result<(Judged, Summary), FileError> {
    let own = Candidate { controller: OWN.to_owned(), settings: Vec::new() };
    let lists = [suite.with(baseline, 0, None)?, suite.with(&own, 0, None)?];
    let controllers: Arc<MakeControllers> = Arc::new(move |_, config| {
        let own = || Controllers { sender: make(config), receiver: None, transport_feedback: true };
        (config.profile == OWN).then(own)
    });
    let cancel = AtomicBool::new(false);
    let runner =
        Runner { jobs: all_cores(), cancel: &cancel, progress: &|_, _| (), cache: &NO_CACHE };
    let (measured, summary) = measure_by(runner, &lists, |scenario, options| {
        let controllers = Some(Arc::clone(&controllers));
        Ok(sim::run(scenario, Options { controllers, ..options })?)
    });
    Ok((Judged::of(suite, &measured[0], &measured[1], 1.0), summary))
}
