//! Executes the runs of a sweep that are missing: in threads of this process, or elsewhere.

use super::Sweep;
use super::run::{Outcome, SweepError};
use crate::runner::Runner;
use std::ops::Range;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// Takes the outcomes of runs, in the order in which the runs finish.
pub(super) trait Sink {
    /// Takes an outcome.
    fn add(&mut self, number: usize, outcome: Outcome) -> Result<(), SweepError>;
    /// How long the sink can wait for the next outcome before [`settle`](Self::settle); `None` if
    /// for any time.
    fn patience(&self) -> Option<Duration> {
        None
    }
    /// Writes what has waited long enough.
    fn settle(&mut self) -> Result<(), SweepError> {
        Ok(())
    }
    /// Writes what waits.
    fn finish(&mut self) -> Result<(), SweepError>;
}

/// Executes runs outside this process.
pub trait Remote {
    /// Executes the runs with these numbers and passes each outcome to `each` as it arrives, in any
    /// order. Returns when all have arrived, when `each` returns `false`, or when `runner.cancel`
    /// is set.
    ///
    /// # Errors
    /// If the runs cannot be executed there.
    fn execute(
        &mut self,
        sweep: &Sweep,
        runner: Runner<'_>,
        missing: &[Range<usize>],
        each: &mut dyn FnMut(usize, Outcome) -> bool,
    ) -> Result<(), SweepError>;
}

impl Sweep {
    /// Executes the runs with the numbers `missing`, ascending ranges, and passes them to `sink`.
    pub(super) fn execute(
        &self,
        runner: Runner<'_>,
        remote: Option<&mut dyn Remote>,
        missing: &[Range<usize>],
        sink: &mut dyn Sink,
    ) -> Result<(), SweepError> {
        let count: usize = missing.iter().map(Range::len).sum();
        let mut progress = (self.total_runs() - count, self.total_runs());
        if count == 0 {
            return sink.finish();
        }
        if let Some(remote) = remote {
            let mut fault = None;
            remote.execute(self, runner, missing, &mut |number, outcome| {
                let added = sink.add(number, outcome).and_then(|()| sink.settle());
                progress.0 += 1;
                (runner.progress)(progress.0, progress.1);
                fault = added.err();
                fault.is_none()
            })?;
            return fault.map_or_else(|| sink.finish(), Err);
        }
        let numbers = Numbers::new(missing);
        let work = |index: usize| {
            let number = numbers.at(index);
            let place = self.place(number);
            (number, self.one(runner, place, &self.settings(place.point)))
        };
        let mut fault = None;
        runner.pool(runner.jobs.get().min(count), count, work, |receive| {
            fault = collect(runner, receive, progress, sink).err();
        });
        fault.map_or(Ok(()), Err)
    }
}

/// The numbers in ascending ranges, by their index.
struct Numbers<'a> {
    ranges: &'a [Range<usize>],
    /// The index of the first number of each range.
    before: Vec<usize>,
}

impl<'a> Numbers<'a> {
    fn new(ranges: &'a [Range<usize>]) -> Self {
        let before = ranges.iter().scan(0, |next, range| {
            let before = *next;
            *next += range.len();
            Some(before)
        });
        Self { ranges, before: before.collect() }
    }

    fn at(&self, index: usize) -> usize {
        let range = self.before.partition_point(|before| *before <= index) - 1;
        self.ranges[range].start + index - self.before[range]
    }
}

/// The numbers below `total` that are not `done`, as ascending ranges.
pub(super) fn missing(total: usize, done: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for number in (0..total).filter(|number| !done(*number)) {
        match ranges.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => ranges.push(number..number + 1),
        }
    }
    ranges
}

/// Takes the outcomes of the threads.
fn collect(
    runner: Runner<'_>,
    receive: &Receiver<(usize, (usize, Option<Outcome>))>,
    (mut done, total): (usize, usize),
    sink: &mut dyn Sink,
) -> Result<(), SweepError> {
    loop {
        let received = match sink.patience() {
            Some(patience) => receive.recv_timeout(patience),
            None => receive.recv().map_err(RecvTimeoutError::from),
        };
        let added = match received {
            Ok((_, (number, Some(outcome)))) => {
                let added = sink.add(number, outcome);
                done += 1;
                (runner.progress)(done, total);
                added
            }
            // The run was cancelled, or it is time to settle.
            Ok((_, (_, None))) | Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => return sink.finish(),
        };
        if let Err(error) = added.and_then(|()| sink.settle()) {
            // No further run begins, because none could be kept.
            runner.cancel.store(true, Ordering::Relaxed);
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_numbers_are_counted_across_their_ranges() {
        let done = [0, 1, 4, 7, 8];
        let ranges = missing(10, |number| done.contains(&number));
        assert_eq!(ranges, [2..4, 5..7, 9..10]);
        let numbers = Numbers::new(&ranges);
        assert_eq!([0, 1, 2, 3, 4].map(|index| numbers.at(index)), [2, 3, 5, 6, 9]);
    }
}
