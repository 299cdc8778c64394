//! TCP Prague: the window follows the share of marked segments (draft-briscoe-iccrg-prague-
//! congestion-control-04; Linux `net/ipv4/tcp_prague.c`, version 0.7 for Linux 6.18, which is meant
//! where both differ).
//!
//! | difference | draft, Linux | here |
//! |---|---|---|
//! | first mark | draft: alpha starts at 1; Linux: the window is halved and alpha starts at 0 | as Linux |
//! | loss | draft: as CUBIC; Linux: half | as Linux |
//! | AccECN | a counter of 3 bits and an option | the whole counter in each acknowledgement, at once after a mark |
//! | ECN++ | ECT(1) on SYN and acknowledgements | on data segments that are sent for the first time |
//! | segments | smaller at rates below 1 Mbit/s | full |
//! | bursts | 250 µs of the rate | single segments; 250 µs of the rate with [`gso`](crate::tcp::TcpStack::gso) |
//! | fallback in front of a classic queue | draft: described; Linux: none | none |
//! | arithmetic | fixed point | floating point |

use super::{Ack, CongestionControl, LossRecovery, Window};
use crate::tcp::segment::MAX_SEGMENT;
use units::{Bitrate, Duration, Time};

/// The round-trip time as which every shorter one counts (draft § 2.4.4, Linux `RTT_TARGET`).
const TARGET_RTT: Duration = Duration::from_millis(25);
/// From this round-trip time on, the increase is not scaled (Linux `MAX_SCALED_RTT`).
const MAX_SCALED_RTT: Duration = Duration::from_millis(100);
/// The gain of alpha (draft § 2.3.2, Linux `PRAGUE_SHIFT_G`: 1/16).
const GAIN: f64 = 1.0 / 16.0;
/// Rounds after slow start in which the increase is not scaled (Linux `DEFAULT_RTT_TRANSITION`).
const TRANSITION_ROUNDS: u64 = 4;
/// The longest burst (Linux `prague_burst_shift`: 2⁻¹² s).
const BURST: Duration = Duration::from_nanos(1_000_000_000 >> 12);
/// The least window (Linux `MIN_CWND_RTT`).
const MIN_WINDOW: f64 = 2.0;
/// The least pacing rate (Linux `MINIMUM_RATE`: 12 500 bytes per second).
const MIN_RATE: f64 = 100_000.0;
/// Up to this window the rate is the state, not the window (Linux `prague_cwnd_transit`).
const RATE_MODE_WINDOW: f64 = 4.0;
/// While the rate is the state, pacing varies by this share of it within each virtual round-trip
/// time (Linux `RATE_OFFSET`, 4/128).
const RATE_VARIATION: f64 = 4.0 / 128.0;
/// The gain of the slow average of the round-trip time (Linux `HSRTT_SHIFT`: 1/128).
const SLOW_RTT_GAIN: f64 = 1.0 / 128.0;

/// Whether the window or the rate is the state (Linux `cwnd_mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Window,
    Rate,
}

pub(in crate::tcp) struct Prague {
    mode: Mode,
    /// The window with its fraction, in segments (Linux `frac_cwnd`).
    window: f64,
    /// The rate in bit/s of payload (Linux `rate_bytes`).
    rate: f64,
    /// The average share of marked segments.
    alpha: f64,
    alpha_at: Time,
    has_seen_mark: bool,
    reduced_at: Time,
    /// The offset whose acknowledgement permits the next reduction because of marks.
    reduction_end: u64,
    in_loss: bool,
    before_loss: f64,
    /// Rounds since slow start.
    rounds: u64,
    round_end: u64,
    delivered: u64,
    marked: u64,
    round_delivered: u64,
    round_marked: u64,
    srtt: Duration,
    slow_rtt: f64,
    in_slow_start: bool,
    pacing: f64,
}

impl Prague {
    pub(super) fn new() -> Self {
        Self {
            mode: Mode::Window,
            window: super::INITIAL_WINDOW,
            rate: MIN_RATE,
            alpha: 0.0,
            alpha_at: Time::ZERO,
            has_seen_mark: false,
            reduced_at: Time::ZERO,
            reduction_end: 0,
            in_loss: false,
            before_loss: 0.0,
            rounds: 0,
            round_end: 0,
            delivered: 0,
            marked: 0,
            round_delivered: 0,
            round_marked: 0,
            srtt: Duration::ZERO,
            slow_rtt: 0.0,
            in_slow_start: true,
            pacing: MIN_RATE,
        }
    }

    /// Whether short round-trip times count as [`TARGET_RTT`] (Linux `prague_is_rtt_indep`).
    fn is_rtt_independent(&self) -> bool {
        !self.in_slow_start && self.rounds >= TRANSITION_ROUNDS
    }

    fn virtual_rtt(&self) -> Duration {
        self.srtt.max(TARGET_RTT)
    }

    fn has_rate(&self) -> bool {
        self.is_rtt_independent() && self.mode == Mode::Rate
    }

    fn rate_of_window(&self) -> f64 {
        (self.window * segment_bits() / self.srtt.as_secs_f64()).max(MIN_RATE)
    }

