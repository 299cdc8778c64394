//! Which packets to ask for again (RFC 4585 § 6.2.1).

use std::collections::{BTreeMap, BTreeSet};
use units::{Duration, Time};

/// A packet is given up after this many requests (10: libwebrtc
/// `modules/video_coding/nack_requester.cc`).
const MAX_RETRIES: u32 = 10;
/// More missing packets than this: a key frame is cheaper (1000: the same file).
const MAX_MISSING: usize = 1000;

struct Missing {
    asked: Time,
    retries: u32,
}

/// Missing packets, and when they were last asked for.
#[derive(Default)]
pub struct NackList {
    missing: BTreeMap<u64, Missing>,
    next_expected: Option<u64>,
    /// Restored before anything after them came.
    restored: BTreeSet<u64>,
}

impl NackList {
    /// A packet came. Fills `ask` with newly missing sequence numbers; true if too many are missing
    /// and a key frame is wanted.
    pub fn on_packet(&mut self, now: Time, sequence: u64, ask: &mut Vec<u64>) -> bool {
        let expected = *self.next_expected.get_or_insert(sequence);
        if sequence < expected {
            self.missing.remove(&sequence);
            return false;
        }
        self.restored.remove(&sequence);
        for lost in expected..sequence {
            if self.restored.remove(&lost) {
                continue;
            }
            self.missing.insert(lost, Missing { asked: now, retries: 1 });
            ask.push(lost);
        }
        self.next_expected = Some(sequence + 1);
        if self.missing.len() > MAX_MISSING {
            self.missing.clear();
            ask.clear();
            return true;
        }
        false
    }

    /// Whether `sequence` was asked for and has not come.
    #[must_use]
    pub fn is_missing(&self, sequence: u64) -> bool {
        self.missing.contains_key(&sequence)
    }

    /// A retransmission of `sequence` came.
    pub fn on_recovered(&mut self, sequence: u64) {
        self.missing.remove(&sequence);
    }

    /// Parity restored `sequence`, maybe before it was missed; the requests that are about to be
    /// sent are in `ask`.
    pub fn on_restored(&mut self, sequence: u64, ask: &mut Vec<u64>) {
        if self.next_expected.is_some_and(|expected| sequence >= expected) {
            self.restored.insert(sequence);
        }
        self.missing.remove(&sequence);
        ask.retain(|&asked| asked != sequence);
    }

    /// When a packet is due to be asked for again.
    #[must_use]
    pub fn next_wake(&self, rtt: Duration) -> Option<Time> {
        self.missing.values().map(|missing| missing.asked + rtt).min()
    }

    /// Fills `ask` with packets not heard of for a round-trip time; true if one was given up.
    pub fn retry(&mut self, now: Time, rtt: Duration, ask: &mut Vec<u64>) -> bool {
        let before = self.missing.len();
        self.missing.retain(|&sequence, missing| {
            if now.saturating_since(missing.asked) >= rtt {
                if missing.retries >= MAX_RETRIES {
                    return false;
                }
                missing.retries += 1;
                missing.asked = now;
                ask.push(sequence);
            }
            true
        });
        self.missing.len() < before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_at_once_and_again_after_a_round_trip_until_it_comes() {
        let (mut list, mut ask, rtt) = (NackList::default(), Vec::new(), Duration::from_millis(50));
        for sequence in [10, 11, 14] {
            list.on_packet(Time::from_millis(1), sequence, &mut ask);
        }
        assert_eq!(ask, [12, 13]);
        ask.clear();
        list.on_recovered(12);
        assert_eq!(list.next_wake(rtt), Some(Time::from_millis(51)));
        list.retry(Time::from_millis(51), rtt, &mut ask);
        assert_eq!(ask, [13]);
        list.on_recovered(13);
        assert_eq!(list.next_wake(rtt), None);
    }

    #[test]
    fn asks_for_nothing_that_parity_restored() {
        let (mut list, mut ask) = (NackList::default(), Vec::new());
        list.on_packet(Time::ZERO, 0, &mut ask);
        list.on_restored(1, &mut ask);
        list.on_packet(Time::ZERO, 3, &mut ask);
        assert_eq!(ask, [2], "1 was restored before it was missed");
        list.on_restored(2, &mut ask);
        assert!(
            ask.is_empty() && list.next_wake(Duration::ZERO).is_none() && list.restored.is_empty()
        );
    }

    #[test]
    fn gives_up_after_ten_requests() {
        let (mut list, mut ask, rtt) = (NackList::default(), Vec::new(), Duration::from_millis(50));
        list.on_packet(Time::ZERO, 0, &mut ask);
        list.on_packet(Time::ZERO, 2, &mut ask);
        let rounds = (1..20)
            .take_while(|&round| !list.retry(Time::from_millis(50 * round), rtt, &mut ask))
            .count();
        assert_eq!(ask.len(), 10);
        assert_eq!(rounds, 9);
    }
}
