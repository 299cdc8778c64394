use super::{Measured, Status, Verdict, schedule};
use experiment::Experiment;
use metrics::Better;
use serde::Deserialize;
use std::fmt;

/// A change of at most this share of the baseline is no regression.
const TOLERANCE: f64 = 0.05;
/// A change within this many standard errors of the difference of the means is no regression.
const STANDARD_ERRORS: f64 = 2.0;

/// Time scales that differ by less are equal. They were written in decimals.
const SAME_SCALE: f64 = 1e-9;

/// A saved output of `weir verify --json`.
#[derive(Clone, Debug)]
pub struct Baseline {
    path: String,
    verdicts: Vec<SavedVerdict>,
}

/// The part of a saved verdict that is compared.
#[derive(Clone, Debug, Deserialize)]
struct SavedVerdict {
    id: String,
    status: Status,
    #[serde(default)]
    experiment: String,
    /// Absent if the schedule was full.
    #[serde(default = "full")]
    time_scale: f64,
    #[serde(default)]
    values: Vec<SavedValue>,
    /// The equations that the paper prints.
    as_printed: Option<SavedResult>,
    /// Other controllers and improvements.
    #[serde(default)]
    beside: Vec<SavedResult>,
}

/// A saved result of the same experiment with other code.
#[derive(Clone, Debug, Deserialize)]
struct SavedResult {
    #[serde(default)]
    controller: String,
    holds: Option<bool>,
    #[serde(default)]
    values: Vec<SavedValue>,
}

const fn full() -> f64 {
    1.0
}

#[derive(Clone, Debug, Deserialize)]
struct SavedValue {
    cell: String,
    name: String,
    mean: Option<f64>,
    std: Option<f64>,
    runs: usize,
}

/// Why a file cannot be the baseline of a verification.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// A line is not a verdict.
    #[error("{path}:{line}: not a verdict ({error}); write the file with 'weir verify --json'")]
    Line {
        /// The file.
        path: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong with the line.
        error: serde_json::Error,
    },
    /// The file has no verdict.
    #[error("{path}: the file is empty; write it with 'weir verify --json'")]
    Empty {
        /// The file.
        path: String,
    },
    /// The experiment of a claim had another schedule.
    #[error(
        "{path}: {claim} was verified with the {before}, but now has the {now}; \
         compare --quick with --quick"
    )]
    Schedule {
        /// The file.
        path: String,
        /// The claim.
        claim: String,
        /// The schedule in the baseline.
        before: String,
        /// The schedule now.
        now: String,
    },
}

/// A claim or a metric that is worse than in the baseline.
#[derive(Clone, Debug, PartialEq)]
pub enum Regression {
    /// A claim that was reproduced before and is not now.
    Claim {
        /// The id of the claim, and the controller if it is not that of the experiment.
        id: String,
        /// The result now.
        now: Status,
    },
    /// A metric that is worse.
    Metric {
        /// The claim, value, metric and cell.
        what: String,
        /// The value in the baseline.
        before: String,
        /// The value now.
        now: String,
    },
}

impl fmt::Display for Regression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claim { id, now } => write!(f, "{id} was reproduced, now {now}"),
            Self::Metric { what, before, now } => write!(f, "{what} was {before}, now {now}"),
        }
    }
}

impl Baseline {
    /// Reads one JSON object per line.
    ///
    /// # Errors
    /// If a line is not a verdict, or the file is empty.
    pub fn parse(text: &str, path: &str) -> Result<Self, BaselineError> {
        let mut verdicts = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            verdicts.push(serde_json::from_str(line).map_err(|error| BaselineError::Line {
                path: path.to_owned(),
                line: index + 1,
                error,
            })?);
        }
        if verdicts.is_empty() {
            return Err(BaselineError::Empty { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), verdicts })
    }

    /// Whether the baseline has a verdict on this claim.
    #[must_use]
    pub fn knows(&self, id: &str) -> bool {
        self.verdicts.iter().any(|saved| saved.id == id)
    }

    /// Checks that the experiments have the schedules of the baseline. Values of a short form and
    /// of the full form cannot be compared.
    ///
    /// # Errors
    /// The first claim whose experiment has another schedule.
    pub fn check(&self, experiments: &[Experiment]) -> Result<(), BaselineError> {
        for saved in self.verdicts.iter().filter(|saved| saved.status != Status::NotRun) {
            let now = experiments.iter().find(|experiment| experiment.name == saved.experiment);
            let Some(now) =
                now.filter(|now| (now.time_scale - saved.time_scale).abs() > SAME_SCALE)
            else {
                continue;
            };
            return Err(BaselineError::Schedule {
                path: self.path.clone(),
                claim: saved.id.clone(),
                before: schedule(saved.time_scale),
                now: schedule(now.time_scale),
            });
        }
        Ok(())
    }

    /// The regressions since the baseline, as run, as printed, and under other controllers. Claims
    /// and controllers without a result in the baseline are not compared.
    #[must_use]
    pub fn regressions(&self, now: &[Verdict]) -> Vec<Regression> {
        let mut regressions = Vec::new();
        for verdict in now {
            let Some(saved) = self.verdicts.iter().find(|saved| saved.id == verdict.id) else {
                continue;
            };
            let id = &verdict.id;
            regressions.extend(compare(
                id,
                (saved.status.holds(), &saved.values),
                (verdict.status, &verdict.values),
            ));
            if let (Some(old), Some(new)) = (&saved.as_printed, &verdict.as_printed) {
                let now = (Status::of(new.holds), &*new.values);
                regressions.extend(compare(
                    &format!("{id} as printed"),
                    (old.holds, &old.values),
                    now,
                ));
            }
            for new in &verdict.beside {
                let same = |old: &&SavedResult| old.controller == new.controller;
                let Some(old) = saved.beside.iter().find(same) else { continue };
                let now = (Status::of(new.holds), &*new.values);
                let id = format!("{id} under {}", new.controller);
                regressions.extend(compare(&id, (old.holds, &old.values), now));
            }
        }
        regressions
    }
}

/// The regressions of one result: whether the check holds, and the values.
fn compare(
    id: &str,
    (held, before): (Option<bool>, &[SavedValue]),
    (now, values): (Status, &[Measured]),
) -> Vec<Regression> {
    let mut regressions = Vec::new();
    if held == Some(true) && now != Status::Reproduced {
        regressions.push(Regression::Claim { id: id.to_owned(), now });
    }
    for value in values {
        let same = |old: &&SavedValue| old.name == value.name && old.cell == value.cell;
        let Some(old) = before.iter().find(same).filter(|old| worse(old, value)) else { continue };
        let cell = if value.cell.is_empty() { String::new() } else { format!(" ({})", value.cell) };
        regressions.push(Regression::Metric {
            what: format!("{id} {}, {}{cell}", value.name, value.metric),
            before: value.unit.show(old.mean.unwrap_or(f64::NAN)),
            now: value.unit.show(value.mean),
        });
    }
    regressions
}

/// Whether a value got worse by more than the tolerance and by more than chance explains.
fn worse(old: &SavedValue, new: &Measured) -> bool {
    let Some(before) = old.mean else { return false };
    if new.mean.is_nan() {
        return new.better != Better::Neither;
    }
    let loss = match new.better {
        Better::Higher => before - new.mean,
        Better::Lower => new.mean - before,
        Better::Neither => return false,
    };
    let error = |std: f64, runs: usize| std * std / runs.max(1) as f64;
    let spread = (error(old.std.unwrap_or(0.0), old.runs) + error(new.std, new.runs)).sqrt();
    loss > TOLERANCE * before.abs() && loss > STANDARD_ERRORS * spread
}
