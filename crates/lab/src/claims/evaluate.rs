use super::Claim;
use super::expression::{Datum, Scope};
use super::template::Template;
use cel::Value;
use experiment::{Cell, Experiment};
use metrics::{Better, Unit, deviation, mean};
use serde::{Deserialize, Serialize};
use std::fmt;
use units::{Bitrate, Bytes, Duration, Ratio};

/// What a verification says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// The check holds.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// It does not.
    #[serde(rename = "not reproduced")]
    NotReproduced,
    /// It could not be put to the test.
    #[serde(rename = "not run")]
    NotRun,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Reproduced => "reproduced",
            Self::NotReproduced => "not reproduced",
            Self::NotRun => "not run",
        })
    }
}

/// A claim put to the test. As JSON, one line of `weir verify --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// The claim.
    pub id: String,
    /// How it went.
    pub status: Status,
    /// What was measured, for people; why not, if it was not run.
    pub measured: String,
    /// What was published.
    pub published: String,
    /// The check.
    pub check: String,
    /// The paper.
    pub paper: String,
    /// Where in the paper.
    #[serde(rename = "where")]
    pub location: String,
    /// In which setting.
    pub setting: String,
    /// The experiment.
    pub experiment: String,
    /// Runs a cell.
    pub runs: u32,
    /// The first seed.
    pub seed: u64,
    /// By what the schedule was multiplied, where it is a short form (`--quick`): the windows of
    /// the claim were multiplied too, but not the times that its check compares in seconds, such as
    /// how long a ramp takes.
    #[serde(skip_serializing_if = "is_full")]
    pub time_scale: f64,
    /// Who made the runs, where they are stored ones: `Chromium 156`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub who: String,
    /// The cells of which the machine limited a run, so that it says less of the network.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpu_limited: Vec<String>,
    /// What explains a difference from what was published, where the claim failed and that is
    /// known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// What was measured, cell by cell.
    pub values: Vec<Measured>,
    /// The same experiment under other controllers, if that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
}

/// A claim's experiment under another controller than the paper's.
#[derive(Clone, Debug, Serialize)]
pub struct Beside {
    /// The controller.
    pub controller: String,
    /// Whether the check holds; `null` if it could not be run.
    pub holds: Option<bool>,
    /// What was measured, for people; why not, if it was not run.
    pub measured: String,
    /// What was measured, cell by cell.
    pub values: Vec<Measured>,
}

/// A value of a cell, over its runs.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// The cell's parameters; empty without a grid.
    pub cell: String,
    /// The value's name in the claim.
    pub name: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: Unit,
    /// Which way it improves.
    pub better: Better,
    /// The mean over the runs; `null` in JSON where a run has none.
    pub mean: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// The standard deviation over the runs.
    pub std: f64,
    /// How many runs.
    pub runs: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_full(scale: &f64) -> bool {
    *scale >= 1.0
}

/// A shortened schedule in words: `schedule × 0.2`.
#[must_use]
pub fn schedule(scale: f64) -> String {
    let digits = format!("{scale:.3}");
    format!("schedule × {}", digits.trim_end_matches('0').trim_end_matches('.'))
}

impl Verdict {
    /// What the reader of the result must know of it: that the machine limited runs, that the
    /// schedule was shortened. Empty if nothing.
    #[must_use]
    pub fn caveat(&self) -> String {
        let limited = match self.cpu_limited.len() {
            0 => None,
            1 => Some("CPU-limited in 1 cell".to_owned()),
            cells => Some(format!("CPU-limited in {cells} cells")),
        };
        let quick =
            (!is_full(&self.time_scale)).then(|| format!("quick: {}", schedule(self.time_scale)));
        limited.into_iter().chain(quick).collect::<Vec<_>>().join("; ")
    }

    /// Puts what another controller did beside the paper's.
    pub fn add_beside(&mut self, controller: &str, other: Self) {
        let holds = match other.status {
            Status::Reproduced => Some(true),
            Status::NotReproduced => Some(false),
            Status::NotRun => None,
        };
        let (measured, values) = (other.measured, other.values);
        self.beside.push(Beside { controller: controller.to_owned(), holds, measured, values });
    }
}

/// The values of the runs of a cell: by value, then by run.
pub(super) type CellValues = Vec<Vec<f64>>;

