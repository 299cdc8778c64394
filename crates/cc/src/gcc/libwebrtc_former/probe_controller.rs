//! Decides when to probe and at which rate (libwebrtc `goog_cc/probe_controller.cc`).

use super::config::LibwebrtcConfig;
use super::probe_queue::ProbeQueue;
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProbeState {
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
    max_rate: Bitrate,
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
    /// Requests the initial probes at once.
    pub(super) fn new(config: &LibwebrtcConfig, start: Bitrate, max_rate: Bitrate) -> Self {
        let mut controller = Self {
            config: config.clone(),
            max_rate: max_rate.min(config.probe_max),
            queue: ProbeQueue::new(config.probe_expiry),
            last_id: 0,
            state: ProbeState::Complete,
            estimate: start,
            limit: LimitCause::Delay,
            initiated: None,
            drop: None,
            probed_drop: None,
            alr_since: None,
            alr_ended: None,
            fresh: [None; 2],
        };
        if config.probe_first > 0.0 {
            let second = (config.probe_second > 0.0).then(|| start.scale(config.probe_second));
            let probes = [Some(start.scale(config.probe_first)), second];
            controller.initiate(None, probes, true);
        }
        controller
    }

    pub(super) fn on_sent(&mut self, packet: &SentPacket) {
        self.initiated.get_or_insert(packet.sent);
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
        if since.is_some_and(|since| since > self.config.patience) {
            self.state = ProbeState::Complete;
        }
        if self.state == ProbeState::Complete && self.is_due_in_alr(now) {
            self.probe(now, self.estimate.scale(self.config.probe_alr), true);
        }
    }

    fn is_due_in_alr(&self, now: Time) -> bool {
        let interval = self.config.alr_interval;
        let Some(since) = self.alr_since.filter(|_| interval > Duration::ZERO) else {
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
        let max_rate = match self.limit {
            LimitCause::DelayChanges | LimitCause::RoundTripTime | LimitCause::Loss => return,
            LimitCause::LossIncreasing => {
                self.max_rate.min(self.estimate.scale(self.config.loss_limited))
            }
            LimitCause::Delay => self.max_rate,
        };
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
mod tests {
    use super::*;

    const START: Bitrate = Bitrate::from_kbps(300);
    const MAX_RATE: Bitrate = Bitrate::from_mbps(20);

    fn rates(controller: &mut ProbeController) -> Vec<u64> {
        controller
            .take_fresh()
            .into_iter()
            .flatten()
            .map(|cluster| cluster.rate.as_bps() / 1000)
            .collect()
    }

    /// A controller whose initial probes were sent at 0 s and have ended.
    fn settled(kbps: u64) -> ProbeController {
        let mut controller = ProbeController::new(&LibwebrtcConfig::default(), START, MAX_RATE);
        controller.take_fresh();
        let size = units::Bytes::new(1200);
        controller.on_sent(&SentPacket { sequence: 0, sent: Time::ZERO, size, probe: Some(1) });
        controller.process(Time::from_millis(1001));
        controller.set_estimate(
            Time::from_millis(1001),
            Bitrate::from_kbps(kbps),
            LimitCause::Delay,
        );
        controller
    }

    #[test]
    fn the_initial_probes_are_three_and_six_times_the_start_rate() {
        let mut controller = ProbeController::new(&LibwebrtcConfig::default(), START, MAX_RATE);
        let first = controller.cluster().unwrap();
        assert_eq!((first.id, first.min_packets), (1, 5));
        assert_eq!(first.min_duration, Duration::from_millis(15));
        assert_eq!(rates(&mut controller), [900, 1800]);
        let mut capped =
            ProbeController::new(&LibwebrtcConfig::default(), START, Bitrate::from_mbps(1));
        assert_eq!(rates(&mut capped), [900, 1000]);
        let mut high =
            ProbeController::new(&LibwebrtcConfig::default(), Bitrate::from_mbps(2), MAX_RATE);
        assert_eq!(rates(&mut high), [5000, 5000]);
    }

    #[test]
    fn further_probes_follow_while_the_estimate_exceeds_seven_tenths() {
        let mut controller = ProbeController::new(&LibwebrtcConfig::default(), START, MAX_RATE);
        controller.take_fresh();
        controller.set_estimate(
            Time::from_millis(300),
            Bitrate::from_kbps(1260),
            LimitCause::Delay,
        );
        assert_eq!(rates(&mut controller), [0; 0]);
        controller.set_estimate(
            Time::from_millis(400),
            Bitrate::from_kbps(1300),
            LimitCause::Delay,
        );
        assert_eq!(rates(&mut controller), [2600]);
        controller.set_estimate(
            Time::from_millis(500),
            Bitrate::from_kbps(2600),
            LimitCause::Delay,
        );
        assert_eq!(rates(&mut controller), [5000], "the last one, at the cap");
        controller.set_estimate(
            Time::from_millis(600),
            Bitrate::from_kbps(5000),
            LimitCause::Delay,
        );
        assert_eq!(rates(&mut controller), [0; 0]);
    }

    #[test]
    fn a_late_result_is_ignored() {
        let mut controller = settled(300);
        controller.set_estimate(
            Time::from_millis(1100),
            Bitrate::from_kbps(1800),
            LimitCause::Delay,
        );
        assert_eq!(rates(&mut controller), [0; 0]);
    }

    #[test]
    fn an_application_limited_region_is_probed_every_five_seconds() {
        let mut controller = settled(1000);
        controller.process(Time::from_secs(20));
        assert_eq!(rates(&mut controller), [0; 0]);
        controller.set_alr(Some(Time::from_secs(20)));
        controller.process(Time::from_millis(24_999));
        assert_eq!(rates(&mut controller), [0; 0]);
        controller.process(Time::from_secs(25));
        assert_eq!(rates(&mut controller), [2000]);
        controller.process(Time::from_millis(29_999));
        assert_eq!(rates(&mut controller), [0; 0]);
        controller.process(Time::from_secs(30));
        assert_eq!(rates(&mut controller), [2000]);
    }

    #[test]
    fn a_large_drop_in_an_application_limited_region_is_probed_once() {
        let recovered = |kbps: u64, alr: bool, seconds: u64| {
            let mut controller = settled(1000);
            controller.set_alr(alr.then_some(Time::from_secs(10)));
            controller.set_estimate(
                Time::from_secs(11),
                Bitrate::from_kbps(kbps),
                LimitCause::Delay,
            );
            controller.on_recovered(Time::from_secs(11 + seconds));
            let first = rates(&mut controller);
            controller.on_recovered(Time::from_secs(12 + seconds));
            (first, rates(&mut controller))
        };
        assert_eq!(recovered(650, true, 1), (vec![850], vec![]));
        assert_eq!(recovered(670, true, 1), (vec![], vec![]), "no large drop");
        assert_eq!(recovered(650, false, 1), (vec![], vec![]), "the application was not limited");
        assert_eq!(recovered(650, true, 5), (vec![], vec![]), "too late");
    }

    #[test]
    fn no_probes_while_loss_or_delay_limits() {
        for limit in [LimitCause::DelayChanges, LimitCause::RoundTripTime, LimitCause::Loss] {
            let mut controller = settled(1000);
            controller.set_alr(Some(Time::from_secs(2)));
            controller.set_estimate(Time::from_secs(3), Bitrate::from_mbps(1), limit);
            controller.process(Time::from_secs(30));
            assert_eq!(rates(&mut controller), [0; 0], "{limit:?}");
            controller.set_estimate(
                Time::from_secs(30),
                Bitrate::from_mbps(1),
                LimitCause::LossIncreasing,
            );
            controller.process(Time::from_secs(31));
            assert_eq!(rates(&mut controller), [1500]);
        }
    }
}
