//! Delivery statistics per rate, and the choice of the best rates.
//!
//! Functions in brackets are those of Linux 4.19, net/mac80211/rc80211_minstrel_ht.c.

use crate::access::wifi::GuardInterval;
use crate::access::wifi::phy::{ACK_SIZE, ControlRate, Mcs, Phy, SIFS, SLOT};
use units::{Bytes, Duration};

/// Rates are compared for packets of this size (AVG_PKT_SIZE) in A-MPDUs of `AMPDU` packets
/// (AVG_AMPDU_SIZE).
const PACKET: Bytes = Bytes::new(1_200);
const AMPDU: u64 = 16;

/// The weight of the old mean (EWMA_LEVEL / EWMA_DIV).
const OLD: f64 = 96.0 / 128.0;

/// Below the first probability a rate counts as having no throughput; above the second a higher
/// probability does not count (minstrel_ht_get_tp_avg).
const USELESS: f64 = 0.1;
const SURE: f64 = 0.9;

/// Above this probability, rates are compared by throughput instead
/// (minstrel_ht_set_best_prob_rate).
const PROBABLE: f64 = 0.75;

/// A rate with two streams is left at once if fewer than this share of more than this many MPDUs
/// arrived since the last update (minstrel_ht_tx_status).
const SUDDEN_ATTEMPTS: u32 = 30;
const SUDDEN_SHARE: f64 = 0.2;

/// The most transmissions per rate of the retry chain (max_retry), and their approximate total
/// duration (segment_size; minstrel_ht_alloc).
const MAX_RETRY: u32 = 7;
const SEGMENT: Duration = Duration::from_micros(6_000);

/// The exponentially weighted moving average.
pub(super) fn ewma(old: f64, new: f64) -> f64 {
    old + (1.0 - OLD) * (new - old)
}

/// The statistics of a rate (struct minstrel_rate_stats).
#[derive(Clone, Copy)]
pub(super) struct Rate {
    /// The duration of a packet in an A-MPDU, without preamble and acknowledgement.
    pub(super) duration: Duration,
    /// The mean probability of delivery of an MPDU; 0 before the first transmission.
    pub(super) probability: f64,
    /// The number of updates since it was last used.
    pub(super) skipped: u32,
    known: bool,
    attempts: u32,
    successes: u32,
}

/// All rates and the best of them.
pub(super) struct Table {
    pub(super) rates: [Rate; Mcs::COUNT],
    /// The number of spatial streams of the device.
    pub(super) streams: u8,
    /// The rates with the highest and second highest throughput (max_tp_rate).
    pub(super) best: [Mcs; 2],
    /// The rate with the highest probability of delivery (max_prob_rate).
    pub(super) most_reliable: Mcs,
    /// The best rates per number of streams (max_group_tp_rate).
    group_best: [[Mcs; 2]; 2],
    /// The most reliable rate per number of streams (max_group_prob_rate).
    group_most_reliable: [Mcs; 2],
    /// The mean number of MPDUs in a PPDU.
    pub(super) ampdu_length: f64,
}

impl Table {
    pub(super) fn new(phy: Phy, streams: u8, guard: GuardInterval) -> Self {
        let rate = |index: usize| {
            let mcs = Mcs::new(u8::try_from(index).unwrap_or(u8::MAX));
            let ampdu = phy.symbols(mcs, guard, PACKET * AMPDU);
            Rate {
                duration: ampdu / AMPDU,
                probability: 0.0,
                skipped: 0,
                known: false,
                attempts: 0,
                successes: 0,
            }
        };
        let lowest = [Mcs::new(0), Mcs::new(8)];
        Self {
            rates: std::array::from_fn(rate),
            streams: streams.clamp(1, 2),
            best: [lowest[0]; 2],
            most_reliable: lowest[0],
            group_best: lowest.map(|mcs| [mcs; 2]),
            group_most_reliable: lowest,
            ampdu_length: 1.0,
        }
    }

    pub(super) fn rate(&self, mcs: Mcs) -> &Rate {
        &self.rates[mcs.index()]
    }

    /// Counts the MPDUs of a PPDU.
    pub(super) fn count(&mut self, mcs: Mcs, attempted: u32, succeeded: u32) {
        let rate = &mut self.rates[mcs.index()];
        rate.attempts += attempted;
        rate.successes += succeeded;
    }

