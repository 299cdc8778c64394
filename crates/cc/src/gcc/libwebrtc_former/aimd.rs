//! Fourth stage: the delay-based rate with additive increase and multiplicative decrease (libwebrtc
//! `remote_bitrate_estimator/aimd_rate_control.cc`).

use super::super::acceleration::Acceleration;
use super::super::dynamic_alpha::Alpha;
use super::super::hold::HoldTimer;
use super::super::overuse_detector::Signal;
use super::config::LibwebrtcConfig;
use super::link_capacity::LinkCapacity;
use units::{Bitrate, Duration, Time};

/// Frames per second from which the average packet size is computed (libwebrtc
/// `aimd_rate_control.cc`: 30).
const FRAME_RATE: f64 = 30.0;
const PACKET_BITS: f64 = 9600.0;
/// The rate increases by one packet per this many response times (libwebrtc
/// `aimd_rate_control.cc`).
const RESPONSE_TIMES: f64 = 2.0;
/// Bounds of the minimum time between two decreases, which is the round-trip time (libwebrtc
/// `aimd_rate_control.cc`: 10 to 200 ms).
const DECREASE_INTERVAL: (Duration, Duration) =
    (Duration::from_millis(10), Duration::from_millis(200));
/// A throughput below this fraction of the rate allows a decrease at once (libwebrtc
/// `aimd_rate_control.cc`: 0.5).
const FAR_BELOW: f64 = 0.5;
/// Maximum elapsed time in a multiplicative step, in seconds (libwebrtc `aimd_rate_control.cc`: 1
/// s).
const MAX_STEP: f64 = 1.0;

/// The last action of the rate control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AimdState {
    Increase,
    Hold,
    Decrease,
}

/// Computes the delay-based rate. Rates are real numbers in bit/s, so that small steps add up.
pub(super) struct Aimd {
    config: LibwebrtcConfig,
    min_rate: f64,
    rate: f64,
    /// The newest acknowledged rate.
    throughput: f64,
    capacity: LinkCapacity,
    acceleration: Acceleration,
    hold: HoldTimer,
    alpha: Alpha,
    state: AimdState,
    rtt: Duration,
    changed: Option<Time>,
}

