//! Fourth stage: the rate control at the estimator (libwebrtc
//! `remote_bitrate_estimator/aimd_rate_control.cc`). Rates are whole numbers of bit/s, and the
//! factors 32-bit floating point, as in libwebrtc.

use super::config::ChromiumConfig;
use super::detector::Usage;
use super::max_rate::{MaxRate, Region};
use units::{Bitrate, Duration};

/// Rate before the first estimate (`aimd_rate_control.cc`: the configured maximum, 30 Mbit/s).
const INITIAL_RATE: u32 = 30_000_000;
/// Round-trip time until it is known (`aimd_rate_control.cc`: 200 ms).
const DEFAULT_RTT: i64 = 200;
/// Bounds of the time between two reductions, which is the round-trip time (`aimd_rate_control.cc`:
/// 10 ms and 200 ms).
const REDUCTION_INTERVAL: (i64, i64) = (10, 200);
/// The rate is unchanged by growth beyond `rate_cap`, if the received rate or the new rate is above
/// this (`aimd_rate_control.cc`: 100 kbit/s and 150 kbit/s).
const LOW_RATES: (u32, u32) = (100_000, 150_000);
/// Maximum elapsed time in a multiplicative increase (`aimd_rate_control.cc`: 1000 ms).
const MAX_STEP: i64 = 1000;
/// Frames per second and maximum packet in bits, for the average packet size
/// (`aimd_rate_control.cc`: 30 and 8 × 1200).
const AVERAGE_PACKET: (f64, f64) = (30.0, 9600.0);
/// Size of an RTCP packet in bits and its share of the rate, for the interval of feedback
/// (`aimd_rate_control.cc`: 80 bytes at 5 %).
const FEEDBACK: (f64, f64) = (640.0, 0.05);
/// Bounds of the interval of feedback (`aimd_rate_control.cc`: 200 ms and 1000 ms).
const FEEDBACK_INTERVAL: (i64, i64) = (200, 1000);

/// The states of the rate control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Hold,
    Increase,
    Decrease,
}

impl State {
    /// The state as a signal: −1 (decrease), 0 (hold) or 1 (increase).
    pub(super) fn number(self) -> f64 {
        match self {
            Self::Decrease => -1.0,
            Self::Hold => 0.0,
            Self::Increase => 1.0,
        }
    }
}

/// The constants of the rate control.
#[derive(Clone, Copy)]
struct Rules {
    beta: (f32, f32),
    above_region: bool,
    hold_recovery: bool,
    factor: f64,
    packet_share: f64,
    min_increase: f64,
    response_extra: i64,
    cap: f64,
    first_time: i64,
    first_at_decrease: bool,
    reduce_excess: f64,
}

/// Computes the estimate from the state of the link and the received rate.
pub(super) struct Aimd {
    rules: Rules,
    min: u32,
    rate: u32,
    valid: bool,
    state: State,
    region: Region,
    max: MaxRate,
    max_in_hold: u32,
    changed: Option<i64>,
    first_received: Option<i64>,
    rtt: i64,
    usage: Usage,
}

impl Aimd {
    pub(super) fn new(config: &ChromiumConfig, min: Bitrate) -> Self {
        let near = if config.decrease_near > 0.0 { config.decrease_near } else { config.decrease };
        let milliseconds = |time: Duration| time.as_millis() as i64;
        Self {
            rules: Rules {
                beta: (config.decrease as f32, near as f32),
                above_region: config.above_region,
                hold_recovery: config.hold_recovery,
                factor: config.factor,
                packet_share: config.packet_share,
                min_increase: config.min_increase.as_bps_f64(),
                response_extra: milliseconds(config.response_extra),
                cap: config.rate_cap,
                first_time: milliseconds(config.first_time),
                first_at_decrease: config.first_at_decrease,
                reduce_excess: config.reduce_excess,
            },
            min: whole(min),
            rate: INITIAL_RATE,
            valid: false,
            state: State::Hold,
            region: Region::Unknown,
            max: MaxRate::default(),
            max_in_hold: 0,
            changed: None,
            first_received: None,
            rtt: DEFAULT_RTT,
            usage: Usage::Normal,
        }
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt.as_millis() as i64;
    }

    /// Updates the rate at `now`, ms, for the state of the link and the received rate, bit/s.
    pub(super) fn update(&mut self, now: i64, usage: Usage, received: u32) {
        if !self.valid && received > 0 {
            let first = *self.first_received.get_or_insert(now);
            if now - first > self.rules.first_time {
                self.rate = received;
                self.valid = true;
            }
        }
        self.usage = usage;
        if self.valid || !self.rules.first_at_decrease || usage == Usage::Overuse {
            self.rate = self.changed_rate(now, self.rate, received);
        }
    }

    /// A probe measured `rate`, bit/s.
    pub(super) fn on_probe(&mut self, now: i64, rate: u32) {
        self.valid = true;
        self.rate = self.changed_rate(now, rate, rate);
    }

