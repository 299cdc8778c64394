//! Fourth stage: the delay-based rate with additive increase and multiplicative decrease (libwebrtc
//! `remote_bitrate_estimator/aimd_rate_control.cc`).

use super::super::acceleration::Acceleration;
use super::super::dynamic_alpha::Alpha;
use super::super::hold::HoldTimer;
use super::super::overuse_detector::Signal;
use super::config::LibwebrtcConfig;
use super::link_capacity::LinkCapacity;
use super::rounding::bytes_in;
use units::{Bitrate, Bytes, Duration, Time};

/// Time between two frames from which the average packet size is computed (libwebrtc
/// `aimd_rate_control.cc`: a thirtieth of a second, in whole µs).
const FRAME_INTERVAL: Duration = Duration::from_micros(33_333);
/// Maximum size of a packet of a frame (libwebrtc `aimd_rate_control.cc`: 1200 bytes).
const PACKET_BYTES: f64 = 1200.0;
/// The rate increases by one packet per this many response times (libwebrtc
/// `aimd_rate_control.cc`).
const RESPONSE_TIMES: u64 = 2;
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

/// Computes the delay-based rate, in whole bit/s as libwebrtc.
pub(super) struct Aimd {
    config: LibwebrtcConfig,
    min_rate: Bitrate,
    rate: Bitrate,
    /// The newest acknowledged rate.
    throughput: Bitrate,
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
        let start = start.max(min_rate);
        Self {
            config: config.clone(),
            min_rate,
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

    /// Sets the rate and the throughput before any feedback.
    pub(super) fn set_start(&mut self, start: Bitrate) {
        (self.rate, self.throughput) = (start, start);
    }

    /// Sets the minimum rate.
    pub(super) fn set_min(&mut self, min_rate: Bitrate) {
        self.min_rate = min_rate;
        self.rate = self.rate.max(min_rate);
    }

    /// A probe measured the path, or the rate is set for another reason.
    pub(super) fn set_rate(&mut self, now: Time, rate: Bitrate) {
        self.rate = rate.max(self.min_rate);
        self.changed = Some(now);
    }

    /// Whether over-use decreases the rate again: once per round-trip time, or if the throughput is
    /// far below the rate.
    pub(super) fn may_decrease(&self, now: Time, throughput: Bitrate) -> bool {
        let interval = self.rtt.clamp(DECREASE_INTERVAL.0, DECREASE_INTERVAL.1);
        self.changed.is_none_or(|changed| now.saturating_since(changed) >= interval)
            || throughput < self.rate.scale(FAR_BELOW)
    }

    /// Feedback arrived at `now`. `throughput` is the acknowledged rate, if known.
    pub(super) fn update(
        &mut self,
        now: Time,
        signal: Signal,
        throughput: Option<Bitrate>,
        in_alr: bool,
    ) {
        self.throughput = throughput.unwrap_or(self.throughput);
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
            self.throughput.scale(self.config.increase_limit) + self.config.limit_extra
        };
        let near = self.capacity.estimate().is_some();
        if near {
            self.acceleration.interrupt();
        }
        if self.rate < limit {
            let elapsed = self.changed.map(|changed| seconds(now.saturating_since(changed)));
            let step =
                if near { self.additive(elapsed) } else { self.multiplicative(now, elapsed) };
            self.rate = (self.rate + step.scale(fraction)).min(limit);
        }
        self.changed = Some(now);
    }

    /// Additive step for the elapsed seconds: one average packet per two response times.
    fn additive(&self, elapsed: Option<f64>) -> Bitrate {
        let step = self.additive_slope().as_bps_f64() * elapsed.unwrap_or(0.0);
        Bitrate::from_bps_f64(step.floor())
    }

    /// The additive step per second.
    pub(super) fn additive_slope(&self) -> Bitrate {
        let frame = bytes_in(self.rate, FRAME_INTERVAL).get() as f64;
        let packets = (frame / PACKET_BYTES).ceil().max(1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number of bytes"
        )]
        let packet = Bytes::new((frame / packets).round() as u64);
        let response_time = (self.rtt + self.config.response_extra) * RESPONSE_TIMES;
        packet.per(response_time).unwrap_or_default().max(self.config.least_additive)
    }

    fn multiplicative(&mut self, now: Time, elapsed: Option<f64>) -> Bitrate {
        let elapsed = elapsed.map_or(1.0, |elapsed| elapsed.min(MAX_STEP));
        let exponent = elapsed * self.acceleration.exponent(now);
        let step = self.rate.scale(libm::pow(self.config.increase, exponent) - 1.0);
        step.max(self.config.least_step)
    }

    /// Decreases the rate to a little less than the throughput, so that the queue drains. The rate
    /// never increases here.
    fn decrease(&mut self, now: Time, excess: f64) {
        self.state = AimdState::Decrease;
        self.acceleration.interrupt();
        let alpha = self.alpha.at(excess);
        let extra = self.config.decrease_extra;
        let mut lower = self.throughput.scale(alpha);
        if lower > extra {
            lower = lower.saturating_sub(extra);
        }
        if lower > self.rate
            && let Some(capacity) = self.capacity.estimate()
        {
            lower = capacity.scale(alpha);
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
        self.rate
    }

    pub(super) fn state(&self) -> AimdState {
        self.state
    }

    /// The link capacity, if known.
    pub(super) fn capacity(&self) -> Option<Bitrate> {
        self.capacity.estimate()
    }
}

/// The span in seconds. As in libwebrtc (`rtc_base/units/unit_base.h`), whole µs are multiplied by
/// 1e-6, which is a little less than the quotient for many spans.
fn seconds(span: Duration) -> f64 {
    span.as_micros() as f64 * 1e-6
}

#[cfg(test)]
mod tests;
