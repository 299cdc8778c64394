//! Requests less than the target rate from an encoder whose frames vary in size, so that a pacer at
//! the target rate does not fall behind (libwebrtc `video/encoder_bitrate_adjuster.cc`, one layer).

use std::collections::VecDeque;
use units::{Bitrate, Bytes, Duration, Time};

/// The window over which overshoot is averaged (3 s: libwebrtc `video/encoder_bitrate_adjuster.h`,
/// `kWindowSizeMs`).
const WINDOW: Duration = Duration::from_secs(3);
/// Until this many frames are encoded, the overshoot is assumed to be [`DEFAULT_UTILIZATION`] (same
/// file, `kMinFramesSinceLayoutChange`).
const MIN_FRAMES: u32 = 30;
/// Same file, `kDefaultUtilizationFactor`.
const DEFAULT_UTILIZATION: f64 = 1.2;
/// The encoder is asked for at least the target divided by this (`encoder_bitrate_adjuster.cc`,
/// AdjustRateAllocation).
const MAX_UTILIZATION: f64 = 2.0;
/// How far the media bucket may fall below empty, in frames (`video/encoder_overshoot_detector.cc`,
/// `kMaxMediaUnderrunFrames`).
const UNDERRUN_FRAMES: f64 = 5.0;

/// The rate requested from an encoder, and how much its frames exceed that rate.
#[derive(Clone, Debug)]
pub(super) struct BitrateAdjuster {
    fps: f64,
    /// The rate last requested from the encoder.
    requested: Bitrate,
    last_drained: Option<Time>,
    /// `network` is the backlog of a pacer at the requested rate; `media` is how far the encoder is
    /// ahead of or behind that rate.
    network: Bucket,
    media: Bucket,
    overshoots: VecDeque<Overshoot>,
    frames: u32,
}

/// A leaky bucket of bits that drains at the requested rate.
#[derive(Clone, Debug)]
struct Bucket {
    level: f64,
    /// How far the level may fall below empty, in frames.
    underrun: f64,
}

/// The size of a frame relative to its share of the rate, as seen by each bucket.
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
            requested: Bitrate::ZERO,
            last_drained: None,
            network: Bucket { level: 0.0, underrun: 0.0 },
            media: Bucket { level: 0.0, underrun: UNDERRUN_FRAMES },
            overshoots: VecDeque::with_capacity(room),
            frames: 0,
        }
    }

    /// The rate to request for a controller's target `target` if the network can carry `link`. It
    /// is at least `min`, unless the target is lower.
    pub(super) fn request(
        &mut self,
        now: Time,
        target: Bitrate,
        link: Bitrate,
        min: Bitrate,
    ) -> Bitrate {
        self.drain(now);
        let rate = target.as_bps_f64();
        let (network, media) = self.utilization(now);
        let network = network.clamp(1.0, MAX_UTILIZATION);
        // Overshoot is allowed within the spare capacity of the network, as long as the mean is the
        // target.
        let wanted = (network - media.max(1.0)).max(0.0) * rate;
        let allowed = wanted.min(link.saturating_sub(target).as_bps_f64());
        let factor = network * rate / (allowed + rate).max(1.0);
        self.requested = target.scale(1.0 / factor.max(1.0)).max(min.min(target));
        self.requested
    }

    /// The encoder has produced a frame.
    pub(super) fn encoded(&mut self, now: Time, size: Bytes) {
        self.drain(now);
        self.frames = self.frames.saturating_add(1);
        let ideal = self.requested.as_bps_f64() / self.fps;
        if ideal <= 0.0 {
            return;
        }
        let (bits, first) = (size.bits() as f64, self.overshoots.is_empty());
        let network = self.network.take(bits, ideal, first);
        let media = self.media.take(bits, ideal, first);
        self.expire(now);
        self.overshoots.push_back(Overshoot { at: now, network, media });
    }

    /// The mean (network, media) utilization over the window.
    fn utilization(&mut self, now: Time) -> (f64, f64) {
        self.expire(now);
        let count = self.overshoots.len() as f64;
        if self.frames < MIN_FRAMES || count == 0.0 {
            return (DEFAULT_UTILIZATION, DEFAULT_UTILIZATION);
        }
        let sum = |of: fn(&Overshoot) -> f64| self.overshoots.iter().map(of).sum::<f64>();
        (sum(|overshoot| overshoot.network) / count, sum(|overshoot| overshoot.media) / count)
    }

    fn expire(&mut self, now: Time) {
        while self.overshoots.front().is_some_and(|oldest| now.saturating_since(oldest.at) > WINDOW)
        {
            self.overshoots.pop_front();
        }
    }

    fn drain(&mut self, now: Time) {
        if let Some(before) = self.last_drained.replace(now) {
            let rate = self.requested.as_bps_f64();
            let bits = rate * now.saturating_since(before).as_secs_f64();
            for bucket in [&mut self.network, &mut self.media] {
                bucket.level = (bucket.level - bits).max(-bucket.underrun / self.fps * rate);
            }
        }
    }
}

impl Bucket {
    /// Adds a frame. The backlog that would not drain within one frame interval is overshoot, and
    /// is counted once.
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

    /// The requested rate relative to the target after ten seconds of frames whose sizes are these
    /// shares of the frame budget, in turn.
    fn after(shares: &[f64], link: Bitrate) -> f64 {
        let mut adjuster = BitrateAdjuster::new(25);
        let mut now = Time::ZERO;
        for frame in 0..250 {
            let requested = adjuster.request(now, TARGET, link, Bitrate::ZERO);
            if frame < 30 {
                assert_eq!(
                    requested,
                    TARGET.scale(1.0 / 1.2),
                    "the default utilization applies at first"
                );
            }
            let bytes = requested.as_bps_f64() / 8.0 / 25.0 * shares[frame % shares.len()];
            adjuster.encoded(now, Bytes::new(bytes.round() as u64));
            now += Duration::from_millis(40);
        }
        adjuster.request(now, TARGET, link, Bitrate::ZERO).as_bps_f64() / TARGET.as_bps_f64()
    }

    #[test]
    fn frames_of_even_size_get_the_whole_target() {
        assert!((after(&[1.0], TARGET) - 1.0).abs() < 0.001);
        assert!(
            (after(&[1.5, 0.5], TARGET) - 1.0).abs() < 0.001,
            "the smaller frame compensates the larger one"
        );
        assert!(
            (after(&[0.5], TARGET) - 1.0).abs() < 0.001,
            "never more than the target is requested"
        );
    }

    #[test]
    fn backlog_lowers_the_requested_rate() {
        // The second of four frames finds half a frame waiting: 1.125 on average.
        assert!((after(&[1.5, 1.5, 0.5, 0.5], TARGET) - 1.0 / 1.125).abs() < 0.01);
        assert!(
            after(&[1.5], TARGET) >= 0.5 && after(&[9.0], TARGET) >= 0.499,
            "at least half of the target"
        );
    }

    #[test]
    fn spare_capacity_absorbs_peaks() {
        assert!(after(&[1.5, 1.5, 0.5, 0.5], TARGET * 2) > 0.95);
    }

    #[test]
    fn the_minimum_rate_is_kept() {
        let mut adjuster = BitrateAdjuster::new(30);
        assert_eq!(adjuster.request(Time::ZERO, TARGET, TARGET, TARGET), TARGET);
        assert_eq!(adjuster.request(Time::ZERO, TARGET, TARGET, TARGET * 2), TARGET);
        assert_eq!(adjuster.request(Time::ZERO, Bitrate::ZERO, TARGET, TARGET), Bitrate::ZERO);
    }
}
