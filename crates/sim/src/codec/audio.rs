use super::noise::CorrelatedLaplace;
use units::{Bitrate, Bytes, Duration, Stream, Time};

/// A voice that no congestion controller slows down (Jansen 2016 § 8-1-3).
#[derive(Clone, Debug, PartialEq)]
pub struct AudioConfig {
    /// The mean rate of the payload: what the browser's byte counters show, without the headers of RTP, UDP
    /// and IP (W3C webrtc-stats, `bytesSent`). Those add 16 kbit/s at 50 packets a second of 40 bytes.
    pub rate: Bitrate,
    /// The time between packets.
    pub interval: Duration,
    /// The standard deviation of a packet's size over its mean.
    pub deviation: f64,
    /// The correlation between one packet's size and the next.
    pub correlation: f64,
}

impl AudioConfig {
    /// Opus as Jansen 2016 measured it, Table 8-1: 69.0 ± 8.4 kbit/s over samples of 1 s, in packets of 20 ms
    /// (RFC 7587 § 4.2, libwebrtc's default).
    ///
    /// How that ± 12.2 % divides between packets is not published. Here a variable bit rate follows the speech:
    /// talk-spurts of 1.004 s and pauses of 1.587 s in the mean (ITU-T P.59, Table 1) are correlated over
    /// τ = 1/(1/1.004 + 1/1.587) = 0.615 s, so φ = exp(−0.02/0.615) = 0.968; the mean over T = 1 s of such a process has
    /// √(2τ/T·(1 − τ/T·(1 − e^(−T/τ)))) = 0.789 of the deviation of one packet, which is then 15.4 %.
    pub fn opus() -> Self {
        Self {
            rate: Bitrate::from_kbps(69),
            interval: Duration::from_millis(20),
            deviation: 0.154,
            correlation: 0.968,
        }
    }
}

/// A packet's worth of voice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AudioFrame {
    /// The size of the payload.
    pub size: Bytes,
    /// The time of capture in ticks of 48 kHz (RFC 7587 § 4.1), not wrapped at 32 bit.
    pub rtp_timestamp: u64,
}

/// An Opus-like source.
#[derive(Clone, Debug)]
pub struct AudioSource {
    config: AudioConfig,
    random: Stream,
    noise: CorrelatedLaplace,
    next: Time,
}

impl AudioSource {
    /// A source whose first packet is captured whenever [`Self::capture`] is first called.
    pub fn new(config: AudioConfig, random: Stream) -> Self {
        // A Laplace distribution of scale b has the deviation √2·b.
        let noise = CorrelatedLaplace::new(config.deviation / std::f64::consts::SQRT_2, config.correlation);
        Self { config, random, noise, next: Time::ZERO }
    }

    /// When the next packet is captured.
    pub fn next_capture(&self) -> Time {
        self.next
    }

    /// Captures a packet and schedules the next.
    pub fn capture(&mut self, now: Time) -> AudioFrame {
        self.next = now + self.config.interval;
        let mean = self.config.rate.as_bps_f64() / 8.0 * self.config.interval.as_secs_f64();
        let size = mean * (1.0 + self.noise.draw(&mut self.random));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
        let bytes = ((size + 0.5).floor() as u64).max(1);
        let ticks = u128::from(now.as_nanos()) * 48_000 / 1_000_000_000;
        AudioFrame { size: Bytes::new(bytes), rtp_timestamp: u64::try_from(ticks).unwrap_or(u64::MAX) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn opus_has_the_rate_and_the_spread_that_jansen_measured() {
        let mut source = AudioSource::new(AudioConfig::opus(), Seed(5).stream("voice"));
        let mut seconds = vec![0.0; 2_000];
        for second in &mut seconds {
            for _ in 0..50 {
                *second += source.capture(source.next_capture()).size.bits() as f64 / 1_000.0;
            }
        }
        let mean = seconds.iter().sum::<f64>() / 2_000.0;
        let variance = seconds.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / 2_000.0;
        assert!((mean - 69.0).abs() < 0.7, "{mean} kbit/s");
        assert!((variance.sqrt() - 8.4).abs() < 0.6, "± {} kbit/s", variance.sqrt());
        assert_eq!(source.next_capture(), Time::from_secs(2_000), "fifty packets a second");
    }
}
