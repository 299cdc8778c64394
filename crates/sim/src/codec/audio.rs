use super::noise::CorrelatedLaplace;
use super::spurts::{Spurts, Voice};
use units::{Bitrate, Bytes, Duration, Stream, Time};

/// A speech codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum AudioCodec {
    /// Opus (RFC 6716).
    Opus,
    /// Adaptive Multi-Rate (3GPP TS 26.071).
    Amr,
}

impl AudioCodec {
    /// The RTP clock rate in Hz (RFC 7587 § 4.1; RFC 4867 § 4.1).
    #[must_use]
    pub const fn clock_rate(self) -> u32 {
        match self {
            Self::Opus => 48_000,
            Self::Amr => 8_000,
        }
    }
}

/// The configuration of a voice stream. Congestion control does not affect it (Jansen 2016 §
/// 8-1-3).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct AudioConfig {
    /// The codec that produces the packets.
    pub codec: AudioCodec,
    /// The mean rate of the payload: what the browser's byte counters show (W3C webrtc-stats,
    /// `bytesSent`), without the headers of RTP, UDP and IP. At 50 packets per second the headers
    /// add 40 bytes each, 16 kbit/s. With [`spurts`](Self::spurts), this is the mean rate within a
    /// talk-spurt.
    pub rate: Bitrate,
    /// The time between packets.
    pub interval: Duration,
    /// The standard deviation of a packet's size, relative to the mean size.
    pub deviation: f64,
    /// The correlation between the sizes of consecutive packets.
    pub correlation: f64,
    /// The talk-spurts and pauses; `None` if a packet is sent in each interval.
    pub spurts: Option<Spurts>,
}

impl AudioConfig {
    /// Opus as measured in Jansen 2016, Table 8-1: 69.0 ± 8.4 kbit/s over samples of 1 s, in
    /// packets of 20 ms (RFC 7587 § 4.2, libwebrtc's default), without pauses (RFC 7587 § 6.1:
    /// discontinuous transmission is off by default).
    ///
    /// How the ± 12.2 % are distributed over packets is not published. The model assumes that a
    /// variable bit rate follows the speech. Talk-spurts of 1.004 s and pauses of 1.587 s on
    /// average (ITU-T P.59, Table 1) are correlated over τ = 1/(1/1.004 + 1/1.587) = 0.615 s, so φ
    /// = exp(−0.02/0.615) = 0.968. The mean of such a process over T = 1 s has √(2τ/T·(1 − τ/T·(1 −
    /// e^(−T/τ)))) = 0.789 of the deviation of one packet, which is therefore 15.4 %.
    pub fn opus() -> Self {
        Self {
            codec: AudioCodec::Opus,
            rate: Bitrate::from_kbps(69),
            interval: Duration::from_millis(20),
            deviation: 0.154,
            correlation: 0.968,
            spurts: None,
        }
    }

    /// Opus with discontinuous transmission: in a pause, one frame per 400 ms (RFC 6716 § 2.1.9),
    /// here at Opus's lowest rate, 6 kbit/s (§ 2.1.1). Sizes do not vary within a talk-spurt,
    /// because the variation of [`opus`](Self::opus) models the alternation of speech and pauses.
    pub fn opus_in_spurts() -> Self {
        let spurts = Spurts::of_speech(Bytes::new(15), Duration::from_millis(400));
        Self { deviation: 0.0, correlation: 0.0, spurts: Some(spurts), ..Self::opus() }
    }

    /// AMR at 12.2 kbit/s with source controlled rate. Frames of 20 ms have 244 bits, which with
    /// the 10 bits of mode request and table of contents make 32 bytes (RFC 4867 § 4.3,
    /// bandwidth-efficient). In a pause, a silence descriptor of 39 bits, so 7 bytes, is sent every
    /// 160 ms (3GPP TS 26.093 § 5.1). Not modelled: the seven frames that a coder still sends after
    /// a talk-spurt, and the shorter interval before the second descriptor.
    pub fn amr() -> Self {
        Self {
            codec: AudioCodec::Amr,
            rate: Bitrate::from_bps(12_800),
            interval: Duration::from_millis(20),
            deviation: 0.0,
            correlation: 0.0,
            spurts: Some(Spurts::of_speech(Bytes::new(7), Duration::from_millis(160))),
        }
    }
}

/// The payload of one audio packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AudioFrame {
    /// The size of the payload.
    pub size: Bytes,
    /// The time of capture in ticks of the codec's clock, not wrapped at 32 bit.
    pub rtp_timestamp: u64,
    /// The frame starts a talk-spurt (RFC 3551 § 4.1: the marker bit). Always false without
    /// talk-spurts.
    pub begins_spurt: bool,
}

/// A microphone and its encoder.
#[derive(Clone, Debug)]
pub struct AudioSource {
    config: AudioConfig,
    random: Stream,
    noise: CorrelatedLaplace,
    voice: Option<Voice>,
    spoke_before: bool,
    next: Time,
}

impl AudioSource {
    /// A source whose first packet is captured by the first call of [`Self::capture`].
    pub fn new(config: AudioConfig, random: Stream) -> Self {
        // A Laplace distribution of scale b has the standard deviation √2·b.
        let noise =
            CorrelatedLaplace::new(config.deviation / std::f64::consts::SQRT_2, config.correlation);
        let voice = config.spurts.map(Voice::new);
        Self { config, random, noise, voice, spoke_before: false, next: Time::ZERO }
    }

