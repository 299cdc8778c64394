//! Capacity over time, recorded or generated: mahimahi's delivery opportunities, or rates. Also the
//! recorded gain of a channel.

mod fading;
mod generate;
mod parse;
mod write;

pub use fading::FadingTrace;
pub use generate::TraceModel;
pub use parse::TraceError;

use units::{Bitrate, Bytes, Duration, Time};

/// The bytes per delivery opportunity of a mahimahi trace (Netravali et al. 2015, § 3: an MTU-sized
/// packet).
pub(crate) const OPPORTUNITY: Bytes = Bytes::new(1500);
/// The longest period: a week. A longer one is taken for a time in another unit, or a date.
const MAX_PERIOD: Duration = Duration::from_secs(7 * 24 * 3600);
/// The shortest time between two samples of a rate: shorter steps would make a run very slow.
const MIN_STEP: Duration = Duration::from_micros(1);

/// A capacity trace. It repeats indefinitely.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Trace {
    course: Course,
    /// The time after which the trace repeats.
    period: Duration,
    mean: Bitrate,
}

#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
enum Course {
    /// The instants within the period at which 1500 bytes may pass, each with the number of
    /// opportunities up to and including that instant. As in mahimahi, several packets share an
    /// opportunity, a packet larger than the rest of one also uses the next, and unused capacity is
    /// lost.
    Opportunities(Vec<(Duration, u64)>),
    /// The rate from each instant within the period on; the first instant is zero.
    Rates(Vec<(Duration, Bitrate)>),
}

