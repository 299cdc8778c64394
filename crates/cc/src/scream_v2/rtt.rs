//! The smoothed round-trip time s_rtt.

use super::config::RttFilter;
use super::ntp;
use units::Duration;

/// Greater samples are ignored (the code, `markAcked`: 1000000 ticks, 15 s).
const MAX_SAMPLE: u64 = 1_000_000;

/// In ticks.
pub(crate) struct Rtt {
    filter: RttFilter,
    sampled: bool,
    fast: u64,
    fast_before: u64,
    smoothed: u64,
    updated: u64,
}

impl Rtt {
    /// `initial`: s_rtt before the first sample.
    pub(crate) fn new(filter: RttFilter, initial: Duration) -> Self {
        let initial = ntp::nearest(initial);
        Self {
            filter,
            sampled: false,
            fast: initial,
            fast_before: initial,
            smoothed: initial,
            updated: 0,
        }
    }

    pub(crate) fn start(&mut self, now: u64) {
        self.updated = now;
    }

    /// A sample; `limited`: the media limit the rate.
    pub(crate) fn on_sample(&mut self, now: u64, sample: u64, limited: bool) {
        if sample >= MAX_SAMPLE {
            return;
        }
        match self.filter {
            RttFilter::Rfc6298 if self.sampled => {
                self.smoothed = (7 * self.smoothed + sample) / 8;
            }
            RttFilter::Rfc6298 => self.smoothed = sample,
            RttFilter::TwoStage => self.on_two_stage(now, sample, limited),
        }
        self.sampled = true;
    }

    /// Gain 1/8 into a fast value, and from that into the smoothed one once per round-trip time; a
    /// lower value counts 1/1024 while the media limit the rate.
    fn on_two_stage(&mut self, now: u64, sample: u64, limited: bool) {
        self.fast_before = self.fast;
        self.fast = (7 * self.fast + sample) / 8;
        if now.saturating_sub(self.updated) > self.fast {
            self.smoothed = if limited && self.smoothed > self.fast {
                (1023 * self.smoothed + self.fast) / 1024
            } else {
                (7 * self.smoothed + self.fast) / 8
            };
            self.updated = now;
        }
    }

    /// s_rtt in ticks.
    pub(crate) fn ticks(&self) -> u64 {
        self.smoothed
    }

    /// s_rtt in s.
    pub(crate) fn seconds(&self) -> f64 {
        ntp::seconds(self.smoothed)
    }

    /// Whether the fast value falls.
    pub(crate) fn is_falling(&self) -> bool {
        self.fast_before > self.fast
    }
}
