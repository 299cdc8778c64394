//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00, July 2017), as implemented in
//! Linux `net/ipv4/tcp_bbr.c`. Names are the draft's; "the draft" is this one.
//!
//! | difference | Linux | here |
//! |---|---|---|
//! | policers | uses a long-term rate after two intervals that lose more than a fifth at the same rate | left out, as in the draft |
//! | pacing | subtracts packets whose departure time is in the future (`bbr_packets_in_net_at_edt`) | adds the next burst |

mod aggregation;
mod max_filter;
mod rt_prop;

use super::{Ack, CongestionControl, INITIAL_WINDOW, LossRecovery, MIN_BURST, Window};
use crate::tcp::MAX_SEGMENT;
use aggregation::Aggregation;
use max_filter::MaxFilter;
use rt_prop::RtProp;
use units::{Bitrate, Duration, Stream, Time};

/// BBRHighGain, 2 / ln 2: doubles the sending rate each round (draft § 4.3.2.1; Linux
/// `bbr_high_gain`).
const HIGH_GAIN: f64 = 2.885;
/// Drains in one round the queue that Startup built (draft § 4.3.3).
const DRAIN_GAIN: f64 = 1.0 / HIGH_GAIN;
/// pacing_gain in each phase of ProbeBW (draft § 4.3.4.2).
const PACING_GAIN_CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// cwnd_gain of ProbeBW (draft § 4.2.3.2).
const CWND_GAIN: f64 = 2.0;
/// Startup ends when BtlBw has grown by less than a quarter in three rounds (draft § 4.3.2.2).
const FULL_BW_GROWTH: f64 = 1.25;
const FULL_BW_ROUNDS: u32 = 3;
/// BBRBtlBwFilterLen, rounds (draft § 4.1.1.3).
const BTL_BW_FILTER_LENGTH: u64 = 10;
/// BBRMinPipeCwnd, segments (draft § 4.2.3.3).
const MIN_PIPE_CWND: f64 = 4.0;
/// The pacing rate is a little below the estimate (Linux `bbr_pacing_margin_percent`).
const PACING_MARGIN: f64 = 0.99;
/// Below this rate in bit/s a burst is one segment, else at least two (Linux `bbr_min_tso_rate`).
const MIN_TSO_RATE: f64 = 1.2e6;
/// A burst carries what the pacing rate sends in this time, in seconds (Linux `sk_pacing_shift`).
const BURST_SECONDS: f64 = 0.001;

/// The state of the flow (draft § 3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BbrState {
    Startup,
    Drain,
    /// In phase cycle_index since cycle_stamp.
    ProbeBw {
        cycle_index: usize,
        cycle_stamp: Time,
    },
    ProbeRtt,
}

pub(in crate::tcp) struct Bbr {
    state: BbrState,
    /// BtlBw, in segments per second.
    btl_bw: MaxFilter,
    rt_prop: RtProp,
    aggregation: Aggregation,
    rounds: Rounds,
    full_pipe: FullPipe,
    recovery: Recovery,
    /// In bit/s; `None` before the connection is open.
    pacing_rate: Option<f64>,
    /// The flow sends again after an idle period, and nothing of it is acknowledged yet. An expired
    /// RTprop is then no reason to probe (Linux `idle_restart`).
    idle_restart: bool,
    random: Stream,
}

/// Round trips, counted in delivered segments (draft § 4.1.1.3).
#[derive(Default)]
struct Rounds {
    round_count: u64,
    next_round_delivered: u64,
    round_start: bool,
}

/// Whether Startup has filled the pipe (draft § 4.3.2.2).
#[derive(Default)]
struct FullPipe {
    full_bw: f64,
    full_bw_count: u32,
    filled_pipe: bool,
}

/// The window during loss recovery (Linux `bbr_set_cwnd_to_recover_or_restore`).
struct Recovery {
    previous: LossRecovery,
    packet_conservation: bool,
    /// The window to restore after recovery or ProbeRTT (Linux `prior_cwnd`).
    prior_cwnd: f64,
}