impl Trace {
    /// A trace of delivery opportunities of 1500 bytes each; the last one is the period.
    ///
    /// # Errors
    /// There is none, they are out of order, or all are at zero. The line is the number of the
    /// opportunity, from 1.
    pub fn from_opportunities(times: &[Duration]) -> Result<Self, TraceError> {
        let Some(&period) = times.last() else {
            return Err(TraceError::new(0, "the trace is empty; it needs at least one line"));
        };
        if period == Duration::ZERO {
            return Err(TraceError::new(0, "every time stamp is zero: the trace has no length"));
        }
        if let Some(index) = times.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(TraceError::new(index + 2, "the time decreases; sort the lines"));
        }
        // A time stamp at the end of the period is the same instant as zero of the next round.
        let at_end = times.partition_point(|&at| at < period);
        let folded =
            times[at_end..].iter().map(|_| Duration::ZERO).chain(times[..at_end].iter().copied());
        let mut groups: Vec<(Duration, u64)> = Vec::new();
        for (count, at) in (1..).zip(folded) {
            match groups.last_mut() {
                Some(group) if group.0 == at => group.1 = count,
                _ => groups.push((at, count)),
            }
        }
        let mean = (OPPORTUNITY * times.len() as u64).per(period).unwrap_or(Bitrate::ZERO);
        Ok(Self { course: Course::Opportunities(groups), period, mean })
    }

    /// A trace of (time, rate) samples. The last sample lasts as long as the one before.
    ///
    /// # Errors
    /// Times do not increase, or no rate is above zero. The line is the number of the sample,
    /// from 1.
    pub fn from_rates(samples: &[(Duration, Bitrate)]) -> Result<Self, TraceError> {
        let Some(&(start, _)) = samples.first() else {
            return Err(TraceError::new(0, "the trace is empty; it needs at least one sample"));
        };
        if let Some(index) = samples.windows(2).position(|pair| pair[1].0 < pair[0].0 + MIN_STEP) {
            let reason = format!(
                "the time is not at least {MIN_STEP} after that of the line before; sort the lines"
            );
            return Err(TraceError::new(index + 2, reason));
        }
        if samples.iter().all(|&(_, rate)| rate == Bitrate::ZERO) {
            return Err(TraceError::new(0, "every rate is zero: no packet would ever pass"));
        }
        let steps: Vec<_> = samples.iter().map(|&(at, rate)| (at - start, rate)).collect();
        let last = steps[steps.len() - 1].0;
        let step =
            if steps.len() > 1 { last - steps[steps.len() - 2].0 } else { Duration::from_secs(1) };
        let period = last + step;
        let ends = steps[1..].iter().map(|&(at, _)| at).chain([period]);
        let bits: u128 = steps
            .iter()
            .zip(ends)
            .map(|(&(at, rate), end)| crate::serialisation::product(rate, end - at))
            .sum();
        let mean = u64::try_from(bits / u128::from(period.as_nanos())).unwrap_or(u64::MAX);
        Ok(Self { course: Course::Rates(steps), period, mean: Bitrate::from_bps(mean) })
    }

    /// The mean rate.
    #[must_use]
    pub fn mean_rate(&self) -> Bitrate {
        self.mean
    }

    /// The time after which the trace repeats.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    pub(crate) fn is_opportunities(&self) -> bool {
        matches!(self.course, Course::Opportunities(_))
    }

    /// The current rate; for opportunities, the mean over the second around `now`.
    pub(crate) fn rate_at(&self, now: Time) -> Bitrate {
        match &self.course {
            Course::Rates(steps) => steps[self.step(steps, now)].1,
            Course::Opportunities(groups) => {
                let half = Duration::from_millis(500);
                let (from, to) = (now.saturating_sub(half), now + half);
                let count = self.count(groups, to) - self.count(groups, from);
                (OPPORTUNITY * count).per(to.saturating_since(from)).unwrap_or(self.mean)
            }
        }
    }

    /// The time of the next change of rate after `now`; for opportunities, the next instant and the
    /// number of opportunities then.
    pub(crate) fn next_change(&self, now: Time) -> (Time, u64) {
        let (round, offset) = self.position(now);
        let start = Time::ZERO + self.period * round;
        match &self.course {
            Course::Rates(steps) => {
                let next = steps.get(self.step(steps, now) + 1).map_or(self.period, |&(at, _)| at);
                (start + next, 0)
            }
            Course::Opportunities(groups) => {
                let after = groups.partition_point(|&(at, _)| at <= offset);
                let before = if after == 0 { 0 } else { groups[after - 1].1 };
                match groups.get(after) {
                    Some(&(at, until)) => (start + at, until - before),
                    None => (start + (self.period + groups[0].0), groups[0].1),
                }
            }
        }
    }

    /// The number of completed periods at `now`, and the time within the period.
    fn position(&self, now: Time) -> (u64, Duration) {
        let period = self.period.as_nanos();
        (now.as_nanos() / period, Duration::from_nanos(now.as_nanos() % period))
    }

    fn step(&self, steps: &[(Duration, Bitrate)], now: Time) -> usize {
        let (_, offset) = self.position(now);
        steps.partition_point(|&(at, _)| at <= offset).saturating_sub(1)
    }

    /// The number of opportunities up to and including `now`.
    fn count(&self, groups: &[(Duration, u64)], now: Time) -> u64 {
        let (round, offset) = self.position(now);
        let before = groups.partition_point(|&(at, _)| at <= offset);
        let total = groups[groups.len() - 1].1;
        round * total + if before == 0 { 0 } else { groups[before - 1].1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mahimahi_opportunities_repeat_with_the_last_stamp() {
        let trace = Trace::parse("2\n4\n4\n10\n").unwrap();
        assert_eq!(trace.period(), Duration::from_millis(10));
        let mut now = Time::ZERO;
        let seen: Vec<_> = (0..6)
            .map(|_| {
                let (next, count) = trace.next_change(now);
                now = next;
                (next.as_millis(), count)
            })
            .collect();
        assert_eq!(seen, [(2, 1), (4, 2), (10, 1), (12, 1), (14, 2), (20, 1)]);
        assert_eq!(trace.mean_rate(), Bitrate::from_kbps(4800));
        assert_eq!(trace.rate_at(Time::from_secs(1)), Bitrate::from_kbps(4800));
    }

    #[test]
    fn opportunities_at_zero_coincide_with_those_at_the_end() {
        let trace = Trace::parse("0\n0\n5\n10\n").unwrap();
        assert_eq!(trace.next_change(Time::ZERO), (Time::from_millis(5), 1));
        assert_eq!(trace.next_change(Time::from_millis(5)), (Time::from_millis(10), 3));
    }
}
