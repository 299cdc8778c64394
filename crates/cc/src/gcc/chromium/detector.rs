//! Third stage: the over-use detector and its threshold (libwebrtc
//! `remote_bitrate_estimator/overuse_detector.cc`).

use super::max_rate::Region;
use units::Duration;

/// Maximum factor of the offset (`overuse_detector.cc`: 60).
const MAX_SCALE: u32 = 60;
/// Deltas before the first decision (`overuse_detector.cc`: 2).
const MIN_DELTAS: u32 = 2;

/// The state of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Usage {
    Underuse = -1,
    Normal = 0,
    Overuse = 1,
}

/// The constants of the detector. Thresholds are in ms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) adaptive: bool,
    /// Thresholds far from and near the known maximum.
    pub(super) initial: (f64, f64),
    /// Gains above and below the threshold, per ms.
    pub(super) gains: (f64, f64),
    pub(super) skip: f64,
    pub(super) bounds: (f64, f64),
    /// Maximum elapsed time in an update; 0: none.
    pub(super) longest_step: Duration,
    pub(super) overuse_time: Duration,
}

/// T = min(deltas, 60) · m, which is compared with the threshold, ms.
pub(super) fn scaled(offset: f64, deltas: u32) -> f64 {
    f64::from(deltas.min(MAX_SCALE)) * offset
}

/// Compares T = min(deltas, 60) · m with the threshold.
pub(super) struct Detector {
    adaptive: bool,
    /// Thresholds far from and near the known maximum, ms.
    initial: (f64, f64),
    gains: (f64, f64),
    skip: f64,
    bounds: (f64, f64),
    longest_step: i64,
    overuse_time: f64,
    threshold: f64,
    updated: Option<i64>,
    scaled: f64,
    previous: f64,
    /// Time of over-use so far, ms, and its number of samples.
    over: Option<(f64, u32)>,
    usage: Usage,
    onsets: u64,
}

impl Detector {
    pub(super) fn new(rules: &Rules) -> Self {
        let step = rules.longest_step.as_millis() as i64;
        Self {
            adaptive: rules.adaptive,
            initial: rules.initial,
            gains: rules.gains,
            skip: rules.skip,
            bounds: rules.bounds,
            longest_step: if step > 0 { step } else { i64::MAX },
            overuse_time: rules.overuse_time.as_millis_f64(),
            threshold: rules.initial.0,
            updated: None,
            scaled: 0.0,
            previous: 0.0,
            over: None,
            usage: Usage::Normal,
            onsets: 0,
        }
    }

    /// Processes the filter's offset at `now`, ms, `interval` after the previous group was sent.
    pub(super) fn detect(&mut self, now: i64, interval: f64, offset: f64, deltas: u32) {
        self.scaled = scaled(offset, deltas);
        if deltas < MIN_DELTAS {
            return;
        }
        let rising = offset >= std::mem::replace(&mut self.previous, offset);
        let before = self.usage;
        if self.scaled > self.threshold {
            self.overuse(interval, rising);
        } else {
            self.over = None;
            let under = self.scaled < -self.threshold;
            self.usage = if under { Usage::Underuse } else { Usage::Normal };
        }
        self.onsets += u64::from(before != Usage::Overuse && self.usage == Usage::Overuse);
        self.adapt(now);
    }

    /// Over-use is signalled once it has lasted and while the offset does not fall. The state then
    /// stays until T is at most the threshold.
    fn overuse(&mut self, interval: f64, rising: bool) {
        let (time, samples) =
            self.over.map_or((interval / 2.0, 1), |(time, n)| (time + interval, n + 1));
        self.over = Some((time, samples));
        if time > self.overuse_time && samples > 1 && rising {
            self.over = Some((0.0, 0));
            self.usage = Usage::Overuse;
        }
    }

    /// Moves the threshold towards |T|, unless |T| is far above it.
    fn adapt(&mut self, now: i64) {
        if !self.adaptive {
            return;
        }
        let elapsed = now - self.updated.replace(now).unwrap_or(now);
        let size = self.scaled.abs();
        if size > self.threshold + self.skip {
            return;
        }
        let gain = if size < self.threshold { self.gains.1 } else { self.gains.0 };
        let step = gain * (size - self.threshold) * elapsed.min(self.longest_step) as f64;
        self.threshold = (self.threshold + step).clamp(self.bounds.0, self.bounds.1);
    }

    /// The rate control is in `region`: a static threshold is lower near the known maximum.
    pub(super) fn set_region(&mut self, region: Region) {
        if !self.adaptive {
            let near = region != Region::Unknown;
            self.threshold = if near { self.initial.1 } else { self.initial.0 };
        }
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    /// The threshold, ms.
    pub(super) fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Time of over-use so far, ms, and its number of samples.
    pub(super) fn over(&self) -> Option<(f64, u32)> {
        self.over
    }

    /// How often over-use began.
    pub(super) fn onsets(&self) -> u64 {
        self.onsets
    }
}
