use super::EncoderConfig;
use super::bitrate_adjuster::BitrateAdjuster;
use super::ladder::Ladder;
use super::noise::CorrelatedLaplace;
use super::rate_control::RateControl;
use super::sizes::SizedFrame;
use units::{Bitrate, Bytes, Duration, Stream, Time};

/// No frame is smaller than this share of its part of the rate: libvpx `vp9_ratectrl.c`,
/// `vp9_calc_pframe_target_size_one_pass_cbr`, `avg_frame_bandwidth >> 4`.
const SMALLEST: f64 = 1.0 / 16.0;

/// How often a rate that stays is weighed anew (1 s: libwebrtc `video/video_stream_encoder.cc`,
/// `kParameterUpdateIntervalMs`).
const UPDATE_INTERVAL: Duration = Duration::from_secs(1);

/// An encoded frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its size, without any header of the network.
    pub size: Bytes,
    /// Whether it can be decoded without another.
    pub key: bool,
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// The time of capture in ticks of 90 kHz (RFC 6184 § 5.1, RFC 7741 § 4.1), not wrapped at 32
    /// bit.
    pub rtp_timestamp: u64,
}

/// A camera and its real-time encoder. See the module for the model and where it differs from
/// RFC 8593.
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
    offered: Bitrate,
    targeted: Time,
    reacted: Option<Time>,
    captured: Option<Time>,
    next: Time,
    pending: Pending,
    position: usize,
}

/// What the next frame must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Pending {
    Ordinary,
    Burst,
    Key,
}

impl Encoder {
    /// An encoder that starts at `start_rate` (within the floor and the ceiling). The first frame
    /// is captured whenever [`Self::capture`] is first called, and is a key frame.
    pub fn new(config: EncoderConfig, random: Stream, start_rate: Bitrate) -> Self {
        let mut adjuster = config.adjusts_bitrate.then(|| BitrateAdjuster::new(config.source.fps));
        let rate = asked(&config, &mut adjuster, Time::ZERO, start_rate);
        Self {
            noise: CorrelatedLaplace::new(config.model.size_noise, config.model.correlation),
            control: RateControl::new(config.model.payback),
            adjuster,
            ladder: Ladder::new(config.ladder.clone(), config.source, rate.as_bps()),
            random,
            rate,
            requested: rate,
            offered: start_rate,
            targeted: Time::ZERO,
            reacted: None,
            captured: None,
            next: Time::ZERO,
            pending: Pending::Key,
            position: 0,
            config,
        }
    }

    /// A new target from the controller. It is followed within the floor and the ceiling, at once
    /// or as soon as τ_v has passed since the last reaction (RFC 8593 § 5.1).
    pub fn set_target(&mut self, now: Time, rate: Bitrate) {
        let fresh = now.saturating_since(self.targeted) < UPDATE_INTERVAL;
        if rate != self.offered || !fresh {
            (self.offered, self.targeted) = (rate, now);
            self.requested = asked(&self.config, &mut self.adjuster, now, rate);
        }
        self.react(now);
    }

    /// The receiver can't decode (RFC 4585 PLI, RFC 5104 FIR): the next frame is a key frame.
    pub fn request_key_frame(&mut self) {
        self.pending = Pending::Key;
    }

    /// When the next frame is captured.
    pub fn next_capture(&self) -> Time {
        self.next
    }

    /// Captures and encodes a frame; `None` if the rate control drops it. Either way the next is
    /// scheduled.
    pub fn capture(&mut self, now: Time) -> Option<Frame> {
        self.react(now);
        if let Some(last) = self.captured {
            self.control.earn(self.rate, now.saturating_since(last));
        }
        self.captured = Some(now);
        self.next = now + self.interval();
        if self.ladder.judge(now) {
            self.pending = Pending::Key;
        }
        let draw = self.draw();
        let key = draw.key || self.pending == Pending::Key;
        if !key && self.control.drops(self.rate) {
            self.ladder.dropped();
            return None;
        }
        Some(self.encode(now, draw))
    }

    /// The resolution now.
    pub fn resolution(&self) -> (u32, u32) {
        self.ladder.resolution()
    }

    /// Frames a second that the encoder settles at: the source's, or fewer if the target can't pay
    /// for frames at the coarsest quantiser.
    pub fn frame_rate(&self) -> f64 {
        let source = f64::from(self.config.source.fps.max(1));
        let floor = self.floor_bytes();
        if floor > 0.0 { source.min(self.rate.as_bps_f64() / 8.0 / floor) } else { source }
    }

    /// The rate that the encoder follows now.
    pub fn target(&self) -> Bitrate {
        self.rate
    }

    fn react(&mut self, now: Time) {
        let resting = self
            .reacted
            .is_some_and(|last| now.saturating_since(last) < self.config.model.reaction_lag);
        if self.requested == self.rate || resting {
            return;
        }
        let (old, new) = (self.rate.as_bps_f64(), self.requested.as_bps_f64());
        let abrupt =
            self.config.model.transient_step.is_some_and(|step| (new - old).abs() > step * old);
        if abrupt {
            self.pending = self.pending.max(Pending::Burst);
        }
        self.rate = self.requested;
        self.reacted = Some(now);
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

    /// The next frame of the file or of the noise.
    fn draw(&mut self) -> SizedFrame {
        let Some(sizes) = &self.config.sizes else {
            return SizedFrame { share: 1.0 + self.noise.draw(&mut self.random), key: false };
        };
        let frame = sizes.frame(self.position);
        self.position = (self.position + 1) % sizes.len();
        frame
    }

    fn encode(&mut self, now: Time, draw: SizedFrame) -> Frame {
        let pending = std::mem::replace(&mut self.pending, Pending::Ordinary);
        let key = draw.key || pending == Pending::Key;
        let share = self.rate.as_bps_f64() / 8.0 * self.config.source.interval().as_secs_f64();
        let floor = self.floor_bytes();
        let size = if draw.key || pending == Pending::Ordinary {
            let target = share * (1.0 + self.control.correction(self.rate));
            (target * draw.share).max(share * SMALLEST).max(floor)
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

    /// The bytes of a frame at the coarsest quantiser.
    fn floor_bytes(&self) -> f64 {
        self.config.model.floor_bits_per_pixel * self.ladder.pixels() as f64 / 8.0
    }
}

/// What the encoder is asked for where the network leaves `rate` to it.
fn asked(
    config: &EncoderConfig,
    adjuster: &mut Option<BitrateAdjuster>,
    now: Time,
    rate: Bitrate,
) -> Bitrate {
    let target = rate.max(config.min_rate).min(config.max_rate);
    adjuster.as_mut().map_or(target, |adjuster| adjuster.ask(now, target, rate, config.min_rate))
}

fn whole_bytes(size: f64) -> Bytes {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates")]
    Bytes::new(((size + 0.5).floor() as u64).max(1))
}

fn rtp_ticks(now: Time) -> u64 {
    let ticks = u128::from(now.as_nanos()) * 90_000 / 1_000_000_000;
    u64::try_from(ticks).unwrap_or(u64::MAX)
}
