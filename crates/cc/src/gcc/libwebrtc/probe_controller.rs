//! Decides when to probe and at which rate (libwebrtc `goog_cc/probe_controller.cc`).

use super::config::LibwebrtcConfig;
use crate::ProbeQueue;
use crate::{ProbeCluster, SentPacket};
use units::{Bitrate, Duration, Time};

/// What limits the estimate, and with it the probes (libwebrtc `goog_cc/probe_controller.h`,
/// `BandwidthLimitedCause`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitCause {
    /// The delay-based rate, while the delay is steady.
    Delay,
    /// The delay-based rate, while the delay changes: no probes.
    DelayChanges,
    /// An extreme round-trip time: no probes.
    RoundTripTime,
    /// Loss: no probes.
    Loss,
    /// Loss, while the estimate increases: probes up to `probe.loss_limited` times the estimate.
    LossIncreasing,
}

/// A maximum of this or more is no maximum: libwebrtc's own default (libwebrtc
/// `goog_cc/send_side_bandwidth_estimation.cc`: 1 Gbit/s).
const NO_MAXIMUM: Bitrate = Bitrate::from_mbps(1000);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProbeState {
    /// The initial probes were not requested yet.
    Initial,
    /// Waits for a result. An estimate above this rate is followed by a further probe.
    Waiting(Bitrate),
    Complete,
}

/// A large decrease of the estimate: the estimate before, and the time.
#[derive(Clone, Copy, Debug)]
struct LargeDrop {
    before: Bitrate,
    at: Time,
}

/// The state of probing.
pub(super) struct ProbeController {
    config: LibwebrtcConfig,
    /// Whether periodic probes in application-limited regions are on.
    periodic: bool,
    max_rate: Bitrate,
    start: Bitrate,
    /// The allocated maximum; zero if unknown.
    allocated: Bitrate,
    queue: ProbeQueue,
    last_id: u32,
    state: ProbeState,
    estimate: Bitrate,
    limit: LimitCause,
    /// When the newest probe was requested; for the initial probes, when the first packet was sent.
    initiated: Option<Time>,
    drop: Option<LargeDrop>,
    probed_drop: Option<Time>,
    alr_since: Option<Time>,
    alr_ended: Option<Time>,
    /// Clusters that the probe estimator does not know yet.
    fresh: [Option<ProbeCluster>; 2],
}

impl ProbeController {
    pub(super) fn new(config: &LibwebrtcConfig) -> Self {
        Self {
            config: config.clone(),
            periodic: config.alr_interval > Duration::ZERO,
            max_rate: config.probe_max,
            start: Bitrate::ZERO,
            allocated: Bitrate::ZERO,
            queue: ProbeQueue::new(config.probe_expiry),
            last_id: 0,
            state: ProbeState::Initial,
            estimate: Bitrate::ZERO,
            limit: LimitCause::Delay,
            initiated: None,
            drop: None,
            probed_drop: None,
            alr_since: None,
            alr_ended: None,
            fresh: [None; 2],
        }
    }

    /// The network route changed: probing starts again with the next constraints. The allocated
    /// maximum and the application-limited region are kept.
    pub(super) fn reset(&mut self, now: Time) {
        (self.state, self.limit) = (ProbeState::Initial, LimitCause::Delay);
        (self.estimate, self.start) = (Bitrate::ZERO, Bitrate::ZERO);
        (self.max_rate, self.initiated) = (self.config.probe_max, None);
        (self.drop, self.alr_ended, self.probed_drop) = (None, None, Some(now));
    }

    /// Sets the start rate (zero: unchanged) and the maximum rate (from
    /// [`NO_MAXIMUM`] on: none). The first
    /// call requests the initial probes; a later call that raises the maximum requests a probe at
    /// the maximum.
    pub(super) fn set_rates(&mut self, now: Option<Time>, start: Bitrate, max_rate: Bitrate) {
        if start > Bitrate::ZERO {
            (self.start, self.estimate) = (start, start);
        }
        let max_rate = if max_rate >= NO_MAXIMUM { self.config.probe_max } else { max_rate };
        let before = std::mem::replace(&mut self.max_rate, max_rate);
        match self.state {
            ProbeState::Initial => self.initiate_first(now),
            ProbeState::Complete
                if self.estimate > Bitrate::ZERO
                    && before < max_rate
                    && self.estimate < max_rate =>
            {
                self.initiate(now, [Some(max_rate), None], false);
            }
            ProbeState::Complete | ProbeState::Waiting(_) => {}
        }
    }

    fn initiate_first(&mut self, now: Option<Time>) {
        let scaled = |factor| (factor > 0.0).then(|| self.start.scale(factor));
        let Some(first) = scaled(self.config.probe_first) else {
            self.state = ProbeState::Complete;
            return;
        };
        self.initiate(now, [Some(first), scaled(self.config.probe_second)], true);
    }

    /// Sets the greatest rate that the streams use. In an application-limited region a change is
    /// probed.
    pub(super) fn set_allocated(&mut self, now: Time, allocated: Bitrate) {
        let before = std::mem::replace(&mut self.allocated, allocated);
        let probes = self.state == ProbeState::Complete
            && allocated != before
            && self.estimate < self.max_rate
            && self.estimate < allocated
            && self.alr_since.is_some();
        if !probes || self.config.allocation_first <= 0.0 {
            return;
        }
        let limit = match self.config.allocation_limit {
            factor if factor > 0.0 => self.estimate.scale(factor),
            _ => Bitrate::MAX,
        };
        let first = allocated.scale(self.config.allocation_first);
        if limit < first {
            return self.initiate(Some(now), [Some(limit), None], true);
        }
        let second = allocated.scale(self.config.allocation_second);
        let limited = limit < second;
        let second = Some(second.min(limit)).filter(|&second| second > first);
        self.initiate(Some(now), [Some(first), second], limited);
    }