/// The pacing rate of Startup at a window of `cwnd` segments, in bit/s (draft § 4.2.1; Linux
/// `bbr_init_pacing_rate_from_rtt`).
fn startup_rate(cwnd: f64, rtt: Duration) -> f64 {
    HIGH_GAIN * PACING_MARGIN * cwnd * MAX_SEGMENT.bits() as f64 / rtt.as_secs_f64().max(1e-6)
}

impl Bbr {
    pub(super) fn new(random: Stream) -> Self {
        Self {
            state: BbrState::Startup,
            btl_bw: MaxFilter::new(BTL_BW_FILTER_LENGTH),
            rt_prop: RtProp::default(),
            aggregation: Aggregation::default(),
            rounds: Rounds::default(),
            full_pipe: FullPipe::default(),
            recovery: Recovery {
                previous: LossRecovery::None,
                packet_conservation: false,
                prior_cwnd: 0.0,
            },
            pacing_rate: None,
            idle_restart: false,
            random,
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            BbrState::Startup => HIGH_GAIN,
            BbrState::Drain => DRAIN_GAIN,
            BbrState::ProbeBw { cycle_index, .. } => PACING_GAIN_CYCLE[cycle_index],
            BbrState::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            BbrState::Startup | BbrState::Drain => HIGH_GAIN,
            BbrState::ProbeBw { .. } => CWND_GAIN,
            BbrState::ProbeRtt => 1.0,
        }
    }

    /// `gain` bandwidth-delay products, in segments (Linux `bbr_bdp`).
    fn bdp(&self, gain: f64) -> f64 {
        let Some(rtt) = self.rt_prop.value() else { return INITIAL_WINDOW };
        (gain * self.btl_bw.max() * rtt.as_secs_f64()).ceil()
    }

    /// The same plus the quantization budget, in segments (Linux `bbr_inflight`).
    fn inflight(&self, gain: f64) -> f64 {
        self.with_quantization_budget(self.bdp(gain))
    }

    /// `segments` plus what the hosts hold (Linux `bbr_quantization_budget`).
    fn with_quantization_budget(&self, segments: f64) -> f64 {
        // Three bursts: in the qdisc, in transit, and at the receiver waiting for its
        // acknowledgement.
        let budget = segments + 3.0 * self.burst();
        let even = (budget / 2.0).ceil() * 2.0;
        let probing = matches!(self.state, BbrState::ProbeBw { cycle_index: 0, .. });
        if probing { even + 2.0 } else { even }
    }

    /// Segments per burst (Linux `bbr_tso_segs_goal`).
    fn burst(&self) -> f64 {
        let rate = self.pacing_rate.unwrap_or(0.0);
        let min_segments = if rate < MIN_TSO_RATE { 1.0 } else { 2.0 };
        (rate * BURST_SECONDS / MAX_SEGMENT.bits() as f64).floor().max(min_segments)
    }

    fn update_bandwidth(&mut self, ack: &Ack) {
        self.rounds.round_start = false;
        let Some(sample) = &ack.sample else { return };
        if sample.prior_delivered >= self.rounds.next_round_delivered {
            self.rounds.next_round_delivered = ack.total_delivered;
            self.rounds.round_count += 1;
            self.rounds.round_start = true;
            self.recovery.packet_conservation = false;
        }
        let rate = sample.delivered as f64 / sample.interval.as_secs_f64();
        // Draft § 4.1.1.4: a sample that the application limited counts only if it is higher.
        if !sample.app_limited || rate >= self.btl_bw.max() {
            self.btl_bw.update(self.rounds.round_count, rate);
        }
    }

    /// Moves to the next phase of ProbeBW (draft § 4.3.4.3; Linux `bbr_is_next_cycle_phase`).
    fn update_cycle_phase(&mut self, ack: &Ack) {
        let BbrState::ProbeBw { cycle_index, cycle_stamp } = self.state else { return };
        let Some(rtt) = self.rt_prop.value() else { return };
        let long = ack.now.saturating_since(cycle_stamp) > rtt;
        let flight = ack.flight_before as f64;
        let gain = PACING_GAIN_CYCLE[cycle_index];
        let next = if gain > 1.0 {
            long && (ack.lost > 0 || flight + self.burst() >= self.inflight(gain))
        } else if gain < 1.0 {
            long || flight <= self.inflight(1.0)
        } else {
            long
        };
        if next {
            self.state = BbrState::ProbeBw {
                cycle_index: (cycle_index + 1) % PACING_GAIN_CYCLE.len(),
                cycle_stamp: ack.now,
            };
        }
    }

