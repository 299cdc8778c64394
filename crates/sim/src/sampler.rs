//! Collects samples into columns without looking up names, because a stream shows the same names in
//! the same order each time.

use crate::recording::{Column, Points, StreamKind, StreamRecord};
use units::Time;

/// The samples of one stream during the run.
#[derive(Clone)]
pub struct Sampler {
    name: String,
    kind: StreamKind,
    active: (Time, Time),
    /// Samples of the stream's active time; `finish` adds the rest.
    columns: Vec<Column>,
    /// The number of samples before, during and after the stream's active time.
    before: usize,
    taken: usize,
    after: usize,
}

impl Sampler {
    /// A sampler for a stream that is active in `active`, from start to end.
    #[must_use]
    pub fn new(name: String, kind: StreamKind, active: (Time, Time)) -> Self {
        Self { name, kind, active, columns: Vec::new(), before: 0, taken: 0, after: 0 }
    }

    /// The stream's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes one sample. If the stream is active at `now`, calls `show` with a sink for (name,
    /// value).
    pub fn sample(&mut self, now: Time, show: impl FnOnce(&mut dyn FnMut(&'static str, f64))) {
        if now <= self.active.0 {
            self.before += 1;
        } else if now > self.active.1 {
            self.after += 1;
        } else {
            let (columns, taken, mut next) = (&mut self.columns, self.taken, 0);
            show(&mut |name, value| {
                column_mut(columns, next, name, taken).values.push(value);
                next += 1;
            });
            self.taken += 1;
            for column in &mut self.columns {
                column.values.resize(self.taken, f64::NAN);
            }
        }
    }

    /// Counts a sample of a stream that has no ends.
    pub(crate) fn skip(&mut self, now: Time) {
        self.sample(now, |_| ());
    }

    /// Ends the stream: samples after `now` are NaN.
    pub fn close(&mut self, now: Time) {
        self.active.1 = self.active.1.min(now);
    }

    /// The record of the stream with its points.
    #[must_use]
    pub fn finish(self, points: Vec<Points>) -> StreamRecord {
        let (before, count) = (self.before, self.before + self.taken + self.after);
        let whole = |column: Column| {
            let mut values = Vec::with_capacity(count);
            values.resize(before, f64::NAN);
            values.extend(column.values);
            values.resize(count, f64::NAN);
            Column { name: column.name, values }
        };
        let columns = self.columns.into_iter().map(whole).collect();
        StreamRecord { name: self.name, kind: self.kind, active: self.active, columns, points }
    }
}

/// The column `name`: at index `usual`, else elsewhere, else a new one.
fn column_mut<'a>(
    columns: &'a mut Vec<Column>,
    usual: usize,
    name: &'static str,
    taken: usize,
) -> &'a mut Column {
    let at_usual = columns
        .get(usual)
        .is_some_and(|column| std::ptr::eq(column.name, name) || column.name == name);
    let index =
        if at_usual { Some(usual) } else { columns.iter().position(|column| column.name == name) };
    let index = index.unwrap_or_else(|| {
        columns.push(Column { name, values: vec![f64::NAN; taken] });
        columns.len() - 1
    });
    &mut columns[index]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_are_nan() {
        let active = (Time::from_secs(1), Time::from_secs(3));
        let mut sampler = Sampler::new("call.video".into(), StreamKind::Video, active);
        for second in 1..=4 {
            sampler.sample(Time::from_secs(second), |show| {
                show("bytesSent", second as f64);
                if second == 3 {
                    show("late", 1.0);
                }
            });
        }
        let record = sampler.finish(Vec::new());
        let column = |name| format!("{:?}", record.column(name).unwrap());
        assert_eq!(column("bytesSent"), "[NaN, 2.0, 3.0, NaN]");
        assert_eq!(column("late"), "[NaN, NaN, 1.0, NaN]");
    }
}
