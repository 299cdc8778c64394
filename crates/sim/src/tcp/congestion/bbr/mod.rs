//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00, July 2017), as Linux
//! `net/ipv4/tcp_bbr.c` has it.
//!
//! | where it differs | Linux | here |
//! |---|---|---|
//! | policers | a long-term rate when two intervals lose over a fifth alike | left out, as in the draft |
//! | pacing | counts what is baked in by departure times to come (`bbr_packets_in_net_at_edt`) | counts the burst that is next |

mod aggregation;
mod max_filter;
mod min_rtt;

use super::{Ack, CongestionControl, INITIAL_WINDOW, Repair, Window};
use crate::tcp::MAX_SEGMENT;
use aggregation::Aggregation;
use max_filter::MaxFilter;
use min_rtt::MinRtt;
use units::{Bitrate, Duration, Stream, Time};

/// BBRHighGain, 2 / ln 2: doubles the rate each round (draft § 4.3.2.1; Linux `bbr_high_gain`).
const HIGH_GAIN: f64 = 2.885;
/// Empties in one round what startup queued (draft § 4.3.3).
const DRAIN_GAIN: f64 = 1.0 / HIGH_GAIN;
/// The phases of ProbeBW (draft § 4.3.4.2).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// cwnd_gain of ProbeBW (draft § 4.2.3.2).
const CWND_GAIN: f64 = 2.0;
/// Startup ends when the rate has grown by less than a quarter in three rounds (draft § 4.3.2.2).
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// BBRBtlBwFilterLen, rounds (draft § 4.1.1.3).
const BANDWIDTH_ROUNDS: u64 = 10;
/// BBRMinPipeCwnd, segments (draft § 4.2.3.3).
const MIN_WINDOW: f64 = 4.0;
/// It is paced a little below the estimate (Linux `bbr_pacing_margin_percent`).
const PACING_MARGIN: f64 = 0.99;
/// Below this rate one segment is sent at a time, else two (Linux `bbr_min_tso_rate`).
const LOW_RATE: f64 = 1.2e6;
/// A burst carries a millisecond's worth (Linux `sk_pacing_shift`).
const BURST: f64 = 0.001;
/// The round-trip time for the first pacing rate where none is known (draft § 4.2.1; Linux: 1 ms).
const FIRST_RTT: f64 = 0.001;

/// Where in its life a flow is (draft § 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    /// In the phase with this number since this time.
    ProbeBw {
        phase: usize,
        since: Time,
    },
    ProbeRtt,
}

pub(in crate::tcp) struct Bbr {
    mode: Mode,
    /// BtlBw, segments a second.
    bandwidth: MaxFilter,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    rounds: Rounds,
    full: FullPipe,
    recovery: Recovery,
    /// bit/s; none before the first acknowledgement.
    pacing: Option<f64>,
    paced_by_rtt: bool,
    /// Sends again after a rest, and nothing is acknowledged of it yet: an old least round trip is
    /// no reason to probe (Linux `idle_restart`).
    restarts: bool,
    random: Stream,
}

/// Round trips, counted in delivered segments (draft § 4.1.1.3).
#[derive(Default)]
struct Rounds {
    count: u64,
    next: u64,
    starts: bool,
}

/// Whether startup has filled the pipe (draft § 4.3.2.2).
#[derive(Default)]
struct FullPipe {
    bandwidth: f64,
    rounds: u32,
    reached: bool,
}

/// The window while losses are repaired (Linux `bbr_set_cwnd_to_recover_or_restore`).
struct Recovery {
    before: Repair,
    conserving: bool,
    /// The window to come back to.
    saved: f64,
}

impl Bbr {
    pub(super) fn new(random: Stream) -> Self {
        Self {
            mode: Mode::Startup,
            bandwidth: MaxFilter::new(BANDWIDTH_ROUNDS),
            min_rtt: MinRtt::default(),
            aggregation: Aggregation::default(),
            rounds: Rounds::default(),
            full: FullPipe::default(),
            recovery: Recovery { before: Repair::None, conserving: false, saved: 0.0 },
            pacing: None,
            paced_by_rtt: false,
            restarts: false,
            random,
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => DRAIN_GAIN,
            Mode::ProbeBw { phase, .. } => CYCLE[phase],
            Mode::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBw { .. } => CWND_GAIN,
            Mode::ProbeRtt => 1.0,
        }
    }

    /// `gain` bandwidth-delay products, segments (Linux `bbr_bdp`).
    fn product(&self, gain: f64) -> f64 {
        let Some(rtt) = self.min_rtt.value() else { return INITIAL_WINDOW };
        (gain * self.bandwidth.max() * rtt.as_secs_f64()).ceil()
    }

