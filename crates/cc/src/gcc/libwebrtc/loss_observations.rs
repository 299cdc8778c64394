//! The recent observations of sent and lost bytes, for the loss-based estimate (libwebrtc
//! `goog_cc/loss_based_bwe_v2.cc`).

use super::config::LibwebrtcConfig;
use crate::PacketResult;
use units::{Bitrate, Bytes, Duration, Time};

/// With more observations than this, the average loss excludes the observations of minimum and
/// maximum loss (libwebrtc `goog_cc/loss_based_bwe_v2.cc`: 3).
const MAX_UNTRIMMED: u64 = 3;

/// Maximum number of lost packets of an observation that are remembered. Others are counted each
/// time they are reported.
const MAX_LOST: usize = 2048;

/// An interval of sending. Sizes are in kB, the rate is in bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Observation {
    pub(super) size: f64,
    pub(super) lost: f64,
    pub(super) rate: f64,
}

/// A ring buffer of observations.
pub(super) struct Observations {
    duration: Duration,
    median_factor: f64,
    /// The n-th newest observation has the weight w^n.
    weights: Vec<f64>,
    ring: Vec<Observation>,
    count: u64,
    /// Bytes sent and lost in the observation that is not yet complete.
    partial: (Bytes, Bytes),
    /// Sequence numbers of the lost packets of that observation, in order.
    lost: Vec<u64>,
    /// The latest sending time in the newest observation.
    newest: Option<Time>,
    average_loss: f64,
    /// Buffer for sorting rates.
    rates: Vec<f64>,
}

impl Observations {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        let length = config.loss_window;
        let weight = |age: &f64| Some(age * config.temporal_weight);
        Self {
            duration: config.observation,
            median_factor: config.median_factor,
            weights: std::iter::successors(Some(1.0), weight).take(length).collect(),
            ring: Vec::with_capacity(length),
            count: 0,
            partial: (Bytes::ZERO, Bytes::ZERO),
            lost: Vec::with_capacity(MAX_LOST),
            newest: None,
            average_loss: 0.0,
            rates: Vec::with_capacity(length),
        }
    }

    /// Processes feedback. Returns whether an observation is complete.
    pub(super) fn push(&mut self, results: &[PacketResult]) -> bool {
        let Some(first) = results.first().map(|result| result.packet.sent) else { return false };
        let (mut earliest, mut latest) = (first, first);
        for result in results {
            self.add(result);
            let sent = result.packet.sent;
            (earliest, latest) = (earliest.min(sent), latest.max(sent));
        }
        let since = *self.newest.get_or_insert(earliest);
        let duration = latest.saturating_since(since);
        if duration == Duration::ZERO || duration < self.duration {
            return false;
        }
        self.newest = Some(latest);
        let (size, lost) = std::mem::take(&mut self.partial);
        self.lost.clear();
        self.remember(Observation {
            size: size.get() as f64 / 1e3,
            lost: lost.get() as f64 / 1e3,
            rate: size.per(duration).map_or(0.0, Bitrate::as_bps_f64),
        });
        self.average_loss = self.average();
        true
    }

    /// Counts a packet: its size with every report, its loss once. A packet that was reported lost
    /// and is reported as received in the same observation was not lost; in a later observation its
    /// loss stays counted.
    fn add(&mut self, PacketResult { packet, arrival, .. }: &PacketResult) {
        self.partial.0 += packet.size;
        match (self.lost.binary_search(&packet.sequence), arrival) {
            (Err(place), None) => {
                self.partial.1 += packet.size;
                if self.lost.len() < MAX_LOST {
                    self.lost.insert(place, packet.sequence);
                }
            }
            (Ok(place), Some(_)) => {
                self.lost.remove(place);
                self.partial.1 = self.partial.1.saturating_sub(packet.size);
            }
            (Ok(_), None) | (Err(_), Some(_)) => {}
        }
    }

    fn remember(&mut self, observation: Observation) {
        if self.ring.len() < self.weights.len() {
            self.ring.push(observation);
        } else {
            let oldest = self.slot(self.count);
            self.ring[oldest] = observation;
        }
        self.count += 1;
    }

    #[expect(clippy::cast_possible_truncation, reason = "less than the window")]
    fn slot(&self, index: u64) -> usize {
        (index % self.weights.len() as u64) as usize
    }

    /// The observations with their weights, in the order of the ring buffer. The order decides
    /// which of two equal observations the average excludes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (f64, &Observation)> {
        let length = self.weights.len();
        let newest = self.slot(self.count + length as u64 - 1);
        self.ring.iter().enumerate().map(move |(slot, observation)| {
            (self.weights[(newest + length - slot) % length], observation)
        })
    }

    /// The weighted fraction of bytes lost. The observations of minimum and maximum loss are
    /// excluded, because a spike is not the loss of the path, unless the rate in the spike was much
    /// above the median.
    fn average(&mut self) -> f64 {
        let (mut size, mut lost) = (0.0, 0.0);
        let (mut min, mut max) = ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0));
        let mut rate_at_max = 0.0;
        for (weight, observation) in self.iter() {
            let weighted =
                (whole_bytes(weight * observation.size), whole_bytes(weight * observation.lost));
            size += weighted.0;
            lost += weighted.1;
            let share =
                if observation.size > 0.0 { observation.lost / observation.size } else { 0.0 };
            if self.count > MAX_UNTRIMMED && share > max.0 {
                max = (share, weighted.0, weighted.1);
                rate_at_max = observation.rate;
            }
            if self.count > MAX_UNTRIMMED && share < min.0 {
                min = (share, weighted.0, weighted.1);
            }
        }
        let rest = size - min.1 - max.1;
        let share = if self.median_rate() * self.median_factor <= rate_at_max || rest <= 1e-9 {
            lost / size
        } else {
            (lost - min.2 - max.2) / rest
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    fn median_rate(&mut self) -> f64 {
        self.rates.clear();
        self.rates.extend(
            self.ring.iter().map(|observation| observation.rate).filter(|&rate| rate > 0.0),
        );
        self.rates.sort_unstable_by(f64::total_cmp);
        let middle = self.rates.len() / 2;
        match self.rates.len() {
            0 => 0.0,
            even if even % 2 == 0 => f64::midpoint(self.rates[middle - 1], self.rates[middle]),
            _ => self.rates[middle],
        }
    }

    /// Number of observations so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The latest sending time in an observation: the clock of the loss-based estimate.
    pub(super) fn newest(&self) -> Time {
        self.newest.unwrap_or(Time::ZERO)
    }

    pub(super) fn average_loss(&self) -> f64 {
        self.average_loss
    }
}