impl Claim {
    fn verdict(
        &self,
        experiment: Option<&Experiment>,
        status: Status,
        measured: String,
    ) -> Verdict {
        Verdict {
            id: self.id.clone(),
            status,
            measured,
            published: self.published.clone(),
            check: self.check.clone(),
            paper: self.paper.clone(),
            location: self.location.clone(),
            setting: self.setting.clone(),
            experiment: self.experiment.clone(),
            runs: experiment.map_or(0, |experiment| experiment.runs),
            seed: experiment.map_or(0, |experiment| experiment.seed.0),
            time_scale: experiment.map_or(1.0, |experiment| experiment.time_scale),
            who: String::new(),
            cpu_limited: Vec::new(),
            note: if status == Status::NotReproduced { self.note.clone() } else { String::new() },
            values: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// The verdict when it could not be put to the test.
    pub(super) fn not_run(&self, experiment: Option<&Experiment>, why: String) -> Verdict {
        self.verdict(experiment, Status::NotRun, why)
    }

    /// The verdict on what was measured, by cell.
    pub(super) fn judge(&self, experiment: &Experiment, cells: &[CellValues]) -> Verdict {
        let verdict = match self.check(experiment.cells(), cells) {
            Ok((true, shown)) => self.verdict(Some(experiment), Status::Reproduced, shown),
            Ok((false, shown)) => self.verdict(Some(experiment), Status::NotReproduced, shown),
            Err(reason) => self.not_run(Some(experiment), format!("claim {}: {reason}", self.id)),
        };
        Verdict { values: self.values(experiment.cells().iter().zip(cells)), ..verdict }
    }

    /// The values of these cells.
    pub(super) fn values<'a>(
        &self,
        cells: impl Iterator<Item = (&'a Cell, &'a CellValues)>,
    ) -> Vec<Measured> {
        let mut all = Vec::new();
        for (cell, values) in cells {
            for ((name, request), runs) in self.values.iter().zip(values) {
                all.push(Measured {
                    cell: cell.label(),
                    name: name.clone(),
                    metric: request.metric.clone(),
                    unit: request.unit(),
                    better: request.better(),
                    mean: mean(runs),
                    min: runs.iter().copied().fold(f64::INFINITY, f64::min),
                    max: runs.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                    std: deviation(runs),
                    runs: runs.len(),
                });
            }
        }
        all
    }

    /// Whether the check holds, and what was measured in words.
    fn check(&self, cells: &[Cell], values: &[CellValues]) -> Result<(bool, String), String> {
        let data = cells.iter().zip(values).map(|(cell, values)| self.data(cell, values));
        let mut scope = Scope::new(data.collect::<Result<_, _>>()?)?;
        let mut measured: Vec<(String, Value)> = Vec::new();
        for (name, expression) in &self.measured {
            let value = expression.evaluate(&scope)?;
            scope.add(name, value.clone());
            measured.push((name.clone(), value));
        }
        let holds = match self.holds.evaluate(&scope) {
            Ok(Value::Bool(holds)) => holds,
            Ok(Value::Float(number)) if number.is_nan() => false,
            // CEL compares nothing with not-a-number, so nothing holds of it.
            Err(_) if measured.iter().any(|(_, value)| has_nan(value)) => false,
            Ok(other) => return Err(format!("'holds' is neither true nor false but {other:?}")),
            Err(reason) => return Err(reason),
        };
        let all = || Template::listing(self.measured.iter().map(|(name, _)| name.as_str()));
        Ok((holds, self.show.clone().unwrap_or_else(all).show(&measured)))
    }

    /// A cell as an expression sees it: parameters by axis, and the mean, least and greatest of
    /// each value.
    fn data(&self, cell: &Cell, values: &CellValues) -> Result<Vec<(String, Datum)>, String> {
        let mut data: Vec<(String, Datum)> = Vec::new();
        for (name, text) in &cell.params {
            data.push((name.clone(), parameter(text)));
        }
        for ((name, _), runs) in self.values.iter().zip(values) {
            let of = |fold: fn(f64, f64) -> f64, from| {
                Datum::Number(runs.iter().copied().fold(from, fold))
            };
            data.push((name.clone(), Datum::Number(mean(runs))));
            data.push((format!("{name}_min"), of(f64::min, f64::INFINITY)));
            data.push((format!("{name}_max"), of(f64::max, f64::NEG_INFINITY)));
        }
        for (index, (name, _)) in data.iter().enumerate() {
            if data[..index].iter().any(|(earlier, _)| earlier == name) {
                return Err(format!(
                    "'{name}' is both an axis of the experiment and a value, or a value twice"
                ));
            }
        }
        Ok(data)
    }
}

/// Whether a number in it could not be measured.
fn has_nan(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.is_nan(),
        Value::List(list) => list.iter().any(has_nan),
        _ => false,
    }
}

/// A quantity as a number (rates in bit/s, times in seconds, shares of one, sizes in bytes),
/// anything else as text.
fn parameter(text: &str) -> Datum {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    let rate = || text.parse::<Bitrate>().ok().map(Bitrate::as_bps_f64);
    let time = || text.parse::<Duration>().ok().map(Duration::as_secs_f64);
    let share = || text.parse::<Ratio>().ok().map(Ratio::as_f64);
    #[expect(clippy::cast_precision_loss, reason = "sizes are small")]
    let size = || text.parse::<Bytes>().ok().map(|bytes| bytes.get() as f64);
    let quantity = number.or_else(rate).or_else(time).or_else(share).or_else(size);
    quantity.map_or_else(|| Datum::Text(text.to_owned()), Datum::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_are_quantities_are_numbers() {
        for (text, number) in
            [("1.5", 1.5), ("750kbit/s", 750e3), ("50ms", 0.05), ("5%", 0.05), ("16kB", 16e3)]
        {
            assert_eq!(parameter(text), Datum::Number(number), "{text}");
        }
        for text in ["static", "droptail limit 150ms", "inf", "2 flows"] {
            assert_eq!(parameter(text), Datum::Text(text.into()));
        }
    }
}
