//! When to probe, and how high (libwebrtc `goog_cc/probe_controller.cc`).

use super::config::LibwebrtcConfig;
use super::probe_queue::ProbeQueue;
use crate::{ProbeCluster, SentPacket};
use units::{Bitrate, Duration, Time};

/// What limits the estimate, and so the probes (libwebrtc `goog_cc/probe_controller.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    /// The delay-based rate, with an even delay.
    Delay,
    /// The delay changes: no probes.
    DelayChanges,
    /// An extreme round-trip time: no probes.
    RoundTripTime,
    /// Loss: no probes.
    Loss,
    /// Loss, but the estimate rises: probes a little above it.
    LossIncreasing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// An estimate above this is followed by a further probe.
    Waiting(Bitrate),
    Complete,
}

/// The estimate before a large drop, and when that was.
#[derive(Clone, Copy, Debug)]
struct Drop {
    before: Bitrate,
    at: Time,
}

/// Decides on probes.
pub(super) struct ProbeController {
    config: LibwebrtcConfig,
    most: Bitrate,
    queue: ProbeQueue,
    last_id: u32,
    state: State,
    estimate: Bitrate,
    limit: Limit,
    /// When the newest probe was asked for; the initial ones with the first packet.
    initiated: Option<Time>,
    drop: Option<Drop>,
    probed_drop: Option<Time>,
    alr_since: Option<Time>,
    alr_ended: Option<Time>,
    /// Clusters that were created since the estimator was last told.
    fresh: [Option<ProbeCluster>; 2],
}