/// A size in kB, rounded to whole bytes.
fn whole_bytes(kilobytes: f64) -> f64 {
    (kilobytes * 1e3).round() / 1e3
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::SentPacket;

    /// One observation of `packets` packets of 1000 B in 250 ms, `lost` of them lost.
    pub(in super::super) fn feedback(index: u64, packets: u64, lost: u64) -> Vec<PacketResult> {
        let begin = Time::from_millis(250 * index);
        (1..=packets)
            .map(|k| {
                let sent = begin + Duration::from_micros(250_000 * k / packets);
                let sequence = 1000 * index + k;
                let packet = SentPacket { sequence, sent, size: Bytes::new(1000), probe: None };
                PacketResult {
                    packet,
                    arrival: (k > lost).then_some(sent + Duration::from_millis(25)),
                    ecn: crate::Ecn::NotEct,
                }
            })
            .collect()
    }

    fn observed(lost: &[u64]) -> Observations {
        let mut observations = Observations::new(&LibwebrtcConfig::default());
        observations.push(&feedback(0, 1, 0)[..1]);
        for (index, &lost) in lost.iter().enumerate() {
            assert!(observations.push(&feedback(index as u64 + 1, 100, lost)));
        }
        observations
    }

    #[test]
    fn feedback_accumulates_to_observations_of_250_ms() {
        let mut observations = Observations::new(&LibwebrtcConfig::default());
        let all = feedback(0, 100, 10);
        assert!(!observations.push(&all[..50]));
        // From 2.5 ms to 250 ms are 247.5 ms.
        assert!(!observations.push(&all[50..]));
        assert!(observations.push(&feedback(1, 100, 0)[..1]));
        let (weight, first) = observations.iter().next().unwrap();
        assert_eq!((weight, first.size, first.lost), (1.0, 101.0, 10.0));
        assert!((first.rate - 101.0 * 8e3 / 0.25).abs() < 1.0, "{}", first.rate);
        assert!((observations.average_loss() - 10.0 / 101.0).abs() < 1e-12);
    }

    #[test]
    fn observations_come_in_ring_order_with_their_weights() {
        let lost: Vec<u64> = (0..20).collect();
        let observations = observed(&lost);
        let seen: Vec<_> = observations.iter().map(|(weight, one)| (weight, one.lost)).collect();
        assert_eq!(seen.len(), 15);
        // The newest five have replaced the oldest five.
        assert_eq!(seen[4], (1.0, 19.0));
        assert!((seen[5].0 - 0.228_767_924_5).abs() < 1e-9, "0.9^14");
        assert_eq!(seen[5].1, 5.0);
    }

    #[test]
    fn the_average_excludes_the_extremes_of_more_than_three_observations() {
        let three = observed(&[30, 0, 6]);
        // (6 + 0.9 × 0 + 0.81 × 30) / 271; the oldest observation has one packet more.
        let expected = (6.0 + 0.81 * 30.0) / (100.0 + 90.0 + 81.0 * 1.01);
        assert!((three.average_loss() - expected).abs() < 1e-9, "{}", three.average_loss());
        let four = observed(&[8, 30, 0, 6]);
        // 30 and 0 are excluded: (6 + 0.729 × 8) / (100 + 72.9 × 1.01).
        let expected = (6.0 + 0.729 * 8.0) / (100.0 + 72.9 * 1.01);
        assert!((four.average_loss() - expected).abs() < 1e-9, "{}", four.average_loss());
    }

    #[test]
    fn loss_at_twice_the_median_rate_counts() {
        let mut observations = observed(&[0, 0, 0, 0]);
        observations.push(&feedback(5, 300, 60));
        let expected = 60.0 / (300.0 + 100.0 * (0.9 + 0.81 + 0.729 + 0.656_1 * 1.01));
        assert!(
            (observations.average_loss() - expected).abs() < 1e-5,
            "{}",
            observations.average_loss()
        );
        let mut observations = observed(&[0, 0, 0, 0]);
        observations.push(&feedback(5, 150, 30));
        assert_eq!(observations.average_loss(), 0.0);
    }

    /// Size and loss of the first observation, in kB: 100 packets of which the first two were
    /// lost, some reports again, and one packet that ends the observation.
    fn reported_again(again: &[(usize, bool)]) -> (f64, f64) {
        let mut observations = Observations::new(&LibwebrtcConfig::default());
        let mut results = feedback(0, 100, 2);
        let received = |received: bool| received.then_some(Time::from_millis(300));
        results.extend(
            again
                .iter()
                .map(|&(k, yes)| PacketResult { arrival: received(yes), ..results[k] })
                .collect::<Vec<_>>(),
        );
        assert!(!observations.push(&results));
        assert!(observations.push(&feedback(1, 100, 0)[..1]));
        let (_, first) = observations.iter().next().unwrap();
        (first.size, first.lost)
    }

    // The rules of libwebrtc `goog_cc/loss_based_bwe_v2.cc`, `PushBackObservation`.

    #[test]
    fn a_packet_that_is_received_after_it_was_reported_lost_was_not_lost() {
        assert_eq!(reported_again(&[(0, true)]), (102.0, 1.0));
        assert_eq!(reported_again(&[(1, true), (0, true)]), (103.0, 0.0));
    }

    #[test]
    fn a_packet_that_is_reported_lost_twice_is_lost_once() {
        assert_eq!(reported_again(&[(1, false), (1, false)]), (103.0, 2.0));
        assert_eq!(reported_again(&[(1, false), (1, true)]), (103.0, 1.0));
    }

    #[test]
    fn a_packet_that_is_received_in_a_later_observation_stays_lost_in_the_first() {
        let mut observations = Observations::new(&LibwebrtcConfig::default());
        let lost = feedback(0, 100, 1);
        observations.push(&lost);
        observations.push(&feedback(1, 100, 0));
        observations.push(&[PacketResult { arrival: Some(Time::from_millis(700)), ..lost[0] }]);
        observations.push(&feedback(2, 100, 0));
        let seen: Vec<_> = observations.iter().map(|(_, one)| (one.size, one.lost)).collect();
        assert_eq!(seen, [(200.0, 1.0), (101.0, 0.0)]);
    }
}
