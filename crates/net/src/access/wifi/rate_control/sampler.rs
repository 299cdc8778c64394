//! Which rate is tried out next, and when.
//!
//! Functions in brackets are those of Linux 4.19, net/mac80211/rc80211_minstrel_ht.c.

use super::table::Table;
use crate::access::wifi::phy::Mcs;
use units::Stream;

/// How many random orders there are (SAMPLE_COLUMNS).
const COLUMNS: usize = 10;

/// Above this probability nothing is learned (minstrel_get_sample_rate).
const KNOWN: f64 = 0.95;

/// A slow rate is tried out after so many updates without it, and so many of them between two
/// updates (minstrel_get_sample_rate).
const SLOW_AFTER: u32 = 20;
const SLOW_AT_ONCE: u32 = 3;

/// Tries out one rate after another in random order.
pub(super) struct Sampler {
    /// Random orders of the eight rates of a group (init_sample_table).
    orders: [[u8; Mcs::PER_STREAM]; COLUMNS],
    /// The group whose turn it is, streams − 1.
    group: usize,
    /// How far each group is: column and place in it.
    places: [(usize, usize); 2],
    /// How many packets to wait before the next.
    wait: u32,
    /// How many may be tried now.
    tries: u32,
    /// How many more until the next update.
    left: u32,
    /// How many slow ones were asked for since the last update.
    slow: u32,
}

impl Sampler {
    pub(super) fn new(stream: &mut Stream) -> Self {
        // minstrel_ht_update_caps, for hardware with a chain of rates.
        let orders = std::array::from_fn(|_| order(stream));
        Self { orders, group: 0, places: [(0, 0); 2], wait: 0, tries: 4, left: 16, slow: 0 }
    }

    /// Starts the count anew at an update: each rate may be tried out (minstrel_ht_update_stats).
    pub(super) fn update(&mut self, streams: u8) {
        self.slow = 0;
        self.left = 8 * u32::from(streams);
    }

    /// Counts the packets of a PPDU that was sent, and allows another try once it is time
    /// (minstrel_ht_tx_status).
    pub(super) fn sent(&mut self, packets: u32, ampdu_length: u32) {
        self.wait = self.wait.saturating_sub(packets);
        if self.wait == 0 && self.tries == 0 && self.left > 0 {
            self.wait = 16 + 2 * ampdu_length;
            self.tries = 1;
            self.left -= 1;
        }
    }

    /// A rate to try out with one of the next `packets`. The kernel asks for each packet; here it
    /// is for each PPDU.
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

    /// The rate whose turn it is (minstrel_set_next_sample_idx).
    fn turn(&mut self, streams: u8) -> Mcs {
        let (column, place) = self.places[self.group];
        let mcs = Mcs::new(8 * self.group as u8 + self.orders[column][place]);
        self.group = (self.group + 1) % usize::from(streams);
        let (column, place) = &mut self.places[self.group];
        *place += 1;
        if *place == Mcs::PER_STREAM {
            (*column, *place) = ((*column + 1) % COLUMNS, 0);
        }
        mcs
    }

    /// Whether a rate is worth the airtime of a try (minstrel_get_sample_rate).
    fn is_worth(&mut self, mcs: Mcs, table: &Table) -> bool {
        let rate = table.rate(mcs);
        if mcs == table.best[0] || mcs == table.surest || rate.probability > KNOWN {
            return false;
        }
        let duration = |mcs: Mcs| table.rate(mcs).duration;
        let [first, second] = table.best;
        let (fast, slow) =
            if duration(first) > duration(second) { (second, first) } else { (first, second) };
        let fewer_streams = mcs.streams() < fast.streams();
        if rate.duration >= duration(slow)
            && (!fewer_streams || rate.duration >= duration(table.surest))
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

/// A random order of eight: each goes to a random place, or the next that is free
/// (init_sample_table).
fn order(stream: &mut Stream) -> [u8; Mcs::PER_STREAM] {
    let mut order = [None; Mcs::PER_STREAM];
    for rate in 0..Mcs::PER_STREAM as u8 {
        let mut place = (usize::from(rate) + stream.below(8) as usize) % Mcs::PER_STREAM;
        while order[place].is_some() {
            place = (place + 1) % Mcs::PER_STREAM;
        }
        order[place] = Some(rate);
    }
    order.map(Option::unwrap_or_default)
}
