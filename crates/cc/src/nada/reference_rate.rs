//! The reference rate r_ref: accelerated ramp-up and gradual update (§ 4.3, eqs. 3–9).

use super::config::NadaConfig;
use super::feedback::CongestionReport;
use units::{Bitrate, Duration};

/// Rates in bit/s, times in ms.
pub(crate) struct ReferenceRate {
    prio: f64,
    xref: f64,
    kappa: f64,
    eta: f64,
    tau: f64,
    delta: f64,
    dfilt: f64,
    gamma_max: f64,
    qbound: f64,
    min: f64,
    max: f64,
    r_ref: f64,
    x_prev: f64,
    ramp_up: bool,
}

impl ReferenceRate {
    /// `rates`: least, first and greatest rate.
    pub(crate) fn new(config: &NadaConfig, rates: [Bitrate; 3]) -> Self {
        let [min, start, max] = rates.map(Bitrate::as_bps_f64);
        Self {
            prio: config.prio,
            xref: config.xref.as_millis_f64(),
            kappa: config.kappa,
            eta: config.eta,
            tau: config.tau.as_millis_f64(),
            delta: config.delta.as_millis_f64(),
            dfilt: config.dfilt.as_millis_f64(),
            gamma_max: config.gamma_max,
            qbound: config.qbound.as_millis_f64(),
            min,
            max,
            r_ref: start,
            x_prev: 0.0,
            ramp_up: true,
        }
    }

    /// Processes a report; `elapsed` is the time since the last one.
    pub(crate) fn update(&mut self, report: &CongestionReport, elapsed: Duration, rtt: Duration) {
        self.ramp_up = report.ramp_up;
        let rate = if report.ramp_up {
            self.accelerated(report.r_recv.as_bps_f64(), rtt)
        } else {
            self.gradual(report.x_curr, elapsed)
        };
        // Eqs. 8 and 9.
        self.r_ref = rate.clamp(self.min, self.max);
        self.x_prev = report.x_curr;
    }

    /// Eqs. 3 and 4.
    fn accelerated(&self, r_recv: f64, rtt: Duration) -> f64 {
        let delay = rtt.as_millis_f64() + self.delta + self.dfilt;
        let gamma = self.gamma_max.min(self.qbound / delay);
        self.r_ref.max((1.0 + gamma) * r_recv)
    }

    /// Eqs. 5–7. x_offset is multiplied by r_ref at once, so that a rate of 0 is no special case.
    fn gradual(&self, x_curr: f64, elapsed: Duration) -> f64 {
        let offset = x_curr * self.r_ref - self.prio * self.xref * self.max;
        let change = (x_curr - self.x_prev) * self.r_ref;
        let elapsed = elapsed.as_millis_f64();
        self.r_ref
            - self.kappa * (elapsed / self.tau) * (offset / self.tau)
            - self.kappa * self.eta * change / self.tau
    }

    /// The greatest rate of the media changed.
    pub(crate) fn set_max(&mut self, max: Bitrate) {
        self.max = max.as_bps_f64().max(self.min);
        self.r_ref = self.r_ref.min(self.max);
    }

    /// Starts again at `rate`.
    pub(crate) fn restart(&mut self, rate: Bitrate) {
        self.r_ref = rate.as_bps_f64().clamp(self.min, self.max);
        self.x_prev = 0.0;
    }

    /// r_ref in bit/s.
    pub(crate) fn get(&self) -> f64 {
        self.r_ref
    }

    /// The least and the greatest rate.
    pub(crate) fn bounds(&self) -> (f64, f64) {
        (self.min, self.max)
    }

    /// x_prev in ms: after an update the signal of that update.
    pub(crate) fn x_prev(&self) -> f64 {
        self.x_prev
    }

    /// Whether the last update was an accelerated ramp-up.
    pub(crate) fn is_ramping_up(&self) -> bool {
        self.ramp_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: Duration = Duration::from_millis(100);

    fn rate(start: u64) -> ReferenceRate {
        let rates = [150, start, 1500].map(Bitrate::from_kbps);
        ReferenceRate::new(&NadaConfig::published(), rates)
    }

    fn report(ramp_up: bool, x_curr: f64, kbps: u64) -> CongestionReport {
        CongestionReport { ramp_up, x_curr, r_recv: Bitrate::from_kbps(kbps) }
    }

    #[test]
    fn ramp_up_multiplies_the_receiving_rate_by_what_the_delay_allows() {
        let mut rate = rate(300);
        rate.update(&report(true, 0.0, 300), STEP, Duration::from_millis(30));
        assert!((rate.get() - 360_000.0).abs() < 1.0, "γ = 50/(30 + 100 + 120)");
        rate.update(&report(true, 0.0, 100), STEP, Duration::from_millis(30));
        assert!((rate.get() - 360_000.0).abs() < 1.0, "the rate does not fall");
    }

    #[test]
    fn the_rate_rests_where_the_signal_is_xref_rmax_over_the_rate() {
        let mut rate = rate(500);
        for _ in 0..3 {
            rate.update(&report(false, 30.0, 500), STEP, STEP);
        }
        let rest = rate.get();
        rate.update(&report(false, 30.0, 500), STEP, STEP);
        assert!((rate.get() - rest).abs() < rest * 0.01, "{rest}");
        let mut higher = self::rate(1000);
        higher.update(&report(false, 0.0, 500), STEP, STEP);
        higher.update(&report(false, 0.0, 500), STEP, STEP);
        // 0.5 · 0.2 · 10 ms · 1.5 Mbit/s ÷ 500 ms per update.
        assert!((higher.get() - 1_006_000.0).abs() < 1.0, "{}", higher.get());
    }
}
