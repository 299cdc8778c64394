use super::{Codec, SourceSize, fitted};
use units::{Bytes, Duration, Time};

const ALTERNATING: [(u32, u32); 7] = [(1, 1), (3, 4), (1, 2), (3, 8), (1, 4), (3, 16), (1, 8)];
const HALVES: [(u32, u32); 4] = [(1, 1), (1, 2), (1, 4), (1, 8)];
/// The number of frames before a step is considered, and the share of dropped frames that causes a
/// step down: libwebrtc `modules/video_coding/utility/quality_scaler.cc`,
/// `kMinFramesNeededToScale`, `kFramedropPercentThreshold`.
const MIN_FRAMES: u32 = 60;
const MAX_DROPPED: f64 = 0.6;
/// (rate in bit/s, pixels): the largest picture that an encoder starts with below that rate. From
/// current libwebrtc, `video/video_stream_encoder.cc`, DropDueToSize; and from libwebrtc of 2016,
/// `modules/video_coding/utility/quality_scaler.cc`, `kQvgaBitrateThresholdKbps`,
/// `kVgaBitrateThresholdKbps`.
const START_LIMITS: [(u64, u64); 2] = [(300_000, 320 * 240), (500_000, 640 * 480)];
const START_LIMITS_2016: [(u64, u64); 2] = [(250_000, 400 * 300), (500_000, 700 * 500)];

/// The resolution steps, as fractions of the source's width and height.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum LadderSteps {
    /// By 3/4 and 2/3 in turn: current libwebrtc's video adapter (`media/base/video_adapter.cc`,
    /// `FindScale`).
    #[default]
    Alternating,
    /// By halves: the quality scaler of libwebrtc in 2016
    /// (`modules/video_coding/utility/quality_scaler.h`, `downscale_shift_`). From 1920×1080 they
    /// give the 960×540, 480×270 and 240×135 that Jansen 2016 (§§ 8-1-3, 8-2) observed.
    Halves,
}

impl LadderSteps {
    fn scales(self) -> &'static [(u32, u32)] {
        match self {
            Self::Alternating => &ALTERNATING,
            Self::Halves => &HALVES,
        }
    }

    /// The maximum size in pixels of the first picture at this rate in bit/s.
    fn max_pixels_at_start(self, bps: u64) -> u64 {
        let limits = match self {
            Self::Alternating => START_LIMITS,
            Self::Halves => START_LIMITS_2016,
        };
        limits.iter().find(|(rate, _)| bps < *rate).map_or(u64::MAX, |(_, pixels)| *pixels)
    }
}

/// Adaptation of the resolution by WebRTC's quality scaler. Its thresholds are quantiser values;
/// here they are the bits per pixel at which the encoder runs with that quantiser (fitted from
/// encodes with a constant quantiser).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LadderConfig {
    /// Whether the resolution adapts at all.
    pub enabled: bool,
    /// The available resolutions.
    pub steps: LadderSteps,
    /// A frame with fewer bits per pixel causes a step down. The quantiser's upper threshold in
    /// libwebrtc: VP8 95 (`libvpx_vp8_encoder.cc`), VP9 185, H.264 37
    /// (`sdk/android/src/jni/video_encoder_wrapper.cc`).
    pub down_below: f64,
    /// A frame with more bits per pixel causes a step up. The quantiser's lower threshold: VP8 29,
    /// VP9 96, H.264 24 (same files).
    pub up_above: f64,
    /// The minimum size in pixels. 240 × 135 is the smallest that Jansen 2016 § 8-1-3 observed.
    pub min_pixels: u64,
    /// How often the quantiser is evaluated until the first step down (2 s: libwebrtc
    /// `quality_scaler.cc`, `kMeasureMs`).
    pub first_period: Duration,
    /// How often it is evaluated after that (2 s × 2.5: same file, `kSamplePeriodScaleFactor`).
    pub period: Duration,
}

impl LadderConfig {
    /// The thresholds fitted for a codec. H.264 keeps its resolution and drops frames instead
    /// (Jansen 2016 § 8-7, Table 8-11). A file of frame sizes also keeps its resolution, because
    /// the file does not contain it.
    pub fn fitted(codec: Codec) -> Self {
        let fit = match codec {
            Codec::Vp8 | Codec::Csv => fitted::VP8,
            Codec::Vp9 => fitted::VP9,
            Codec::H264 => fitted::H264,
        };
        Self {
            enabled: matches!(codec, Codec::Vp8 | Codec::Vp9),
            steps: LadderSteps::default(),
            down_below: fit.down_bits_per_pixel,
            up_above: fit.up_bits_per_pixel,
            min_pixels: 240 * 135,
            first_period: Duration::from_secs(2),
            period: Duration::from_secs(5),
        }
    }
}

/// The current resolution step, and what was measured since the last evaluation.
#[derive(Clone, Debug)]
pub(super) struct Ladder {
    config: LadderConfig,
    source: SourceSize,
    step_index: usize,
    stepped_down: bool,
    since: Option<Time>,
    sent: u32,
    dropped: u32,
    bytes: u64,
}

impl Ladder {
    pub(super) fn new(config: LadderConfig, source: SourceSize, start_bps: u64) -> Self {
        let mut ladder = Self {
            config,
            source,
            step_index: 0,
            stepped_down: false,
            since: None,
            sent: 0,
            dropped: 0,
            bytes: 0,
        };
        let limit = ladder.config.steps.max_pixels_at_start(start_bps);
        while ladder.config.enabled && ladder.pixels() > limit && ladder.has_lower() {
            ladder.step_index += 1;
        }
        ladder
    }

    pub(super) fn resolution(&self) -> (u32, u32) {
        self.resolution_of(self.step_index)
    }

