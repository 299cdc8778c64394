use super::{FrameSizes, LadderConfig, fitted};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use units::{Bitrate, Duration};

/// The modelled encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Codec {
    /// VP8 (RFC 6386), as libvpx encodes it in real time.
    Vp8,
    /// VP9, as libvpx encodes it in real time.
    Vp9,
    /// H.264, as x264 encodes it with no latency.
    H264,
    /// Frame sizes from a file, scaled to the target rate (the trace-driven model of RFC 8593 § 6).
    Csv,
}

impl Codec {
    /// The name in experiment files and records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vp8 => "vp8",
            Self::Vp9 => "vp9",
            Self::H264 => "h264",
            Self::Csv => "csv",
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No codec has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not a codec: write vp8, vp9 or h264")]
pub struct UnknownCodec {
    /// The name that was looked for.
    pub name: String,
}

impl FromStr for Codec {
    type Err = UnknownCodec;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Self::Vp8, Self::Vp9, Self::H264, Self::Csv]
            .into_iter()
            .find(|codec| codec.name() == text)
            .ok_or_else(|| UnknownCodec { name: text.to_owned() })
    }
}

/// The format that the camera, or the file played instead, delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SourceSize {
    /// Width in pixels, at least 1.
    pub width: u32,
    /// Height in pixels, at least 1.
    pub height: u32,
    /// Frames per second, at least 1.
    pub fps: u32,
}

impl SourceSize {
    /// The time between two frames; a frame rate of zero counts as one.
    pub fn interval(self) -> Duration {
        Duration::from_nanos(1_000_000_000 / u64::from(self.fps.max(1)))
    }
}

/// The parameters of RFC 8593 § 5, Table 1, and those of an encoder's rate control.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ModelParameters {
    /// SCALE_B: the Laplace scale of (B − B_0)/B_0, the relative deviation of a frame's size from
    /// its share of the rate.
    pub size_noise: f64,
    /// SCALE_B at these rates, ascending; between two of them it changes with the logarithm of the
    /// rate. Empty, or if `size_noise` is 0: `size_noise` at every rate.
    pub size_noise_at: Vec<(Bitrate, f64)>,
    /// The correlation of that deviation between consecutive frames, in (−1, 1). RFC 8593 has none.
    pub correlation: f64,
    /// SCALE_t: the Laplace scale of (t − t_0)/t_0, the relative deviation of the interval between
    /// frames.
    pub interval_noise: f64,
    /// K_B / B_0: the size of the first frame of a burst relative to a frame at steady state.
    pub burst_ratio: f64,
    /// K_d · t_0: the time constant in which the encoder compensates the excess of a burst or of
    /// noise.
    pub payback: Duration,
    /// τ_v: after a reaction, the encoder ignores a new target for this long.
    pub reaction_lag: Duration,
    /// The relative change of the target from which a reaction starts with a burst; `None` for no
    /// bursts.
    pub transient_step: Option<f64>,
    /// Bits per pixel of a frame at the coarsest quantiser that WebRTC permits. At lower rates,
    /// frames are dropped. Zero for no such floor.
    pub floor_bits_per_pixel: f64,
}

impl ModelParameters {
    /// The example values of RFC 8593, Table 1: τ_v 0.2 s, K_d 8 frames, K_B 13.5 kB, t_0 33 ms,
    /// B_0 4.17 kB, SCALE_t and SCALE_B 0.15; every reaction is a transient.
    pub fn rfc8593() -> Self {
        Self {
            size_noise: 0.15,
            size_noise_at: Vec::new(),
            correlation: 0.0,
            interval_noise: 0.15,
            burst_ratio: 13.5 / 4.17,
            payback: Duration::from_millis(8 * 33),
            reaction_lag: Duration::from_millis(200),
            transient_step: Some(0.0),
            floor_bits_per_pixel: 0.0,
        }
    }

    /// The parameters fitted from real encodes (`fitted.rs`). For frame sizes from a file there is
    /// no noise.
    ///
    /// Two values cannot be fitted from a finished encode. τ_v is RFC 8593's, and the interval
    /// noise is zero, because the browsers of the papers play a file at a constant frame rate
    /// (Jansen 2016 § 7-2-1).
    pub fn fitted(codec: Codec) -> Self {
        let fit = match codec {
            Codec::Vp8 => fitted::VP8,
            Codec::Vp9 => fitted::VP9,
            Codec::H264 => fitted::H264,
            Codec::Csv => return Self { size_noise: 0.0, ..Self::without_transients() },
        };
        Self {
            size_noise: fit.size_noise,
            correlation: fit.correlation,
            burst_ratio: fit.key_frame_ratio,
            payback: Duration::from_millis(fit.payback_ms),
            floor_bits_per_pixel: fit.floor_bits_per_pixel,
            ..Self::without_transients()
        }
    }

