//! How a device chooses the rate of a PPDU: a fixed one, or Linux's `minstrel_ht`.

mod minstrel;
mod sampler;
mod table;
#[cfg(test)]
mod tests;

use super::phy::{Mcs, Phy};
use super::{GuardInterval, RateControl};
use minstrel::Minstrel;
use units::{Stream, Time};

/// What a PPDU is sent with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// The modulation and coding scheme.
    pub(super) mcs: Mcs,
    /// Whether this rate is tried out. A driver sends such a frame alone, not in an A-MPDU (Linux
    /// ath9k, xmit.c: `IEEE80211_TX_CTL_RATE_CTRL_PROBE`).
    pub(super) sample: bool,
}

impl Choice {
    fn of(mcs: Mcs) -> Self {
        Self { mcs, sample: false }
    }
}

/// Chooses the rates of what one device sends to one other.
pub(super) struct RateController {
    rule: Rule,
}

#[expect(
    clippy::large_enum_variant,
    reason = "one for each pair of devices; no detour on the way to it"
)]
enum Rule {
    Fixed(Mcs),
    Minstrel(Minstrel),
}

impl RateController {
    /// For a device that sends `streams` spatial streams (1 or 2) with `guard`; `stream` draws the
    /// order in which rates are tried out. The parser sees that a fixed rate has no more streams.
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

    /// The rate of the first try of a PPDU.
    pub(super) fn choose(&mut self) -> Choice {
        match &mut self.rule {
            Rule::Fixed(mcs) => Choice::of(*mcs),
            Rule::Minstrel(minstrel) => minstrel.choose(),
        }
    }

    /// The rate of the next try after `failures` (1 or more) tries in a row without any
    /// acknowledgement, the first of which was of a rate to be tried out if it was `sampled`.
    pub(super) fn retry(&self, failures: u32, sampled: bool) -> Choice {
        match &self.rule {
            Rule::Fixed(mcs) => Choice::of(*mcs),
            Rule::Minstrel(minstrel) => minstrel.retry(failures, sampled),
        }
    }

    /// Takes note of a try that ended at `now`: how many MPDUs it had and how many of them were
    /// acknowledged, 0 where no acknowledgement came.
    pub(super) fn report(&mut self, now: Time, choice: Choice, attempted: u32, succeeded: u32) {
        debug_assert!(succeeded <= attempted, "only what was sent is acknowledged");
        if let Rule::Minstrel(minstrel) = &mut self.rule {
            minstrel.report(now, choice, attempted, succeeded);
        }
    }

    /// How often a frame is sent before it is given up: with a fixed rate dot11ShortRetryLimit
    /// (IEEE 802.11-2016 annex C); with Minstrel the chain of rates has an end (Linux gives a
    /// driver the tries of each rate, and no other limit).
    pub(super) fn attempts(&self) -> u32 {
        match &self.rule {
            Rule::Fixed(_) => 7,
            Rule::Minstrel(minstrel) => minstrel.attempts(),
        }
    }

    /// The scheme that promises the most throughput at present.
    #[cfg(test)]
    fn best(&self) -> Mcs {
        match &self.rule {
            Rule::Fixed(mcs) => *mcs,
            Rule::Minstrel(minstrel) => minstrel.best(),
        }
    }
}
