use super::read::IN_SCENARIO;
use super::run::Results;
use super::{Objective, Scenario, Setting, Sweep};
use crate::expression::{Datum, ExpressionError, Scope, as_number, map};
use cel::Value;
use metrics::mean;

/// The results of a sweep by point.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The points that have all their runs, in their order.
    pub points: Vec<PointResult>,
    /// What was wrong, one line per failed run or point without an objective: the first 20.
    pub faults: Vec<String>,
    /// The number of failed runs and of values of an objective that are no number.
    pub failures: usize,
}

/// The most faults that are written out. Our choice: a screenful.
const MAX_FAULTS: usize = 20;

/// A point of the space and what was found there.
#[derive(Clone, Debug)]
pub struct PointResult {
    /// Its index.
    pub point: usize,
    /// The values of the parameters.
    pub settings: Vec<Setting>,
    /// By scenario.
    pub scenarios: Vec<InScenario>,
    /// The objective; not-a-number if it could not be computed.
    pub objective: f64,
}

/// What was found at a point in one scenario.
#[derive(Clone, Debug)]
pub struct InScenario {
    /// The values of the scenario: means over the runs.
    pub values: Vec<f64>,
    /// The objective of the scenario: its mean over the runs.
    pub objective: f64,
    /// The same between 0, the least of all points, and 1, the greatest.
    pub normalised: f64,
}

impl Table {
    /// Counts a fault, and keeps the line if it is one of the first.
    pub(super) fn fault(&mut self, line: impl FnOnce() -> String) {
        self.failures += 1;
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(line());
        }
    }

    /// The points with an objective, the greatest objective first.
    #[must_use]
    pub fn ranked(&self) -> Vec<&PointResult> {
        let mut points: Vec<&PointResult> =
            self.points.iter().filter(|point| point.objective.is_finite()).collect();
        points.sort_by(|a, b| b.objective.total_cmp(&a.objective).then(a.point.cmp(&b.point)));
        points
    }

    /// The rank of an objective among the points, from 1: one more than the points above it.
    #[must_use]
    pub fn rank(&self, objective: f64) -> usize {
        1 + self.points.iter().filter(|point| point.objective > objective).count()
    }
}

impl Sweep {
    /// Computes the objectives of the points that have all their runs.
    #[must_use]
    pub fn table(&self, results: &Results) -> Table {
        let mut table = Table::default();
        let per_point = self.runs_per_point();
        for point in 0..self.points() {
            let numbers = point * per_point..(point + 1) * per_point;
            let settings = self.settings(point);
            for number in numbers.clone() {
                if let Some(error) = results.errors.get(&number) {
                    table.fault(|| format!("{}: {error}", self.run_in_words(number, &settings)));
                }
            }
            if numbers.clone().all(|number| results.has(number)) {
                let runs: Vec<&[f64]> = numbers
                    .map(|number| results.values[number].as_deref().unwrap_or(&[]))
                    .collect();
                self.add_point(&mut table, point, settings, &runs);
            }
        }
        self.normalise(&mut table);
        table
    }

    /// Adds a point with the values of its runs, which are empty for a run that failed. The
    /// objectives of the points are computed by [`Self::normalise`].
    pub(super) fn add_point(
        &self,
        table: &mut Table,
        point: usize,
        settings: Vec<Setting>,
        runs: &[&[f64]],
    ) {
        let per_scenario = self.runs as usize;
        let mut scenarios = Vec::with_capacity(self.scenarios.len());
        for (scenario, runs) in self.scenarios.iter().zip(runs.chunks(per_scenario)) {
            let mut objectives = Vec::with_capacity(per_scenario);
            for (run, values) in (0..).zip(runs) {
                objectives.push(self.objective_of_run(table, scenario, &settings, run, values));
            }
            let of_value = |index: usize| {
                let value = |values: &&[f64]| values.get(index).copied().unwrap_or(f64::NAN);
                mean(&runs.iter().map(value).collect::<Vec<_>>())
            };
            scenarios.push(InScenario {
                values: (0..scenario.values.len()).map(of_value).collect(),
                objective: mean(&objectives),
                normalised: f64::NAN,
            });
        }
        table.points.push(PointResult { point, settings, scenarios, objective: f64::NAN });
    }