    /// When the next packet is captured.
    pub fn next_capture(&self) -> Time {
        self.next
    }

    /// Captures nothing before `resume`.
    pub fn pause(&mut self, resume: Time) {
        self.next = self.next.max(resume);
    }

    /// Captures a packet and schedules the next.
    pub fn capture(&mut self, now: Time) -> AudioFrame {
        let interval = self.config.interval;
        let Self { voice, random, .. } = self;
        let pause = self.config.spurts.zip(voice.as_mut()).and_then(|(spurts, voice)| {
            let (is_speaking, until) = voice.advance(now, random);
            (!is_speaking).then_some((spurts, until))
        });
        let (size, next) = match pause {
            None => (self.frame_size(), now + interval),
            // The encoder's frame clock continues: the next talk-spurt starts on a frame boundary.
            Some((spurts, until)) => {
                let frames =
                    until.saturating_since(now).as_nanos().div_ceil(interval.as_nanos().max(1));
                (spurts.silence, now + (interval * frames).min(spurts.silence_interval))
            }
        };
        self.next = next;
        let begins_spurt = self.voice.is_some() && pause.is_none() && !self.spoke_before;
        self.spoke_before = pause.is_none();
        let rate = u128::from(self.config.codec.clock_rate());
        let ticks = u128::from(now.as_nanos()) * rate / 1_000_000_000;
        AudioFrame { size, rtp_timestamp: u64::try_from(ticks).unwrap_or(u64::MAX), begins_spurt }
    }

    /// The size of the payload of a frame of speech.
    fn frame_size(&mut self) -> Bytes {
        let mean = self.config.rate.as_bps_f64() / 8.0 * self.config.interval.as_secs_f64();
        let size = mean * (1.0 + self.noise.draw(&mut self.random));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` saturates"
        )]
        let bytes = ((size + 0.5).floor() as u64).max(1);
        Bytes::new(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn opus_has_the_mean_and_deviation_of_jansen_2016() {
        let mut source = AudioSource::new(AudioConfig::opus(), Seed(5).stream("voice"));
        let mut seconds = vec![0.0; 2_000];
        for second in &mut seconds {
            for _ in 0..50 {
                *second += source.capture(source.next_capture()).size.bits() as f64 / 1_000.0;
            }
        }
        let mean = seconds.iter().sum::<f64>() / 2_000.0;
        let variance =
            seconds.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / 2_000.0;
        assert!((mean - 69.0).abs() < 0.7, "{mean} kbit/s");
        assert!((variance.sqrt() - 8.4).abs() < 0.6, "± {} kbit/s", variance.sqrt());
        assert_eq!(source.next_capture(), Time::from_secs(2_000), "50 packets per second");
    }

    /// The packets of one hour, each with its capture time.
    fn hour(config: AudioConfig, seed: u64) -> Vec<(Time, AudioFrame)> {
        let mut source = AudioSource::new(config, Seed(seed).stream("voice"));
        std::iter::from_fn(|| {
            let at = source.next_capture();
            (at < Time::from_secs(3_600)).then(|| (at, source.capture(at)))
        })
        .collect()
    }

    #[test]
    fn amr_alternates_talk_spurts_and_pauses() {
        let packets = hour(AudioConfig::amr(), 2);
        let speech: Vec<_> = packets.iter().filter(|(_, frame)| frame.size.get() == 32).collect();
        assert!(packets.iter().all(|(_, frame)| [32, 7].contains(&frame.size.get())));
        // Talk-spurts take 1.004 s of 2.591 s.
        let activity = speech.len() as f64 * 0.02 / 3_600.0;
        assert!((activity - 0.3875).abs() < 0.02, "{activity}");
        let spurts = packets.iter().filter(|(_, frame)| frame.begins_spurt).count() as f64;
        // A talk-spurt or pause shorter than a frame may fall between two frames.
        assert!((spurts - 3_600.0 / 2.591).abs() < 80.0, "{spurts}");
        for pair in packets.windows(2) {
            let [(one, before), (other, after)] = pair else { unreachable!() };
            let gap = other.saturating_since(*one).as_nanos() / 1_000_000;
            assert_eq!(gap % 20, 0, "the 20 ms frame clock continues in a pause");
            assert!(gap <= 160 && (before.size.get() == 7 || gap == 20), "{gap} ms");
            assert_eq!(after.begins_spurt, (before.size.get(), after.size.get()) == (7, 32));
            assert_eq!(after.rtp_timestamp - before.rtp_timestamp, gap * 8);
        }
    }

    #[test]
    fn opus_with_dtx_sends_little_in_pauses() {
        let packets = hour(AudioConfig::opus_in_spurts(), 3);
        let [speech, silence] = [173, 15]
            .map(|size| packets.iter().filter(|(_, frame)| frame.size.get() == size).count());
        assert_eq!(speech + silence, packets.len());
        let pauses = packets.iter().filter(|(_, frame)| frame.begins_spurt).count() as f64;
        // A pause of 1.587 s on average has one descriptor at its start and one after each 400 ms
        // that it lasts: 1/(1 − e^(−0.4/1.587)).
        let expected = pauses / (1.0 - libm::exp(-0.4 / 1.587));
        assert!(
            (silence as f64 / expected - 1.0).abs() < 0.05,
            "{silence} descriptors, expected {expected}"
        );
    }
}
