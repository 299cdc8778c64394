use super::template::Template;
use super::untested::{CheckError, Untested};
use super::{CELLS, Claim};
use crate::expression::{Datum, Scope};
use cel::Value;
use experiment::{Cell, Experiment};
use metrics::{Better, Unit, deviation, mean};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use units::{Bitrate, Bytes, Duration, Ratio};

/// The result of the verification of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Status {
    /// The check holds.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// The check does not hold.
    #[serde(rename = "not reproduced")]
    NotReproduced,
    /// The claim could not be tested.
    #[serde(rename = "not run")]
    NotRun,
}

impl Status {
    /// The status of a check that holds, does not hold, or could not be tested (`None`).
    pub(super) fn of(holds: Option<bool>) -> Self {
        match holds {
            Some(true) => Self::Reproduced,
            Some(false) => Self::NotReproduced,
            None => Self::NotRun,
        }
    }

    /// Whether the check holds; `None` if the claim could not be tested.
    pub(super) fn holds(self) -> Option<bool> {
        match self {
            Self::Reproduced => Some(true),
            Self::NotReproduced => Some(false),
            Self::NotRun => None,
        }
    }
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

/// The verdict on a claim. As JSON, one line of `weir verify --json`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Verdict {
    /// The id of the claim: `C-5`.
    pub id: String,
    /// The result.
    pub status: Status,
    /// The measured values as text; the reason if the claim was not tested.
    pub measured: String,
    /// The published result.
    pub published: String,
    /// The check as text.
    pub check: String,
    /// The short name of the paper: `carlucci-2017`.
    pub paper: String,
    /// The place in the paper: `Fig. 11`.
    #[serde(rename = "where")]
    pub location: String,
    /// The setting of the experiment.
    pub setting: String,
    /// The name of the experiment.
    pub experiment: String,
    /// Number of runs per grid cell.
    pub runs: u32,
    /// The first seed.
    pub seed: u64,
    /// The factor of the schedule; below 1 in a short form (`--quick`). The time windows of the
    /// claim are scaled too, but not the times that its check compares in seconds, such as the
    /// duration of a ramp.
    #[serde(skip_serializing_if = "is_full")]
    pub time_scale: f64,
    /// The source of stored runs: `Chromium 156`; empty for runs of this verification.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub who: String,
    /// The cells in which the machine, not the network, limited a run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpu_limited: Vec<String>,
    /// The known reason for the difference from the published result; empty if the check holds or
    /// no reason is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The result of the equations that the paper prints; absent if the study ran what it prints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_printed: Option<Printed>,
    /// The results of the experiment with one thing changed (`--with factors`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub factors: Vec<Changed>,
    /// The measured values of each cell.
    pub values: Vec<Measured>,
    /// The results of the same experiment under other controllers or with improvements (`--with`).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
}

/// The result of a claim's experiment with one thing changed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Changed {
    /// What is changed.
    pub factor: String,
    /// Whether the check holds; `null` if the experiment cannot be changed so.
    pub holds: Option<bool>,
    /// The measured values as text; the reason if the claim was not tested.
    pub measured: String,
}

/// The result of a claim's experiment as the paper prints it
/// ([`Experiment::as_printed`]).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Printed {
    /// Whether the check holds; `null` if the claim could not be tested.
    pub holds: Option<bool>,
    /// The measured values as text; the reason if the claim was not tested.
    pub measured: String,
    /// The known reason why the check does not hold; empty if it holds or no reason is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The measured values of each cell.
    pub values: Vec<Measured>,
}

/// The result of a claim's experiment under another controller than the paper's.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Beside {
    /// The controller (`gcc:libwebrtc`) or improvement (`+short-hold`).
    pub controller: String,
    /// Whether the check holds; `null` if the claim could not be tested.
    pub holds: Option<bool>,
    /// The measured values as text; the reason if the claim was not tested.
    pub measured: String,
    /// The measured values of each cell.
    pub values: Vec<Measured>,
}

