//! Requests for retransmission of missing packets (RFC 4585 § 6.2.1).

use std::collections::{BTreeMap, BTreeSet};
use units::{Duration, Time};

/// The maximum number of requests for one packet (10: libwebrtc
/// `modules/video_coding/nack_requester.cc`).
const MAX_RETRIES: u32 = 10;
/// With more missing packets than this, a key frame is requested instead (1000: same file).
const MAX_MISSING: usize = 1000;

struct Missing {
    requested_at: Time,
    retries: u32,
}

/// The missing packets, and when each was last requested.
#[derive(Default)]
pub struct NackList {
    missing: BTreeMap<u64, Missing>,
    next_expected: Option<u64>,
    /// Packets restored by parity before any later packet arrived.
    restored: BTreeSet<u64>,
}

impl NackList {
    /// A packet arrived. Appends newly missing sequence numbers to `requests`. Returns true if too
    /// many packets are missing and a key frame is needed.
    pub fn on_packet(&mut self, now: Time, sequence: u64, requests: &mut Vec<u64>) -> bool {
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
            self.missing.insert(lost, Missing { requested_at: now, retries: 1 });
            requests.push(lost);
        }
        self.next_expected = Some(sequence + 1);
        if self.missing.len() > MAX_MISSING {
            self.missing.clear();
            requests.clear();
            return true;
        }
        false
    }

    /// Whether `sequence` was requested and has not arrived.
    #[must_use]
    pub fn is_missing(&self, sequence: u64) -> bool {
        self.missing.contains_key(&sequence)
    }

    /// A retransmission of `sequence` arrived.
    pub fn on_recovered(&mut self, sequence: u64) {
        self.missing.remove(&sequence);
    }

    /// Parity restored `sequence`, possibly before it was known to be missing. Removes it from
    /// `requests`, which are not yet sent.
    pub fn on_restored(&mut self, sequence: u64, requests: &mut Vec<u64>) {
        if self.next_expected.is_some_and(|expected| sequence >= expected) {
            self.restored.insert(sequence);
        }
        self.missing.remove(&sequence);
        requests.retain(|&requested| requested != sequence);
    }

    /// When the next request must be repeated.
    #[must_use]
    pub fn next_wake(&self, rtt: Duration) -> Option<Time> {
        self.missing.values().map(|missing| missing.requested_at + rtt).min()
    }

    /// Appends packets that have been missing for a round-trip time since the last request to
    /// `requests`. Returns true if a packet is given up.
    pub fn retry(&mut self, now: Time, rtt: Duration, requests: &mut Vec<u64>) -> bool {
        let before = self.missing.len();
        self.missing.retain(|&sequence, missing| {
            if now.saturating_since(missing.requested_at) >= rtt {
                if missing.retries >= MAX_RETRIES {
                    return false;
                }
                missing.retries += 1;
                missing.requested_at = now;
                requests.push(sequence);
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
    fn requests_at_once_and_after_each_round_trip_until_arrival() {
        let (mut list, mut requests, rtt) =
            (NackList::default(), Vec::new(), Duration::from_millis(50));
        for sequence in [10, 11, 14] {
            list.on_packet(Time::from_millis(1), sequence, &mut requests);
        }
        assert_eq!(requests, [12, 13]);
        requests.clear();
        list.on_recovered(12);
        assert_eq!(list.next_wake(rtt), Some(Time::from_millis(51)));
        list.retry(Time::from_millis(51), rtt, &mut requests);
        assert_eq!(requests, [13]);
        list.on_recovered(13);
        assert_eq!(list.next_wake(rtt), None);
    }

    #[test]
    fn restored_packets_are_not_requested() {
        let (mut list, mut requests) = (NackList::default(), Vec::new());
        list.on_packet(Time::ZERO, 0, &mut requests);
        list.on_restored(1, &mut requests);
        list.on_packet(Time::ZERO, 3, &mut requests);
        assert_eq!(requests, [2], "packet 1 was restored before it was known to be missing");
        list.on_restored(2, &mut requests);
        assert!(
            requests.is_empty()
                && list.next_wake(Duration::ZERO).is_none()
                && list.restored.is_empty()
        );
    }

    #[test]
    fn gives_up_after_ten_requests() {
        let (mut list, mut requests, rtt) =
            (NackList::default(), Vec::new(), Duration::from_millis(50));
        list.on_packet(Time::ZERO, 0, &mut requests);
        list.on_packet(Time::ZERO, 2, &mut requests);
        let rounds = (1..20)
            .take_while(|&round| !list.retry(Time::from_millis(50 * round), rtt, &mut requests))
            .count();
        assert_eq!(requests.len(), 10);
        assert_eq!(rounds, 9);
    }
}
