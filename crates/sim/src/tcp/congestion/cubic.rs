//! CUBIC (RFC 9438), with one rule of Linux `net/ipv4/tcp_cubic.c` instead of the RFC's: α_cubic
//! stays below 1 for the whole congestion avoidance stage. § 4.3 would set it to 1 once W_est has
//! reached cwnd_prior.

use super::hystart::HyStart;
use super::{Ack, CongestionControl, MIN_THRESHOLD, Window};
use units::{Duration, Time};

/// C, segments per second cubed (RFC 9438 § 5.1).
const C: f64 = 0.4;
/// β_cubic (RFC 9438 § 4.6).
const BETA: f64 = 0.7;
/// α_cubic (RFC 9438 § 4.3; Linux `beta_scale`).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// While no congestion has shown the path's capacity, the window grows by at least a twentieth per
/// round trip (Linux `bictcp_update`).
const MIN_INITIAL_GROWTH: f64 = 1.0 / 20.0;
/// The window grows by at most half per round trip (RFC 9438 § 4.2).
const MAX_GROWTH: f64 = 1.5;

/// C, β_cubic and 1/α_cubic in Linux's integer arithmetic (`cube_rtt_scale`, `beta`, `beta_scale`).
const LINUX_C: f64 = 410.0 / 1_024.0;
const LINUX_BETA: f64 = 717.0 / 1_024.0;
const LINUX_INVERSE_ALPHA: f64 = 15.0 / 8.0;
/// While the window stays the same, its growth is computed anew after this time (Linux
/// `bictcp_update`: HZ / 32).
const LINUX_UPDATE_INTERVAL: Duration = Duration::from_micros(31_250);
/// Acknowledged segments per segment of growth: at least 2, and at most 20 while no congestion has
/// shown the path's capacity (Linux `bictcp_update`).
const LINUX_MIN_PER_SEGMENT: f64 = 2.0;
const LINUX_MAX_INITIAL_PER_SEGMENT: f64 = 20.0;
/// The same at the plateau, as a multiple of the window (Linux `bictcp_update`).
const LINUX_PLATEAU: f64 = 100.0;

#[derive(Default)]
pub(in crate::tcp) struct Cubic {
    /// The window at the last congestion event, or less after fast convergence.
    w_max: f64,
    /// The congestion avoidance stage since the last congestion event.
    stage: Option<CongestionAvoidance>,
    hystart: HyStart,
    last_ack: Time,
    /// The minimum round-trip time (Linux `delay_min`).
    min_rtt: Option<Duration>,
    /// `w_max` and `stage` before the last congestion event.
    undo: Option<(f64, Option<CongestionAvoidance>)>,
}

#[derive(Clone, Copy)]
struct CongestionAvoidance {
    epoch_start: Time,
    /// The time in which the window returns to `origin`, in seconds.
    k: f64,
    /// W_max in equation 1: the window at the plateau (Linux `bic_origin_point`).
    origin: f64,
    /// An estimate of the window that Reno would have.
    w_est: f64,
    /// Segments acknowledged since `w_est` last grew (Linux `ack_cnt`).
    acked: f64,
    /// The window grows by one segment per this number of acknowledged ones, computed for this
    /// window at this time (Linux `cnt`, `last_cwnd`, `last_time`).
    growth: Option<(f64, f64, Time)>,
}

impl CongestionAvoidance {
    /// A stage that starts at `cwnd`: it grows back to `w_max`, or from `cwnd` upwards if `cwnd`
    /// has already reached `w_max` (RFC 9438 §§ 4.2, 4.7).
    fn new(epoch_start: Time, cwnd: f64, w_max: f64) -> Self {
        let (k, origin) =
            if cwnd < w_max { (libm::cbrt((w_max - cwnd) / C), w_max) } else { (0.0, cwnd) };
        Self { epoch_start, k, origin, w_est: cwnd, acked: 0.0, growth: None }
    }

    /// W_cubic(t) (RFC 9438 eq. 1).
    fn w_cubic(&self, now: Time) -> f64 {
        let t = now.saturating_since(self.epoch_start).as_secs_f64() - self.k;
        C * t * t * t + self.origin
    }

