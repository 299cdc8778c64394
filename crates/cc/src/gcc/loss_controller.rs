//! The loss-based controller at the sender (Carlucci 2017, eq. 14; Jansen 2016, eqs. 5-11, 5-12).

use super::buffer_hint::BufferHint;
use super::config::GccConfig;
use units::{Bitrate, Duration, Time};

/// During the start the estimate follows the delay-based one as long as nothing was lost
/// (libwebrtc `send_side_bandwidth_estimation.cc`: 2 s from the first report).
const START_PHASE: Duration = Duration::from_secs(2);

/// Computes A_s.
pub(crate) struct LossController {
    high: f64,
    low: f64,
    /// The smallest buffer on the path, and what is a short time to drain it.
    hint: (BufferHint, Duration),
    increase: f64,
    decrease: f64,
    increase_interval: Duration,
    capped: bool,
    follows_start: bool,
    bounds: (Bitrate, Bitrate),
    /// A_s in bit/s.
    rate: f64,
    fraction_lost: f64,
    seen_loss: bool,
    raised: Option<Time>,
    first: Option<Time>,
}

impl LossController {
    pub(crate) fn new(config: &GccConfig, start: Bitrate, bounds: (Bitrate, Bitrate)) -> Self {
        Self {
            high: config.loss_high,
            low: config.loss_low,
            hint: (config.hint_buffer, config.hint_short),
            increase: config.loss_increase,
            decrease: config.loss_decrease,
            increase_interval: config.loss_increase_interval,
            capped: config.loss_capped,
            follows_start: config.probing == super::config::Probing::Initial,
            bounds,
            rate: start.as_bps_f64(),
            fraction_lost: 0.0,
            seen_loss: false,
            raised: None,
            first: None,
        }
    }

    /// A report said that this share was lost at the rate `target`: eq. 14. It rises once an
    /// interval at most, because reports that a fall of A_r sent early are not a reason to rise
    /// sooner.
    pub(crate) fn on_report(&mut self, now: Time, fraction_lost: f64, target: Bitrate) {
        let sensitivity = self.hint.0.sensitivity(target, self.hint.1);
        self.fraction_lost = fraction_lost;
        self.seen_loss |= fraction_lost > 0.0;
        if fraction_lost > sensitivity * self.high {
            self.rate *= 1.0 - self.decrease * fraction_lost;
        } else if fraction_lost < sensitivity * self.low && self.may_rise(now) {
            self.rate *= self.increase;
            self.raised = Some(now);
        }
        self.bound();
    }

    /// Reports are due once an interval, give or take the jitter of the path: a tenth early counts.
    fn may_rise(&self, now: Time) -> bool {
        let least = self.increase_interval.saturating_sub(self.increase_interval / 10);
        self.raised.is_none_or(|raised| now.saturating_since(raised) >= least)
    }

    /// A new A_r came.
    pub(crate) fn on_delay_based(&mut self, now: Time, a_r: Bitrate) {
        let first = *self.first.get_or_insert(now);
        if self.follows_start && !self.seen_loss && now.saturating_since(first) < START_PHASE {
            self.rate = self.rate.max(a_r.as_bps_f64());
        }
        if self.capped {
            self.rate = self.rate.min(a_r.as_bps_f64());
        }
        self.bound();
    }

    fn bound(&mut self) {
        self.rate = self.rate.clamp(self.bounds.0.as_bps_f64(), self.bounds.1.as_bps_f64());
    }

    /// A_s.
    pub(crate) fn rate(&self) -> Bitrate {
        Bitrate::from_bps_f64(self.rate)
    }

    /// The newest share lost.
    pub(crate) fn fraction_lost(&self) -> f64 {
        self.fraction_lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    const TARGET: Bitrate = Bitrate::from_mbps(1);

    fn controller(config: &GccConfig) -> LossController {
        LossController::new(
            config,
            Bitrate::from_mbps(1),
            (Bitrate::from_kbps(10), Bitrate::from_mbps(10)),
        )
    }

    #[test]
    fn equation_14_case_by_case() {
        let after = |lost| {
            let mut loss = controller(&GccConfig::carlucci_2017());
            loss.on_report(Time::from_secs(1), lost, TARGET);
            loss.rate()
        };
        assert_eq!(after(0.0), Bitrate::from_kbps(1050));
        assert_eq!(after(0.0199), Bitrate::from_kbps(1050));
        assert_eq!(after(0.02), Bitrate::from_kbps(1000));
        assert_eq!(after(0.1), Bitrate::from_kbps(1000));
        assert_eq!(after(0.2), Bitrate::from_kbps(900));
    }

    #[test]
    fn a_short_buffer_makes_it_react_to_less_loss() {
        let after = |bytes, lost| {
            let hint_buffer = BufferHint::Size(Bytes::new(bytes));
            let mut loss = controller(&GccConfig { hint_buffer, ..GccConfig::carlucci_2017() });
            loss.on_report(Time::from_secs(1), lost, TARGET);
            loss.rate()
        };
        // 16 kB drain in 128 ms: thresholds of 1.024 % and 5.12 %; 32 kB in 256 ms: as they were.
        assert_eq!(after(16_000, 0.0102), Bitrate::from_kbps(1050));
        assert_eq!(after(16_000, 0.0103), Bitrate::from_kbps(1000));
        assert_eq!(after(16_000, 0.0513), Bitrate::from_bps(974_350));
        assert_eq!(after(32_000, 0.0199), Bitrate::from_kbps(1050));
        assert_eq!(after(32_000, 0.1), Bitrate::from_kbps(1000));
    }

    #[test]
    fn it_rises_once_a_second_and_falls_at_every_report() {
        let mut loss = controller(&GccConfig::carlucci_2017());
        for ms in [1000, 1100, 1500, 2000] {
            loss.on_report(Time::from_millis(ms), 0.0, TARGET);
        }
        assert_eq!(loss.rate(), Bitrate::from_bps(1_102_500));
        for ms in [2100, 2200] {
            loss.on_report(Time::from_millis(ms), 0.5, TARGET);
        }
        assert_eq!(loss.rate(), Bitrate::from_bps_f64(1_102_500.0 * 0.75 * 0.75));
    }

    #[test]
    fn equation_5_12_caps() {
        let mut capped = controller(&GccConfig::jansen_2016());
        capped.on_report(Time::from_secs(1), 0.05, TARGET);
        capped.on_delay_based(Time::from_secs(1), Bitrate::from_kbps(700));
        assert_eq!(capped.rate(), Bitrate::from_kbps(700));
        let mut free = controller(&GccConfig::carlucci_2017());
        free.on_delay_based(Time::from_secs(1), Bitrate::from_kbps(700));
        assert_eq!(free.rate(), Bitrate::from_mbps(1));
    }

    #[test]
    fn the_start_follows_the_delay_based_rate_until_loss_or_two_seconds() {
        let mut loss = controller(&GccConfig::jansen_2016());
        loss.on_delay_based(Time::from_secs(1), Bitrate::from_mbps(2));
        assert_eq!(loss.rate(), Bitrate::from_mbps(2));
        loss.on_delay_based(Time::from_millis(3100), Bitrate::from_mbps(4));
        assert_eq!(loss.rate(), Bitrate::from_mbps(2));
    }
}
