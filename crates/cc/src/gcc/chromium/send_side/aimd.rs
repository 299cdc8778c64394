//! The rate control (libwebrtc `remote_bitrate_estimator/aimd_rate_control.cc` and
//! `goog_cc/link_capacity_estimator.cc`). Rates are whole numbers of bit/s.

use super::super::aimd::{State, whole};
use super::super::detector::Usage;
use super::super::max_rate::MaxRate;
use super::config::SendSideConfig;
use units::{Bitrate, Duration};

/// Round-trip time until it is known (`aimd_rate_control.cc`: 200 ms).
const DEFAULT_RTT: i64 = 200;
/// Bounds of the time between two reductions (`aimd_rate_control.cc`: 10 ms and 200 ms).
const REDUCTION_INTERVAL: (i64, i64) = (10, 200);
/// Maximum elapsed time in a multiplicative increase (`aimd_rate_control.cc`: 1000 ms).
const MAX_STEP: i64 = 1000;
/// Interval of frames and maximum packet in bytes, for the average packet size in whole bytes
/// (`aimd_rate_control.cc`: 1 s / 30 in whole microseconds, and 1200).
const FRAME_INTERVAL: f64 = 0.033_333;
const MAX_PACKET: f64 = 1200.0;
/// Additional rate of the cap, bit/s (`aimd_rate_control.cc`: 10 kbit/s).
const CAP_EXTRA: f64 = 10_000.0;

/// Computes the delay-based rate.
pub(super) struct Aimd {
    config: SendSideConfig,
    min: u32,
    rate: u32,
    acknowledged: u32,
    state: State,
    capacity: MaxRate,
    changed: Option<i64>,
    rtt: i64,
}

impl Aimd {
    pub(super) fn new(config: &SendSideConfig, start: Bitrate, min: Bitrate) -> Self {
        let rate = whole(start);
        Self {
            config: config.clone(),
            min: whole(min),
            rate,
            acknowledged: rate,
            state: State::Hold,
            capacity: MaxRate::default(),
            changed: None,
            rtt: DEFAULT_RTT,
        }
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt.as_millis() as i64;
    }

    /// Sets the rate to the result of a probe, or to half of the rate.
    pub(super) fn set(&mut self, now: i64, rate: u32) {
        self.rate = self.bounded(rate, rate);
        self.changed = Some(now);
    }

    /// Updates the rate at `now`, ms, for the state of the link and the acknowledged rate.
    pub(super) fn update(&mut self, now: i64, usage: Usage, acknowledged: Option<u32>) {
        self.acknowledged = acknowledged.unwrap_or(self.acknowledged);
        self.enter(now, usage);
        let next = match self.state {
            State::Hold => self.rate,
            State::Increase => self.increased(now),
            State::Decrease => self.decreased(),
        };
        match self.state {
            State::Hold => {}
            State::Increase => self.changed = Some(now),
            State::Decrease => (self.state, self.changed) = (State::Hold, Some(now)),
        }
        self.rate = self.bounded(next, self.acknowledged);
    }

    fn enter(&mut self, now: i64, usage: Usage) {
        self.state = match (usage, self.state) {
            (Usage::Overuse, _) => State::Decrease,
            (Usage::Underuse, _) => State::Hold,
            (Usage::Normal, State::Hold) => {
                self.changed = Some(now);
                State::Increase
            }
            (Usage::Normal, state) => state,
        };
    }

    fn increased(&mut self, now: i64) -> u32 {
        if self.capacity.is_exceeded(kbps(self.acknowledged)) {
            self.capacity.forget();
        }
        let elapsed = self.changed.map_or(MAX_STEP, |changed| now - changed);
        let step = if self.capacity.average().is_some() {
            (self.additive_rate() * seconds(elapsed)).floor()
        } else {
            let exponent = elapsed.min(MAX_STEP) as f64 / 1000.0;
            let step = f64::from(self.rate) * (libm::pow(self.config.factor, exponent) - 1.0);
            step.max(self.config.min_increase.as_bps_f64())
        };
        self.rate.saturating_add(step.round() as u32)
    }

    /// The additive increase per second, bit/s.
    fn additive_rate(&self) -> f64 {
        let frame = (f64::from(self.rate) * FRAME_INTERVAL / 8.0).round();
        let packet = (frame / (frame / MAX_PACKET).ceil()).round();
        let response = self.rtt as f64 + self.config.response_extra.as_millis_f64();
        let rate = self.config.packet_share * packet * 8.0 * 1000.0 / response;
        rate.max(self.config.additive_min.as_bps_f64()).floor()
    }

    fn decreased(&mut self) -> u32 {
        let beta = self.config.decrease;
        let mut next = (beta * f64::from(self.acknowledged) + 0.5) as u32;
        if next > self.rate {
            if let Some(average) = self.capacity.average() {
                next = (beta * f64::from(average) * 1000.0 + 0.5) as u32;
            }
            next = next.min(self.rate);
        }
        self.capacity.on_decrease(kbps(self.acknowledged));
        next
    }

    /// The rate does not increase far above the acknowledged rate.
    fn bounded(&self, rate: u32, acknowledged: u32) -> u32 {
        let cap = (self.config.rate_cap * f64::from(acknowledged) + CAP_EXTRA) as u32;
        rate.min(cap.max(self.rate)).max(self.min)
    }

    /// Whether the rate may be reduced again while the link stays over-used.
    pub(super) fn may_reduce(&self, now: i64, acknowledged: u32) -> bool {
        let interval = self.rtt.clamp(REDUCTION_INTERVAL.0, REDUCTION_INTERVAL.1);
        let least = (self.config.reduce_below * f64::from(self.rate)) as u32;
        self.changed.is_none_or(|changed| now - changed >= interval) || acknowledged < least
    }

    pub(super) fn rate(&self) -> u32 {
        self.rate
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    pub(super) fn capacity(&self) -> &MaxRate {
        &self.capacity
    }
}

/// Seconds, from whole microseconds times 1e-6 as in libwebrtc: 50 ms are slightly less than 0.05
/// s, which matters before the step is rounded down.
fn seconds(milliseconds: i64) -> f64 {
    (milliseconds * 1000) as f64 * 1e-6
}

/// Whole kbit/s: samples of the link capacity are rounded (`link_capacity_estimator.cc`).
fn kbps(rate: u32) -> f32 {
    (f64::from(rate) / 1000.0).round() as f32
}
