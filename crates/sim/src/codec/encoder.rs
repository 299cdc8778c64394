use super::EncoderConfig;
use super::bitrate_adjuster::BitrateAdjuster;
use super::frame_drop::FrameDrop;
use super::ladder::Ladder;
use super::noise::CorrelatedLaplace;
use super::rate_control::RateControl;
use super::sizes::SizedFrame;
use units::{Bitrate, Bytes, Duration, Stream, Time};

/// The minimum size of a frame, relative to its share of the rate: libvpx `vp9_ratectrl.c`,
/// `vp9_calc_pframe_target_size_one_pass_cbr`, `avg_frame_bandwidth >> 4`.
const MIN_FRAME_SHARE: f64 = 1.0 / 16.0;

/// How often the adjuster re-evaluates an unchanged target (1 s: libwebrtc
/// `video/video_stream_encoder.cc`, `kParameterUpdateIntervalMs`).
const UPDATE_INTERVAL: Duration = Duration::from_secs(1);

/// An encoded frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The size without network headers.
    pub size: Bytes,
    /// Whether the frame is a key frame, decodable without other frames.
    pub key: bool,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The time of capture in ticks of 90 kHz (RFC 6184 § 5.1, RFC 7741 § 4.1), not wrapped at 32
    /// bit.
    pub rtp_timestamp: u64,
}

/// A camera and its real-time encoder. The module's documentation describes the model and its
/// differences from RFC 8593.
///
/// Allocates nothing after construction.
#[derive(Clone, Debug)]
pub struct Encoder {
    config: EncoderConfig,
    random: Stream,
    noise: CorrelatedLaplace,
    control: RateControl,
    adjuster: Option<BitrateAdjuster>,
    ladder: Ladder,
    rate: Bitrate,
    requested: Bitrate,
    last_target: Bitrate,
    last_target_at: Time,
    frame_drop: FrameDrop,
    last_reaction: Option<Time>,
    last_capture: Option<Time>,
    next: Time,
    pending: PendingFrame,
    position: usize,
}

/// The kind of the next frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PendingFrame {
    Ordinary,
    Burst,
    Key,
}

impl Encoder {
    /// An encoder that starts at `start_rate`, limited to the configured range. The first call of
    /// [`Self::capture`] captures the first frame, which is a key frame.
    pub fn new(config: EncoderConfig, random: Stream, start_rate: Bitrate) -> Self {
        let mut adjuster = config.adjusts_bitrate.then(|| BitrateAdjuster::new(config.source.fps));
        let rate = requested_rate(&config, &mut adjuster, Time::ZERO, start_rate);
        Self {
            noise: CorrelatedLaplace::new(config.model.size_noise, config.model.correlation),
            control: RateControl::new(config.model.payback),
            adjuster,
            ladder: Ladder::new(config.ladder.clone(), config.source, rate.as_bps()),
            random,
            rate,
            requested: rate,
            last_target: start_rate,
            last_target_at: Time::ZERO,
            frame_drop: FrameDrop::default(),
            last_reaction: None,
            last_capture: None,
            next: Time::ZERO,
            pending: PendingFrame::Key,
            position: 0,
            config,
        }
    }

    /// Sets the controller's target. The encoder follows it within the configured range, at once or
    /// when τ_v has passed since the last reaction (RFC 8593 § 5.1).
    pub fn set_target(&mut self, now: Time, rate: Bitrate) {
        self.set_rates(now, rate, 0.0);
    }

    /// Sets the controller's target and the share of the rate, 0 to 1, that the encoder is to save
    /// by dropping frames ([`cc::Sender::frame_reduction`]).
    pub fn set_rates(&mut self, now: Time, rate: Bitrate, reduction: f64) {
        let recent = now.saturating_since(self.last_target_at) < UPDATE_INTERVAL;
        if rate != self.last_target || reduction != self.frame_drop.reduction() || !recent {
            (self.last_target, self.last_target_at) = (rate, now);
            let rate = self.frame_drop.set(rate, self.config.min_rate, reduction);
            self.requested = requested_rate(&self.config, &mut self.adjuster, now, rate);
        }
        self.react(now);
    }

    /// The receiver cannot decode (RFC 4585 PLI, RFC 5104 FIR): the next frame will be a key frame.
    pub fn request_key_frame(&mut self) {
        self.pending = PendingFrame::Key;
    }

    /// When the next frame is captured.
    pub fn next_capture(&self) -> Time {
        self.next
    }

    /// Captures nothing before `resume`.
    pub fn pause(&mut self, resume: Time) {
        self.next = self.next.max(resume);
    }

