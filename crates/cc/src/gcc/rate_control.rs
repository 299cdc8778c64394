//! Fourth stage: the remote rate controller, a machine of three states (Carlucci 2017, eq. 13, Fig. 4;
//! Jansen 2016, eqs. 5-1, 5-2, Fig. 5-2; draft-ietf-rmcat-gcc-02 § 5.5).

use super::config::{GccConfig, Increase};
use super::overuse_detector::Signal;
use units::{Bitrate, Bytes, Duration, Time};

/// Round-trip time before any is known (libwebrtc `aimd_rate_control.cc`: 200 ms).
const DEFAULT_RTT: Duration = Duration::from_millis(200);
/// A pause between updates counts up to this, so that the rate does not leap after one (draft-02 § 5.5: 1 s).
const LONGEST_STEP: Duration = Duration::from_secs(1);
/// Weight of the newest received rate in the average at decrease (draft-02 § 5.5: 0.95 for the past).
const DECREASE_WEIGHT: f64 = 0.05;
/// Near convergence is within this many deviations of that average (draft-02 § 5.5: 3).
const NEAR: f64 = 3.0;
/// The deviation's bounds as a share of the average: libwebrtc `link_capacity_estimator.cc` keeps the variance, normalised by
/// the average in kbit/s, within 0.4…2.5.
const NORMALISED_VARIANCE: (f64, f64) = (0.4, 2.5);
/// Weight of the newest packet in the average packet size; the papers do not say how it is averaged.
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
            (Signal::Overuse, _) => Self::Decrease,
            (Signal::Underuse, _) | (Signal::Normal, Self::Decrease) => Self::Hold,
            (Signal::Normal, Self::Hold | Self::Increase) => Self::Increase,
        }
    }
}

/// The average received rate when the rate was last decreased, and its normalised variance: what
/// 'near convergence' is measured by.
struct Convergence {
    average: f64,
    variance: f64,
}

impl Convergence {
    fn deviation(&self) -> f64 {
        // The variance is normalised by the average in kbit/s.
        (self.variance * self.average * 1000.0).sqrt()
    }
}

/// Computes A_r.
pub(crate) struct RateControl {
    increase: Increase,
    factor: f64,
    response_extra: Duration,
    decrease: f64,
    cap: f64,
    bounds: (Bitrate, Bitrate),
    state: State,
    /// A_r in bit/s; real, so that small increases add up.
    rate: f64,
    convergence: Option<Convergence>,
    packet_size: f64,
    rtt: Duration,
    last: Option<Time>,
}