/// A value of a cell over its runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Measured {
    /// The parameters of the cell; empty without a grid.
    pub cell: String,
    /// The name of the value in the claim.
    pub name: String,
    /// The metric.
    pub metric: String,
    /// The unit of the metric.
    pub unit: Unit,
    /// The direction of improvement.
    pub better: Better,
    /// The mean over the runs; `null` in JSON if a run has no value.
    #[schemars(with = "Option<f64>")]
    pub mean: f64,
    /// The least value.
    #[schemars(with = "Option<f64>")]
    pub min: f64,
    /// The greatest value.
    #[schemars(with = "Option<f64>")]
    pub max: f64,
    /// The standard deviation over the runs.
    #[schemars(with = "Option<f64>")]
    pub std: f64,
    /// The number of runs.
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

    /// Adds the result of another controller or of an improvement.
    pub fn add_beside(&mut self, controller: &str, other: Self) {
        let holds = other.status.holds();
        let (measured, values) = (other.measured, other.values);
        self.beside.push(Beside { controller: controller.to_owned(), holds, measured, values });
    }

    /// Adds the result of the experiment with one thing changed.
    pub(super) fn add_factor(&mut self, factor: &str, other: Self) {
        let (holds, measured) = (other.status.holds(), other.measured);
        self.factors.push(Changed { factor: factor.to_owned(), holds, measured });
    }

    /// Adds the result of the experiment as the paper prints it.
    pub(super) fn add_printed(&mut self, other: Self, note: &str) {
        let holds = other.status.holds();
        let note = if holds == Some(false) { note.to_owned() } else { String::new() };
        let (measured, values) = (other.measured, other.values);
        self.as_printed = Some(Printed { holds, measured, note, values });
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
            as_printed: None,
            factors: Vec::new(),
            values: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// The verdict on a claim that could not be tested.
    pub(super) fn not_run(&self, experiment: Option<&Experiment>, reason: &Untested) -> Verdict {
        self.verdict(experiment, Status::NotRun, reason.to_string())
    }

    /// The verdict on the measured values, by cell.
    pub(super) fn judge(&self, experiment: &Experiment, cells: &[CellValues]) -> Verdict {
        let seen = experiment.cells().iter().zip(cells).filter(|(cell, _)| self.sees(cell));
        let data = seen.map(|(cell, values)| self.data(cell, values)).collect::<Result<_, _>>();
        let verdict = match data {
            Ok(data) => self.judge_data(Some(experiment), data),
            Err(error) => self.not_checked(Some(experiment), error),
        };
        Verdict { values: self.values(experiment.cells().iter().zip(cells)), ..verdict }
    }

    /// The verdict on these variables of the cells.
    pub(super) fn judge_data(
        &self,
        experiment: Option<&Experiment>,
        cells: Vec<Vec<(String, Datum)>>,
    ) -> Verdict {
        match self.check(cells) {
            Ok((true, shown)) => self.verdict(experiment, Status::Reproduced, shown),
            Ok((false, shown)) => self.verdict(experiment, Status::NotReproduced, shown),
            Err(error) => self.not_checked(experiment, error),
        }
    }

    fn not_checked(&self, experiment: Option<&Experiment>, error: CheckError) -> Verdict {
        self.not_run(experiment, &Untested::Check { claim: self.id.clone(), error })
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

    /// Whether the check holds, and the measured values as text.
    fn check(&self, data: Vec<Vec<(String, Datum)>>) -> Result<(bool, String), CheckError> {
        if data.is_empty() {
            return Err(CheckError::NoCell);
        }
        let mut scope = Scope::of_list(CELLS, data)?;
        let mut measured: Vec<(String, Value)> = Vec::new();
        for (name, expression) in &self.measured {
            let value = expression.evaluate(&scope)?;
            scope.add(name, value.clone());
            measured.push((name.clone(), value));
        }
        let holds = match self.holds.evaluate(&scope) {
            Ok(Value::Bool(holds)) => holds,
            Ok(Value::Float(number)) if number.is_nan() => false,
            // In CEL a comparison with not-a-number is an error. Here it means that the check
            // fails.
            Err(_) if measured.iter().any(|(_, value)| has_nan(value)) => false,
            Ok(other) => return Err(CheckError::NotBoolean(format!("{other:?}"))),
            Err(error) => return Err(error.into()),
        };
        let all = || Template::listing(self.measured.iter().map(|(name, _)| name.as_str()));
        Ok((holds, self.show.clone().unwrap_or_else(all).show(&measured)))
    }

    /// Whether the check sees the cell. An axis that an override removed restricts nothing.
    fn sees(&self, cell: &Cell) -> bool {
        let value =
            |axis| cell.params.iter().find(|(name, _)| name == axis).map(|(_, value)| value);
        self.cells.iter().all(|(axis, wanted)| value(axis).is_none_or(|value| value == wanted))
    }

    /// The variables of a cell in an expression: its parameters by axis, and the mean, least and
    /// greatest of each value.
    fn data(&self, cell: &Cell, values: &CellValues) -> Result<Vec<(String, Datum)>, CheckError> {
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
                return Err(CheckError::DuplicateName(name.clone()));
            }
        }
        Ok(data)
    }
}

/// Whether the value contains a number that was not measured.
fn has_nan(value: &Value) -> bool {
    match value {
        Value::Float(number) => number.is_nan(),
        Value::List(list) => list.iter().any(has_nan),
        _ => false,
    }
}

/// A parameter as a number (rates in bit/s, times in seconds, ratios of 1, sizes in bytes), or as
/// text if it is no quantity.
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
