//! Asks an encoder for less than the target when its frames come unevenly, so that a pacer at the
//! target does not fall behind (libwebrtc `video/encoder_bitrate_adjuster.cc`, one layer).

use std::collections::VecDeque;
use units::{Bitrate, Bytes, Duration, Time};

/// How far back overshoot counts (3 s: libwebrtc `video/encoder_bitrate_adjuster.h`,
/// `kWindowSizeMs`).
const WINDOW: Duration = Duration::from_secs(3);
/// Until this many frames are known, the overshoot is taken to be [`ASSUMED`] (the same file,
/// `kMinFramesSinceLayoutChange`).
const FIRST_FRAMES: u32 = 30;
/// The same file, `kDefaultUtilizationFactor`.
const ASSUMED: f64 = 1.2;
/// The encoder is asked for no less than the target over this (`encoder_bitrate_adjuster.cc`,
/// AdjustRateAllocation).
const MOST: f64 = 2.0;
/// A bucket that may fall below empty, to minus this many frames
/// (`video/encoder_overshoot_detector.cc`, `kMaxMediaUnderrunFrames`).
const UNDERRUN_FRAMES: f64 = 5.0;

/// What an encoder is asked for, and how unevenly it answered.
#[derive(Clone, Debug)]
pub(super) struct BitrateAdjuster {
    fps: f64,
    /// What the encoder was last asked for.
    asked: Bitrate,
    leaked: Option<Time>,
    /// What a pacer at that rate would hold, and how far the encoder is ahead of it or behind.
    network: Bucket,
    media: Bucket,
    overshoots: VecDeque<Overshoot>,
    frames: u32,
}

/// Bits that leak at the rate asked for.
#[derive(Clone, Debug)]
struct Bucket {
    level: f64,
    /// Frames that it may go below empty.
    underrun: f64,
}

/// How many times its part of the rate a frame took of each bucket.
#[derive(Clone, Copy, Debug)]
struct Overshoot {
    at: Time,
    network: f64,
    media: f64,
}

impl BitrateAdjuster {
    pub(super) fn new(fps: u32) -> Self {
        let fps = fps.max(1);
        let room =
            usize::try_from(u64::from(fps) * WINDOW.as_nanos() / 1_000_000_000).unwrap_or(0) + 2;
        Self {
            fps: f64::from(fps),
            asked: Bitrate::ZERO,
            leaked: None,
            network: Bucket { level: 0.0, underrun: 0.0 },
            media: Bucket { level: 0.0, underrun: UNDERRUN_FRAMES },
            overshoots: VecDeque::with_capacity(room),
            frames: 0,
        }
    }

    /// What to ask for where the target is `target` and the network would carry `link`: at least
    /// `least`, unless the target is less.
    pub(super) fn ask(
        &mut self,
        now: Time,
        target: Bitrate,
        link: Bitrate,
        least: Bitrate,
    ) -> Bitrate {
        self.leak(now);
        let rate = target.as_bps_f64();
        let (network, media) = self.utilization(now);
        let network = network.clamp(1.0, MOST);
        // What the network has to spare may be overshot, as long as the mean is the target.
        let wanted = (network - media.max(1.0)).max(0.0) * rate;
        let allowed = wanted.min(link.saturating_sub(target).as_bps_f64());
        let factor = network * rate / (allowed + rate).max(1.0);
        self.asked = target.scale(1.0 / factor.max(1.0)).max(least.min(target));
        self.asked
    }

    /// The encoder made a frame.
    pub(super) fn encoded(&mut self, now: Time, size: Bytes) {
        self.leak(now);
        self.frames = self.frames.saturating_add(1);
        let ideal = self.asked.as_bps_f64() / self.fps;
        if ideal <= 0.0 {
            return;
        }
        let (bits, first) = (size.bits() as f64, self.overshoots.is_empty());
        let network = self.network.take(bits, ideal, first);
        let media = self.media.take(bits, ideal, first);
        self.forget(now);
        self.overshoots.push_back(Overshoot { at: now, network, media });
    }