    fn check_full_pipe(&mut self, ack: &Ack) {
        let limited = ack.sample.is_none_or(|sample| sample.app_limited);
        if self.full_pipe.filled_pipe || !self.rounds.round_start || limited {
            return;
        }
        let bandwidth = self.btl_bw.max();
        if bandwidth >= self.full_pipe.full_bw * FULL_BW_GROWTH {
            (self.full_pipe.full_bw, self.full_pipe.full_bw_count) = (bandwidth, 0);
            return;
        }
        self.full_pipe.full_bw_count += 1;
        self.full_pipe.filled_pipe = self.full_pipe.full_bw_count >= FULL_BW_ROUNDS;
    }

    fn check_drain(&mut self, ack: &Ack) {
        if self.state == BbrState::Startup && self.full_pipe.filled_pipe {
            self.state = BbrState::Drain;
        }
        if self.state == BbrState::Drain && ack.flight as f64 <= self.inflight(1.0) {
            self.enter_probe_bw(ack.now);
        }
    }

    /// Enters ProbeBW in a random phase other than the draining one (draft § 4.3.4.1).
    fn enter_probe_bw(&mut self, now: Time) {
        let back = self.random.below(PACING_GAIN_CYCLE.len() as u64 - 1);
        let cycle_index = (PACING_GAIN_CYCLE.len() - usize::try_from(back).unwrap_or(0))
            % PACING_GAIN_CYCLE.len();
        self.state = BbrState::ProbeBw { cycle_index, cycle_stamp: now };
    }

    /// ProbeRTT (draft § 4.3.5): when RTprop has expired, the flow keeps only `MIN_PIPE_CWND` in
    /// flight for a while.
    fn check_probe_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let expired = self.rt_prop.update(ack.now, ack.rtt);
        let idle_restart = self.idle_restart;
        self.idle_restart &= ack.delivered == 0;
        if expired && !idle_restart && self.state != BbrState::ProbeRtt {
            self.save_cwnd(window.cwnd);
            self.state = BbrState::ProbeRtt;
            self.rt_prop.begin_probe();
        }
        if self.state != BbrState::ProbeRtt {
            return;
        }
        let few = ack.flight as f64 <= MIN_PIPE_CWND;
        if self.rt_prop.starts_timer(ack.now, few) {
            self.rounds.next_round_delivered = ack.total_delivered;
        } else if self.rt_prop.probe_is_over(ack.now, self.rounds.round_start) {
            window.cwnd = window.cwnd.max(self.recovery.prior_cwnd);
            if self.full_pipe.filled_pipe {
                self.enter_probe_bw(ack.now);
            } else {
                self.state = BbrState::Startup;
            }
        }
    }

    fn save_cwnd(&mut self, cwnd: f64) {
        let normal =
            self.recovery.previous == LossRecovery::None && self.state != BbrState::ProbeRtt;
        self.recovery.prior_cwnd = if normal { cwnd } else { self.recovery.prior_cwnd.max(cwnd) };
    }

    fn set_pacing_rate(&mut self) {
        let bits = self.btl_bw.max() * MAX_SEGMENT.bits() as f64;
        let rate = self.pacing_gain() * bits * PACING_MARGIN;
        if self.full_pipe.filled_pipe || Some(rate) > self.pacing_rate {
            self.pacing_rate = Some(rate);
        }
    }

    /// Sets the window (draft § 4.2.3).
    fn set_cwnd(&mut self, ack: &Ack, window: &mut Window) {
        let acked = ack.delivered as f64;
        if acked > 0.0 && !self.recover_or_restore(ack, window) {
            let extra = if self.full_pipe.filled_pipe {
                self.aggregation.cwnd_addition(self.btl_bw.max())
            } else {
                0.0
            };
            let target = self.with_quantization_budget(self.bdp(self.cwnd_gain()) + extra);
            if self.full_pipe.filled_pipe {
                window.cwnd = (window.cwnd + acked).min(target);
            } else if window.cwnd < target || (ack.total_delivered as f64) < INITIAL_WINDOW {
                window.cwnd += acked;
            }
            window.cwnd = window.cwnd.max(MIN_PIPE_CWND);
        }
        if self.state == BbrState::ProbeRtt {
            window.cwnd = window.cwnd.min(MIN_PIPE_CWND);
        }
    }

    /// Conserves packets in the first round of a recovery and restores the window at its end.
    /// Returns whether packet conservation determines the window.
    fn recover_or_restore(&mut self, ack: &Ack, window: &mut Window) -> bool {
        window.cwnd = (window.cwnd - ack.lost as f64).max(1.0);
        let previous = std::mem::replace(&mut self.recovery.previous, ack.loss_recovery);
        let conserved = ack.flight as f64 + ack.delivered as f64;
        if ack.loss_recovery == LossRecovery::Fast && previous != LossRecovery::Fast {
            self.recovery.packet_conservation = true;
            self.rounds.next_round_delivered = ack.total_delivered;
            window.cwnd = conserved;
        } else if ack.loss_recovery == LossRecovery::None && previous != LossRecovery::None {
            window.cwnd = window.cwnd.max(self.recovery.prior_cwnd);
            self.recovery.packet_conservation = false;
        }
        if self.recovery.packet_conservation {
            window.cwnd = window.cwnd.max(conserved);
        }
        self.recovery.packet_conservation
    }
}

