//! Media rate control: the target rate from the reference window and the round-trip time.

use super::config::ScreamV2Config;
use super::reference_window::ReferenceWindow;
use super::rtt::Rtt;

/// Least round-trip time in the rate, in s (the code, `updateCwnd`).
const MIN_RTT: f64 = 0.001;
/// Greatest divisor by the sender's queue, less 1 (the code, `newMediaFrame`).
const MAX_QUEUE_FACTOR: f64 = 0.5;
/// Gain of that divisor per frame, and the queue in frame periods at which it rests (measured with
/// the code).
const QUEUE_STEP: f64 = 1.0 / 8.0;
const QUEUE_REST: f64 = 0.5;

/// In bit/s.
pub(super) struct MediaRate {
    config: ScreamV2Config,
    min: f64,
    pub(super) max: f64,
    /// The rate that the window allows.
    share: f64,
    /// What the sender's queue takes from it.
    pub(super) queue_factor: f64,
    pub(super) target: f64,
}

impl MediaRate {
    /// `rates`: least, first and greatest rate.
    pub(super) fn new(config: &ScreamV2Config, rates: [f64; 3]) -> Self {
        let [min, target, max] = rates;
        Self { config: config.clone(), min, max, share: min, queue_factor: 0.0, target }
    }

    /// The window was updated. `in_flight` is the share of the window that was in flight,
    /// `crowded` whether the queue delay is over a quarter of its target.
    pub(super) fn update(
        &mut self,
        window: &ReferenceWindow,
        rtt: &Rtt,
        in_flight: f64,
        crowded: bool,
    ) {
        let mut time = rtt.seconds() + self.config.rtt_margin.as_secs_f64();
        let longest = self.config.rtt_max.as_secs_f64();
        if longest > 0.0 {
            time = time.min(longest);
        }
        let mut rate = 8.0 * window.get() / time.max(MIN_RTT);
        let limit = self.config.in_flight_limit;
        if limit > 0.0 && crowded && in_flight > limit {
            rate /= (in_flight / limit).min(self.config.in_flight_compensation);
        }
        rate *= 1.0 - (window.ratio() - 0.1).clamp(0.0, 0.2);
        let mss = window.mss() as f64;
        rate *= mss / (mss + self.config.packet_overhead.get() as f64);
        self.share = (rate / self.config.divisor).min(self.max);
        self.settle();
    }

    /// A frame came while the oldest one had waited for `waited` frame periods.
    pub(super) fn on_frame(&mut self, waited: f64) {
        let step = QUEUE_STEP * self.config.queue_gain * (waited - QUEUE_REST);
        self.queue_factor = (self.queue_factor + step).clamp(0.0, MAX_QUEUE_FACTOR);
        self.settle();
    }

    fn settle(&mut self) {
        self.target = (self.share / (1.0 + self.queue_factor)).clamp(self.min, self.max);
    }

    /// The greatest rate of the media changed.
    pub(super) fn set_max(&mut self, max: f64) {
        self.max = max.max(self.min);
        self.target = self.target.min(self.max);
    }

    pub(super) fn bounds(&self) -> (f64, f64) {
        (self.min, self.max)
    }
}