    /// SCALE_B at a rate, relative to [`Self::size_noise`].
    pub(super) fn relative_noise(&self, rate: Bitrate) -> f64 {
        if self.size_noise == 0.0 {
            return 1.0;
        }
        let at = &self.size_noise_at;
        let above = at.partition_point(|&(point, _)| point <= rate);
        let noise = match (above.checked_sub(1).and_then(|below| at.get(below)), at.get(above)) {
            (None, None) => return 1.0,
            (Some(&(_, noise)), None) | (None, Some(&(_, noise))) => noise,
            (Some(&(low, before)), Some(&(high, after))) => {
                let log = |rate: Bitrate| libm::log(rate.as_bps_f64());
                let position = (log(rate) - log(low)) / (log(high) - log(low));
                before + position * (after - before)
            }
        };
        noise / self.size_noise
    }

    fn without_transients() -> Self {
        Self { interval_noise: 0.0, transient_step: None, ..Self::rfc8593() }
    }
}

/// The fitted parameters of a codec; `fitted.rs` holds one per codec.
pub(super) struct Fit {
    pub(super) size_noise: f64,
    pub(super) correlation: f64,
    pub(super) key_frame_ratio: f64,
    pub(super) payback_ms: u64,
    /// Bits per pixel at the coarsest quantiser, and at those where WebRTC scales down and up.
    pub(super) floor_bits_per_pixel: f64,
    pub(super) down_bits_per_pixel: f64,
    pub(super) up_bits_per_pixel: f64,
}

/// A video source and its encoder.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct EncoderConfig {
    /// The encoder.
    pub codec: Codec,
    /// The format of the source.
    pub source: SourceSize,
    /// R_min of RFC 8593 § 5.4: the encoder does not go below this rate.
    pub min_rate: Bitrate,
    /// R_max of RFC 8593 § 5.4: the encoder does not go above this rate.
    pub max_rate: Bitrate,
    /// The statistical model.
    pub model: ModelParameters,
    /// When the resolution changes.
    pub ladder: LadderConfig,
    /// Frame sizes to use instead of noise.
    pub sizes: Option<Arc<FrameSizes>>,
    /// Whether less than the target is requested from an encoder whose frames vary in size, as
    /// libwebrtc does since 2019 (`video/encoder_bitrate_adjuster.cc`).
    pub adjusts_bitrate: bool,
}

impl EncoderConfig {
    /// R_min: the minimum video rate of a browser in Jansen 2016 § 8-1-3.
    pub const MIN_RATE: Bitrate = Bitrate::from_kbps(50);

    /// The codec with its fitted parameters and [`Self::MIN_RATE`].
    pub fn new(codec: Codec, source: SourceSize, max_rate: Bitrate) -> Self {
        let model = ModelParameters::fitted(codec);
        let ladder = LadderConfig::fitted(codec);
        let min_rate = Self::MIN_RATE.min(max_rate);
        Self {
            codec,
            source,
            min_rate,
            max_rate,
            model,
            ladder,
            sizes: None,
            adjusts_bitrate: false,
        }
    }

    /// Frame sizes from a file, scaled to the target rate.
    pub fn from_sizes(sizes: Arc<FrameSizes>, source: SourceSize, max_rate: Bitrate) -> Self {
        Self { sizes: Some(sizes), ..Self::new(Codec::Csv, source, max_rate) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codec_names_read_back() {
        for codec in [Codec::Vp8, Codec::Vp9, Codec::H264, Codec::Csv] {
            assert_eq!(codec.to_string().parse(), Ok(codec));
        }
        assert!("av1".parse::<Codec>().unwrap_err().to_string().contains("write vp8, vp9"));
    }

    #[test]
    fn the_floor_is_never_above_the_ceiling() {
        let source = SourceSize { width: 320, height: 180, fps: 30 };
        let config = EncoderConfig::new(Codec::Vp8, source, Bitrate::from_kbps(20));
        assert_eq!(
            (config.min_rate, config.max_rate),
            (Bitrate::from_kbps(20), Bitrate::from_kbps(20))
        );
    }
}
