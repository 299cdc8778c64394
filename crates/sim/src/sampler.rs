//! Collects samples into columns, without looking names up: a stream shows the same names in the
//! same order.

use crate::recording::{Column, Kind, Points, StreamRecord};
use units::Time;

/// The samples of one stream while the run goes on.
pub struct Sampler {
    name: String,
    kind: Kind,
    active: (Time, Time),
    /// What was sampled while the stream was active; the rest is added at the end.
    columns: Vec<Column>,
    /// How many samples there were before the stream began, while it was active, and since it
    /// ended.
    before: usize,
    taken: usize,
    after: usize,
}

impl Sampler {
    /// Of a stream of this name and kind, which is active from and until these times.
    #[must_use]
    pub fn new(name: String, kind: Kind, active: (Time, Time)) -> Self {
        Self { name, kind, active, columns: Vec::new(), before: 0, taken: 0, after: 0 }
    }

    /// The stream's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes one sample: `show` is called with a sink for (name, value) if the stream is active at
    /// `now`.
    pub fn sample(&mut self, now: Time, show: impl FnOnce(&mut dyn FnMut(&'static str, f64))) {
        if now <= self.active.0 {
            self.before += 1;
        } else if now > self.active.1 {
            self.after += 1;
        } else {
            let (columns, taken, mut next) = (&mut self.columns, self.taken, 0);
            show(&mut |name, value| {
                place(columns, next, name, taken).values.push(value);
                next += 1;
            });
            self.taken += 1;
            for column in &mut self.columns {
                column.values.resize(self.taken, f64::NAN);
            }
        }
    }

    /// Passes over a sample of a stream that is not there.
    pub(crate) fn skip(&mut self, now: Time) {
        self.sample(now, |_| ());
    }

    /// The stream has ended: there is nothing after `now` to be sampled.
    pub fn close(&mut self, now: Time) {
        self.active.1 = self.active.1.min(now);
    }

    /// The record, with these points.
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

/// The column for `name`: at its usual place, else wherever it is, else a new one.
fn place<'a>(
    columns: &'a mut Vec<Column>,
    usual: usize,
    name: &'static str,
    taken: usize,
) -> &'a mut Column {
    let at_usual = columns.get(usual).is_some_and(|column| column.name == name);
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
    fn what_is_absent_is_not_a_number() {
        let active = (Time::from_secs(1), Time::from_secs(3));
        let mut sampler = Sampler::new("call.video".into(), Kind::Video, active);
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