    pub(super) fn pixels(&self) -> u64 {
        pixels(self.resolution())
    }

    /// The encoder dropped a frame.
    pub(super) fn dropped(&mut self) {
        self.dropped += 1;
    }

    /// A delta frame was sent. Key frames are not counted, because they use more bits at the same
    /// quantiser.
    pub(super) fn sent(&mut self, size: Bytes) {
        self.sent += 1;
        self.bytes = self.bytes.saturating_add(size.get());
    }

    /// Evaluates the measurements at the end of a period. Returns whether the resolution changes.
    pub(super) fn evaluate(&mut self, now: Time) -> bool {
        if !self.config.enabled {
            return false;
        }
        let since = *self.since.get_or_insert(now);
        let period = if self.stepped_down { self.config.period } else { self.config.first_period };
        if now.saturating_since(since) < period || self.sent + self.dropped < MIN_FRAMES {
            return false;
        }
        let (dropped, bits) = (self.dropped_share(), self.bits_per_pixel());
        (self.since, self.sent, self.dropped, self.bytes) = (Some(now), 0, 0, 0);
        let low = dropped >= MAX_DROPPED || bits.is_some_and(|bits| bits < self.config.down_below);
        if low && self.has_lower() {
            self.step_index += 1;
            self.stepped_down = true;
            true
        } else if !low
            && self.step_index > 0
            && bits.is_some_and(|bits| bits > self.config.up_above)
        {
            self.step_index -= 1;
            true
        } else {
            false
        }
    }

    fn dropped_share(&self) -> f64 {
        f64::from(self.dropped) / f64::from((self.sent + self.dropped).max(1))
    }

    fn bits_per_pixel(&self) -> Option<f64> {
        let bits = self.bytes as f64 * 8.0;
        (self.sent > 0).then(|| bits / f64::from(self.sent) / self.pixels() as f64)
    }

    fn has_lower(&self) -> bool {
        self.step_index + 1 < self.config.steps.scales().len()
            && pixels(self.resolution_of(self.step_index + 1)) >= self.config.min_pixels
    }

    fn resolution_of(&self, step_index: usize) -> (u32, u32) {
        let (numerator, denominator) = self.config.steps.scales()[step_index];
        let scale = |size: u32| {
            let scaled = u64::from(size) * u64::from(numerator) / u64::from(denominator);
            u32::try_from(scaled).unwrap_or(u32::MAX).max(1)
        };
        (scale(self.source.width), scale(self.source.height))
    }
}

fn pixels((width, height): (u32, u32)) -> u64 {
    u64::from(width) * u64::from(height)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL_HD: SourceSize = SourceSize { width: 1920, height: 1080, fps: 50 };

    fn config() -> LadderConfig {
        LadderConfig { down_below: 0.02, up_above: 0.1, ..LadderConfig::fitted(Codec::Vp8) }
    }

    /// Sends 50 frames per second with `bits` bits per pixel. Returns the picture height at the end
    /// of each second.
    fn heights(ladder: &mut Ladder, seconds: u64, from: u64, bits: f64) -> Vec<u32> {
        let frames = (from * 50)..((from + seconds) * 50);
        let step = |frame: u64| {
            ladder.evaluate(Time::from_millis(frame * 20));
            ladder.sent(Bytes::new((ladder.pixels() as f64 * bits / 8.0) as u64));
            ladder.resolution().1
        };
        frames.map(step).collect::<Vec<_>>().chunks(50).map(|second| second[49]).collect()
    }

    #[test]
    fn few_bits_step_down_after_two_seconds_and_then_every_five() {
        let mut ladder = Ladder::new(config(), FULL_HD, 2_000_000);
        let seen = heights(&mut ladder, 36, 0, 0.01);
        assert_eq!(seen[..8], [1080, 1080, 810, 810, 810, 810, 810, 540]);
        assert_eq!(seen[35], 135);
    }

    #[test]
    fn between_the_thresholds_nothing_changes_and_many_bits_step_up() {
        let mut ladder = Ladder::new(config(), FULL_HD, 400_000);
        assert_eq!(ladder.resolution(), (720, 405), "the first step of at most 640 × 480 pixels");
        assert_eq!(
            Ladder::new(config(), FULL_HD, 299_999).resolution(),
            (360, 202),
            "the first step of at most 320 × 240 pixels"
        );
        assert_eq!(heights(&mut ladder, 30, 0, 0.05), [405; 30]);
        assert_eq!(heights(&mut ladder, 30, 30, 0.2)[29], 1080);
    }

    #[test]
    fn halves_give_the_resolutions_of_jansen_2016() {
        let halves = LadderConfig { steps: LadderSteps::Halves, ..config() };
        let mut seen = heights(&mut Ladder::new(halves, FULL_HD, 2_000_000), 36, 0, 0.01);
        seen.dedup();
        assert_eq!(seen, [1080, 540, 270, 135]);
    }

    #[test]
    fn dropped_frames_step_down() {
        let mut ladder = Ladder::new(config(), FULL_HD, 2_000_000);
        for frame in 0..150 {
            ladder.evaluate(Time::from_millis(frame * 20));
            if frame % 5 < 3 { ladder.dropped() } else { ladder.sent(Bytes::new(100_000)) }
        }
        assert_eq!(ladder.resolution(), (1440, 810));
    }

    #[test]
    fn a_disabled_ladder_keeps_the_resolution() {
        let mut ladder = Ladder::new(LadderConfig { enabled: false, ..config() }, FULL_HD, 50_000);
        assert_eq!(heights(&mut ladder, 20, 0, 0.001), [1080; 20]);
    }
}