    /// Turns periodic probes in application-limited regions on or off.
    #[cfg(test)]
    pub(super) fn set_periodic(&mut self, periodic: bool) {
        self.periodic = periodic;
    }

    /// The initial probes, if they are waiting, count from now.
    pub(super) fn begin(&mut self, now: Time) {
        self.initiated.get_or_insert(now);
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.begin(packet.sent);
        self.queue.on_sent(packet);
    }

    /// Sets the start of the current application-limited region, if there is one.
    pub(super) fn set_alr(&mut self, since: Option<Time>) {
        self.alr_since = since;
    }

    pub(super) fn on_alr_ended(&mut self, now: Time) {
        self.alr_ended = Some(now);
    }

    /// The estimate or its limit has changed.
    pub(super) fn set_estimate(&mut self, now: Time, estimate: Bitrate, limit: LimitCause) {
        self.limit = limit;
        if estimate < self.estimate.scale(self.config.large_drop) {
            self.drop = Some(LargeDrop { before: self.estimate, at: now });
        }
        self.estimate = estimate;
        if let ProbeState::Waiting(threshold) = self.state
            && estimate > threshold
        {
            self.probe(now, estimate.scale(self.config.probe_further), true);
        }
    }

    /// Time has passed.
    pub(super) fn process(&mut self, now: Time) {
        let since = self.initiated.map(|initiated| now.saturating_since(initiated));
        let waits = matches!(self.state, ProbeState::Waiting(_));
        if waits && since.is_some_and(|since| since > self.config.patience) {
            self.state = ProbeState::Complete;
        }
        if self.state == ProbeState::Complete && self.is_due_in_alr(now) {
            self.probe(now, self.estimate.scale(self.config.probe_alr), true);
        }
    }

    fn is_due_in_alr(&self, now: Time) -> bool {
        let interval = self.config.alr_interval;
        let Some(since) = self.alr_since.filter(|_| self.periodic) else {
            return false;
        };
        let after = self.initiated.map_or(since, |initiated| initiated.max(since));
        now.saturating_since(after) >= interval
    }

    /// The delay is steady again after over-use. If the application was limited, a large drop may
    /// not reflect the path, so the path is probed.
    pub(super) fn on_recovered(&mut self, now: Time) {
        let Some(drop) = self.drop.filter(|_| self.state == ProbeState::Complete) else { return };
        let within = |at: Option<Time>, span| at.is_some_and(|at| now.saturating_since(at) < span);
        let alr = self.alr_since.is_some() || within(self.alr_ended, self.config.alr_ended);
        let probe = drop.before.scale(self.config.after_drop);
        let min_result = probe.scale(1.0 - self.config.probe_uncertainty);
        let timeout = self.config.drop_timeout;
        let again = self.probed_drop.is_none_or(|at| now.saturating_since(at) > timeout);
        if alr && min_result > self.estimate && within(Some(drop.at), timeout) && again {
            self.probed_drop = Some(now);
            self.probe(now, probe, false);
        }
    }

    fn probe(&mut self, now: Time, rate: Bitrate, further: bool) {
        self.initiate(Some(now), [Some(rate), None], further);
    }

    fn initiate(&mut self, now: Option<Time>, rates: [Option<Bitrate>; 2], mut further: bool) {
        let mut max_rate = self.max_rate;
        if self.allocated > Bitrate::ZERO && self.config.probe_allocated > 0.0 {
            max_rate = max_rate.min(self.allocated.scale(self.config.probe_allocated));
        }
        match self.limit {
            LimitCause::DelayChanges | LimitCause::RoundTripTime | LimitCause::Loss => return,
            LimitCause::LossIncreasing => {
                max_rate = max_rate.min(self.estimate.scale(self.config.loss_limited));
            }
            LimitCause::Delay => {}
        }
        let mut highest = Bitrate::ZERO;
        self.fresh = [None; 2];
        for (rate, fresh) in
            rates.into_iter().zip(0..2usize).filter_map(|(rate, k)| Some((rate?, k)))
        {
            further &= rate < max_rate;
            highest = rate.min(max_rate);
            self.last_id += 1;
            let (min_duration, min_packets) =
                (self.config.probe_duration, self.config.probe_packets);
            let cluster =
                ProbeCluster { id: self.last_id, rate: highest, min_duration, min_packets };
            self.queue.push(now, cluster);
            self.fresh[fresh] = Some(cluster);
        }
        self.initiated = now;
        let threshold = highest.scale(self.config.further_threshold);
        self.state = if further { ProbeState::Waiting(threshold) } else { ProbeState::Complete };
    }

    /// The cluster to send.
    pub(super) fn cluster(&self) -> Option<ProbeCluster> {
        self.queue.offered()
    }

    /// The clusters created since the last call, for the probe estimator.
    pub(super) fn take_fresh(&mut self) -> [Option<ProbeCluster>; 2] {
        std::mem::take(&mut self.fresh)
    }
}

#[cfg(test)]
mod tests;
