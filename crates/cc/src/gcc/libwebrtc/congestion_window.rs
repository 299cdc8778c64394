//! The congestion window: how much unreported data the path should hold, and by how much the
//! encoder should send less while it holds more (libwebrtc `goog_cc/goog_cc_network_control.cc`,
//! `goog_cc/congestion_window_pushback_controller.cc`).

use super::config::LibwebrtcConfig;
use super::rounding::{bytes_in, millis_of};
use units::{Bitrate, Bytes, Duration};

/// Number of feedback messages whose round-trip times are kept (libwebrtc
/// `goog_cc/goog_cc_network_control.cc`: 32).
const FEEDBACKS: usize = 32;
/// Minimum window (libwebrtc `goog_cc/goog_cc_network_control.cc`: two packets of 1500 bytes).
const MIN_WINDOW: Bytes = Bytes::new(3000);
/// Fill levels and the factor of the encoder's share above each (libwebrtc
/// `goog_cc/congestion_window_pushback_controller.cc`).
const FULL: [(f64, f64); 2] = [(1.5, 0.9), (1.0, 0.95)];
/// Below this fill level the encoder's share is 1 at once (same file).
const EMPTY: f64 = 0.1;
/// Factor of the encoder's share between the levels (same file).
const RECOVERY: f64 = 1.05;

/// The congestion window.
pub(super) struct CongestionWindow {
    queue: Duration,
    min_rate: Bitrate,
    /// The longest round-trip times of the last feedback messages, in ms: a ring buffer.
    round_trips: [u64; FEEDBACKS],
    feedbacks: usize,
    in_flight: Bytes,
    window: Option<Bytes>,
    /// The share of the target rate that the encoder should use.
    share: f64,
}

impl CongestionWindow {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            queue: config.window_queue,
            min_rate: config.window_min_rate,
            round_trips: [0; FEEDBACKS],
            feedbacks: 0,
            in_flight: Bytes::ZERO,
            window: None,
            share: 1.0,
        }
    }

    /// Sets the bytes that were sent and not reported.
    pub(super) fn set_in_flight(&mut self, in_flight: Bytes) {
        self.in_flight = in_flight;
    }

    /// Feedback arrived. `longest` is the longest time from sending to feedback of its packets.
    pub(super) fn on_feedback(&mut self, longest: Duration) {
        self.round_trips[self.feedbacks % FEEDBACKS] = millis_of(longest);
        self.feedbacks += 1;
    }

    /// Moves the window half of the way to the size for `target`.
    pub(super) fn update(&mut self, target: Bitrate) {
        let known = &self.round_trips[..self.feedbacks.min(FEEDBACKS)];
        let Some(&min) = known.iter().min() else { return };
        if self.queue == Duration::ZERO {
            return;
        }
        let size = bytes_in(target, Duration::from_millis(min) + self.queue);
        let size = self.window.map_or(size, |before| Bytes::new((size + before).get().div_ceil(2)));
        self.window = Some(size.max(MIN_WINDOW));
    }

    /// The rate that the encoder should use of `target`.
    pub(super) fn reduced(&mut self, target: Bitrate) -> Bitrate {
        let Some(window) = self.window else { return target };
        let fill = self.in_flight.get() as f64 / window.get() as f64;
        let full = FULL.iter().find(|(level, _)| fill > *level);
        self.share = match full {
            Some((_, factor)) => self.share * factor,
            None if fill < EMPTY => 1.0,
            None => (self.share * RECOVERY).min(1.0),
        };
        let reduced = Bitrate::from_bps_f64((target.as_bps_f64() * self.share).floor());
        if reduced < self.min_rate { target.min(self.min_rate) } else { reduced }
    }

    /// The window; `None` before the first feedback.
    pub(super) fn window(&self) -> Option<Bytes> {
        self.window
    }

    #[cfg(test)]
    pub(super) fn with_window(window: Bytes) -> Self {
        let config = LibwebrtcConfig::default();
        Self { window: Some(window), ..Self::new(&config) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rates after each of `count` updates with `in_flight` bytes and a window of 100 kB.
    fn reduced(kbps: u64, in_flight: u64, count: usize) -> Vec<u64> {
        let mut window = CongestionWindow::with_window(Bytes::new(100_000));
        window.set_in_flight(Bytes::new(in_flight));
        (0..count).map(|_| window.reduced(Bitrate::from_kbps(kbps)).as_bps()).collect()
    }

    #[test]
    fn a_full_window_reduces_the_rate() {
        assert_eq!(reduced(80, 100_000, 1), [80_000], "filled exactly");
        assert_eq!(reduced(80, 150_000, 2), [76_000, 72_200]);
    }

    #[test]
    fn an_overfull_window_reduces_the_rate_faster() {
        assert_eq!(reduced(80, 199_000, 2), [72_000, 64_800]);
    }

    #[test]
    fn the_reduction_ends_at_the_minimum_rate() {
        assert_eq!(reduced(35, 199_000, 3), [31_500, 30_000, 30_000]);
    }

    #[test]
    fn a_target_below_the_minimum_is_kept() {
        assert_eq!(reduced(20, 199_000, 1), [20_000]);
    }

    #[test]
    fn without_a_window_nothing_is_reduced() {
        let mut window = CongestionWindow::new(&LibwebrtcConfig::default());
        window.set_in_flight(Bytes::new(1_000_000));
        assert_eq!(window.reduced(Bitrate::from_kbps(80)), Bitrate::from_kbps(80));
    }

    /// The rates of two updates, the second of the result of the first, with 100 kB in flight and
    /// these windows (`goog_cc/congestion_window_pushback_controller_unittest.cc`).
    fn twice(bps: u64, windows: [u64; 2]) -> [u64; 2] {
        let mut window = CongestionWindow::with_window(Bytes::ZERO);
        window.set_in_flight(Bytes::new(100_000));
        let mut rate = Bitrate::from_bps(bps);
        windows.map(|bytes| {
            window.window = Some(Bytes::new(bytes));
            rate = window.reduced(rate);
            rate.as_bps()
        })
    }

    #[test]
    fn the_numbers_are_those_of_libwebrtcs_tests() {
        assert_eq!(twice(80_000, [50_000, 50_000]), [72_000, 58_320], "0.9, then 0.81");
        assert_eq!(twice(35_000, [50_000, 20_000]), [31_500, 30_000]);
        let mut normal = CongestionWindow::with_window(Bytes::new(200_000));
        normal.set_in_flight(Bytes::new(199_999));
        assert_eq!(normal.reduced(Bitrate::from_kbps(80)), Bitrate::from_kbps(80));
    }

    #[test]
    fn an_empty_path_ends_the_reduction_at_once_and_a_half_full_one_slowly() {
        let mut window = CongestionWindow::with_window(Bytes::new(100_000));
        window.set_in_flight(Bytes::new(199_000));
        window.reduced(Bitrate::from_kbps(80));
        window.reduced(Bitrate::from_kbps(80));
        window.set_in_flight(Bytes::new(50_000));
        assert_eq!(window.reduced(Bitrate::from_kbps(80)).as_bps(), 68_040);
        window.set_in_flight(Bytes::new(9_000));
        assert_eq!(window.reduced(Bitrate::from_kbps(80)).as_bps(), 80_000);
    }
}
