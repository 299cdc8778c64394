//! Frames that are not encoded because the congestion window is full (libwebrtc
//! `video/video_stream_encoder.cc`, UpdateTargetBitrate).

use units::Bitrate;

/// A smaller share of the rate is not saved (same file: 1 %).
const MIN_REDUCTION: f64 = 0.01;
/// At most one of this many frames is dropped (same file: half of them).
const MIN_INTERVAL: u64 = 2;

/// Drops one of every few frames.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameDrop {
    reduction: f64,
    /// One of this many frames is dropped.
    interval: Option<u64>,
    frames: u64,
}

impl FrameDrop {
    /// The share that was set last.
    pub(super) fn reduction(&self) -> f64 {
        self.reduction
    }

    /// Sets the share of `target` that dropped frames are to save; the rest is not below `min`.
    /// Returns the rate for the frames that are encoded.
    pub(super) fn set(&mut self, target: Bitrate, min: Bitrate, reduction: f64) -> Bitrate {
        self.reduction = reduction;
        let saved = target.scale(reduction).min(target.saturating_sub(min));
        let saves = reduction > MIN_REDUCTION && saved > Bitrate::ZERO;
        self.interval = saves.then(|| (target.as_bps() / saved.as_bps()).max(MIN_INTERVAL));
        match self.interval {
            Some(interval) => Bitrate::from_bps(target.as_bps() - target.as_bps() / interval),
            None => target,
        }
    }

    /// Whether the next frame is dropped.
    pub(super) fn drops(&mut self) -> bool {
        let Some(interval) = self.interval else { return false };
        let drops = self.frames.is_multiple_of(interval);
        self.frames += 1;
        drops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Bitrate = Bitrate::from_kbps(1_000);
    const MIN: Bitrate = Bitrate::from_kbps(50);

    /// The rate for the encoder, and the frames of ten that are encoded.
    fn reduced(reduction: f64) -> (Bitrate, usize) {
        let mut frames = FrameDrop::default();
        let rate = frames.set(TARGET, MIN, reduction);
        (rate, (0..10).filter(|_| !frames.drops()).count())
    }

    #[test]
    fn frames_are_dropped_in_proportion() {
        assert_eq!(reduced(0.2), (Bitrate::from_kbps(800), 8));
        assert_eq!(reduced(0.7), (Bitrate::from_kbps(500), 5), "every second at most");
    }

    #[test]
    fn one_per_cent_is_nothing() {
        assert_eq!(reduced(0.0), (TARGET, 10));
        assert_eq!(reduced(0.01), (TARGET, 10));
    }

    #[test]
    fn at_the_minimum_no_frame_is_dropped() {
        let mut frames = FrameDrop::default();
        assert_eq!(frames.set(MIN, MIN, 0.5), MIN);
        assert!((0..10).all(|_| !frames.drops()));
    }
}
