//! Rate control: the choice of the rate of a PPDU, fixed or by Linux's `minstrel_ht`.

mod minstrel;
mod sampler;
mod table;
#[cfg(test)]
mod tests;

use super::phy::{Mcs, Phy};
use super::{GuardInterval, RateControl};
use minstrel::Minstrel;
use units::{Stream, Time};

/// The rate of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// The modulation and coding scheme.
    pub(super) mcs: Mcs,
    /// Whether the PPDU samples this rate. A driver sends such a frame alone, not in an A-MPDU
    /// (Linux ath9k, xmit.c: `IEEE80211_TX_CTL_RATE_CTRL_PROBE`).
    pub(super) sample: bool,
}

impl Choice {
    fn of(mcs: Mcs) -> Self {
        Self { mcs, sample: false }
    }
}

/// Chooses the rates of the PPDUs from one device to another.
pub(super) struct RateController {
    rule: Rule,
}

#[expect(
    clippy::large_enum_variant,
    reason = "there is one per pair of devices; a box would only add an indirection"
)]
enum Rule {
    Fixed(Mcs),
    Minstrel(Minstrel),
}

impl RateController {
    /// For a device that sends up to `streams` spatial streams (1 or 2) with `guard`; `stream`
    /// draws the order in which rates are sampled. The configuration is checked before: a fixed
    /// rate has no more streams.
    pub(super) fn new(
        config: RateControl,
        phy: Phy,
        streams: u8,
        guard: GuardInterval,
        stream: Stream,
    ) -> Self {
        let rule = match config {
            RateControl::Fixed(index) => Rule::Fixed(Mcs::new(index)),
            RateControl::Minstrel => Rule::Minstrel(Minstrel::new(phy, streams, guard, stream)),
        };
        Self { rule }
    }

    /// The rate of the first transmission of a PPDU.
    pub(super) fn choose(&mut self) -> Choice {
        match &mut self.rule {
            Rule::Fixed(mcs) => Choice::of(*mcs),
            Rule::Minstrel(minstrel) => minstrel.choose(),
        }
    }

    /// The rate of the next transmission after `failures` (1 or more) in a row without
    /// acknowledgement; `sampled` tells whether the first of them sampled a rate.
    pub(super) fn retry(&self, failures: u32, sampled: bool) -> Choice {
        match &self.rule {
            Rule::Fixed(mcs) => Choice::of(*mcs),
            Rule::Minstrel(minstrel) => minstrel.retry(failures, sampled),
        }
    }

    /// Reports a transmission that ended at `now`: the number of its MPDUs, and how many of them
    /// were acknowledged; 0 if no acknowledgement arrived.
    pub(super) fn report(&mut self, now: Time, choice: Choice, attempted: u32, succeeded: u32) {
        debug_assert!(succeeded <= attempted, "only MPDUs that were sent are acknowledged");
        if let Rule::Minstrel(minstrel) = &mut self.rule {
            minstrel.report(now, choice, attempted, succeeded);
        }
    }

    /// The number of transmissions before a frame is given up: with a fixed rate
    /// dot11ShortRetryLimit (IEEE 802.11-2016 annex C); with Minstrel the length of the retry chain
    /// (Linux passes the driver the number of transmissions per rate, and no other limit).
    pub(super) fn attempts(&self) -> u32 {
        match &self.rule {
            Rule::Fixed(_) => 7,
            Rule::Minstrel(minstrel) => minstrel.attempts(),
        }
    }

    /// The scheme with the highest expected throughput.
    #[cfg(test)]
    fn best(&self) -> Mcs {
        match &self.rule {
            Rule::Fixed(mcs) => *mcs,
            Rule::Minstrel(minstrel) => minstrel.best(),
        }
    }
}
