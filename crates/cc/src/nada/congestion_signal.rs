//! The aggregate congestion signal x_curr (§ 4.2, eqs. 1 and 2).

use super::config::NadaConfig;
use super::loss_intervals::LossInterval;
use units::Duration;

/// The delays are in ms.
pub(crate) struct CongestionSignal {
    multiloss: f64,
    qth: f64,
    whole_ms: bool,
    lambda: f64,
    dloss: f64,
    plrref: f64,
    dmark: f64,
    pmrref: f64,
    max: f64,
}

impl CongestionSignal {
    pub(crate) fn new(config: &NadaConfig) -> Self {
        Self {
            multiloss: config.multiloss,
            qth: config.qth.as_millis_f64(),
            whole_ms: config.whole_ms,
            lambda: config.lambda,
            dloss: config.dloss.as_millis_f64(),
            plrref: config.plrref,
            dmark: config.dmark.as_millis_f64(),
            pmrref: config.pmrref,
            max: config.x_max.as_millis_f64(),
        }
    }

    /// Eq. 1: the delay above QTH, reduced.
    fn warped(&self, d_queue: f64) -> f64 {
        let compared = if self.whole_ms { d_queue.floor() } else { d_queue };
        if compared <= self.qth {
            return d_queue;
        }
        self.qth * libm::exp(-self.lambda * (d_queue - self.qth) / self.qth)
    }

    /// d_tilde: warped while the last loss is recent, and a mixture during one more average loss
    /// interval (§ 4.2).
    pub(crate) fn delay(&self, d_queue: Duration, interval: Option<LossInterval>) -> f64 {
        let d_queue = d_queue.as_millis_f64();
        let Some(LossInterval { current, average }) = interval else { return d_queue };
        let expired = (current - self.multiloss * average) / average;
        let plain = expired.clamp(0.0, 1.0);
        plain * d_queue + (1.0 - plain) * self.warped(d_queue)
    }

    /// Eq. 2: x_curr in ms.
    pub(crate) fn aggregate(&self, d_tilde: f64, p_mark: f64, p_loss: f64) -> f64 {
        let square = |ratio: f64| ratio * ratio;
        let marking = self.dmark * square(p_mark / self.pmrref);
        let loss = self.dloss * square(p_loss / self.plrref);
        (d_tilde + marking + loss).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal() -> CongestionSignal {
        CongestionSignal::new(&NadaConfig::published())
    }

    #[test]
    fn delay_is_warped_while_losses_are_recent() {
        let ms = Duration::from_millis;
        let delay = |ms_queued, current| {
            signal().delay(ms(ms_queued), Some(LossInterval { current, average: 10.0 }))
        };
        assert_eq!(signal().delay(ms(150), None), 150.0);
        assert_eq!(delay(40, 1.0), 40.0, "below QTH");
        let warped = 50.0 * libm::exp(-1.0);
        assert!((delay(150, 69.0) - warped).abs() < 1e-9);
        assert!((delay(150, 75.0) - (150.0 + warped) / 2.0).abs() < 1e-9, "half-way");
        assert_eq!(delay(150, 80.0), 150.0);
    }

    #[test]
    fn references_of_loss_and_marking_cost_their_penalties() {
        assert_eq!(signal().aggregate(5.0, 0.0, 0.0), 5.0);
        assert_eq!(signal().aggregate(5.0, 0.01, 0.0), 7.0, "DMARK is 2 ms");
        assert_eq!(signal().aggregate(5.0, 0.0, 0.02), 45.0, "DLOSS is 10 ms, squared ratio");
        assert_eq!(signal().aggregate(5.0, 1.0, 1.0), 3276.7, "15 bits");
    }
}
