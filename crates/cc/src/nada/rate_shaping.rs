//! The rate-shaping buffer between encoder and network (§ 5.2, eqs. 11 and 12): while it fills, the
//! encoder gets less than r_ref and the network more.

use super::config::NadaConfig;
use units::{Bitrate, Bytes};

/// Splits r_ref into the rate of the encoder and the rate of the network.
pub(crate) struct RateShaping {
    /// BETA · 8 · FPS, in bit/s per byte.
    encoder: f64,
    network: f64,
    buffered: Bytes,
}

impl RateShaping {
    pub(crate) fn new(config: &NadaConfig) -> Self {
        let per_byte = 8.0 * config.fps;
        Self {
            encoder: config.beta_v * per_byte,
            network: config.beta_s * per_byte,
            buffered: Bytes::ZERO,
        }
    }

    /// The encoder added a frame; `buffered` is the size of the buffer with it.
    pub(crate) fn on_frame(&mut self, buffered: Bytes) {
        self.buffered = buffered;
    }

    /// A packet left the buffer.
    pub(crate) fn on_sent(&mut self, size: Bytes) {
        self.buffered = self.buffered.saturating_sub(size);
    }

    /// r_vin and r_send (eqs. 11 and 12) within the least and the greatest rate.
    pub(crate) fn rates(&self, r_ref: f64, (min, max): (f64, f64)) -> (Bitrate, Bitrate) {
        let length = self.buffered.get() as f64;
        let encoder = (r_ref - self.encoder * length).max(min);
        let network = (r_ref + self.network * length).min(max);
        (Bitrate::from_bps_f64(encoder), Bitrate::from_bps_f64(network))
    }

    pub(crate) fn buffered(&self) -> Bytes {
        self.buffered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_buffer_slows_the_encoder_and_speeds_up_the_network() {
        let mut shaping = RateShaping::new(&NadaConfig::published());
        let bounds = (150_000.0, 1_500_000.0);
        let mut after = |buffered| {
            shaping.on_frame(Bytes::new(buffered));
            let (encoder, network) = shaping.rates(1_000_000.0, bounds);
            (encoder.as_bps(), network.as_bps())
        };
        assert_eq!(after(0), (1_000_000, 1_000_000));
        assert_eq!(after(5_000), (880_000, 1_120_000), "0.1 · 8 · 30 bit/s per byte");
        assert_eq!(after(100_000), (150_000, 1_500_000), "within RMIN and RMAX");
    }
}