impl Aimd {
    pub(super) fn new(config: &LibwebrtcConfig, start: Bitrate, min_rate: Bitrate) -> Self {
        let start = start.max(min_rate).as_bps_f64();
        Self {
            config: config.clone(),
            min_rate: min_rate.as_bps_f64(),
            rate: start,
            throughput: start,
            capacity: LinkCapacity::new(config),
            acceleration: Acceleration::new(config.acceleration, config.increase),
            hold: HoldTimer::new(config.hold_longest),
            alpha: Alpha { fixed: config.decrease, dynamic: config.decrease_dynamic },
            state: AimdState::Hold,
            rtt: config.default_rtt,
            changed: None,
        }
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    /// A probe measured the path, or the rate is set for another reason.
    pub(super) fn set_rate(&mut self, now: Time, rate: Bitrate) {
        self.rate = rate.as_bps_f64().max(self.min_rate);
        self.changed = Some(now);
    }

    /// Whether over-use decreases the rate again: once per round-trip time, or if the throughput is
    /// far below the rate.
    pub(super) fn may_decrease(&self, now: Time, throughput: Bitrate) -> bool {
        let interval = self.rtt.clamp(DECREASE_INTERVAL.0, DECREASE_INTERVAL.1);
        self.changed.is_none_or(|changed| now.saturating_since(changed) >= interval)
            || throughput.as_bps_f64() < FAR_BELOW * self.rate
    }

    /// Feedback arrived at `now`. `throughput` is the acknowledged rate, if known.
    pub(super) fn update(
        &mut self,
        now: Time,
        signal: Signal,
        throughput: Option<Bitrate>,
        in_alr: bool,
    ) {
        self.throughput = throughput.map_or(self.throughput, Bitrate::as_bps_f64);
        let over = self.hold.is_over(now, signal == Signal::Underuse);
        match signal {
            Signal::Overuse { excess } => self.decrease(now, excess),
            Signal::Underuse if !over => self.hold(now, in_alr),
            Signal::Normal | Signal::Underuse => {
                self.enter(now, AimdState::Increase);
                self.increase(now, in_alr, 1.0);
            }
        }
        self.rate = self.rate.max(self.min_rate);
    }

    /// The elapsed time of a step counts from when the state was entered.
    fn enter(&mut self, now: Time, state: AimdState) {
        if self.state != state || self.changed.is_none() {
            self.changed = Some(now);
            self.state = state;
        }
    }

    fn hold(&mut self, now: Time, in_alr: bool) {
        self.acceleration.interrupt();
        if self.config.hold_increase > 0.0 {
            self.enter(now, AimdState::Hold);
            self.increase(now, in_alr, self.config.hold_increase);
            self.acceleration.interrupt();
        }
        self.state = AimdState::Hold;
    }

    /// Increases the rate by `fraction` of the usual step.
    fn increase(&mut self, now: Time, in_alr: bool, fraction: f64) {
        if self.capacity.is_below(self.throughput) {
            self.capacity.reset();
        }
        let limit = if in_alr && !self.config.increase_in_alr {
            self.rate
        } else {
            self.config.increase_limit * self.throughput + self.config.limit_extra.as_bps_f64()
        };
        let near = self.capacity.estimate().is_some();
        if near {
            self.acceleration.interrupt();
        }
        if self.rate < limit {
            let elapsed = self.changed.map(|changed| now.saturating_since(changed).as_secs_f64());
            let step =
                if near { self.additive(elapsed) } else { self.multiplicative(now, elapsed) };
            self.rate = (self.rate + fraction * step).min(limit);
        }
        self.changed = Some(now);
    }

    /// Additive step for the elapsed seconds, in bit/s: one average packet per two response times.
    fn additive(&self, elapsed: Option<f64>) -> f64 {
        self.additive_slope() * elapsed.unwrap_or(0.0)
    }

    /// In bit/s per second.
    fn additive_slope(&self) -> f64 {
        let frame = self.rate / FRAME_RATE;
        let packet = frame / (frame / PACKET_BITS).ceil();
        let response_time = (self.rtt + self.config.response_extra).as_secs_f64();
        (packet / (RESPONSE_TIMES * response_time)).max(self.config.least_additive.as_bps_f64())
    }

    fn multiplicative(&mut self, now: Time, elapsed: Option<f64>) -> f64 {
        let elapsed = elapsed.map_or(1.0, |elapsed| elapsed.min(MAX_STEP));
        let exponent = elapsed * self.acceleration.exponent(now);
        let step = self.rate * (libm::pow(self.config.increase, exponent) - 1.0);
        step.max(self.config.least_step.as_bps_f64())
    }

    /// Decreases the rate to a little less than the throughput, so that the queue drains. The rate
    /// never increases here.
    fn decrease(&mut self, now: Time, excess: f64) {
        self.state = AimdState::Decrease;
        self.acceleration.interrupt();
        let alpha = self.alpha.at(excess);
        let extra = self.config.decrease_extra.as_bps_f64();
        let mut lower = alpha * self.throughput;
        if lower > extra {
            lower -= extra;
        }
        if lower > self.rate
            && let Some(capacity) = self.capacity.estimate()
        {
            lower = alpha * capacity;
        }
        self.rate = self.rate.min(lower);
        if self.capacity.is_above(self.throughput) {
            self.capacity.reset();
        }
        self.capacity.on_overuse(self.throughput);
        self.changed = Some(now);
    }

    /// The delay-based rate.
    pub(super) fn rate(&self) -> Bitrate {
        Bitrate::from_bps_f64(self.rate)
    }

    pub(super) fn state(&self) -> AimdState {
        self.state
    }

    /// The link capacity, in bit/s, if known.
    pub(super) fn capacity(&self) -> Option<f64> {
        self.capacity.estimate()
    }
}

#[cfg(test)]
mod tests;
