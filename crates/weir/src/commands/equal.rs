//! `weir equal`.

use super::eprint;
use crate::cli::Equal;
use crate::failure::Failure;
use crate::output::Output;
use lab::judge::{Candidate, Equality};
use schemars::JsonSchema;
use serde::Serialize;
use std::process::ExitCode;

/// A cell of `weir equal --json`, or a recorded call.
#[derive(Serialize, JsonSchema)]
pub(super) struct EqualLine<'a> {
    /// The cell; of a recorded call the file.
    cell: &'a str,
    #[serde(flatten)]
    equality: Equality,
}

pub(crate) fn run(args: &Equal) -> Result<ExitCode, Failure> {
    if !(args.tolerance.is_finite() && args.tolerance >= 0.0) {
        return Err(Failure::new("--tolerance must be at least 0"));
    }
    #[cfg(feature = "testbed")]
    if let Some(file) = &args.log {
        return recorded(args, file);
    }
    let experiment = lab::open(&args.experiment)?.simulated()?;
    let first = Candidate { controller: args.first.clone(), settings: Vec::new() };
    let second = Candidate { controller: args.second.clone(), settings: args.set.clone() };
    let mut out = Output::new();
    let mut code = ExitCode::SUCCESS;
    for cell in experiment.cells() {
        let label = cell.label();
        let scenario = cell.scenario(experiment.seed);
        match lab::judge::equal(&scenario, [&first, &second], args.tolerance) {
            Err(failure) => {
                code = ExitCode::FAILURE;
                eprint(&format!("{label}: {failure}"));
            }
            Ok(equality) => {
                if !equality.diverged.is_empty() {
                    code = ExitCode::FAILURE;
                }
                if args.json {
                    out.json(&EqualLine { cell: &label, equality })?;
                } else {
                    shown(&mut out, &label, &equality)?;
                }
            }
        }
    }
    out.finish()?;
    Ok(code)
}

/// The messages of a recorded call. Rates are those of Chromium, as for `weir replay`.
#[cfg(feature = "testbed")]
fn recorded(args: &Equal, file: &std::path::Path) -> Result<ExitCode, Failure> {
    use testbed::replay::{controller, replay_through};
    let name = file.display().to_string();
    let of_file = |error: &dyn std::fmt::Display| Failure::new(format!("{name}: {error}"));
    let config = |profile: &str, set: &[(String, String)]| {
        controller(profile, set).map_err(|error| Failure::new(format!("--set: {error}")))
    };
    let both = [config(&args.first, &[])?, config(&args.second, &args.set)?];
    let opened = super::import::opened(file)?;
    let log = opened.log().ok_or_else(|| of_file(&"it has no packets; give an RtcEventLog"))?;
    let play = |sender| replay_through(log, sender).map(drop);
    let found = lab::judge::equal_recorded([&both[0], &both[1]], args.tolerance, play);
    let equality = found.map_err(|failure| of_file(&failure))?;
    let same = equality.diverged.is_empty();
    let mut out = Output::new();
    if args.json {
        out.json(&EqualLine { cell: &name, equality })?;
    } else {
        shown(&mut out, &name, &equality)?;
    }
    out.finish()?;
    Ok(if same { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn shown(out: &mut Output, label: &str, equality: &Equality) -> Result<(), Failure> {
    let compared = equality.compared;
    let Some(first) = equality.diverged.first() else {
        return out.line(format_args!("{label}: equal after {compared} messages"));
    };
    out.line(format_args!(
        "{label}: first divergence at {:.3} s, message {} of {compared}: {} of {} is {} and {}",
        first.time, first.message, first.value, first.call, first.first, first.second
    ))?;
    for diverged in &equality.diverged {
        out.line(format_args!(
            "  {} of {} from {:.3} s on, at most {:.2} %",
            diverged.value,
            diverged.call,
            diverged.time,
            diverged.greatest * 100.0
        ))?;
    }
    Ok(())
}
