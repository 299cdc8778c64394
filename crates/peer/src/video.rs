//! The video that is sent: VP8 frames with the sizes of the codec model.

use crate::Vp8Frames;
use bytes::Bytes;
use sim::codec::{Encoder, EncoderConfig, Frame};
use std::collections::VecDeque;
use units::{Bitrate, Duration, Stream, Time};

/// The largest lateness of a capture that is caught up with. A frame counts as captured when it was
/// due, so that late wake-ups do not accumulate, but at most this long before now.
pub(crate) const MAX_LATENESS: Duration = Duration::from_millis(100);

/// The time over which frames per second are counted (W3C webrtc-stats, `framesPerSecond`).
const SECOND: Duration = Duration::from_secs(1);

/// A camera and its encoder.
pub(crate) struct Video {
    encoder: Encoder,
    frames: Vp8Frames,
    /// The capture times of the frames in the last second.
    recent: VecDeque<Time>,
    pub(crate) sent: u64,
    pub(crate) keys: u64,
    last: Option<Frame>,
}

impl Video {
    pub(crate) fn new(config: EncoderConfig, random: Stream, start: Bitrate) -> Self {
        let encoder = Encoder::new(config, random, start);
        let (width, height) = encoder.resolution();
        let frames = Vp8Frames::new(width, height);
        Self { encoder, frames, recent: VecDeque::new(), sent: 0, keys: 0, last: None }
    }

    /// The target rate of the encoder.
    pub(crate) fn target(&self) -> Bitrate {
        self.encoder.target()
    }

    /// The resolution of the last frame, or of the next one before the first frame.
    pub(crate) fn resolution(&self) -> (u32, u32) {
        self.last.map_or(self.encoder.resolution(), |frame| (frame.width, frame.height))
    }

    /// The number of frames in the second before `now`.
    pub(crate) fn per_second(&self, now: Time) -> usize {
        self.recent.iter().filter(|at| now.saturating_since(**at) <= SECOND).count()
    }

    pub(crate) fn request_key_frame(&mut self) {
        self.encoder.request_key_frame();
    }

    /// The time at which the next frame is captured.
    pub(crate) fn next_capture(&self) -> Time {
        self.encoder.next_capture()
    }

    /// Captures and encodes the frame that is due, if there is one.
    /// `reduction` is the share of the frames to drop.
    pub(crate) fn advance(
        &mut self,
        now: Time,
        target: Bitrate,
        reduction: f64,
    ) -> Option<(Frame, Bytes)> {
        self.encoder.set_rates(now, target, reduction);
        let due = self.encoder.next_capture();
        if due > now {
            return None;
        }
        let frame = self.encoder.capture(due.max(now.saturating_sub(MAX_LATENESS)))?;
        if self.frames.resolution() != (frame.width, frame.height) {
            self.frames = Vp8Frames::new(frame.width, frame.height);
        }
        self.sent += 1;
        self.keys += u64::from(frame.key);
        self.last = Some(frame);
        self.recent.retain(|at| now.saturating_since(*at) <= SECOND);
        self.recent.push_back(now);
        let size = usize::try_from(frame.size.get()).unwrap_or(usize::MAX);
        Some((frame, self.frames.frame(frame.key, size)))
    }
}
