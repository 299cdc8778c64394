//! Sender transmission control: the window for sending, and the pacing rate.

use super::config::ScreamV2Config;
use super::queue_delay::QueueDelay;
use super::reference_window::ReferenceWindow;

/// `RATE_PACE_MIN`, in bit/s.
const MIN_RATE: f64 = 50_000.0;
/// Nominal frame size from which frames raise the pacing rate, in bytes (the code,
/// `newMediaFrame`).
const MIN_FRAME: f64 = 500.0;

pub(super) struct Transmission {
    head_room: f64,
    greatest_scale: f64,
    uses_media_rate: bool,
    overhead: [f64; 2],
    uses_frame_size: bool,
    /// Factor of the newest frame.
    scale: f64,
    /// In bit/s.
    pub(super) pacing: f64,
    /// The bytes that may be in flight.
    allowed: f64,
    /// `REF_WND_OVERHEAD` now.
    pub(super) factor: f64,
}

impl Transmission {
    pub(super) fn new(config: &ScreamV2Config, first: f64) -> Self {
        Self {
            head_room: config.pacing_head_room,
            greatest_scale: config.pacing_frame_size,
            uses_media_rate: config.pacing_media_rate,
            overhead: [config.overhead_min.min(config.overhead), config.overhead],
            uses_frame_size: config.overhead_frame_size,
            scale: 1.0,
            pacing: config.pacing_head_room * first.max(MIN_RATE),
            allowed: 0.0,
            factor: config.overhead,
        }
    }

    /// A frame came: `queued` bytes wait, frames have `nominal` bytes.
    pub(super) fn on_frame(&mut self, queued: f64, nominal: f64) {
        let scale = if nominal > MIN_FRAME { queued / nominal } else { 1.0 };
        self.scale = scale.clamp(1.0, self.greatest_scale);
    }

    /// Sets the pacing rate.
    pub(super) fn pace(&mut self, target: f64, media: f64) {
        self.pacing = if self.uses_media_rate {
            (self.head_room * self.scale * target.max(media)).max(MIN_RATE)
        } else {
            self.head_room * self.scale * target.max(MIN_RATE)
        };
    }

    /// Sets how far the bytes in flight may exceed the window.
    pub(super) fn relax(&mut self, delay: &QueueDelay) {
        let [least, greatest] = self.overhead;
        self.factor = least + (greatest - least) * delay.steadiness();
    }

    /// The window for sending changed.
    pub(super) fn open(&mut self, window: &ReferenceWindow, frame_size: f64) {
        self.allowed = if self.uses_frame_size {
            window.get() * self.factor * frame_size
        } else {
            window.get() * self.factor + window.mss() as f64
        };
    }

    /// `send_wnd`: how many bytes may leave now. A packet may always leave if none is in flight.
    pub(super) fn send_window(&self, in_flight: u64) -> u64 {
        if in_flight == 0 {
            return u64::MAX;
        }
        (self.allowed as u64).saturating_sub(in_flight)
    }

    /// The factor of the newest frame.
    pub(super) fn scale(&self) -> f64 {
        self.scale
    }
}