    /// The number of acknowledged segments per segment of growth, in Linux's integer arithmetic
    /// (`bictcp_update`).
    fn per_segment(&mut self, now: Time, cwnd: f64, w_max: f64, min_rtt: Duration) -> f64 {
        if let Some((per_segment, at_cwnd, at)) = self.growth
            && at_cwnd == cwnd
            && now.saturating_since(at) <= LINUX_UPDATE_INTERVAL
        {
            return per_segment;
        }
        let t = (now + min_rtt).saturating_since(self.epoch_start).as_secs_f64() - self.k;
        let distance = (LINUX_C * (t * t * t).abs()).floor();
        let target = if t < 0.0 { self.origin - distance } else { self.origin + distance };
        let mut per_segment =
            if target > cwnd { (cwnd / (target - cwnd)).floor() } else { LINUX_PLATEAU * cwnd };
        if w_max == 0.0 {
            per_segment = per_segment.min(LINUX_MAX_INITIAL_PER_SEGMENT);
        }
        let per_estimated = (cwnd * LINUX_INVERSE_ALPHA).floor();
        while self.acked > per_estimated {
            self.acked -= per_estimated;
            self.w_est += 1.0;
        }
        if self.w_est > cwnd {
            per_segment = per_segment.min((cwnd / (self.w_est - cwnd)).floor());
        }
        let per_segment = per_segment.max(LINUX_MIN_PER_SEGMENT);
        self.growth = Some((per_segment, cwnd, now));
        per_segment
    }
}

impl Cubic {
    /// Congestion avoidance (RFC 9438 §§ 4.2 to 4.5).
    fn avoid_congestion(&mut self, ack: &Ack, acked: f64, window: &mut Window) {
        let cwnd = window.cwnd;
        let w_max = self.w_max;
        let stage =
            self.stage.get_or_insert_with(|| CongestionAvoidance::new(ack.now, cwnd, w_max));
        if window.is_whole() {
            stage.acked += acked;
            let min_rtt = self.min_rtt.unwrap_or_default();
            let per_segment = stage.per_segment(ack.now, cwnd, w_max, min_rtt);
            window.increase(acked, per_segment);
            return;
        }
        stage.w_est += ALPHA * acked / cwnd;
        if stage.w_cubic(ack.now) < stage.w_est {
            window.cwnd = cwnd.max(stage.w_est);
            return;
        }
        let rtt = ack.smoothed_rtt.unwrap_or_default();
        let target = stage.w_cubic(ack.now + rtt).clamp(cwnd, MAX_GROWTH * cwnd);
        let min_growth = if w_max == 0.0 { MIN_INITIAL_GROWTH } else { 0.0 };
        window.cwnd += ((target - cwnd) / cwnd).max(min_growth) * acked;
    }

    /// Excludes from t a time in which the window was not used (RFC 9438 § 4.2).
    fn exclude_idle_time(&mut self, span: Duration) {
        if let Some(stage) = &mut self.stage {
            stage.epoch_start += span;
        }
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let since = ack.now.saturating_since(self.last_ack);
        self.last_ack = ack.now;
        self.min_rtt = [self.min_rtt, ack.rtt].into_iter().flatten().min();
        if !ack.window_limited {
            self.exclude_idle_time(since);
            return;
        }
        let mut acked = ack.delivered as f64;
        if window.in_slow_start() {
            if self.hystart.ends_slow_start(ack, window.cwnd) {
                window.ssthresh = window.cwnd;
            }
            acked = window.slow_start(acked);
        }
        if acked > 0.0 {
            self.avoid_congestion(ack, acked, window);
        }
    }

    fn on_congestion(&mut self, window: &Window) -> f64 {
        self.undo = Some((self.w_max, self.stage));
        let cwnd = window.cwnd;
        let beta = if window.is_whole() { LINUX_BETA } else { BETA };
        // Fast convergence (RFC 9438 § 4.7).
        let converged = window.rounded(cwnd * (1.0 + beta) / 2.0);
        self.w_max = if cwnd < self.w_max { converged } else { cwnd };
        self.stage = None;
        window.rounded(cwnd * beta).max(MIN_THRESHOLD)
    }

    /// RFC 9438 § 4.8: after a time-out a new curve starts where slow start ends.
    fn on_timeout(&mut self) {
        (self.w_max, self.stage, self.min_rtt) = (0.0, None, None);
        self.hystart = HyStart::default();
    }

    fn on_undo(&mut self) {
        if let Some((w_max, stage)) = self.undo.take() {
            (self.w_max, self.stage) = (w_max, stage);
        }
    }