impl CongestionControl for Bbr {
    /// Linux `bbr_init`: the handshake gives the first minimum round-trip time and the first pacing
    /// rate.
    fn on_open(&mut self, now: Time, rtt: Duration) {
        self.rt_prop.update(now, Some(rtt));
        self.pacing_rate = Some(startup_rate(INITIAL_WINDOW, rtt));
    }

    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.update_bandwidth(ack);
        if ack.delivered > 0 && ack.sample.is_some() {
            self.aggregation.update(ack, self.rounds.round_start, self.btl_bw.max(), window.cwnd);
        }
        self.update_cycle_phase(ack);
        self.check_full_pipe(ack);
        self.check_drain(ack);
        self.check_probe_rtt(ack, window);
        self.set_pacing_rate();
        self.set_cwnd(ack, window);
    }

    /// Losses set no slow start threshold (draft § 4.2.3.4). The window is saved to be restored
    /// later.
    fn on_congestion(&mut self, window: &Window) -> f64 {
        self.save_cwnd(window.cwnd);
        window.ssthresh
    }

    /// The path's capacity may have dropped, so Startup judges anew whether the pipe is full (Linux
    /// `bbr_set_state`).
    fn on_timeout(&mut self) {
        self.full_pipe.full_bw = 0.0;
        self.recovery.previous = LossRecovery::Timeout;
    }

    /// Linux `bbr_undo_cwnd`.
    fn on_undo(&mut self) {
        (self.full_pipe.full_bw, self.full_pipe.full_bw_count) = (0.0, 0);
    }

    /// After an idle period, the first packets leave at the estimated bandwidth, whatever the phase
    /// (Linux `bbr_cwnd_event`).
    fn on_restart(&mut self, now: Time, _idle: Duration) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if matches!(self.state, BbrState::ProbeBw { .. }) {
            self.pacing_rate = Some(self.btl_bw.max() * MAX_SEGMENT.bits() as f64 * PACING_MARGIN);
        }
    }

    fn governs_recovery(&self) -> bool {
        true
    }

    fn pacing_rate(&self) -> Option<Bitrate> {
        self.pacing_rate.map(Bitrate::from_bps_f64)
    }

    /// Linux `bbr_min_tso_segs`.
    fn min_burst(&self, pacing: Bitrate) -> u64 {
        if pacing.as_bps_f64() < MIN_TSO_RATE { 1 } else { MIN_BURST }
    }

    fn holds_back(&self) -> bool {
        self.state == BbrState::ProbeRtt
    }
}