impl RateControl {
    pub(crate) fn new(config: &GccConfig, start: Bitrate, bounds: (Bitrate, Bitrate)) -> Self {
        Self {
            increase: config.increase,
            factor: config.factor,
            response_extra: config.response_extra,
            decrease: config.decrease,
            cap: config.rate_cap,
            bounds,
            state: State::Increase,
            rate: start.as_bps_f64(),
            convergence: None,
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
        let elapsed = self.last.map_or(Duration::ZERO, |last| now.saturating_since(last)).min(LONGEST_STEP);
        self.last = Some(now);
        self.state = self.state.after(signal);
        match (self.state, received) {
            (State::Hold, _) | (State::Decrease, None) => {}
            (State::Decrease, Some(received)) => self.lower(received.as_bps_f64()),
            (State::Increase, received) => {
                self.raise(elapsed.as_secs_f64(), received.map(Bitrate::as_bps_f64));
            }
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
    fn lower(&mut self, received: f64) {
        self.rate = self.rate.min(self.decrease * received);
        let convergence = self
            .convergence
            .get_or_insert(Convergence { average: received, variance: NORMALISED_VARIANCE.0 });
        let error = received - convergence.average;
        convergence.average += DECREASE_WEIGHT * error;
        let normalised = error * error / (convergence.average.max(1.0) * 1000.0);
        let variance = (1.0 - DECREASE_WEIGHT) * convergence.variance + DECREASE_WEIGHT * normalised;
        convergence.variance = variance.clamp(NORMALISED_VARIANCE.0, NORMALISED_VARIANCE.1);
    }

    /// Raises A_r by the profile's rule; growth stops at 1.5 R (eq. 5-2), which does not lower A_r.
    fn raise(&mut self, elapsed: f64, received: Option<f64>) {
        let additive = match self.increase {
            Increase::Additive => true,
            Increase::Multiplicative => false,
            Increase::MultiplicativeAdditive => self.is_near(received),
        };
        let step = if additive {
            // Half a packet a response time: bit/s, per response time elapsed.
            let response_time = (self.rtt + self.response_extra).as_secs_f64();
            0.5 * self.packet_size * 8.0 * elapsed / response_time
        } else {
            self.rate * (libm::pow(self.factor, elapsed) - 1.0)
        };
        let most = received.map_or(f64::INFINITY, |received| self.cap * received);
        self.rate = (self.rate + step).min(most.max(self.rate));
    }

    /// Near convergence: R within three deviations of its average at decrease. R above that means that the
    /// capacity has changed: the average is forgotten.
    fn is_near(&mut self, received: Option<f64>) -> bool {
        let (Some(received), Some(convergence)) = (received, &self.convergence) else { return false };
        let margin = NEAR * convergence.deviation();
        if received > convergence.average + margin {
            self.convergence = None;
            return false;
        }
        received >= convergence.average - margin
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
mod tests {
    use super::*;

    fn control(config: &GccConfig) -> RateControl {
        let bounds = (Bitrate::from_kbps(10), Bitrate::from_mbps(100));
        RateControl::new(config, Bitrate::from_kbps(1000), bounds)
    }

    /// Runs a second of frames with a signal and a received rate.
    fn second(control: &mut RateControl, from: u64, signal: Signal, received_kbps: u64) {
        for frame in 0..=30 {
            let now = Time::from_secs(from) + Duration::from_nanos(1_000_000_000 / 30 * frame);
            control.update(now, signal, Some(Bitrate::from_kbps(received_kbps)));
        }
    }

    #[test]
    fn the_machine_is_that_of_figure_4() {
        use {Signal as S, State as T};
        for (from, signal, to) in [
            (T::Increase, S::Overuse, T::Decrease),
            (T::Hold, S::Overuse, T::Decrease),
            (T::Decrease, S::Overuse, T::Decrease),
            (T::Increase, S::Underuse, T::Hold),
            (T::Hold, S::Underuse, T::Hold),
            (T::Decrease, S::Underuse, T::Hold),
            (T::Increase, S::Normal, T::Increase),
            (T::Hold, S::Normal, T::Increase),
            (T::Decrease, S::Normal, T::Hold),
        ] {
            assert_eq!(from.after(signal), to, "{from:?} {signal:?}");
        }
    }

    #[test]
    fn the_additive_rule_adds_half_a_packet_a_response_time() {
        let mut control = control(&GccConfig::carlucci_2017());
        control.on_rtt(Duration::from_millis(50));
        second(&mut control, 0, Signal::Normal, 1000);
        // 4800 bit every 50 ms are 96 kbit/s in a second.
        let rate = control.rate().as_bps();
        assert!((1_095_900..1_096_100).contains(&rate), "{rate}");
    }

    #[test]
    fn the_multiplicative_rule_is_a_factor_a_second() {
        let mut control = control(&GccConfig::jansen_2016());
        second(&mut control, 0, Signal::Normal, 1000);
        let rate = control.rate().as_bps();
        assert!((1_049_900..1_050_100).contains(&rate), "{rate}");
    }

    #[test]
    fn far_is_multiplicative_and_near_additive() {
        let mut control = control(&GccConfig::draft_02());
        control.on_rtt(Duration::from_millis(50));
        second(&mut control, 0, Signal::Normal, 1000);
        assert!((1_079_800..1_080_200).contains(&control.rate().as_bps()), "{}", control.rate());
        second(&mut control, 1, Signal::Overuse, 1000);
        assert_eq!(control.rate(), Bitrate::from_kbps(850));
        control.update(Time::from_millis(2001), Signal::Normal, Some(Bitrate::from_kbps(1000)));
        let before = control.rate().as_bps();
        second(&mut control, 2, Signal::Normal, 1000);
        // 4800 bit every 150 ms are 32 kbit/s in a second.
        let added = control.rate().as_bps() - before;
        assert!((31_500..32_500).contains(&added), "{added}");
        second(&mut control, 3, Signal::Normal, 2000);
        let added = control.rate().as_bps() as f64 / (before + added) as f64;
        assert!((1.078..1.082).contains(&added), "a received rate far above: {added}");
    }

    #[test]
    fn growth_stops_at_one_and_a_half_times_the_received_rate() {
        let mut control = control(&GccConfig::jansen_2016());
        for from in 0..20 {
            second(&mut control, from, Signal::Normal, 800);
        }
        assert_eq!(control.rate(), Bitrate::from_kbps(1200));
        second(&mut control, 20, Signal::Normal, 100);
        assert_eq!(control.rate(), Bitrate::from_kbps(1200), "the cap does not lower");
    }

    #[test]
    fn a_probe_raises_and_never_lowers() {
        let mut control = control(&GccConfig::jansen_2016());
        assert!(control.on_probe(Bitrate::from_mbps(2)));
        assert!(!control.on_probe(Bitrate::from_mbps(1)));
        assert_eq!(control.rate(), Bitrate::from_mbps(2));
    }
}
