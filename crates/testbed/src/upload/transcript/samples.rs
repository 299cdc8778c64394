use super::{SampleGrid, number};
use serde_json::{Map, Value};
use sim::recording::Column;
use units::Time;

/// The samples of a flow; each value holds until the next.
pub(super) struct Samples<'a> {
    names: &'a [&'static str],
    grid: &'a SampleGrid,
    newest: Vec<f64>,
    values: Vec<Vec<f64>>,
    taken: usize,
}

impl<'a> Samples<'a> {
    pub(super) fn new(names: &'a [&'static str], grid: &'a SampleGrid) -> Self {
        let count = names.len();
        Self {
            names,
            grid,
            newest: vec![f64::NAN; count],
            values: vec![Vec::new(); count],
            taken: 0,
        }
    }

    /// Takes the values of a line; returns false if the line has none.
    pub(super) fn take(&mut self, at: Time, object: &Map<String, Value>) -> bool {
        let found: Vec<f64> =
            self.names.iter().map(|name| number(object, name).unwrap_or(f64::NAN)).collect();
        if found.iter().all(|value| value.is_nan()) {
            return false;
        }
        self.fill_before(at);
        if at <= Time::ZERO + self.grid.duration {
            self.newest = found;
        }
        true
    }

    /// Fills the samples before a time with the newest values so far.
    fn fill_before(&mut self, at: Time) {
        while self.taken < self.grid.samples() && self.grid.time(self.taken) < at {
            self.values
                .iter_mut()
                .zip(&self.newest)
                .for_each(|(values, newest)| values.push(*newest));
            self.taken += 1;
        }
    }

    pub(super) fn newest(&self, name: &str) -> f64 {
        let index = self.names.iter().position(|other| *other == name);
        index.map_or(0.0, |index| self.newest[index]).max(0.0)
    }

    /// The columns that have a value; not-a-number outside the active time of the flow.
    pub(super) fn columns(mut self, active: (Time, Time)) -> Vec<Column> {
        self.fill_before(Time::MAX);
        let grid = self.grid;
        let mut columns = Vec::new();
        for (name, mut values) in self.names.iter().copied().zip(self.values) {
            for (index, value) in values.iter_mut().enumerate() {
                let time = grid.time(index);
                if time <= active.0 || time > active.1 {
                    *value = f64::NAN;
                }
            }
            if values.iter().any(|value| !value.is_nan()) {
                columns.push(Column { name, values });
            }
        }
        columns
    }
}
