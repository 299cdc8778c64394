//! Fourth stage: the delay-based rate, additive increase and multiplicative decrease
//! (libwebrtc `remote_bitrate_estimator/aimd_rate_control.cc`).

use super::super::acceleration::Acceleration;
use super::super::dynamic_alpha::Alpha;
use super::super::hold::LongestHold;
use super::super::overuse_detector::Signal;
use super::config::LibwebrtcConfig;
use super::link_capacity::LinkCapacity;
use units::{Bitrate, Duration, Time};

/// Frames a second and packet size from which the average packet is reckoned
/// (libwebrtc `aimd_rate_control.cc`: 30, 1200 B).
const FRAME_RATE: f64 = 30.0;
const PACKET_BITS: f64 = 9600.0;
/// The rate grows by a packet in twice the response time (libwebrtc `aimd_rate_control.cc`).
const RESPONSE_TIMES: f64 = 2.0;
/// The pace of falls is the round-trip time within these bounds (libwebrtc `aimd_rate_control.cc`:
/// 10…200 ms).
const PACE: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(200));
/// A throughput below this share of the rate lowers it at once (libwebrtc `aimd_rate_control.cc`:
/// 0.5).
const FAR_BELOW: f64 = 0.5;
/// A pause counts in a multiplicative step up to this (libwebrtc `aimd_rate_control.cc`: 1 s).
const LONGEST_STEP: f64 = 1.0;

/// What the controller did last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Increase,
    Hold,
    Decrease,
}

/// Computes the delay-based rate; rates in bit/s, real, so that small steps add up.
pub(super) struct Aimd {
    config: LibwebrtcConfig,
    least: f64,
    rate: f64,
    /// The newest throughput.
    throughput: f64,
    capacity: LinkCapacity,
    acceleration: Acceleration,
    hold: LongestHold,
    alpha: Alpha,
    state: State,
    rtt: Duration,
    changed: Option<Time>,
}

impl Aimd {
    pub(super) fn new(config: &LibwebrtcConfig, start: Bitrate, least: Bitrate) -> Self {
        let start = start.max(least).as_bps_f64();
        Self {
            config: config.clone(),
            least: least.as_bps_f64(),
            rate: start,
            throughput: start,
            capacity: LinkCapacity::new(config),
            acceleration: Acceleration::new(config.acceleration, config.increase),
            hold: LongestHold::new(config.hold_longest),
            alpha: Alpha { fixed: config.decrease, dynamic: config.decrease_dynamic },
            state: State::Hold,
            rtt: config.default_rtt,
            changed: None,
        }
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt;
    }

    /// A probe measured the path.
    pub(super) fn set_rate(&mut self, now: Time, rate: Bitrate) {
        self.rate = rate.as_bps_f64().max(self.least);
        self.changed = Some(now);
    }

    /// Whether over-use lowers the rate again: once a round-trip time, or when the throughput is
    /// far below.
    pub(super) fn may_fall(&self, now: Time, throughput: Bitrate) -> bool {
        let pace = self.rtt.clamp(PACE.0, PACE.1);
        self.changed.is_none_or(|changed| now.saturating_since(changed) >= pace)
            || throughput.as_bps_f64() < FAR_BELOW * self.rate
    }

    /// Feedback came at `now`; `throughput` is the acknowledged rate, once it is known.
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
            Signal::Overuse { excess } => self.fall(now, excess),
            Signal::Underuse if !over => self.hold(now, in_alr),
            Signal::Normal | Signal::Underuse => {
                self.enter(now, State::Increase);
                self.rise(now, in_alr, 1.0);
            }
        }
        self.rate = self.rate.max(self.least);
    }

    /// Growth is reckoned from when the state was entered.
    fn enter(&mut self, now: Time, state: State) {
        if self.state != state || self.changed.is_none() {
            self.changed = Some(now);
            self.state = state;
        }
    }

    fn hold(&mut self, now: Time, in_alr: bool) {
        self.acceleration.interrupt();
        if self.config.hold_increase > 0.0 {
            self.enter(now, State::Hold);
            self.rise(now, in_alr, self.config.hold_increase);
            self.acceleration.interrupt();
        }
        self.state = State::Hold;
    }

    /// By this share of the usual step.
    fn rise(&mut self, now: Time, in_alr: bool, share: f64) {
        if self.capacity.is_below(self.throughput) {
            self.capacity.forget();
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
            self.rate = (self.rate + share * step).min(limit);
        }
        self.changed = Some(now);
    }

    /// An average packet in twice the response time.
    fn additive(&self, elapsed: Option<f64>) -> f64 {
        self.additive_slope() * elapsed.unwrap_or(0.0)
    }

    /// bit/s in a second.
    fn additive_slope(&self) -> f64 {
        let frame = self.rate / FRAME_RATE;
        let packet = frame / (frame / PACKET_BITS).ceil();
        let response_time = (self.rtt + self.config.response_extra).as_secs_f64();
        (packet / (RESPONSE_TIMES * response_time)).max(self.config.least_additive.as_bps_f64())
    }

    fn multiplicative(&mut self, now: Time, elapsed: Option<f64>) -> f64 {
        let elapsed = elapsed.map_or(1.0, |elapsed| elapsed.min(LONGEST_STEP));
        let exponent = elapsed * self.acceleration.exponent(now);
        let step = self.rate * (libm::pow(self.config.increase, exponent) - 1.0);
        step.max(self.config.least_step.as_bps_f64())
    }

    /// To a little less than what gets through, to drain the queue; never upwards.
    fn fall(&mut self, now: Time, excess: f64) {
        self.state = State::Decrease;
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
            self.capacity.forget();
        }
        self.capacity.on_overuse(self.throughput);
        self.changed = Some(now);
    }

    /// The delay-based rate.
    pub(super) fn rate(&self) -> Bitrate {
        Bitrate::from_bps_f64(self.rate)
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    /// The link capacity, bit/s.
    pub(super) fn capacity(&self) -> Option<f64> {
        self.capacity.estimate()
    }
}

#[cfg(test)]
mod tests;
