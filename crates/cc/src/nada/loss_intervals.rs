//! The average loss interval, in packets (RFC 5348 § 5.4, to which RFC 8698 § 4.2 refers).

/// Number of closed intervals in the average (RFC 5348 § 5.4: 8).
const INTERVALS: usize = 8;
/// RFC 5348 § 5.4.
const WEIGHTS: [f64; INTERVALS] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// The packets between losses, newest first; the first interval is open. Each gap begins an
/// interval.
#[derive(Default)]
pub(crate) struct LossIntervals {
    expected: Option<u64>,
    intervals: [u64; INTERVALS + 1],
    closed: usize,
}

/// The open interval and the average interval.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossInterval {
    pub(crate) current: f64,
    pub(crate) average: f64,
}

impl LossIntervals {
    /// A packet arrived; sequence numbers increase.
    pub(crate) fn on_packet(&mut self, sequence: u64) {
        if self.expected.is_none_or(|expected| expected == sequence) {
            self.intervals[0] += 1;
        } else {
            self.intervals.rotate_right(1);
            self.intervals[0] = 1;
            self.closed = (self.closed + 1).min(INTERVALS);
        }
        self.expected = Some(sequence + 1);
    }

    /// `None` before the first loss.
    pub(crate) fn average(&self) -> Option<LossInterval> {
        let weights = &WEIGHTS[..self.closed];
        let sum = |intervals: &[u64]| -> f64 {
            intervals.iter().zip(weights).map(|(&one, weight)| one as f64 * weight).sum()
        };
        let total: f64 = weights.iter().sum();
        let greater = sum(&self.intervals).max(sum(&self.intervals[1..]));
        (self.closed > 0)
            .then(|| LossInterval { current: self.intervals[0] as f64, average: greater / total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_open_interval_counts_when_it_makes_the_average_longer() {
        let mut intervals = LossIntervals::default();
        (0..10).for_each(|sequence| intervals.on_packet(sequence));
        assert!(intervals.average().is_none(), "no loss yet");
        intervals.on_packet(12);
        let first = intervals.average().unwrap();
        assert_eq!((first.current, first.average), (1.0, 10.0));
        (13..32).for_each(|sequence| intervals.on_packet(sequence));
        let later = intervals.average().unwrap();
        assert_eq!((later.current, later.average), (20.0, 20.0));
    }

    #[test]
    fn only_eight_closed_intervals_count() {
        let mut intervals = LossIntervals::default();
        (0..100).for_each(|sequence| intervals.on_packet(2 * sequence));
        let average = intervals.average().unwrap();
        assert_eq!((average.current, average.average), (1.0, 1.0));
    }
}