    /// The same, and what hosts need beside it (Linux `bbr_inflight`).
    fn inflight(&self, gain: f64) -> f64 {
        self.with_budget(self.product(gain))
    }

    /// What hosts need beside so many segments (Linux `bbr_quantization_budget`).
    fn with_budget(&self, segments: f64) -> f64 {
        // Three bursts: in the qdisc, on the way, and held by the receiver for its acknowledgement.
        let budget = segments + 3.0 * self.burst();
        let even = (budget / 2.0).ceil() * 2.0;
        let probing = matches!(self.mode, Mode::ProbeBw { phase: 0, .. });
        if probing { even + 2.0 } else { even }
    }

    /// Segments of a burst (Linux `bbr_tso_segs_goal`).
    fn burst(&self) -> f64 {
        let rate = self.pacing.unwrap_or(0.0);
        let least = if rate < LOW_RATE { 1.0 } else { 2.0 };
        (rate * BURST / MAX_SEGMENT.bits() as f64).floor().max(least)
    }

    fn update_bandwidth(&mut self, ack: &Ack) {
        self.rounds.starts = false;
        let Some(sample) = &ack.sample else { return };
        if sample.prior_delivered >= self.rounds.next {
            self.rounds.next = ack.total_delivered;
            self.rounds.count += 1;
            self.rounds.starts = true;
            self.recovery.conserving = false;
        }
        let rate = sample.delivered as f64 / sample.interval.as_secs_f64();
        // draft § 4.1.1.4: a sample that the application held down counts only if it is higher.
        if !sample.app_limited || rate >= self.bandwidth.max() {
            self.bandwidth.update(self.rounds.count, rate);
        }
    }

    /// Goes on to the next phase of ProbeBW (draft § 4.3.4.3; Linux `bbr_is_next_cycle_phase`).
    fn update_phase(&mut self, ack: &Ack) {
        let Mode::ProbeBw { phase, since } = self.mode else { return };
        let Some(rtt) = self.min_rtt.value() else { return };
        let long = ack.now.saturating_since(since) > rtt;
        let flight = ack.flight_before as f64;
        let gain = CYCLE[phase];
        let next = if gain > 1.0 {
            long && (ack.lost > 0 || flight + self.burst() >= self.inflight(gain))
        } else if gain < 1.0 {
            long || flight <= self.inflight(1.0)
        } else {
            long
        };
        if next {
            self.mode = Mode::ProbeBw { phase: (phase + 1) % CYCLE.len(), since: ack.now };
        }
    }

    fn check_full_pipe(&mut self, ack: &Ack) {
        let limited = ack.sample.is_none_or(|sample| sample.app_limited);
        if self.full.reached || !self.rounds.starts || limited {
            return;
        }
        let bandwidth = self.bandwidth.max();
        if bandwidth >= self.full.bandwidth * FULL_GROWTH {
            (self.full.bandwidth, self.full.rounds) = (bandwidth, 0);
            return;
        }
        self.full.rounds += 1;
        self.full.reached = self.full.rounds >= FULL_ROUNDS;
    }

    fn check_drain(&mut self, ack: &Ack) {
        if self.mode == Mode::Startup && self.full.reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && ack.flight as f64 <= self.inflight(1.0) {
            self.enter_probe_bw(ack.now);
        }
    }

    /// Begins anywhere in the cycle but where it drains (draft § 4.3.4.1).
    fn enter_probe_bw(&mut self, now: Time) {
        let back = self.random.below(CYCLE.len() as u64 - 1);
        let phase = (CYCLE.len() - usize::try_from(back).unwrap_or(0)) % CYCLE.len();
        self.mode = Mode::ProbeBw { phase, since: now };
    }