    fn on_restart(&mut self, now: Time, _idle: Duration) {
        self.exclude_idle_time(now.saturating_since(self.last_ack));
        self.last_ack = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn window(cwnd: f64) -> Window {
        Window { cwnd, ..Window::new(false) }
    }

    /// Feeds one window of acknowledgements per round trip. Returns one (seconds since the start,
    /// window) per round.
    fn rounds(cubic: &mut Cubic, window: &mut Window, from: Time, rounds: u64) -> Vec<(f64, f64)> {
        let mut seen = Vec::new();
        for round in 0..rounds {
            let segments = window.cwnd as u64;
            for index in 0..segments {
                let now = from + RTT * round + RTT * index / segments;
                cubic.on_ack(&Ack::of_one(now, RTT), window);
            }
            seen.push(((RTT * (round + 1)).as_secs_f64(), window.cwnd));
        }
        seen
    }

    #[test]
    fn the_window_follows_the_curve_of_rfc_9438() {
        let (mut cubic, mut window) = (Cubic::default(), window(1_000.0));
        window.ssthresh = cubic.on_congestion(&window);
        window.cwnd = window.ssthresh;
        assert_eq!(window.cwnd, 700.0);
        // K = ³√(W_max (1 − β) / C) (eq. 2): 9.09 s.
        let k = libm::cbrt(1_000.0 * (1.0 - BETA) / C);
        for (t, cwnd) in rounds(&mut cubic, &mut window, Time::ZERO, 150) {
            let curve = C * (t - k) * (t - k) * (t - k) + 1_000.0;
            assert!(
                (cwnd - curve).abs() < 0.01 * curve,
                "{cwnd} at {t} s, where the curve is {curve}"
            );
        }
    }

    #[test]
    fn a_small_window_grows_as_reno_would() {
        let (mut cubic, mut window) = (Cubic::default(), window(20.0));
        window.ssthresh = cubic.on_congestion(&window);
        window.cwnd = window.ssthresh;
        let seen = rounds(&mut cubic, &mut window, Time::ZERO, 10);
        // α = 0.53 segments per round trip (§ 4.3); the cubic curve would have grown more slowly.
        let gained = seen[9].1 - 14.0;
        assert!((4.8..5.9).contains(&gained), "{gained}");
    }

    /// Linux has no second phase of § 4.3: beyond the previous window, too, W_est grows by α.
    #[test]
    fn a_small_window_grows_at_the_same_rate_beyond_the_previous_one() {
        let (mut cubic, mut window) = (Cubic::default(), window(10.0));
        window.ssthresh = cubic.on_congestion(&window);
        window.cwnd = window.ssthresh;
        let seen = rounds(&mut cubic, &mut window, Time::ZERO, 16);
        let gained = seen[15].1 - seen[7].1;
        assert!(seen[7].1 > 10.0 && (3.6..4.6).contains(&gained), "{seen:?}");
    }

    /// Linux's integer arithmetic follows the same curve, in steps of whole segments.
    #[test]
    fn whole_windows_follow_the_curve_in_steps() {
        let mut cubic = Cubic::default();
        let mut window = Window { cwnd: 1_000.0, ..Window::new(true) };
        window.ssthresh = cubic.on_congestion(&window);
        window.cwnd = window.ssthresh;
        assert_eq!(window.cwnd, 700.0, "717 / 1024, rounded down");
        let k = libm::cbrt(300.0 / C);
        for (t, cwnd) in rounds(&mut cubic, &mut window, Time::ZERO, 150) {
            let curve = C * (t - k) * (t - k) * (t - k) + 1_000.0;
            assert!(cwnd.fract() == 0.0 && (cwnd - curve).abs() < 0.02 * curve, "{cwnd} at {t} s");
        }
        let mut small = Window { cwnd: 20.0, ..Window::new(true) };
        let mut cubic = Cubic::default();
        small.ssthresh = cubic.on_congestion(&small);
        small.cwnd = small.ssthresh;
        let seen = rounds(&mut cubic, &mut small, Time::ZERO, 10);
        assert_eq!(seen[9].1, 19.0, "one segment per 15/8 windows");
    }

    #[test]
    fn fast_convergence_lowers_w_max() {
        let mut cubic = Cubic::default();
        cubic.on_congestion(&window(100.0));
        cubic.on_congestion(&window(80.0));
        assert_eq!(cubic.w_max, 68.0);
        cubic.on_undo();
        assert_eq!(cubic.w_max, 100.0);
        cubic.on_timeout();
        assert_eq!(cubic.w_max, 0.0);
    }

    #[test]
    fn idle_time_does_not_count() {
        let (mut cubic, mut window) = (Cubic::default(), window(100.0));
        window.ssthresh = cubic.on_congestion(&window);
        window.cwnd = window.ssthresh;
        cubic.on_ack(&Ack::of_one(Time::ZERO, RTT), &mut window);
        for second in 1..=100 {
            let idle = Ack { window_limited: false, ..Ack::of_one(Time::from_secs(second), RTT) };
            cubic.on_ack(&idle, &mut window);
        }
        cubic.on_ack(&Ack::of_one(Time::from_secs(100), RTT), &mut window);
        assert!(window.cwnd < 71.0, "{}", window.cwnd);
    }
}
