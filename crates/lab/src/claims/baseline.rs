use super::{Status, Verdict, schedule};
use experiment::Experiment;
use metrics::Better;
use serde::Deserialize;
use std::fmt;

/// A change of less than this share of the former value is no regression.
const TOLERANCE: f64 = 0.05;
/// Nor is one within this many standard errors of the difference of the means.
const STANDARD_ERRORS: f64 = 2.0;

/// Scales that differ by less are the same: they were written in decimals.
const SAME_SCALE: f64 = 1e-9;

/// A former output of `weir verify --json`.
#[derive(Clone, Debug)]
pub struct Baseline {
    path: String,
    verdicts: Vec<Former>,
}

/// What of a former verdict is compared.
#[derive(Clone, Debug, Deserialize)]
struct Former {
    id: String,
    status: Status,
    #[serde(default)]
    experiment: String,
    /// Left out where the schedule was full.
    #[serde(default = "full")]
    time_scale: f64,
    #[serde(default)]
    values: Vec<FormerValue>,
}

const fn full() -> f64 {
    1.0
}

#[derive(Clone, Debug, Deserialize)]
struct FormerValue {
    cell: String,
    name: String,
    mean: Option<f64>,
    std: Option<f64>,
    runs: usize,
}

/// Why a file is not a baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaselineError(pub String);

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BaselineError {}

/// What got worse.
#[derive(Clone, Debug, PartialEq)]
pub enum Regression {
    /// A claim that held and no longer does.
    Claim {
        /// Its id.
        id: String,
        /// What it is now.
        now: Status,
    },
    /// A metric.
    Metric {
        /// Which, in words: claim, value, cell.
        what: String,
        /// Before, in words.
        before: String,
        /// Now, in words.
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
    /// Reads one JSON object a line.
    ///
    /// # Errors
    /// The line that is none, or that there is no line.
    pub fn parse(text: &str, path: &str) -> Result<Self, BaselineError> {
        let mut verdicts = Vec::new();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            verdicts.push(serde_json::from_str(line).map_err(|error| {
                let suggestion = "write the file with 'weir verify --json'";
                BaselineError(format!(
                    "{path}:{}: not a verdict ({error}); {suggestion}",
                    index + 1
                ))
            })?);
        }
        if verdicts.is_empty() {
            return Err(BaselineError(format!(
                "{path}: it is empty; write the file with 'weir verify --json'"
            )));
        }
        Ok(Self { path: path.to_owned(), verdicts })
    }

    /// Whether there is anything to compare a claim with.
    #[must_use]
    pub fn knows(&self, id: &str) -> bool {
        self.verdicts.iter().any(|former| former.id == id)
    }

    /// Sees that these experiments have the schedules that they had: numbers of a short form are
    /// not those of the full one.
    ///
    /// # Errors
    /// The first claim whose experiment had another.
    pub fn check(&self, experiments: &[Experiment]) -> Result<(), BaselineError> {
        for former in self.verdicts.iter().filter(|former| former.status != Status::NotRun) {
            let now = experiments.iter().find(|experiment| experiment.name == former.experiment);
            let Some(now) =
                now.filter(|now| (now.time_scale - former.time_scale).abs() > SAME_SCALE)
            else {
                continue;
            };
            return Err(BaselineError(format!(
                "{}: {} was verified with the {}, and would be now with the {}; compare --quick with --quick",
                self.path,
                former.id,
                schedule(former.time_scale),
                schedule(now.time_scale)
            )));
        }
        Ok(())
    }

    /// What got worse since. Claims that the baseline does not know are not compared.
    #[must_use]
    pub fn regressions(&self, now: &[Verdict]) -> Vec<Regression> {
        let mut regressions = Vec::new();
        for verdict in now {
            let Some(former) = self.verdicts.iter().find(|former| former.id == verdict.id) else {
                continue;
            };
            if former.status == Status::Reproduced && verdict.status != Status::Reproduced {
                regressions.push(Regression::Claim { id: verdict.id.clone(), now: verdict.status });
            }
            for value in &verdict.values {
                let same = |old: &&FormerValue| old.name == value.name && old.cell == value.cell;
                if let Some(old) = former.values.iter().find(same).filter(|old| worse(old, value)) {
                    let place = if value.cell.is_empty() {
                        String::new()
                    } else {
                        format!(" ({})", value.cell)
                    };
                    regressions.push(Regression::Metric {
                        what: format!("{} {}, {}{place}", verdict.id, value.name, value.metric),
                        before: value.unit.show(old.mean.unwrap_or(f64::NAN)),
                        now: value.unit.show(value.mean),
                    });
                }
            }
        }
        regressions
    }
}

/// Whether a value moved the wrong way by more than the tolerance and more than chance explains.
fn worse(old: &FormerValue, new: &super::Measured) -> bool {
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
