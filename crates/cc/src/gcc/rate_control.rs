//! Fourth stage: the remote rate controller, a machine of three states (Carlucci 2017, eq. 13, Fig.
//! 4; Jansen 2016, eqs. 5-1, 5-2, Fig. 5-2; draft-ietf-rmcat-gcc-02 § 5.5).

use super::acceleration::Acceleration;
use super::config::{GccConfig, Increase};
use super::convergence::Convergence;
use super::dynamic_alpha::Alpha;
use super::hold::LongestHold;
use super::overuse_detector::Signal;
use units::{Bitrate, Bytes, Duration, Time};

/// Round-trip time before any is known (libwebrtc `aimd_rate_control.cc`: 200 ms).
const DEFAULT_RTT: Duration = Duration::from_millis(200);
/// A pause between updates counts up to this, so that the rate does not leap after one (draft-02 §
/// 5.5: 1 s).
const LONGEST_STEP: Duration = Duration::from_secs(1);
/// Weight of the newest packet in the average packet size; the papers do not say how it is
/// averaged.
const SIZE_WEIGHT: f64 = 0.01;

/// The states of Fig. 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Increase,
    Hold,
    Decrease,
}

impl State {
    /// The machine of Fig. 4.
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
    /// The share of the step of Increase that is taken in Hold.
    hold_increase: f64,
    hold: LongestHold,
    alpha: Alpha,
    cap: f64,
    bounds: (Bitrate, Bitrate),
    /// Of the machine of Fig. 4.
    machine: State,
    /// What is done: as the machine says, unless Hold has lasted too long.
    state: State,
    /// A_r in bit/s; real, so that small increases add up.
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
            hold: LongestHold::new(config.hold_longest),
            alpha: Alpha { fixed: config.decrease, dynamic: config.decrease_dynamic },
            cap: config.rate_cap,
            bounds,
            machine: State::Increase,
            state: State::Increase,
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

    /// The detector gave a signal at `now`; `received` is R, once it is known.
    pub(crate) fn update(&mut self, now: Time, signal: Signal, received: Option<Bitrate>) {
        let elapsed =
            self.last.map_or(Duration::ZERO, |last| now.saturating_since(last)).min(LONGEST_STEP);
        self.last = Some(now);
        self.machine = self.machine.after(signal);
        let over = self.hold.is_over(now, self.machine == State::Hold);
        self.state = if over { State::Increase } else { self.machine };
        let received = received.map(Bitrate::as_bps_f64);
        match (self.state, signal, received) {
            (State::Increase, _, _) => {
                let step = self.step(now, elapsed.as_secs_f64(), received);
                self.raise(step, received);
            }
            (State::Hold, _, _) => self.hold(now, elapsed.as_secs_f64(), received),
            (State::Decrease, Signal::Overuse { excess }, Some(received)) => {
                self.lower(received, excess);
            }
            (State::Decrease, _, _) => self.acceleration.interrupt(),
        }
        self.rate = self.rate.clamp(self.bounds.0.as_bps_f64(), self.bounds.1.as_bps_f64());
    }

    /// A probe showed that the path carries `rate`: a rate above A_r is taken over.
    pub(crate) fn on_probe(&mut self, rate: Bitrate) -> bool {
        let higher = rate.min(self.bounds.1).as_bps_f64();
        let raises = higher > self.rate;
        self.rate = self.rate.max(higher);
        raises
    }

    /// A_r = α R (eq. 13). R may lag behind a rate that has already fallen: A_r never rises here.
    fn lower(&mut self, received: f64, excess: f64) {
        self.acceleration.interrupt();
        self.rate = self.rate.min(self.alpha.at(excess) * received);
        self.convergence.on_decrease(received);
    }

    /// A_r is constant (eq. 13), or grows by a share of the step of Increase.
    fn hold(&mut self, now: Time, elapsed: f64, received: Option<f64>) {
        self.acceleration.interrupt();
        if self.hold_increase > 0.0 {
            let step = self.hold_increase * self.step(now, elapsed, received);
            self.acceleration.interrupt();
            self.raise(step, received);
        }
    }

    /// By how much A_r grows in the time elapsed, by the profile's rule.
    fn step(&mut self, now: Time, elapsed: f64, received: Option<f64>) -> f64 {
        let additive = match self.increase {
            Increase::Additive => true,
            Increase::Multiplicative => false,
            Increase::MultiplicativeAdditive => self.convergence.is_near(received),
        };
        if additive {
            self.acceleration.interrupt();
            // Half a packet a response time: bit/s, per response time elapsed.
            let response_time = (self.rtt + self.response_extra).as_secs_f64();
            0.5 * self.packet_size * 8.0 * elapsed / response_time
        } else {
            let exponent = elapsed * self.acceleration.exponent(now);
            self.rate * (libm::pow(self.factor, exponent) - 1.0)
        }
    }

    /// Growth stops at 1.5 R (eq. 5-2), which does not lower A_r.
    fn raise(&mut self, step: f64, received: Option<f64>) {
        let most = received.map_or(f64::INFINITY, |received| self.cap * received);
        self.rate = (self.rate + step).min(most.max(self.rate));
    }

    /// A_r.
    pub(crate) fn rate(&self) -> Bitrate {
        Bitrate::from_bps_f64(self.rate)
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }
}

#[cfg(test)]
mod tests;
