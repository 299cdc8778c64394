use units::{Bitrate, Bytes, Duration};

/// The largest debt, beyond which every frame is dropped, and the largest credit, both in seconds
/// of the target rate. libwebrtc sets libvpx's buffer to 600 ms optimal and 1,000 ms in total
/// (`libvpx_vp8_encoder.cc`, `rc_buf_optimal_sz`, `rc_buf_sz`).
const MAX_DEBT: f64 = 0.6;
const MAX_CREDIT: f64 = 0.4;
/// Below this buffer level every second frame is dropped: `rc_dropframe_thresh` 30 (same file).
const DROP_MARK: f64 = 0.3;
/// The largest correction of a frame's size downwards and upwards: `rc_undershoot_pct` 100 and
/// `rc_overshoot_pct` 15 (same file), which libvpx halves (`vp9_ratectrl.c`,
/// `vp9_calc_pframe_target_size_one_pass_cbr`).
const MAX_UNDERSHOOT: f64 = 0.5;
const MAX_OVERSHOOT: f64 = 0.075;

/// Keeps the mean rate at the target although single frames deviate: the leaky bucket of an encoder
/// at constant bit rate. Its level is the *debt*, the bytes sent beyond the target.
#[derive(Clone, Debug)]
pub(super) struct RateControl {
    payback: f64,
    debt: f64,
    decimating: bool,
    dropped_last: bool,
}

impl RateControl {
    /// `payback` is the time constant in which debt is compensated.
    pub(super) fn new(payback: Duration) -> Self {
        Self {
            payback: payback.as_secs_f64().max(f64::EPSILON),
            debt: 0.0,
            decimating: false,
            dropped_last: false,
        }
    }

    /// `span` passed at the target `rate`, which reduces the debt.
    pub(super) fn earn(&mut self, rate: Bitrate, span: Duration) {
        let bytes_per_second = rate.as_bps_f64() / 8.0;
        self.debt =
            (self.debt - bytes_per_second * span.as_secs_f64()).max(-MAX_CREDIT * bytes_per_second);
    }

    /// A frame was sent.
    pub(super) fn spend(&mut self, size: Bytes) {
        self.debt += size.get() as f64;
    }

    /// The relative correction of the next frame's target size.
    pub(super) fn correction(&self, rate: Bitrate) -> f64 {
        let seconds = self.debt_in_seconds(rate);
        (-seconds / self.payback).clamp(-MAX_UNDERSHOOT, MAX_OVERSHOOT)
    }

    /// Whether the next frame is dropped (libvpx `vp9_ratectrl.c`, `vp9_rc_drop_frame`): every
    /// frame if the buffer is empty, every second one below [`DROP_MARK`].
    pub(super) fn drops(&mut self, rate: Bitrate) -> bool {
        let level = MAX_DEBT - self.debt_in_seconds(rate);
        self.decimating = level <= DROP_MARK * MAX_DEBT;
        self.dropped_last = level < 0.0 || (self.decimating && !self.dropped_last);
        self.dropped_last
    }

    fn debt_in_seconds(&self, rate: Bitrate) -> f64 {
        // A rate of zero never compensates debt; the encoder's minimum rate prevents it.
        if rate == Bitrate::ZERO { f64::INFINITY } else { self.debt * 8.0 / rate.as_bps_f64() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Bitrate = Bitrate::from_kbps(800);

    #[test]
    fn debt_shrinks_the_next_frame_and_credit_enlarges_it_within_bounds() {
        let mut control = RateControl::new(Duration::from_secs(1));
        assert_eq!(control.correction(RATE), 0.0);
        control.spend(Bytes::new(10_000));
        assert!((control.correction(RATE) + 0.1).abs() < 1e-9, "0.1 s of debt over 1 s");
        control.spend(Bytes::new(1_000_000));
        assert_eq!(control.correction(RATE), -0.5);
        control.earn(RATE, Duration::from_secs(60));
        assert_eq!(control.correction(RATE), 0.075);
    }

    #[test]
    fn none_half_or_all_frames_are_dropped_as_debt_grows() {
        let dropped_of_ten = |debt: u64| {
            let mut control = RateControl::new(Duration::from_secs(1));
            control.spend(Bytes::new(debt));
            (0..10).filter(|_| control.drops(RATE)).count()
        };
        assert_eq!(dropped_of_ten(41_000), 0, "0.41 s of debt");
        assert_eq!(dropped_of_ten(43_000), 5, "0.43 s of debt, less than 30 % of 0.6 s left");
        assert_eq!(dropped_of_ten(61_000), 10, "0.61 s of debt");
    }

    #[test]
    fn a_rate_of_zero_drops_everything() {
        assert!(RateControl::new(Duration::from_secs(1)).correction(Bitrate::ZERO).is_finite());
        assert!(RateControl::new(Duration::from_secs(1)).drops(Bitrate::ZERO));
    }
}
