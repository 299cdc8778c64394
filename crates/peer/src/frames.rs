//! Counts received frames: number, resolution, frame rate and freezes.

use std::collections::VecDeque;
use units::{Duration, Time};

/// The time over which frames per second are counted (W3C webrtc-stats, `framesPerSecond`).
const SECOND: Duration = Duration::from_secs(1);

/// The weight of a new interval in the mean of the last 30 frames (W3C webrtc-stats,
/// `freezeCount`).
const INTERVAL_MEMORY: f64 = 1.0 / 30.0;

/// The 14 bits of a width or height in the header of a key frame; the two bits above are the
/// scaling (RFC 6386 § 9.1).
const SIDE: u16 = (1 << 14) - 1;

/// Counts the VP8 frames that could be decoded. Nothing is decoded, and there is no jitter buffer:
/// a frame counts as shown when its last packet arrives.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    pub(crate) received: u64,
    pub(crate) decoded: u64,
    pub(crate) keys: u64,
    pub(crate) resolution: Option<(u16, u16)>,
    pub(crate) freezes: u64,
    pub(crate) frozen: Duration,
    recent: VecDeque<Time>,
    /// The mean interval between frames, seconds.
    interval: f64,
    started: bool,
}

impl Frames {
    /// A complete frame arrived. `follows` says whether it directly follows the frame that was
    /// decoded last. Returns false if it cannot be decoded without a key frame.
    pub(crate) fn on_frame(&mut self, now: Time, frame: &[u8], follows: bool) -> bool {
        self.received += 1;
        // The lowest bit of the frame tag is 0 in a key frame (RFC 6386 § 9.1).
        let key = frame.first().is_some_and(|tag| tag & 1 == 0);
        self.started = key || (self.started && follows);
        if !self.started {
            return false;
        }
        self.decoded += 1;
        self.keys += u64::from(key);
        if let (true, Some(&[a, b, c, d])) = (key, frame.get(6..10).and_then(<[u8]>::first_chunk)) {
            self.resolution =
                Some((u16::from_le_bytes([a, b]) & SIDE, u16::from_le_bytes([c, d]) & SIDE));
        }
        if let Some(last) = self.recent.back() {
            self.count_freeze(now.saturating_since(*last));
        }
        self.forget(now);
        self.recent.push_back(now);
        true
    }

    /// The number of frames in the second before `now`.
    pub(crate) fn per_second(&self, now: Time) -> usize {
        self.recent.iter().filter(|at| now.saturating_since(**at) <= SECOND).count()
    }

    /// Forgets frames older than a second, but keeps the newest one for the next interval.
    fn forget(&mut self, now: Time) {
        while self.recent.len() > 1
            && self.recent.front().is_some_and(|at| now.saturating_since(*at) > SECOND)
        {
            self.recent.pop_front();
        }
    }

    /// Counts a freeze: an interval longer than both three times the mean and the mean plus 150 ms
    /// (W3C webrtc-stats, `freezeCount`).
    fn count_freeze(&mut self, interval: Duration) {
        let seconds = interval.as_secs_f64();
        if self.interval > 0.0 && seconds > (3.0 * self.interval).max(self.interval + 0.150) {
            self.freezes += 1;
            self.frozen += interval;
        }
        let weight = if self.interval == 0.0 { 1.0 } else { INTERVAL_MEMORY };
        self.interval += weight * (seconds - self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vp8Frames;

    #[test]
    fn frames_after_a_lost_frame_wait_for_a_key_frame() {
        let (picture, mut frames) = (Vp8Frames::new(640, 360), Frames::default());
        let mut show = |at, key, follows| {
            frames.on_frame(Time::from_millis(at), &picture.frame(key, 500), follows)
        };
        assert!(!show(0, false, true), "no key frame yet");
        assert!(show(33, true, false) && show(66, false, true));
        assert!(!show(132, false, false) && !show(165, false, true) && show(700, true, false));
        assert_eq!((frames.received, frames.decoded, frames.keys), (6, 3, 2));
        assert_eq!(frames.resolution, Some((640, 360)));
        assert_eq!((frames.freezes, frames.frozen), (1, Duration::from_millis(634)));
        assert_eq!(frames.per_second(Time::from_millis(1_100)), 1);
    }
}