    fn window_of_rate(&self) -> f64 {
        self.rate * self.slow_rtt / segment_bits()
    }

    /// Linux `prague_update_cwnd`: the fractional window, which the window follows by one segment
    /// per acknowledgement.
    fn update_window(&mut self, ack: &Ack, window: &mut Window) {
        if ack.marked > 0 && !self.has_seen_mark {
            self.has_seen_mark = true;
            self.window /= 2.0;
        }
        let mut unmarked = ack.delivered.saturating_sub(ack.marked) as f64;
        if unmarked > 0.0 && !self.in_loss && ack.window_limited {
            if window.in_slow_start() {
                unmarked = window.slow_start(unmarked);
                self.window = window.cwnd;
            }
            self.increase(unmarked);
        }
        let wanted = self.window.ceil().max(MIN_WINDOW);
        if window.cwnd > wanted {
            window.cwnd -= 1.0;
            window.ssthresh = window.cwnd;
        } else if window.cwnd < wanted {
            window.cwnd += 1.0;
        }
    }

    /// One segment per round trip for unmarked segments, scaled for short round-trip times.
    fn increase(&mut self, unmarked: f64) {
        if self.has_rate() {
            let virtual_rtt = self.virtual_rtt().as_secs_f64();
            let segments = (self.rate * virtual_rtt / segment_bits()).ceil().max(1.0);
            self.rate += unmarked * segment_bits() / virtual_rtt / segments;
            self.window = self.window.max(self.window_of_rate());
        } else {
            self.window += unmarked * self.scale() / self.window.max(1.0);
            self.rate = self.rate.max(self.rate_of_window());
        }
    }

    /// Linux `prague_ai_ack_increase`.
    fn scale(&self) -> f64 {
        if self.rounds < TRANSITION_ROUNDS || self.srtt >= TARGET_RTT || self.srtt > MAX_SCALED_RTT
        {
            return 1.0;
        }
        let ratio = self.srtt.as_secs_f64() / TARGET_RTT.as_secs_f64();
        ratio * ratio
    }

    /// Draft § 2.4.2; Linux `prague_enter_cwr`: at most once per round trip, and per virtual one.
    fn reduce(&mut self, ack: &Ack) {
        if ack.marked == 0 || ack.acknowledged < self.reduction_end {
            return;
        }
        let since = ack.now.saturating_since(self.reduced_at);
        if self.is_rtt_independent() && since < TARGET_RTT {
            return;
        }
        (self.reduced_at, self.reduction_end) = (ack.now, ack.next);
        self.decrease(1.0 - self.alpha / 2.0);
    }

    fn decrease(&mut self, factor: f64) {
        if self.has_rate() {
            self.rate = (self.rate * factor).max(MIN_RATE);
            self.window = self.window_of_rate();
        } else {
            self.window *= factor;
            self.rate = self.rate_of_window();
        }
    }

    /// Linux `prague_enter_loss`.
    fn enter_loss(&mut self) {
        self.before_loss = self.window;
        self.decrease(0.5);
        self.in_loss = true;
    }

    /// Draft § 2.3.2; Linux `prague_update_alpha`: once per round trip, and per virtual one.
    fn update_alpha(&mut self, ack: &Ack) {
        if ack.acknowledged < self.round_end {
            return;
        }
        let since = ack.now.saturating_since(self.alpha_at);
        if self.is_rtt_independent() && since < TARGET_RTT {
            return;
        }
        if self.has_seen_mark {
            let delivered = (self.delivered - self.round_delivered).max(1);
            let share = (self.marked - self.round_marked) as f64 / delivered as f64;
            self.alpha = (self.alpha + GAIN * (share - self.alpha)).min(1.0);
            self.alpha_at = ack.now;
        }
        self.slow_rtt += SLOW_RTT_GAIN * (self.srtt.as_secs_f64() - self.slow_rtt);
        self.round_end = ack.next;
        (self.round_delivered, self.round_marked) = (self.delivered, self.marked);
        if !self.in_slow_start {
            self.rounds += 1;
        }
    }

    /// Linux `prague_update_pacing_rate`.
    fn update_pacing(&mut self, ack: &Ack, window: &Window) {
        let mut rate = if self.has_rate() {
            let half = ack.now.saturating_since(self.alpha_at) >= self.virtual_rtt() / 2;
            self.rate * if half { 1.0 - RATE_VARIATION } else { 1.0 + RATE_VARIATION }
        } else {
            let in_flight = self.window.floor().max(ack.flight as f64);
            let rate = in_flight * segment_bits() / self.srtt.as_secs_f64();
            self.rate = rate.max(MIN_RATE);
            self.rate
        };
        if window.cwnd < window.ssthresh / 2.0 {
            rate *= 2.0;
        }
        self.pacing = rate;
        let small = self.has_seen_mark && window.cwnd <= RATE_MODE_WINDOW;
        match (self.mode, small) {
            (Mode::Window, true) => {
                self.mode = Mode::Rate;
                self.window = self.window_of_rate();
            }
            (Mode::Rate, false) => {
                self.mode = Mode::Window;
                self.rate = self.rate_of_window();
            }
            _ => {}
        }
    }
}

