//! Fourth stage: the remote rate controller, a state machine with three states (Carlucci 2017, eq.
//! 13, Fig. 4; Jansen 2016, eqs. 5-1, 5-2, Fig. 5-2; draft-ietf-rmcat-gcc-02 § 5.5).

use super::acceleration::Acceleration;
use super::config::{GccConfig, Increase};
use super::convergence::Convergence;
use super::dynamic_alpha::Alpha;
use super::hold::HoldTimer;
use super::overuse_detector::Signal;
use units::{Bitrate, Bytes, Duration, Time};

/// Round-trip time before the first measurement (libwebrtc `aimd_rate_control.cc`: 200 ms).
const DEFAULT_RTT: Duration = Duration::from_millis(200);
/// Maximum elapsed time in an update, so that the rate does not jump after a pause (draft-02 § 5.5:
/// 1 s).
const MAX_STEP: Duration = Duration::from_secs(1);
/// Weight of the newest packet in the average packet size. The papers do not specify the average;
/// this weight is Weir's.
const SIZE_WEIGHT: f64 = 0.01;

/// The states of Fig. 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RateControlState {
    Increase,
    Hold,
    Decrease,
}

impl RateControlState {
    /// The state transition of Fig. 4.
    fn after(self, signal: Signal) -> Self {
        match (signal, self) {
            (Signal::Overuse { .. }, _) => Self::Decrease,
            (Signal::Underuse, _) | (Signal::Normal, Self::Decrease) => Self::Hold,
            (Signal::Normal, Self::Hold | Self::Increase) => Self::Increase,
        }
    }
}

/// Computes A_r.
pub(crate) struct RateControl {
    increase: Increase,
    factor: f64,
    acceleration: Acceleration,
    response_extra: Duration,
    /// Step in Hold, as a fraction of the step in Increase.
    hold_increase: f64,
    hold: HoldTimer,
    alpha: Alpha,
    cap: f64,
    bounds: (Bitrate, Bitrate),
    /// The state according to Fig. 4.
    machine: RateControlState,
    /// The state that is acted on: `machine`, or Increase after Hold has lasted its maximum time.
    state: RateControlState,
    /// A_r in bit/s, as a real number so that small increases add up.
    rate: f64,
    convergence: Convergence,
    packet_size: f64,
    rtt: Duration,
    last: Option<Time>,
}

impl RateControl {
    pub(crate) fn new(config: &GccConfig, start: Bitrate, bounds: (Bitrate, Bitrate)) -> Self {
        Self {
            increase: config.increase,
            factor: config.factor,
            acceleration: Acceleration::new(config.acceleration, config.factor),
            response_extra: config.response_extra,
            hold_increase: config.hold_increase,
            hold: HoldTimer::new(config.hold_longest),
            alpha: Alpha { fixed: config.decrease, dynamic: config.decrease_dynamic },
            cap: config.rate_cap,
            bounds,
            machine: RateControlState::Increase,
            state: RateControlState::Increase,
            rate: start.as_bps_f64(),
            convergence: Convergence::default(),
            packet_size: 1200.0,
            rtt: DEFAULT_RTT,
            last: None,
        }
    }

    pub(crate) fn on_packet(&mut self, size: Bytes) {
        self.packet_size += SIZE_WEIGHT * (size.get() as f64 - self.packet_size);
    }

    pub(crate) fn on_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt.max(Duration::from_millis(1));
    }

    /// The detector gave `signal` at `now`. `received` is R, or `None` before the first
    /// measurement.
    pub(crate) fn update(&mut self, now: Time, signal: Signal, received: Option<Bitrate>) {
        let elapsed =
            self.last.map_or(Duration::ZERO, |last| now.saturating_since(last)).min(MAX_STEP);
        self.last = Some(now);
        self.machine = self.machine.after(signal);
        let over = self.hold.is_over(now, self.machine == RateControlState::Hold);
        self.state = if over { RateControlState::Increase } else { self.machine };
        let received = received.map(Bitrate::as_bps_f64);
        match (self.state, signal, received) {
            (RateControlState::Increase, _, _) => {
                let step = self.step(now, elapsed.as_secs_f64(), received);
                self.raise(step, received);
            }
            (RateControlState::Hold, _, _) => self.hold(now, elapsed.as_secs_f64(), received),
            (RateControlState::Decrease, Signal::Overuse { excess }, Some(received)) => {
                self.lower(received, excess);
            }
            (RateControlState::Decrease, _, _) => self.acceleration.interrupt(),
        }
        self.rate = self.rate.clamp(self.bounds.0.as_bps_f64(), self.bounds.1.as_bps_f64());
    }

    /// A probe measured that the path carries `rate`: A_r increases to `rate` if that is higher.
    /// Returns whether A_r increased.
    pub(crate) fn on_probe(&mut self, rate: Bitrate) -> bool {
        let higher = rate.min(self.bounds.1).as_bps_f64();
        let raises = higher > self.rate;
        self.rate = self.rate.max(higher);
        raises
    }

    /// A_r = min(A_r, α R) (eq. 13). R can lag behind a rate that has already decreased, so the
    /// minimum is taken.
    fn lower(&mut self, received: f64, excess: f64) {
        self.acceleration.interrupt();
        self.rate = self.rate.min(self.alpha.at(excess) * received);
        self.convergence.on_decrease(received);
    }

    /// A_r is constant (eq. 13), or increases by a fraction of the step of Increase.
    fn hold(&mut self, now: Time, elapsed: f64, received: Option<f64>) {
        self.acceleration.interrupt();
        if self.hold_increase > 0.0 {
            let step = self.hold_increase * self.step(now, elapsed, received);
            self.acceleration.interrupt();
            self.raise(step, received);
        }
    }

    /// Increase of A_r in the elapsed time, by the rule of the profile, in bit/s.
    fn step(&mut self, now: Time, elapsed: f64, received: Option<f64>) -> f64 {
        let additive = match self.increase {
            Increase::Additive => true,
            Increase::Multiplicative => false,
            Increase::MultiplicativeAdditive => self.convergence.is_near(received),
        };
        if additive {
            self.acceleration.interrupt();
            // Half a packet per response time, times the number of elapsed response times.
            let response_time = (self.rtt + self.response_extra).as_secs_f64();
            0.5 * self.packet_size * 8.0 * elapsed / response_time
        } else {
            let exponent = elapsed * self.acceleration.exponent(now);
            self.rate * (libm::pow(self.factor, exponent) - 1.0)
        }
    }

    /// A_r stops growing at 1.5 R (eq. 5-2); the cap does not lower A_r.
    fn raise(&mut self, step: f64, received: Option<f64>) {
        let max = received.map_or(f64::INFINITY, |received| self.cap * received);
        self.rate = (self.rate + step).min(max.max(self.rate));
    }

    /// A_r.
    pub(crate) fn rate(&self) -> Bitrate {
        Bitrate::from_bps_f64(self.rate)
    }

    pub(crate) fn state(&self) -> RateControlState {
        self.state
    }
}

#[cfg(test)]
mod tests;