impl ProbeController {
    /// Asks for the initial probes at once.
    pub(super) fn new(config: &LibwebrtcConfig, start: Bitrate, most: Bitrate) -> Self {
        let mut controller = Self {
            config: config.clone(),
            most: most.min(config.probe_max),
            queue: ProbeQueue::new(config.probe_expiry),
            last_id: 0,
            state: State::Complete,
            estimate: start,
            limit: Limit::Delay,
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

    /// The application-limited region that the application is in, if any.
    pub(super) fn set_alr(&mut self, since: Option<Time>) {
        self.alr_since = since;
    }

    pub(super) fn on_alr_ended(&mut self, now: Time) {
        self.alr_ended = Some(now);
    }

    /// The estimate or what limits it has changed.
    pub(super) fn set_estimate(&mut self, now: Time, estimate: Bitrate, limit: Limit) {
        self.limit = limit;
        if estimate < self.estimate.scale(self.config.large_drop) {
            self.drop = Some(Drop { before: self.estimate, at: now });
        }
        self.estimate = estimate;
        if let State::Waiting(threshold) = self.state
            && estimate > threshold
        {
            self.probe(now, estimate.scale(self.config.probe_further), true);
        }
    }

    /// Time has passed.
    pub(super) fn process(&mut self, now: Time) {
        let since = self.initiated.map(|initiated| now.saturating_since(initiated));
        if since.is_some_and(|since| since > self.config.patience) {
            self.state = State::Complete;
        }
        if self.state == State::Complete && self.is_due_in_alr(now) {
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

    /// The delay is even again after over-use: a large drop may have been unfounded if the
    /// application had sent too little to show what the path carries.
    pub(super) fn on_recovered(&mut self, now: Time) {
        let Some(drop) = self.drop.filter(|_| self.state == State::Complete) else { return };
        let within = |at: Option<Time>, span| at.is_some_and(|at| now.saturating_since(at) < span);
        let alr = self.alr_since.is_some() || within(self.alr_ended, self.config.alr_ended);
        let probe = drop.before.scale(self.config.after_drop);
        let least_result = probe.scale(1.0 - self.config.probe_uncertainty);
        let timeout = self.config.drop_timeout;
        let again = self.probed_drop.is_none_or(|at| now.saturating_since(at) > timeout);
        if alr && least_result > self.estimate && within(Some(drop.at), timeout) && again {
            self.probed_drop = Some(now);
            self.probe(now, probe, false);
        }
    }

    fn probe(&mut self, now: Time, rate: Bitrate, further: bool) {
        self.initiate(Some(now), [Some(rate), None], further);
    }

    fn initiate(&mut self, now: Option<Time>, rates: [Option<Bitrate>; 2], mut further: bool) {
        let most = match self.limit {
            Limit::DelayChanges | Limit::RoundTripTime | Limit::Loss => return,
            Limit::LossIncreasing => self.most.min(self.estimate.scale(self.config.loss_limited)),
            Limit::Delay => self.most,
        };
        let mut highest = Bitrate::ZERO;
        self.fresh = [None; 2];
        for (rate, fresh) in
            rates.into_iter().zip(0..2usize).filter_map(|(rate, k)| Some((rate?, k)))
        {
            further &= rate < most;
            highest = rate.min(most);
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
        self.state = if further { State::Waiting(threshold) } else { State::Complete };
    }

    /// The cluster to send.
    pub(super) fn cluster(&self) -> Option<ProbeCluster> {
        self.queue.offered()
    }

    /// The clusters created since this was last asked, for the estimator.
    pub(super) fn take_fresh(&mut self) -> [Option<ProbeCluster>; 2] {
        std::mem::take(&mut self.fresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Bitrate = Bitrate::from_kbps(300);
    const MOST: Bitrate = Bitrate::from_mbps(20);

    fn rates(controller: &mut ProbeController) -> Vec<u64> {
        controller
            .take_fresh()
            .into_iter()
            .flatten()
            .map(|cluster| cluster.rate.as_bps() / 1000)
            .collect()
    }

    /// A controller whose initial probes were sent at 0 s and are over.
    fn settled(kbps: u64) -> ProbeController {
        let mut controller = ProbeController::new(&LibwebrtcConfig::default(), START, MOST);
        controller.take_fresh();
        let size = units::Bytes::new(1200);
        controller.on_sent(&SentPacket { sequence: 0, sent: Time::ZERO, size, probe: Some(1) });
        controller.process(Time::from_millis(1001));
        controller.set_estimate(Time::from_millis(1001), Bitrate::from_kbps(kbps), Limit::Delay);
        controller
    }

    #[test]
    fn it_begins_with_three_and_six_times_the_start_rate() {
        let mut controller = ProbeController::new(&LibwebrtcConfig::default(), START, MOST);
        let first = controller.cluster().unwrap();
        assert_eq!((first.id, first.min_packets), (1, 5));
        assert_eq!(first.min_duration, Duration::from_millis(15));
        assert_eq!(rates(&mut controller), [900, 1800]);
        let mut capped =
            ProbeController::new(&LibwebrtcConfig::default(), START, Bitrate::from_mbps(1));
        assert_eq!(rates(&mut capped), [900, 1000]);
        let mut high =
            ProbeController::new(&LibwebrtcConfig::default(), Bitrate::from_mbps(2), MOST);
        assert_eq!(rates(&mut high), [5000, 5000]);
    }

    #[test]
    fn it_goes_on_while_the_estimate_exceeds_seven_tenths() {
        let mut controller = ProbeController::new(&LibwebrtcConfig::default(), START, MOST);
        controller.take_fresh();
        controller.set_estimate(Time::from_millis(300), Bitrate::from_kbps(1260), Limit::Delay);
        assert_eq!(rates(&mut controller), [0; 0]);
        controller.set_estimate(Time::from_millis(400), Bitrate::from_kbps(1300), Limit::Delay);
        assert_eq!(rates(&mut controller), [2600]);
        controller.set_estimate(Time::from_millis(500), Bitrate::from_kbps(2600), Limit::Delay);
        assert_eq!(rates(&mut controller), [5000], "the last one, at the cap");
        controller.set_estimate(Time::from_millis(600), Bitrate::from_kbps(5000), Limit::Delay);
        assert_eq!(rates(&mut controller), [0; 0]);
    }

    #[test]
    fn a_result_that_comes_too_late_is_not_followed() {
        let mut controller = settled(300);
        controller.set_estimate(Time::from_millis(1100), Bitrate::from_kbps(1800), Limit::Delay);
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
    fn a_large_drop_in_such_a_region_is_probed_once() {
        let recovered = |kbps: u64, alr: bool, seconds: u64| {
            let mut controller = settled(1000);
            controller.set_alr(alr.then_some(Time::from_secs(10)));
            controller.set_estimate(Time::from_secs(11), Bitrate::from_kbps(kbps), Limit::Delay);
            controller.on_recovered(Time::from_secs(11 + seconds));
            let first = rates(&mut controller);
            controller.on_recovered(Time::from_secs(12 + seconds));
            (first, rates(&mut controller))
        };
        assert_eq!(recovered(650, true, 1), (vec![850], vec![]));
        assert_eq!(recovered(670, true, 1), (vec![], vec![]), "no large drop");
        assert_eq!(
            recovered(650, false, 1),
            (vec![], vec![]),
            "the application had filled the path"
        );
        assert_eq!(recovered(650, true, 5), (vec![], vec![]), "too late");
    }

    #[test]
    fn loss_and_delay_forbid_probes() {
        for limit in [Limit::DelayChanges, Limit::RoundTripTime, Limit::Loss] {
            let mut controller = settled(1000);
            controller.set_alr(Some(Time::from_secs(2)));
            controller.set_estimate(Time::from_secs(3), Bitrate::from_mbps(1), limit);
            controller.process(Time::from_secs(30));
            assert_eq!(rates(&mut controller), [0; 0], "{limit:?}");
            controller.set_estimate(
                Time::from_secs(30),
                Bitrate::from_mbps(1),
                Limit::LossIncreasing,
            );
            controller.process(Time::from_secs(31));
            assert_eq!(rates(&mut controller), [1500]);
        }
    }
}