    /// Replaces best rates with two streams that suddenly fail, before the next update
    /// (minstrel_downgrade_rate).
    pub(super) fn downgrade(&mut self) {
        for index in 0..2 {
            let (mcs, rate) = (self.best[index], self.rate(self.best[index]));
            let share = f64::from(rate.successes) / f64::from(rate.attempts);
            if rate.attempts > SUDDEN_ATTEMPTS && share < SUDDEN_SHARE && mcs.streams() > 1 {
                self.best[index] = self.group_best[0][index];
            }
        }
    }

    /// Updates the means from the counts and chooses the best rates (minstrel_ht_update_stats).
    pub(super) fn update(&mut self) {
        for rate in &mut self.rates {
            rate.settle();
        }
        let mut best = [Mcs::new(0); 2];
        for group in 0..usize::from(self.streams) {
            let lowest = Mcs::new(8 * group as u8);
            let mut group_best = [lowest; 2];
            for offset in 0..8 {
                let mcs = Mcs::new(lowest.index() as u8 + offset);
                if self.throughput(mcs) > 0.0 {
                    self.rank(mcs, &mut best);
                    self.rank(mcs, &mut group_best);
                    self.most_reliable = self.more_reliable(mcs, self.most_reliable);
                    self.group_most_reliable[group] =
                        self.more_reliable(mcs, self.group_most_reliable[group]);
                }
            }
            self.group_best[group] = group_best;
        }
        self.best = best;
        // One stream is more robust than two (minstrel_ht_prob_rate_reduce_streams).
        if best[0].streams() > 1 && self.throughput(self.group_most_reliable[0]) > 0.0 {
            self.most_reliable = self.group_most_reliable[0];
        }
    }

    /// Expected throughput in packets per second (minstrel_ht_get_tp_avg).
    fn throughput(&self, mcs: Mcs) -> f64 {
        let rate = self.rate(mcs);
        if rate.probability < USELESS {
            return 0.0;
        }
        let length = self.ampdu_length.floor().max(1.0);
        let time = overhead().as_secs_f64() / length + rate.duration.as_secs_f64();
        rate.probability.min(SURE) / time
    }

    /// Inserts a rate into the list of the best rates (minstrel_ht_sort_best_tp_rates).
    fn rank(&self, mcs: Mcs, best: &mut [Mcs; 2]) {
        let key = |mcs: Mcs| (self.throughput(mcs), self.rate(mcs).probability);
        if key(mcs) > key(best[0]) {
            *best = [mcs, best[0]];
        } else if key(mcs) > key(best[1]) {
            best[1] = mcs;
        }
    }

    /// The more reliable of two rates (minstrel_ht_set_best_prob_rate).
    fn more_reliable(&self, mcs: Mcs, before: Mcs) -> Mcs {
        let better = if self.rate(mcs).probability > PROBABLE {
            self.throughput(mcs) > self.throughput(before)
        } else {
            self.rate(mcs).probability > self.rate(before).probability
        };
        if better { mcs } else { before }
    }

    /// The number of transmissions at a rate before the next rate of the retry chain
    /// (minstrel_calc_retransmit, minstrel_ht_set_rate).
    pub(super) fn tries(&self, mcs: Mcs) -> u32 {
        let rate = self.rate(mcs);
        if rate.probability < 2.0 * USELESS {
            return 2;
        }
        let length = self.ampdu_length.floor().max(1.0);
        let once = overhead() + Duration::from_secs_f64(rate.duration.as_secs_f64() * length);
        // The mean backoff of the next transmission, with cw_min of 15.
        let contention = |tries: u32| SLOT * ((16 << tries) - 1) / 2;
        let mut spent = contention(0) + contention(1) + contention(2) + once * 3;
        let mut tries = 2;
        while spent < SEGMENT {
            tries += 1;
            if tries == MAX_RETRY {
                break;
            }
            spent += contention(tries) + once;
        }
        tries
    }
}

impl Rate {
    /// Updates the mean from the counts and resets them (minstrel_calc_rate_stats).
    fn settle(&mut self) {
        if self.attempts > 0 {
            let share = f64::from(self.successes) / f64::from(self.attempts);
            self.probability = if self.known { ewma(self.probability, share) } else { share };
            self.known = true;
            self.skipped = 0;
        } else {
            self.skipped = self.skipped.saturating_add(1);
        }
        (self.attempts, self.successes) = (0, 0);
    }
}

/// The overhead per PPDU: an empty frame and an acknowledgement at 6 Mbit/s, each with SIFS
/// (minstrel_ht_update_caps).
fn overhead() -> Duration {
    // An empty frame consists of a checksum of 4 bytes (ieee80211_frame_duration).
    let frame = |size| SIFS + Phy::control_duration(size, ControlRate::Mbps6);
    frame(Bytes::new(4)) + frame(ACK_SIZE)
}