    /// The next rate, from `rate`, which is the current rate or the result of a probe.
    fn changed_rate(&mut self, now: i64, rate: u32, received: u32) -> u32 {
        self.enter(now);
        let mut recovered = false;
        let next = match self.state {
            State::Hold => {
                self.max_in_hold = self.max_in_hold.max(received);
                rate
            }
            State::Increase => {
                let increased = self.increased(now, rate, received);
                self.changed = Some(now);
                let recovery = self.recovery(increased);
                recovered = recovery.is_some();
                self.max_in_hold = 0;
                recovery.unwrap_or(increased)
            }
            State::Decrease => {
                let decreased = self.decreased(received);
                self.state = State::Hold;
                self.changed = Some(now);
                decreased
            }
        };
        let far = received > LOW_RATES.0 || next > LOW_RATES.1;
        if !recovered && far && f64::from(next) > self.rules.cap * f64::from(received) {
            self.changed = Some(now);
            return self.rate;
        }
        next
    }

    /// The state for the newest state of the link.
    fn enter(&mut self, now: i64) {
        self.state = match (self.usage, self.state) {
            (Usage::Overuse, _) => State::Decrease,
            (Usage::Underuse, _) => State::Hold,
            (Usage::Normal, State::Hold) => {
                self.changed = Some(now);
                State::Increase
            }
            (Usage::Normal, state) => state,
        };
    }

    fn increased(&mut self, now: i64, rate: u32, received: u32) -> u32 {
        let kbps = received as f32 / 1000.0;
        if self.max.is_exceeded(kbps) {
            self.region = Region::Unknown;
            self.max.forget();
        } else if self.rules.above_region && self.max.is_below(kbps) {
            self.region = Region::Above;
        }
        let step = if self.region == Region::Near {
            self.additive(now)
        } else {
            self.multiplicative(now, rate)
        };
        rate + step.max(self.rules.min_increase) as u32
    }

    fn multiplicative(&self, now: i64, rate: u32) -> f64 {
        let elapsed = self.changed.map_or(MAX_STEP, |changed| (now - changed).min(MAX_STEP));
        let factor = libm::pow(self.rules.factor, elapsed as f64 / 1000.0);
        f64::from(rate) * (factor - 1.0)
    }

    /// A share of the average packet per response time, and not more per update.
    fn additive(&self, now: i64) -> f64 {
        let elapsed = self.changed.map_or(0, |changed| now - changed);
        let response = (self.rtt + self.rules.response_extra) as f64;
        let frame = f64::from(self.rate) / AVERAGE_PACKET.0;
        let packet = frame / (frame / AVERAGE_PACKET.1).ceil();
        self.rules.packet_share * (elapsed as f64 / response).min(1.0) * packet
    }

    /// The rate after a hold: β times the highest received rate in the hold, if that is higher.
    fn recovery(&mut self, rate: u32) -> Option<u32> {
        let highest = self.beta() * self.max_in_hold as f32;
        if !self.rules.hold_recovery || self.max_in_hold == 0 || highest <= rate as f32 {
            return None;
        }
        self.max.set(highest / 1000.0);
        self.region = Region::Near;
        Some(highest as u32)
    }

    fn decreased(&mut self, received: u32) -> u32 {
        self.valid |= self.rules.first_at_decrease;
        if received < self.min {
            return self.min;
        }
        let mut next = rounded(self.beta() * received as f32);
        if next > self.rate {
            if let Some(average) = self.max.average().filter(|_| self.region != Region::Unknown) {
                next = rounded(self.beta() * average * 1000.0);
            }
            next = next.min(self.rate);
        }
        self.region = Region::Near;
        self.max.on_decrease(received as f32 / 1000.0);
        next
    }

    fn beta(&self) -> f32 {
        if self.region == Region::Near { self.rules.beta.1 } else { self.rules.beta.0 }
    }

    /// Whether the rate may be reduced again while the link stays over-used.
    pub(super) fn may_reduce(&self, now: i64, received: u32) -> bool {
        let interval = self.rtt.clamp(REDUCTION_INTERVAL.0, REDUCTION_INTERVAL.1);
        let excess = i64::from(self.rate) - i64::from(received);
        let most = (self.rules.reduce_excess * f64::from(received)) as i64;
        self.changed.is_none_or(|changed| now - changed >= interval)
            || (self.valid && excess > most)
    }

    /// Interval of feedback at the current rate, ms.
    pub(super) fn feedback_interval(&self) -> i64 {
        let interval = FEEDBACK.0 * 1000.0 / (FEEDBACK.1 * f64::from(self.rate)) + 0.5;
        (interval as i64).clamp(FEEDBACK_INTERVAL.0, FEEDBACK_INTERVAL.1)
    }

    /// The estimate, bit/s; `None` before the first valid estimate.
    pub(super) fn estimate(&self) -> Option<u32> {
        self.valid.then_some(self.rate)
    }

    pub(super) fn state(&self) -> State {
        self.state
    }

    pub(super) fn region(&self) -> Region {
        self.region
    }

    pub(super) fn max(&self) -> &MaxRate {
        &self.max
    }
}

fn rounded(rate: f32) -> u32 {
    (f64::from(rate) + 0.5) as u32
}

/// The rate in whole bit/s, at most that of 32 bits.
pub(super) fn whole(rate: Bitrate) -> u32 {
    u32::try_from(rate.as_bps()).unwrap_or(u32::MAX)
}
