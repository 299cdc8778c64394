//! The observation of an environment: the features of the bandwidth estimation challenge at ACM
//! MMSys 2024 (Khairy et al., arXiv:2403.06324), computed from the packets that the receiver gets.
//!
//! 15 features × (5 intervals of 60 ms and 5 of 600 ms). The value of feature f in interval i has
//! the index 10 f + i: i counts the short intervals from 0 and the long ones from 5. All intervals
//! end at the time of the observation or a multiple of their length before it; within the five, the
//! oldest comes first. The challenge does not state this order, nor the values of an interval
//! without packets; both are our choice. Such an interval has 0 in all features but the minimum
//! seen delay.

use std::collections::VecDeque;
use units::{Duration, Time};

/// The number of features.
pub(crate) const FEATURES: usize = 15;
/// The number of intervals of each length.
const INTERVALS: usize = 5;
/// The number of values of an observation.
pub(crate) const VALUES: usize = FEATURES * 2 * INTERVALS;
/// The length of a short interval.
pub(crate) const SHORT: Duration = Duration::from_millis(60);
/// The number of short intervals in a long one: 600 ms.
const LONG: usize = 10;
/// The delay that the feature 'delay' is relative to, in ms (the challenge: 200 ms).
const BASE_DELAY_MS: f64 = 200.0;

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub(crate) at: Time,
    /// The one-way delay: arrival minus departure from the pacer, in ms.
    pub(crate) delay_ms: f64,
    /// The bytes of the RTP packet.
    pub(crate) size: f64,
    pub(crate) is_audio: bool,
    pub(crate) is_probe: bool,
    /// The packets that are missing before this one in its RTP stream.
    pub(crate) lost: f64,
}

/// The packets of an interval in sums that can be joined.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    packets: f64,
    bytes: f64,
    delay: f64,
    min_delay: f64,
    first: f64,
    last: f64,
    /// The sum of the squares of the times between arrivals.
    gaps_squared: f64,
    lost: f64,
    /// The number of losses of one or more packets in a row.
    losses: f64,
    audio: f64,
    probes: f64,
}

impl Sums {
    /// The sums of two intervals of which `next` follows.
    fn join(self, next: Self) -> Self {
        if self.packets == 0.0 {
            return next;
        }
        if next.packets == 0.0 {
            return self;
        }
        let gap = next.first - self.last;
        Self {
            packets: self.packets + next.packets,
            bytes: self.bytes + next.bytes,
            delay: self.delay + next.delay,
            min_delay: self.min_delay.min(next.min_delay),
            first: self.first,
            last: next.last,
            gaps_squared: self.gaps_squared + gap * gap + next.gaps_squared,
            lost: self.lost + next.lost,
            losses: self.losses + next.losses,
            audio: self.audio + next.audio,
            probes: self.probes + next.probes,
        }
    }

    fn of(packet: &Arrived) -> Self {
        let at = packet.at.as_millis_f64();
        let share = |is: bool| if is { 1.0 } else { 0.0 };
        Self {
            packets: 1.0,
            bytes: packet.size,
            delay: packet.delay_ms,
            min_delay: packet.delay_ms,
            first: at,
            last: at,
            gaps_squared: 0.0,
            lost: packet.lost,
            losses: share(packet.lost > 0.0),
            audio: share(packet.is_audio),
            probes: share(packet.is_probe),
        }
    }

    /// The features, in the order of the challenge, for an interval of this length.
    fn features(&self, milliseconds: f64, min_seen: f64) -> [f64; FEATURES] {
        if self.packets == 0.0 {
            let mut none = [0.0; FEATURES];
            none[5] = min_seen;
            return none;
        }
        let Self { packets, bytes, delay, min_delay, first, last, .. } = *self;
        let mean_delay = delay / packets;
        let gaps = packets - 1.0;
        let (gap, jitter) = if gaps > 0.0 {
            let mean = (last - first) / gaps;
            (mean, (self.gaps_squared / gaps - mean * mean).max(0.0).sqrt())
        } else {
            (0.0, 0.0)
        };
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        [
            // 1. Receiving rate, bit/s.
            bytes * 8.0 * 1000.0 / milliseconds,
            // 2. Number of received packets.
            packets,
            // 3. Received bytes.
            bytes,
            // 4. Queuing delay: the mean delay minus the minimum seen so far, ms.
            mean_delay - min_seen,
            // 5. Delay: the mean delay minus 200 ms, ms.
            mean_delay - BASE_DELAY_MS,
            // 6. Minimum seen delay: of all packets so far, ms.
            min_seen,
            // 7. Delay ratio: the mean delay by the minimum of the same interval.
            ratio(mean_delay, min_delay),
            // 8. Delay average minimum difference: the same two, subtracted, ms.
            mean_delay - min_delay,
            // 9. Packet interarrival time: the mean, ms.
            gap,
            // 10. Packet jitter: the standard deviation of the interarrival time, ms.
            jitter,
            // 11. Packet loss ratio.
            ratio(self.lost, self.lost + packets),
            // 12. Average number of lost packets, given a loss.
            ratio(self.lost, self.losses),
            // 13. Video packets probability.
            (packets - self.audio) / packets,
            // 14. Audio packets probability.
            self.audio / packets,
            // 15. Probing packets probability.
            self.probes / packets,
        ]
    }
}

/// Collects the packets of a call and computes its observations.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    /// The present short interval.
    present: Sums,
    /// The finished short intervals, the newest last.
    finished: VecDeque<Sums>,
    /// The least delay so far, ms; `None` before the first packet.
    min_seen: Option<f64>,
}

impl Observer {
    pub(crate) fn add(&mut self, packet: &Arrived) {
        self.present = self.present.join(Sums::of(packet));
        let least = self.min_seen.map_or(packet.delay_ms, |least| least.min(packet.delay_ms));
        self.min_seen = Some(least);
    }

    /// Ends the present short interval, and writes the observation.
    pub(crate) fn observe(&mut self, values: &mut [f32]) {
        if self.finished.len() == INTERVALS * LONG {
            self.finished.pop_front();
        }
        self.finished.push_back(std::mem::take(&mut self.present));
        let min_seen = self.min_seen.unwrap_or(0.0);
        let short_ms = SHORT.as_millis_f64();
        // The interval that ends `back` short intervals before now.
        let sums = |back: usize, length: usize| {
            let end = self.finished.len().saturating_sub(back);
            let start = end.saturating_sub(length);
            self.finished.range(start..end).fold(Sums::default(), |sum, next| sum.join(*next))
        };
        for index in 0..INTERVALS {
            let age = INTERVALS - 1 - index;
            for (place, length) in [(index, 1), (INTERVALS + index, LONG)] {
                let features =
                    sums(age * length, length).features(short_ms * length as f64, min_seen);
                for (feature, value) in features.into_iter().enumerate() {
                    values[2 * INTERVALS * feature + place] = value as f32;
                }
            }
        }
    }
}