    /// The means over the window.
    fn utilization(&mut self, now: Time) -> (f64, f64) {
        self.forget(now);
        let count = self.overshoots.len() as f64;
        if self.frames < FIRST_FRAMES || count == 0.0 {
            return (ASSUMED, ASSUMED);
        }
        let sum = |of: fn(&Overshoot) -> f64| self.overshoots.iter().map(of).sum::<f64>();
        (sum(|overshoot| overshoot.network) / count, sum(|overshoot| overshoot.media) / count)
    }

    fn forget(&mut self, now: Time) {
        while self.overshoots.front().is_some_and(|oldest| now.saturating_since(oldest.at) > WINDOW)
        {
            self.overshoots.pop_front();
        }
    }

    fn leak(&mut self, now: Time) {
        if let Some(before) = self.leaked.replace(now) {
            let rate = self.asked.as_bps_f64();
            let bits = rate * now.saturating_since(before).as_secs_f64();
            for bucket in [&mut self.network, &mut self.media] {
                bucket.level = (bucket.level - bits).max(-bucket.underrun / self.fps * rate);
            }
        }
    }
}

impl Bucket {
    /// Puts a frame in. What waits already and would not get out in a frame's time is overshoot,
    /// counted once.
    fn take(&mut self, bits: f64, ideal: f64, first: bool) -> f64 {
        let over = self.level.min(self.level + bits - ideal).max(0.0);
        self.level += bits - over;
        if first { (bits / ideal).max(1.0) } else { 1.0 + over / ideal }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: Bitrate = Bitrate::from_kbps(800);

    /// What is asked for after ten seconds of frames that are these shares of their part of the
    /// rate, in turn.
    fn after(shares: &[f64], link: Bitrate) -> f64 {
        let mut adjuster = BitrateAdjuster::new(25);
        let mut now = Time::ZERO;
        for frame in 0..250 {
            let asked = adjuster.ask(now, TARGET, link, Bitrate::ZERO);
            if frame < 30 {
                assert_eq!(asked, TARGET.scale(1.0 / 1.2), "nothing is known yet");
            }
            let bytes = asked.as_bps_f64() / 8.0 / 25.0 * shares[frame % shares.len()];
            adjuster.encoded(now, Bytes::new(bytes.round() as u64));
            now += Duration::from_millis(40);
        }
        adjuster.ask(now, TARGET, link, Bitrate::ZERO).as_bps_f64() / TARGET.as_bps_f64()
    }

    #[test]
    fn even_frames_get_all_of_the_target() {
        assert!((after(&[1.0], TARGET) - 1.0).abs() < 0.001);
        assert!(
            (after(&[1.5, 0.5], TARGET) - 1.0).abs() < 0.001,
            "what comes after makes up for it"
        );
        assert!((after(&[0.5], TARGET) - 1.0).abs() < 0.001, "nobody is asked for more");
    }

    #[test]
    fn what_piles_up_is_taken_off() {
        // Of four frames the second finds half a frame waiting: 1.125 in the mean.
        assert!((after(&[1.5, 1.5, 0.5, 0.5], TARGET) - 1.0 / 1.125).abs() < 0.01);
        assert!(after(&[1.5], TARGET) >= 0.5 && after(&[9.0], TARGET) >= 0.499, "half at least");
    }

    #[test]
    fn a_network_with_room_takes_the_peaks() {
        assert!(after(&[1.5, 1.5, 0.5, 0.5], TARGET * 2) > 0.95);
    }

    #[test]
    fn the_least_rate_is_kept() {
        let mut adjuster = BitrateAdjuster::new(30);
        assert_eq!(adjuster.ask(Time::ZERO, TARGET, TARGET, TARGET), TARGET);
        assert_eq!(adjuster.ask(Time::ZERO, TARGET, TARGET, TARGET * 2), TARGET);
        assert_eq!(adjuster.ask(Time::ZERO, Bitrate::ZERO, TARGET, TARGET), Bitrate::ZERO);
    }
}