fn segment_bits() -> f64 {
    MAX_SEGMENT.bits() as f64
}

impl CongestionControl for Prague {
    fn on_open(&mut self, now: Time, rtt: Duration) {
        (self.srtt, self.slow_rtt) = (rtt, rtt.as_secs_f64());
        (self.alpha_at, self.reduced_at) = (now, now);
        self.rate = self.rate_of_window();
        self.pacing = 2.0 * self.rate;
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let rtt = ack.smoothed_rtt.filter(|rtt| *rtt > Duration::ZERO);
        self.srtt = rtt.unwrap_or(self.srtt.max(Duration::from_micros(1)));
        self.delivered += ack.delivered;
        self.marked += ack.marked;
        match ack.loss_recovery {
            LossRecovery::None => self.in_loss = false,
            LossRecovery::Fast if !self.in_loss => self.enter_loss(),
            LossRecovery::Fast | LossRecovery::Timeout => {}
        }
        self.reduce(ack);
        self.update_window(ack, window);
        self.in_slow_start = window.in_slow_start();
        self.update_alpha(ack);
        self.update_pacing(ack, window);
    }

    /// Marks and losses change the fractional window in [`Self::on_ack`] (Linux
    /// `prague_ssthresh`).
    fn on_congestion(&mut self, window: &Window) -> f64 {
        window.ssthresh
    }

    fn on_timeout(&mut self) {
        if !self.in_loss {
            self.enter_loss();
        }
    }

    /// Linux `prague_cwnd_undo`.
    fn on_undo(&mut self) {
        self.in_loss = false;
        self.window = self.window.max(self.before_loss);
        self.rate = self.rate.max(self.rate_of_window());
    }

    fn governs_recovery(&self) -> bool {
        true
    }

    fn min_burst(&self, _: Bitrate) -> u64 {
        1
    }

    fn max_burst(&self, pacing: Bitrate) -> u64 {
        (pacing.bytes_in(BURST).get() / MAX_SEGMENT.get()).max(1)
    }

    fn pacing_rate(&self) -> Option<Bitrate> {
        Some(Bitrate::from_bps_f64(self.pacing))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledges `segments` one after the other, one per `rtt / segments`, of which every
    /// `period`th is marked.
    fn acknowledge(
        control: &mut Prague,
        window: &mut Window,
        rtt: Duration,
        seconds: u64,
        period: u64,
    ) -> f64 {
        let (mut now, mut offset, mut count, mut sum) = (Time::ZERO, 0, 0_u64, 0.0);
        control.on_open(now, rtt);
        while now < Time::from_secs(seconds) {
            count += 1;
            offset += MAX_SEGMENT.get();
            let span = rtt.as_secs_f64() / window.cwnd;
            now += Duration::from_secs_f64(span);
            let marked = u64::from(count.is_multiple_of(period));
            let next = offset + window.cwnd as u64 * MAX_SEGMENT.get();
            let ack = Ack { marked, acknowledged: offset, next, ..Ack::of_one(now, rtt) };
            control.on_ack(&ack, window);
            if now > Time::from_secs(seconds / 2) {
                sum += span * control.window;
            }
        }
        sum / (seconds as f64 / 2.0)
    }

    /// Linux's comment: r = (1/p − 1) Mbit/s · 25 ms / max(RTT, 25 ms), which counts 1500 bytes and
    /// two marks per round trip: a window of 2 · (1/p − 1) segments in the virtual round-trip time.
    /// A reduction waits for the first mark after that time, which the third can be: for √1.5 times
    /// the window.
    #[test]
    fn the_rate_is_proportional_to_unmarked_over_marked() {
        for (rtt, period) in [(10, 20), (25, 20), (25, 50), (50, 20), (90, 50)] {
            let (mut control, mut window) = (Prague::new(), Window::new(false));
            let rtt = Duration::from_millis(rtt);
            let mean = acknowledge(&mut control, &mut window, rtt, 120, period);
            let share = rtt.as_secs_f64() / rtt.max(TARGET_RTT).as_secs_f64();
            let expected = 2.0 * (period as f64 - 1.0) * share;
            let ratio = mean / expected;
            assert!((0.9..1.35).contains(&ratio), "{rtt} {period}: {mean}, not {expected}");
            let alpha = control.alpha * period as f64;
            assert!((alpha - 1.0).abs() < 0.3, "{alpha}");
        }
    }

    #[test]
    fn the_first_mark_halves_and_ends_slow_start() {
        let (mut control, mut window) = (Prague::new(), Window::new(false));
        let rtt = Duration::from_millis(20);
        control.on_open(Time::ZERO, rtt);
        for count in 0..30 {
            control.on_ack(&Ack::of_one(Time::from_millis(count), rtt), &mut window);
        }
        assert_eq!((window.cwnd, window.ssthresh), (40.0, f64::INFINITY));
        let marked = Ack { marked: 1, ..Ack::of_one(Time::from_millis(30), rtt) };
        control.on_ack(&marked, &mut window);
        assert_eq!((control.window, window.cwnd, window.ssthresh), (20.0, 39.0, 39.0));
    }
}
