//! CUBIC (RFC 9438).

use super::hystart::HyStart;
use super::{Ack, CongestionControl, MIN_THRESHOLD, Window};
use units::{Duration, Time};

/// C, segments per second cubed (RFC 9438 § 5.1).
const C: f64 = 0.4;
/// β_cubic (RFC 9438 § 4.6).
const BETA: f64 = 0.7;
/// α_cubic before the window is back where it was (RFC 9438 § 4.3).
const RENO_INCREASE: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// While the path's capacity is unknown the window grows by a twentieth a round trip at least
/// (Linux `bictcp_update`).
const FIRST_GROWTH: f64 = 1.0 / 20.0;
/// The window grows at most by half in a round trip (RFC 9438 § 4.2).
const MAX_GROWTH: f64 = 1.5;

#[derive(Default)]
pub(in crate::tcp) struct Cubic {
    /// W_max: the window at the last congestion, or less by fast convergence.
    largest: f64,
    /// cwnd_prior: the window at the last congestion.
    before: f64,
    /// The congestion avoidance stage since the last congestion.
    epoch: Option<Epoch>,
    hystart: HyStart,
    last_ack: Time,
    /// What `largest`, `before` and `epoch` were before the last congestion.
    undo: Option<(f64, f64, Option<Epoch>)>,
}

#[derive(Clone, Copy)]
struct Epoch {
    start: Time,
    /// K, seconds.
    k: f64,
    /// The window at the plateau.
    plateau: f64,
    /// W_est: what Reno's window would be.
    reno: f64,
}

impl Epoch {
    /// RFC 9438 §§ 4.2, 4.7: from `cwnd` back to `largest`, or upwards from here if that is passed.
    fn new(start: Time, cwnd: f64, largest: f64) -> Self {
        if cwnd < largest {
            Self { start, k: libm::cbrt((largest - cwnd) / C), plateau: largest, reno: cwnd }
        } else {
            Self { start, k: 0.0, plateau: cwnd, reno: cwnd }
        }
    }

    /// W_cubic(t) (RFC 9438 eq. 1).
    fn window(&self, at: Time) -> f64 {
        let t = at.saturating_since(self.start).as_secs_f64() - self.k;
        C * t * t * t + self.plateau
    }
}

impl Cubic {
    /// Congestion avoidance (RFC 9438 §§ 4.2 to 4.5).
    fn avoid(&mut self, ack: &Ack, acked: f64, window: &mut Window) {
        let cwnd = window.cwnd;
        let (largest, before) = (self.largest, self.before);
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(ack.now, cwnd, largest));
        let increase = if epoch.reno < before { RENO_INCREASE } else { 1.0 };
        epoch.reno += increase * acked / cwnd;
        if epoch.window(ack.now) < epoch.reno {
            window.cwnd = cwnd.max(epoch.reno);
            return;
        }
        let rtt = ack.smoothed_rtt.unwrap_or_default();
        let target = epoch.window(ack.now + rtt).clamp(cwnd, MAX_GROWTH * cwnd);
        let least = if largest == 0.0 { FIRST_GROWTH } else { 0.0 };
        window.cwnd += ((target - cwnd) / cwnd).max(least) * acked;
    }

    /// Time that passed without use of the window does not count (RFC 9438 § 4.2).
    fn pass_over(&mut self, span: Duration) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start += span;
        }
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let since = ack.now.saturating_since(self.last_ack);
        self.last_ack = ack.now;
        if !ack.window_limited {
            self.pass_over(since);
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
            self.avoid(ack, acked, window);
        }
    }

    fn on_congestion(&mut self, window: &Window) -> f64 {
        self.undo = Some((self.largest, self.before, self.epoch));
        let cwnd = window.cwnd;
        // Fast convergence (RFC 9438 § 4.7).
        self.largest = if cwnd < self.largest { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        self.before = cwnd;
        self.epoch = None;
        (cwnd * BETA).max(MIN_THRESHOLD)
    }

    /// RFC 9438 § 4.8: after a time-out the curve begins anew, from where slow start ends.
    fn on_timeout(&mut self) {
        (self.largest, self.epoch) = (0.0, None);
        self.hystart = HyStart::default();
    }

    fn on_undo(&mut self) {
        if let Some((largest, before, epoch)) = self.undo.take() {
            (self.largest, self.before, self.epoch) = (largest, before, epoch);
        }
    }

    fn on_restart(&mut self, now: Time, _idle: Duration) {
        self.pass_over(now.saturating_since(self.last_ack));
        self.last_ack = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    /// Feeds a window's worth of acknowledgements a round trip; gives (seconds since the start,
    /// window) a round.
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
        let (mut cubic, mut window) =
            (Cubic::default(), Window { cwnd: 1_000.0, ssthresh: f64::INFINITY });
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
        let (mut cubic, mut window) =
            (Cubic::default(), Window { cwnd: 20.0, ssthresh: f64::INFINITY });
        window.ssthresh = cubic.on_congestion(&window);
        window.cwnd = window.ssthresh;
        let seen = rounds(&mut cubic, &mut window, Time::ZERO, 10);
        // α = 0.53 segments a round trip (§ 4.3), where the cubic curve would have gained more
        // slowly.
        let gained = seen[9].1 - 14.0;
        assert!((4.8..5.9).contains(&gained), "{gained}");
    }

    #[test]
    fn a_flow_that_falls_again_gives_way_faster() {
        let mut cubic = Cubic::default();
        cubic.on_congestion(&Window { cwnd: 100.0, ssthresh: 50.0 });
        cubic.on_congestion(&Window { cwnd: 80.0, ssthresh: 50.0 });
        assert_eq!(cubic.largest, 68.0);
        cubic.on_undo();
        assert_eq!(cubic.largest, 100.0);
        cubic.on_timeout();
        assert_eq!(cubic.largest, 0.0);
    }

    #[test]
    fn time_without_use_of_the_window_does_not_count() {
        let (mut cubic, mut window) =
            (Cubic::default(), Window { cwnd: 100.0, ssthresh: f64::INFINITY });
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
