//! The loss-based controller at the sender (Carlucci 2017, eq. 14; Jansen 2016, eqs. 5-11, 5-12).

use super::buffer_hint::BufferHint;
use super::config::GccConfig;
use units::{Bitrate, Duration, Time};

/// In the start phase, A_s follows A_r as long as no packet was lost (libwebrtc
/// `send_side_bandwidth_estimation.cc`: 2 s from the first report).
const START_PHASE: Duration = Duration::from_secs(2);

/// Computes A_s.
pub(crate) struct LossController {
    high: f64,
    low: f64,
    /// Smallest buffer on the path, and the drain time below which a buffer is short.
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

    /// A report arrived: `fraction_lost` of the packets were lost at the rate `target` (eq. 14).
    /// A_s increases at most once per interval, because reports that were sent early after a
    /// decrease of A_r must not increase A_s sooner.
    pub(crate) fn on_report(&mut self, now: Time, fraction_lost: f64, target: Bitrate) {
        let sensitivity = self.hint.0.sensitivity(target, self.hint.1);
        self.fraction_lost = fraction_lost;
        self.seen_loss |= fraction_lost > 0.0;
        if fraction_lost > sensitivity * self.high {
            self.rate *= 1.0 - self.decrease * fraction_lost;
        } else if fraction_lost < sensitivity * self.low && self.may_increase(now) {
            self.rate *= self.increase;
            self.raised = Some(now);
        }
        self.bound();
    }

    /// A report that arrives up to a tenth of the interval early, because of the jitter of the
    /// path, counts as on time.
    fn may_increase(&self, now: Time) -> bool {
        let least = self.increase_interval.saturating_sub(self.increase_interval / 10);
        self.raised.is_none_or(|raised| now.saturating_since(raised) >= least)
    }

    /// A_r has a new value.
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

    /// The newest fraction lost.
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
    fn with_a_short_buffer_the_controller_reacts_to_less_loss() {
        let after = |bytes, lost| {
            let hint_buffer = BufferHint::Size(Bytes::new(bytes));
            let mut loss = controller(&GccConfig { hint_buffer, ..GccConfig::carlucci_2017() });
            loss.on_report(Time::from_secs(1), lost, TARGET);
            loss.rate()
        };
        // 16 kB drain in 128 ms: thresholds of 1.024 % and 5.12 %. 32 kB drain in 256 ms: unchanged
        // thresholds.
        assert_eq!(after(16_000, 0.0102), Bitrate::from_kbps(1050));
        assert_eq!(after(16_000, 0.0103), Bitrate::from_kbps(1000));
        assert_eq!(after(16_000, 0.0513), Bitrate::from_bps(974_350));
        assert_eq!(after(32_000, 0.0199), Bitrate::from_kbps(1050));
        assert_eq!(after(32_000, 0.1), Bitrate::from_kbps(1000));
    }

    #[test]
    fn the_rate_increases_once_per_second_and_decreases_at_every_report() {
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
    fn equation_5_12_caps_the_rate() {
        let mut capped = controller(&GccConfig::jansen_2016());
        capped.on_report(Time::from_secs(1), 0.05, TARGET);
        capped.on_delay_based(Time::from_secs(1), Bitrate::from_kbps(700));
        assert_eq!(capped.rate(), Bitrate::from_kbps(700));
        let mut free = controller(&GccConfig::carlucci_2017());
        free.on_delay_based(Time::from_secs(1), Bitrate::from_kbps(700));
        assert_eq!(free.rate(), Bitrate::from_mbps(1));
    }

    #[test]
    fn the_start_phase_follows_the_delay_based_rate_until_loss_or_two_seconds() {
        let mut loss = controller(&GccConfig::jansen_2016());
        loss.on_delay_based(Time::from_secs(1), Bitrate::from_mbps(2));
        assert_eq!(loss.rate(), Bitrate::from_mbps(2));
        loss.on_delay_based(Time::from_millis(3100), Bitrate::from_mbps(4));
        assert_eq!(loss.rate(), Bitrate::from_mbps(2));
    }
}
