//! Which rate is sampled next, and when.
//!
//! Functions in brackets are those of Linux 4.19, net/mac80211/rc80211_minstrel_ht.c.

use super::table::Table;
use crate::access::wifi::phy::Mcs;
use units::Stream;

/// The number of random orders (SAMPLE_COLUMNS).
const COLUMNS: usize = 10;

/// A rate with a higher probability of success is not sampled (minstrel_get_sample_rate).
const KNOWN: f64 = 0.95;

/// A slow rate is sampled after this many updates without a sample, and at most `SLOW_AT_ONCE` slow
/// rates are sampled between two updates (minstrel_get_sample_rate).
const SLOW_AFTER: u32 = 20;
const SLOW_AT_ONCE: u32 = 3;

/// Samples one rate after another in random order.
pub(super) struct Sampler {
    /// Random orders of the eight rates of a group (init_sample_table).
    orders: [[u8; Mcs::PER_STREAM]; COLUMNS],
    /// The group to sample next: its number of streams − 1.
    group: usize,
    /// How far each group has come: the column and the position in it.
    positions: [(usize, usize); 2],
    /// Packets until the next sample.
    wait: u32,
    /// Samples that are allowed now.
    tries: u32,
    /// Samples left until the next update.
    left: u32,
    /// Slow rates that were considered since the last update.
    slow: u32,
}

impl Sampler {
    pub(super) fn new(stream: &mut Stream) -> Self {
        // minstrel_ht_update_caps, for hardware with a retry chain.
        let orders = std::array::from_fn(|_| order(stream));
        Self { orders, group: 0, positions: [(0, 0); 2], wait: 0, tries: 4, left: 16, slow: 0 }
    }

    /// Resets the counts at an update: each rate may be sampled once (minstrel_ht_update_stats).
    pub(super) fn update(&mut self, streams: u8) {
        self.slow = 0;
        self.left = 8 * u32::from(streams);
    }

    /// Counts the packets of a PPDU that was sent, and allows another sample if one is due
    /// (minstrel_ht_tx_status).
    pub(super) fn sent(&mut self, packets: u32, ampdu_length: u32) {
        self.wait = self.wait.saturating_sub(packets);
        if self.wait == 0 && self.tries == 0 && self.left > 0 {
            self.wait = 16 + 2 * ampdu_length;
            self.tries = 1;
            self.left -= 1;
        }
    }

    /// A rate to sample with one of the next `packets`; `None` if none is due. The kernel calls
    /// this per packet, here it is called per PPDU.
    pub(super) fn next(&mut self, table: &Table, packets: u32) -> Option<Mcs> {
        if self.wait > 0 || self.tries == 0 {
            return None;
        }
        let found = (0..packets.max(1)).find_map(|_| {
            let candidate = self.turn(table.streams);
            self.is_worth(candidate, table).then_some(candidate)
        })?;
        self.tries -= 1;
        Some(found)
    }

    /// The rate to sample next (minstrel_set_next_sample_idx).
    fn turn(&mut self, streams: u8) -> Mcs {
        let (column, position) = self.positions[self.group];
        let mcs = Mcs::new(8 * self.group as u8 + self.orders[column][position]);
        self.group = (self.group + 1) % usize::from(streams);
        let (column, position) = &mut self.positions[self.group];
        *position += 1;
        if *position == Mcs::PER_STREAM {
            (*column, *position) = ((*column + 1) % COLUMNS, 0);
        }
        mcs
    }

    /// Whether a sample of the rate is worth its airtime (minstrel_get_sample_rate).
    fn is_worth(&mut self, mcs: Mcs, table: &Table) -> bool {
        let rate = table.rate(mcs);
        if mcs == table.best[0] || mcs == table.most_reliable || rate.probability > KNOWN {
            return false;
        }
        let duration = |mcs: Mcs| table.rate(mcs).duration;
        let [first, second] = table.best;
        let (fast, slow) =
            if duration(first) > duration(second) { (second, first) } else { (first, second) };
        let fewer_streams = mcs.streams() < fast.streams();
        if rate.duration >= duration(slow)
            && (!fewer_streams || rate.duration >= duration(table.most_reliable))
        {
            if rate.skipped < SLOW_AFTER {
                return false;
            }
            self.slow += 1;
            return self.slow <= SLOW_AT_ONCE;
        }
        true
    }
}

/// A random order of the eight rates of a group: each rate takes a random position, or the next
/// free one (init_sample_table).
fn order(stream: &mut Stream) -> [u8; Mcs::PER_STREAM] {
    let mut order = [None; Mcs::PER_STREAM];
    for rate in 0..Mcs::PER_STREAM as u8 {
        let mut position = (usize::from(rate) + stream.below(8) as usize) % Mcs::PER_STREAM;
        while order[position].is_some() {
            position = (position + 1) % Mcs::PER_STREAM;
        }
        order[position] = Some(rate);
    }
    order.map(Option::unwrap_or_default)
}
