//! A token bucket in front of a line: packets leave at once while it has tokens (tc-tbf; Linux
//! `net/sched/sch_tbf.c`).
//!
//! Unlike [`queue::tbf`](crate::queue), its rate changes over time, and its queue is any discipline
//! of the line. A packet that waits for tokens is still in the queue, as in Linux.

use crate::schedule::Schedule;
use crate::serialisation::{product, time_for};
use units::{Bitrate, Bytes, Time};

/// A bucket of tokens. A token is 10⁻⁹ bit, so that nothing is rounded.
pub(crate) struct Bucket {
    rate: Schedule<Bitrate>,
    burst: Bytes,
    /// The tokens at `since`.
    tokens: u128,
    since: Time,
}

impl Bucket {
    /// A full bucket of `burst` bytes.
    pub(crate) fn new(rate: Schedule<Bitrate>, burst: Bytes) -> Self {
        Self { rate, burst, tokens: cost(burst), since: Time::ZERO }
    }

    /// Whether a packet of this size can ever leave.
    pub(crate) fn passes(&self, size: Bytes) -> bool {
        size <= self.burst
    }

    /// Changes the rate from now on.
    pub(crate) fn set_rate(&mut self, now: Time, rate: Schedule<Bitrate>) {
        self.fill(now);
        self.rate = rate;
    }

    /// Takes the tokens of a packet; false if there are not enough yet.
    pub(crate) fn take(&mut self, now: Time, size: Bytes) -> bool {
        self.fill(now);
        let Some(left) = self.tokens.checked_sub(cost(size)) else { return false };
        self.tokens = left;
        true
    }

    /// When a packet of this size may leave, or when the rate changes if that is sooner; `None` if
    /// the rate stays zero.
    pub(crate) fn due(&self, now: Time, size: Bytes) -> Option<Time> {
        let missing = cost(size).saturating_sub(self.tokens);
        if missing == 0 {
            return Some(now);
        }
        let full = time_for(missing, self.rate.at(self.since)).map(|span| self.since + span);
        let due = match (full, self.rate.next_change(self.since)) {
            (Some(full), Some(change)) => full.min(change),
            (full, change) => full.or(change)?,
        };
        Some(due.max(now))
    }

    /// Adds the tokens since the last time.
    fn fill(&mut self, now: Time) {
        while self.since < now {
            let until = self.rate.next_change(self.since).map_or(now, |change| change.min(now));
            let came = product(self.rate.at(self.since), until.saturating_since(self.since));
            self.tokens = (self.tokens + came).min(cost(self.burst));
            self.since = until;
        }
    }
}

/// The tokens of a packet.
fn cost(size: Bytes) -> u128 {
    u128::from(size.bits()) * 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Bytes = Bytes::new(1_000);

    /// When packets leave that wait from 0 s on, ms.
    fn leaves(mut bucket: Bucket, count: usize) -> Vec<u64> {
        let (mut now, mut left) = (Time::ZERO, Vec::new());
        while left.len() < count
            && let Some(due) = bucket.due(now, SIZE)
        {
            now = due;
            if bucket.take(now, SIZE) {
                left.push(now.as_nanos() / 1_000_000);
            }
        }
        left
    }

    fn constant(kbps: u64) -> Schedule<Bitrate> {
        Schedule::constant(Bitrate::from_kbps(kbps))
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        assert_eq!(leaves(Bucket::new(constant(1_000), SIZE * 3), 6), [0, 0, 0, 8, 16, 24]);
    }

    #[test]
    fn the_bucket_fills_at_the_rate_of_the_time() {
        let steps = [(0, 1_000), (12, 500), (44, 0), (100, 1_000)];
        let steps = steps.map(|(ms, kbps)| (Time::from_millis(ms), Bitrate::from_kbps(kbps)));
        let rate = Schedule::steps(steps.to_vec()).unwrap();
        // 8000 bits: 8 ms; 4 ms at 1 Mbit/s and 8 ms at half of it; 16 ms; 8 ms of 16, nothing for
        // 56 ms, and 4 ms.
        assert_eq!(leaves(Bucket::new(rate, SIZE), 5), [0, 8, 20, 36, 104]);
        assert_eq!(leaves(Bucket::new(constant(0), SIZE), 5), [0]);
    }

    #[test]
    fn idle_time_fills_it_no_further_than_the_burst() {
        let mut bucket = Bucket::new(constant(1_000), SIZE * 2);
        let later = Time::from_secs(9);
        assert_eq!([(); 3].map(|()| bucket.take(later, SIZE)), [true, true, false]);
        bucket.set_rate(later, constant(4_000));
        assert_eq!(bucket.due(later, SIZE), Some(Time::from_millis(9_002)));
        assert!(bucket.passes(SIZE * 2) && !bucket.passes(SIZE * 3));
    }
}