    /// ProbeRTT (draft § 4.3.5): when the least round trip is old, little is sent for a while.
    fn check_probe_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let expired = self.min_rtt.update(ack.now, ack.rtt);
        let restarts = self.restarts;
        self.restarts &= ack.delivered == 0;
        if expired && !restarts && self.mode != Mode::ProbeRtt {
            self.save(window.cwnd);
            self.mode = Mode::ProbeRtt;
            self.min_rtt.begin_probe();
        }
        if self.mode != Mode::ProbeRtt {
            return;
        }
        let few = ack.flight as f64 <= MIN_WINDOW;
        if self.min_rtt.starts_wait(ack.now, few) {
            self.rounds.next = ack.total_delivered;
        } else if self.min_rtt.probe_is_over(ack.now, self.rounds.starts) {
            window.cwnd = window.cwnd.max(self.recovery.saved);
            if self.full.reached {
                self.enter_probe_bw(ack.now);
            } else {
                self.mode = Mode::Startup;
            }
        }
    }

    fn save(&mut self, cwnd: f64) {
        let normal = self.recovery.before == Repair::None && self.mode != Mode::ProbeRtt;
        self.recovery.saved = if normal { cwnd } else { self.recovery.saved.max(cwnd) };
    }

    fn set_pacing(&mut self, ack: &Ack, window: &Window) {
        if !self.paced_by_rtt {
            self.paced_by_rtt = ack.smoothed_rtt.is_some();
            let rtt = ack.smoothed_rtt.map_or(FIRST_RTT, Duration::as_secs_f64).max(1e-9);
            self.pacing = Some(HIGH_GAIN * window.cwnd * MAX_SEGMENT.bits() as f64 / rtt);
        }
        let bits = self.bandwidth.max() * MAX_SEGMENT.bits() as f64;
        let rate = self.pacing_gain() * bits * PACING_MARGIN;
        if self.full.reached || self.pacing.is_none_or(|pacing| rate > pacing) {
            self.pacing = Some(rate);
        }
    }

    /// draft § 4.2.3.
    fn set_window(&mut self, ack: &Ack, window: &mut Window) {
        let acked = ack.delivered as f64;
        if acked > 0.0 && !self.recover_or_restore(ack, window) {
            let extra =
                if self.full.reached { self.aggregation.window(self.bandwidth.max()) } else { 0.0 };
            let target = self.with_budget(self.product(self.cwnd_gain()) + extra);
            if self.full.reached {
                window.cwnd = (window.cwnd + acked).min(target);
            } else if window.cwnd < target || (ack.total_delivered as f64) < INITIAL_WINDOW {
                window.cwnd += acked;
            }
            window.cwnd = window.cwnd.max(MIN_WINDOW);
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_WINDOW);
        }
    }

    /// The first round of a recovery conserves packets; its end restores the window. Whether the
    /// window is set by that.
    fn recover_or_restore(&mut self, ack: &Ack, window: &mut Window) -> bool {
        window.cwnd = (window.cwnd - ack.lost as f64).max(1.0);
        let before = std::mem::replace(&mut self.recovery.before, ack.repair);
        let conserved = ack.flight as f64 + ack.delivered as f64;
        if ack.repair == Repair::Recovery && before != Repair::Recovery {
            self.recovery.conserving = true;
            self.rounds.next = ack.total_delivered;
            window.cwnd = conserved;
        } else if ack.repair == Repair::None && before != Repair::None {
            window.cwnd = window.cwnd.max(self.recovery.saved);
            self.recovery.conserving = false;
        }
        if self.recovery.conserving {
            window.cwnd = window.cwnd.max(conserved);
        }
        self.recovery.conserving
    }
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.update_bandwidth(ack);
        if ack.delivered > 0 && ack.sample.is_some() {
            self.aggregation.update(ack, self.rounds.starts, self.bandwidth.max(), window.cwnd);
        }
        self.update_phase(ack);
        self.check_full_pipe(ack);
        self.check_drain(ack);
        self.check_probe_rtt(ack, window);
        self.set_pacing(ack, window);
        self.set_window(ack, window);
    }

    /// Losses set no threshold (draft § 4.2.3.4); the window is kept to come back to.
    fn on_congestion(&mut self, window: &Window) -> f64 {
        self.save(window.cwnd);
        window.ssthresh
    }

    /// The pipe may have shrunk: a round begins, and startup is judged anew (Linux
    /// `bbr_set_state`).
    fn on_timeout(&mut self) {
        self.full.bandwidth = 0.0;
        self.recovery.before = Repair::Loss;
    }

    /// Linux `bbr_undo_cwnd`.
    fn on_undo(&mut self) {
        (self.full.bandwidth, self.full.rounds) = (0.0, 0);
    }

    /// What is sent first after a rest leaves at the estimated rate, whatever the phase (Linux
    /// `bbr_cwnd_event`).
    fn on_restart(&mut self, now: Time, _idle: Duration) {
        self.restarts = true;
        self.aggregation.restart(now);
        if matches!(self.mode, Mode::ProbeBw { .. }) {
            self.pacing = Some(self.bandwidth.max() * MAX_SEGMENT.bits() as f64 * PACING_MARGIN);
        }
    }

    fn governs_recovery(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<Bitrate> {
        self.pacing.map(Bitrate::from_bps_f64)
    }

    fn holds_back(&self) -> bool {
        self.mode == Mode::ProbeRtt
    }
}
