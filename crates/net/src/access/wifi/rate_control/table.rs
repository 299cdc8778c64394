//! What got through at which rate, and which rates are the best by it.
//!
//! Functions in brackets are those of Linux 4.19, net/mac80211/rc80211_minstrel_ht.c.

use crate::access::wifi::GuardInterval;
use crate::access::wifi::phy::{ACK_SIZE, ControlRate, Mcs, Phy, SIFS, SLOT};
use units::{Bytes, Duration};

/// The size of a packet that rates are compared with (AVG_PKT_SIZE), in an A-MPDU of so many
/// (AVG_AMPDU_SIZE).
const PACKET: Bytes = Bytes::new(1_200);
const AMPDU: u64 = 16;

/// The weight of what was before, in the means (EWMA_LEVEL of EWMA_DIV).
const OLD: f64 = 96.0 / 128.0;

/// Below this probability a rate has no throughput, above the other it gains none
/// (minstrel_ht_get_tp_avg).
const USELESS: f64 = 0.1;
const SURE: f64 = 0.9;

/// Above this the probability counts no more but the throughput (minstrel_ht_set_best_prob_rate).
const PROBABLE: f64 = 0.75;

/// Of how many MPDUs since the last update, and below which share, a rate with two streams is left
/// at once (minstrel_ht_tx_status).
const SUDDEN_ATTEMPTS: u32 = 30;
const SUDDEN_SHARE: f64 = 0.2;

/// The tries of a rate are at most so many (max_retry), and take about so long together
/// (segment_size; minstrel_ht_alloc).
const MAX_RETRY: u32 = 7;
const SEGMENT: Duration = Duration::from_micros(6_000);

/// The mean of what was and what is new.
pub(super) fn ewma(old: f64, new: f64) -> f64 {
    old + (1.0 - OLD) * (new - old)
}

/// A rate (struct minstrel_rate_stats).
#[derive(Clone, Copy)]
pub(super) struct Rate {
    /// How long a packet takes in an A-MPDU, without preamble and acknowledgement.
    pub(super) duration: Duration,
    /// The mean probability that an MPDU gets through; 0 before the first try.
    pub(super) probability: f64,
    /// For how many updates it was not used.
    pub(super) skipped: u32,
    known: bool,
    attempts: u32,
    successes: u32,
}

/// All rates and the best of them.
pub(super) struct Table {
    pub(super) rates: [Rate; Mcs::COUNT],
    /// How many spatial streams the device has.
    pub(super) streams: u8,
    /// The rates of the most throughput and the second most (max_tp_rate).
    pub(super) best: [Mcs; 2],
    /// The rate that gets through most probably (max_prob_rate).
    pub(super) surest: Mcs,
    /// The best for each number of streams (max_group_tp_rate).
    group_best: [[Mcs; 2]; 2],
    /// The surest for each number of streams (max_group_prob_rate).
    group_surest: [Mcs; 2],
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
            surest: lowest[0],
            group_best: lowest.map(|mcs| [mcs; 2]),
            group_surest: lowest,
            ampdu_length: 1.0,
        }
    }

    pub(super) fn rate(&self, mcs: Mcs) -> &Rate {
        &self.rates[mcs.index()]
    }

    /// Counts what became of a PPDU.
    pub(super) fn count(&mut self, mcs: Mcs, attempted: u32, succeeded: u32) {
        let rate = &mut self.rates[mcs.index()];
        rate.attempts += attempted;
        rate.successes += succeeded;
    }

    /// Leaves rates of two streams that suddenly fail, before the next update
    /// (minstrel_downgrade_rate).
    pub(super) fn downgrade(&mut self) {
        for place in 0..2 {
            let (mcs, rate) = (self.best[place], self.rate(self.best[place]));
            let share = f64::from(rate.successes) / f64::from(rate.attempts);
            if rate.attempts > SUDDEN_ATTEMPTS && share < SUDDEN_SHARE && mcs.streams() > 1 {
                self.best[place] = self.group_best[0][place];
            }
        }
    }

    /// Makes new means of what was counted, and chooses anew (minstrel_ht_update_stats).
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
                    self.surest = self.surer(mcs, self.surest);
                    self.group_surest[group] = self.surer(mcs, self.group_surest[group]);
                }
            }
            self.group_best[group] = group_best;
        }
        self.best = best;
        // One stream is the more robust (minstrel_ht_prob_rate_reduce_streams).
        if best[0].streams() > 1 && self.throughput(self.group_surest[0]) > 0.0 {
            self.surest = self.group_surest[0];
        }
    }

    /// Packets a second at a rate (minstrel_ht_get_tp_avg).
    fn throughput(&self, mcs: Mcs) -> f64 {
        let rate = self.rate(mcs);
        if rate.probability < USELESS {
            return 0.0;
        }
        let length = self.ampdu_length.floor().max(1.0);
        let time = overhead().as_secs_f64() / length + rate.duration.as_secs_f64();
        rate.probability.min(SURE) / time
    }

    /// Puts a rate where it belongs among the best (minstrel_ht_sort_best_tp_rates).
    fn rank(&self, mcs: Mcs, best: &mut [Mcs; 2]) {
        let key = |mcs: Mcs| (self.throughput(mcs), self.rate(mcs).probability);
        if key(mcs) > key(best[0]) {
            *best = [mcs, best[0]];
        } else if key(mcs) > key(best[1]) {
            best[1] = mcs;
        }
    }

    /// Which of two gets through the more probably (minstrel_ht_set_best_prob_rate).
    fn surer(&self, mcs: Mcs, before: Mcs) -> Mcs {
        let better = if self.rate(mcs).probability > PROBABLE {
            self.throughput(mcs) > self.throughput(before)
        } else {
            self.rate(mcs).probability > self.rate(before).probability
        };
        if better { mcs } else { before }
    }

    /// How often a rate is tried before the next of the chain (minstrel_calc_retransmit,
    /// minstrel_ht_set_rate).
    pub(super) fn tries(&self, mcs: Mcs) -> u32 {
        let rate = self.rate(mcs);
        if rate.probability < 2.0 * USELESS {
            return 2;
        }
        let length = self.ampdu_length.floor().max(1.0);
        let once = overhead() + Duration::from_secs_f64(rate.duration.as_secs_f64() * length);
        // cw_min of 15; the mean wait of the next try.
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
    /// Takes what was counted into the mean (minstrel_calc_rate_stats).
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

/// What a PPDU takes beside its data: an empty frame and an acknowledgement at 6 Mbit/s, each with
/// SIFS (minstrel_ht_update_caps).
fn overhead() -> Duration {
    // An empty frame has a checksum of 4 bytes (ieee80211_frame_duration).
    let frame = |size| SIFS + Phy::control_duration(size, ControlRate::Mbps6);
    frame(Bytes::new(4)) + frame(ACK_SIZE)
}
