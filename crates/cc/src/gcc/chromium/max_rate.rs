//! The average of the received rate at decreases, and the region of the rate relative to this
//! average (libwebrtc `remote_bitrate_estimator/aimd_rate_control.cc`; the same arithmetic is in
//! `goog_cc/link_capacity_estimator.cc` from December 2018).
//!
//! All rates are in kbit/s and 32-bit floating point, as in libwebrtc.

/// Weight of the newest rate (`aimd_rate_control.cc`: 0.05).
const WEIGHT: f32 = 0.05;
/// Bounds of the variance divided by the average (`aimd_rate_control.cc`: 0.4 and 2.5).
const VARIANCE: (f32, f32) = (0.4, 2.5);
/// Standard deviations within which a rate is near the average (`aimd_rate_control.cc`: 3).
const NEAR: f64 = 3.0;
/// Standard deviations above which a rate is above the average (`aimd_rate_control.cc` before
/// `c62642c7`: 2.5).
const ABOVE: f64 = 2.5;

/// Where the rate is, relative to the average maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Region {
    /// There is no known maximum nearby.
    Unknown,
    Near,
    Above,
}

/// The average received rate at decreases.
pub(super) struct MaxRate {
    average: Option<f32>,
    variance: f32,
}

impl Default for MaxRate {
    fn default() -> Self {
        Self { average: None, variance: VARIANCE.0 }
    }
}

impl MaxRate {
    /// The average and its standard deviation, kbit/s.
    fn spread(&self) -> Option<(f64, f64)> {
        let average = self.average?;
        Some((f64::from(average), f64::from((self.variance * average).sqrt())))
    }

    /// Whether the rate is more than three deviations above the average.
    pub(super) fn is_exceeded(&self, kbps: f32) -> bool {
        self.exceeds(kbps, NEAR)
    }

    /// Whether the rate is more than two and a half deviations above the average.
    pub(super) fn is_below(&self, kbps: f32) -> bool {
        self.exceeds(kbps, ABOVE)
    }

    fn exceeds(&self, kbps: f32, deviations: f64) -> bool {
        self.spread()
            .is_some_and(|(average, deviation)| f64::from(kbps) > average + deviations * deviation)
    }

    /// The rate was decreased at the received rate `kbps`. An average that is more than three
    /// deviations above is forgotten; its variance is kept.
    pub(super) fn on_decrease(&mut self, kbps: f32) {
        let far = self
            .spread()
            .is_some_and(|(average, deviation)| f64::from(kbps) < average - NEAR * deviation);
        if far {
            self.average = None;
        }
        let average = self.average.map_or(kbps, |average| (1.0 - WEIGHT) * average + WEIGHT * kbps);
        let error = average - kbps;
        let variance = (1.0 - WEIGHT) * self.variance + WEIGHT * error * error / average.max(1.0);
        self.variance = variance.clamp(VARIANCE.0, VARIANCE.1);
        self.average = Some(average);
    }

    pub(super) fn set(&mut self, kbps: f32) {
        self.average = Some(kbps);
    }

    pub(super) fn forget(&mut self) {
        self.average = None;
    }

    pub(super) fn average(&self) -> Option<f32> {
        self.average
    }

    /// The variance divided by the average, kbit/s.
    pub(super) fn variance(&self) -> f32 {
        self.variance
    }
}