    /// Captures and encodes a frame; `None` if the rate control or the controller drops it. In both
    /// cases the next capture is scheduled.
    pub fn capture(&mut self, now: Time) -> Option<Frame> {
        self.react(now);
        let last = self.last_capture.replace(now);
        self.next = now + self.interval();
        if self.frame_drop.drops() {
            return None;
        }
        if let Some(last) = last {
            self.control.earn(self.rate, now.saturating_since(last));
        }
        if self.ladder.evaluate(now) {
            self.pending = PendingFrame::Key;
        }
        let draw = self.draw();
        let key = draw.key || self.pending == PendingFrame::Key;
        if !key && self.control.drops(self.rate) {
            self.ladder.dropped();
            return None;
        }
        Some(self.encode(now, draw))
    }

    /// The current (width, height) in pixels.
    pub fn resolution(&self) -> (u32, u32) {
        self.ladder.resolution()
    }

    /// The steady-state frame rate in frames per second: the source's, or less if the target is too
    /// low for frames at the coarsest quantiser.
    pub fn frame_rate(&self) -> f64 {
        let source = f64::from(self.config.source.fps.max(1));
        let floor = self.floor_bytes();
        if floor > 0.0 { source.min(self.rate.as_bps_f64() / 8.0 / floor) } else { source }
    }

    /// The rate that the encoder currently follows.
    pub fn target(&self) -> Bitrate {
        self.rate
    }

    fn react(&mut self, now: Time) {
        let in_reaction_lag = self
            .last_reaction
            .is_some_and(|last| now.saturating_since(last) < self.config.model.reaction_lag);
        if self.requested == self.rate || in_reaction_lag {
            return;
        }
        let (old, new) = (self.rate.as_bps_f64(), self.requested.as_bps_f64());
        let abrupt =
            self.config.model.transient_step.is_some_and(|step| (new - old).abs() > step * old);
        if abrupt {
            self.pending = self.pending.max(PendingFrame::Burst);
        }
        self.rate = self.requested;
        self.last_reaction = Some(now);
    }

    /// t_0 with the noise of RFC 8593 § 5.3.
    fn interval(&mut self) -> Duration {
        let nominal = self.config.source.interval();
        let scale = self.config.model.interval_noise;
        if scale == 0.0 {
            return nominal;
        }
        Duration::from_secs_f64(nominal.as_secs_f64() * (1.0 + scale * self.random.laplace()))
    }

    /// The next frame of the file, or a draw of the noise.
    fn draw(&mut self) -> SizedFrame {
        let Some(sizes) = &self.config.sizes else {
            let relative = self.config.model.relative_noise(self.rate);
            let noise = relative * self.noise.draw(&mut self.random);
            return SizedFrame { share: 1.0 + noise, key: false };
        };
        let frame = sizes.frame(self.position);
        self.position = (self.position + 1) % sizes.len();
        frame
    }

    fn encode(&mut self, now: Time, draw: SizedFrame) -> Frame {
        let pending = std::mem::replace(&mut self.pending, PendingFrame::Ordinary);
        let key = draw.key || pending == PendingFrame::Key;
        let share = self.rate.as_bps_f64() / 8.0 * self.config.source.interval().as_secs_f64();
        let floor = self.floor_bytes();
        let size = if draw.key || pending == PendingFrame::Ordinary {
            let target = share * (1.0 + self.control.correction(self.rate));
            (target * draw.share).max(share * MIN_FRAME_SHARE).max(floor)
        } else {
            share.max(floor) * self.config.model.burst_ratio
        };
        let size = whole_bytes(size);
        self.control.spend(size);
        if let Some(adjuster) = &mut self.adjuster {
            adjuster.encoded(now, size);
        }
        if !key {
            self.ladder.sent(size);
        }
        let (width, height) = self.ladder.resolution();
        Frame { size, key, width, height, rtp_timestamp: rtp_ticks(now) }
    }

    /// The size of a frame at the coarsest quantiser, in bytes.
    fn floor_bytes(&self) -> f64 {
        self.config.model.floor_bits_per_pixel * self.ladder.pixels() as f64 / 8.0
    }
}

/// The rate requested from the encoder if the controller's target is `rate`.
fn requested_rate(
    config: &EncoderConfig,
    adjuster: &mut Option<BitrateAdjuster>,
    now: Time,
    rate: Bitrate,
) -> Bitrate {
    let target = rate.max(config.min_rate).min(config.max_rate);
    adjuster
        .as_mut()
        .map_or(target, |adjuster| adjuster.request(now, target, rate, config.min_rate))
}

fn whole_bytes(size: f64) -> Bytes {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
    Bytes::new(((size + 0.5).floor() as u64).max(1))
}

fn rtp_ticks(now: Time) -> u64 {
    let ticks = u128::from(now.as_nanos()) * 90_000 / 1_000_000_000;
    u64::try_from(ticks).unwrap_or(u64::MAX)
}
