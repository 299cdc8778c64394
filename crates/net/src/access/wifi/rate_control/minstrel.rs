//! Minstrel, the rate control of Linux for 802.11n.
//!
//! After `minstrel_ht` of Linux 4.19 (net/mac80211/rc80211_minstrel_ht.c). Differences:
//!
//! | | Linux | here |
//! |---|---|---|
//! | groups | by streams, width, guard interval; 802.11b | by streams; width and guard interval are fixed per device |
//! | probabilities | fractions of 4096 | real numbers |
//! | when called | per packet | per PPDU, with the average number of packets |
//! | retry chain | three rates, all but the first after RTS | the same without RTS, then the lowest rate |
//! | best rate of a group without throughput | a rate of the first group (a bug) | the lowest rate of the group |

use super::Choice;
use super::sampler::Sampler;
use super::table::{Table, ewma};
use crate::access::wifi::GuardInterval;
use crate::access::wifi::phy::{Mcs, Phy};
use units::{Duration, Stream, Time};

/// The interval of updates of the statistics: half of update_interval (minstrel_ht_tx_status,
/// minstrel_ht_alloc).
const UPDATE: Duration = Duration::from_millis(100 / 2);

/// The state towards one receiver (struct minstrel_ht_sta).
pub(super) struct Minstrel {
    table: Table,
    sampler: Sampler,
    updated: Time,
    /// PPDUs and their MPDUs since the last update.
    ppdus: u32,
    mpdus: u32,
}

impl Minstrel {
    pub(super) fn new(phy: Phy, streams: u8, guard: GuardInterval, mut stream: Stream) -> Self {
        let (table, sampler) = (Table::new(phy, streams, guard), Sampler::new(&mut stream));
        Self { table, sampler, updated: Time::ZERO, ppdus: 0, mpdus: 0 }
    }

    /// The mean number of MPDUs in a PPDU, rounded down.
    fn ampdu_length(&self) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least one, at most 64"
        )]
        let length = self.table.ampdu_length as u32;
        length
    }

    pub(super) fn choose(&mut self) -> Choice {
        let sampled = self.sampler.next(&self.table, self.ampdu_length());
        Choice { mcs: sampled.unwrap_or(self.table.best[0]), sample: sampled.is_some() }
    }

    /// Goes down the retry chain, with several transmissions per rate (minstrel_ht_update_rates).
    pub(super) fn retry(&self, failures: u32, sampled: bool) -> Choice {
        let mut failures = failures.saturating_sub(u32::from(sampled));
        for mcs in self.chain() {
            let tries = self.table.tries(mcs);
            if failures < tries {
                return Choice::of(mcs);
            }
            failures -= tries;
        }
        Choice::of(Mcs::new(0))
    }

    fn chain(&self) -> [Mcs; 3] {
        [self.table.best[0], self.table.best[1], self.table.most_reliable]
    }

    /// The transmissions of the whole retry chain.
    pub(super) fn attempts(&self) -> u32 {
        self.chain().map(|mcs| self.table.tries(mcs)).into_iter().sum()
    }

    pub(super) fn report(&mut self, now: Time, choice: Choice, attempted: u32, succeeded: u32) {
        self.ppdus += 1;
        self.mpdus += attempted;
        self.sampler.sent(attempted, self.ampdu_length());
        self.table.count(choice.mcs, attempted, succeeded);
        self.table.downgrade();
        if now.saturating_since(self.updated) > UPDATE {
            self.update(now);
        }
    }

    fn update(&mut self, now: Time) {
        let length = f64::from(self.mpdus) / f64::from(self.ppdus);
        self.table.ampdu_length = ewma(self.table.ampdu_length, length);
        (self.ppdus, self.mpdus, self.updated) = (0, 0, now);
        self.table.update();
        self.sampler.update(self.table.streams);
    }

    #[cfg(test)]
    pub(super) fn best(&self) -> Mcs {
        self.table.best[0]
    }
}