    /// The objective of a scenario in one run; not-a-number if the run failed.
    pub(super) fn objective_of_run(
        &self,
        table: &mut Table,
        scenario: &Scenario,
        settings: &[Setting],
        run: u32,
        values: &[f64],
    ) -> f64 {
        if values.is_empty() && !scenario.values.is_empty() {
            return f64::NAN;
        }
        let found = Scope::new().and_then(|mut scope| {
            for ((name, _), value) in scenario.values.iter().zip(values) {
                scope.add(name, Value::Float(*value));
            }
            self.add_numbers(&mut scope, settings);
            number(&scenario.objective, &scope)
        });
        let reason = match found {
            Ok(number) if number.is_finite() => return number,
            Ok(number) => {
                format!("it is {}", if number.is_nan() { "not a number" } else { "infinite" })
            }
            Err(error) => error.to_string(),
        };
        table.fault(|| {
            let values = scenario.values.iter().zip(values);
            let values: Vec<_> =
                values.map(|((name, _), value)| format!("{name}={value}")).collect();
            let place = self.describe(settings);
            let seed = self.seed_of(run);
            let line = format!("{reason} at {place}, seed {seed}, where {}", values.join(", "));
            scenario.objective.fault(&self.path, line).to_string()
        });
        f64::NAN
    }

    /// Normalises the objectives of the scenarios over all points, and computes those of the
    /// points.
    pub(super) fn normalise(&self, table: &mut Table) {
        for index in 0..self.scenarios.len() {
            let all = table.points.iter().map(|point| point.scenarios[index].objective);
            let (least, greatest) = all
                .filter(|value| value.is_finite())
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), value| {
                    (least.min(value), greatest.max(value))
                });
            let span = greatest - least;
            for point in &mut table.points {
                let one = &mut point.scenarios[index];
                // All points are equally good where the objective does not vary.
                one.normalised = if span > 0.0 { (one.objective - least) / span } else { 1.0 };
                if one.objective.is_nan() {
                    one.normalised = f64::NAN;
                }
            }
        }
        let mut points = std::mem::take(&mut table.points);
        for point in &mut points {
            point.objective = self.objective_of_point(table, point);
        }
        table.points = points;
    }

    fn objective_of_point(&self, table: &mut Table, point: &PointResult) -> f64 {
        let found = Scope::new().and_then(|mut scope| {
            for (scenario, found) in self.scenarios.iter().zip(&point.scenarios) {
                let names = scenario.values.iter().map(|(name, _)| name.as_str());
                let numbers = found.values.iter().copied();
                let own = IN_SCENARIO.into_iter().zip([found.objective, found.normalised]);
                let entries = names.zip(numbers).chain(own);
                let entries =
                    entries.map(|(name, number)| (name.to_owned(), Datum::Number(number)));
                scope.add(&scenario.name, map(entries.collect()));
            }
            self.add_numbers(&mut scope, &point.settings);
            number(&self.objective, &scope)
        });
        match found {
            Ok(number) if number.is_finite() => return number,
            // The runs that have no objective are reported already.
            Ok(number)
                if number.is_nan() && point.scenarios.iter().any(|one| one.objective.is_nan()) => {}
            Ok(number) => table.fault(|| {
                let reason = format!("it is {number} at {}", self.describe(&point.settings));
                self.objective.fault(&self.path, reason).to_string()
            }),
            Err(error) => table.fault(|| {
                let reason = format!("{error} at {}", self.describe(&point.settings));
                self.objective.fault(&self.path, reason).to_string()
            }),
        }
        f64::NAN
    }

    fn add_numbers(&self, scope: &mut Scope, settings: &[Setting]) {
        for (parameter, setting) in self.parameters.iter().zip(settings) {
            if let Some(number) = setting.number {
                scope.add(&parameter.name, Value::Float(number));
            }
        }
    }

    /// A run in words: `run 17 (scenario tcp, k_up=0.01, seed 1)`.
    pub(super) fn run_in_words(&self, number: usize, settings: &[Setting]) -> String {
        let place = self.place(number);
        let scenario = &self.scenarios[place.scenario].name;
        let (point, seed) = (self.describe(settings), self.seed_of(place.run));
        format!("run {number} (scenario {scenario}, {point}, seed {seed})")
    }
}

/// The value of an objective.
fn number(objective: &Objective, scope: &Scope) -> Result<f64, ExpressionError> {
    Ok(as_number(&objective.expression.evaluate(scope)?).unwrap_or(f64::NAN))
}
