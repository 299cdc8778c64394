//! Pictures as they are received: how many, how large, how often, and when they stood still.

use std::collections::VecDeque;
use units::{Duration, Time};

/// Over this time frames a second are counted (W3C webrtc-stats, `framesPerSecond`).
const SECOND: Duration = Duration::from_secs(1);

/// Weight of a new interval in the mean: the 30 last frames (W3C webrtc-stats, `freezeCount`).
const INTERVAL_MEMORY: f64 = 1.0 / 30.0;

/// The width and height in a key frame's header are of 14 bits, two of scaling above them (RFC 6386
/// § 9.1).
const SIDE: u16 = (1 << 14) - 1;

/// Counts VP8 frames that could be decoded. Nothing is decoded, and a frame counts as shown when
/// its last packet comes: there is no jitter buffer.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    pub(crate) received: u64,
    pub(crate) decoded: u64,
    pub(crate) keys: u64,
    pub(crate) resolution: Option<(u16, u16)>,
    pub(crate) freezes: u64,
    pub(crate) frozen: Duration,
    recent: VecDeque<Time>,
    /// Mean interval, seconds.
    interval: f64,
    started: bool,
}

impl Frames {
    /// A complete frame came; `follows` the one decoded last, so that it can be decoded. False: not
    /// without a key frame.
    pub(crate) fn on_frame(&mut self, now: Time, frame: &[u8], follows: bool) -> bool {
        self.received += 1;
        // The lowest bit of the frame tag (RFC 6386 § 9.1).
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

    /// Frames in the second before `now`.
    pub(crate) fn per_second(&self, now: Time) -> usize {
        self.recent.iter().filter(|at| now.saturating_since(**at) <= SECOND).count()
    }

    /// Keeps the newest, for the interval to the next.
    fn forget(&mut self, now: Time) {
        while self.recent.len() > 1
            && self.recent.front().is_some_and(|at| now.saturating_since(*at) > SECOND)
        {
            self.recent.pop_front();
        }
    }

    /// A freeze: an interval longer than both three times the mean and the mean plus 150 ms (W3C
    /// webrtc-stats, `freezeCount`).
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
    fn what_follows_a_lost_frame_waits_for_a_key_frame() {
        let (picture, mut frames) = (Vp8Frames::new(640, 360), Frames::default());
        let mut show = |at, key, follows| {
            frames.on_frame(Time::from_millis(at), &picture.frame(key, 500), follows)
        };
        assert!(!show(0, false, true), "nothing to begin with");
        assert!(show(33, true, false) && show(66, false, true));
        assert!(!show(132, false, false) && !show(165, false, true) && show(700, true, false));
        assert_eq!((frames.received, frames.decoded, frames.keys), (6, 3, 2));
        assert_eq!(frames.resolution, Some((640, 360)));
        assert_eq!((frames.freezes, frames.frozen), (1, Duration::from_millis(634)));
        assert_eq!(frames.per_second(Time::from_millis(1_100)), 1);
    }
}
