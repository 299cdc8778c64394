//! The delay-based estimate: groups, trend, detector and rate control in series (libwebrtc
//! `goog_cc/delay_based_bwe.cc`).

use super::super::overuse_detector::Signal;
use super::aimd::{Aimd, AimdState};
use super::config::LibwebrtcConfig;
use super::inter_arrival::InterArrival;
use super::overuse::OveruseDetector;
use super::rounding::whole_millis;
use super::trendline::Trendline;
use crate::{SentPacket, SignalSink};
use units::{Bitrate, Duration, Time};

/// The result of processing feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Update {
    /// The delay-based rate, if this feedback set it.
    pub(super) rate: Option<Bitrate>,
    /// Whether the rate is the result of a probe.
    pub(super) probe: bool,
    /// Whether under-use has ended: the queue has drained.
    pub(super) recovered: bool,
}

/// Estimates the rate from the delay.
pub(super) struct DelayBased {
    stream_timeout: Duration,
    groups: InterArrival,
    line: Trendline,
    detector: OveruseDetector,
    aimd: Aimd,
    config: LibwebrtcConfig,
    seen: Option<Time>,
}

impl DelayBased {
    pub(super) fn new(config: &LibwebrtcConfig, start: Bitrate, min: Bitrate) -> Self {
        Self {
            stream_timeout: config.stream_timeout,
            groups: InterArrival::new(config),
            line: Trendline::new(config),
            detector: OveruseDetector::new(config),
            aimd: Aimd::new(config, start, min),
            config: config.clone(),
            seen: None,
        }
    }

    pub(super) fn on_rtt(&mut self, rtt: Duration) {
        self.aimd.on_rtt(rtt);
    }

    /// Processes received packets, in order of arrival, that feedback reported at `now`.
    pub(super) fn on_feedback(
        &mut self,
        now: Time,
        arrived: &[(SentPacket, Time)],
        inputs: &Inputs,
    ) -> Update {
        if arrived.is_empty() {
            return Update::default();
        }
        if self.seen.is_none_or(|seen| now.saturating_since(seen) > self.stream_timeout) {
            self.groups = InterArrival::new(&self.config);
            self.line.restart();
            self.detector.restart();
        }
        self.seen = Some(now);
        let mut recovered = false;
        for (packet, arrival) in arrived {
            let before = self.detector.state();
            if let Some(delta) = self.groups.on_packet(packet.sent, *arrival, now) {
                let arrival = whole_millis(*arrival);
                let trend = self.line.update(&delta, arrival);
                self.detector.detect(&trend, &delta, arrival);
            }
            recovered |= before == Signal::Underuse && self.detector.state() == Signal::Normal;
        }
        self.update(now, inputs, recovered)
    }

    fn update(&mut self, now: Time, inputs: &Inputs, recovered: bool) -> Update {
        let signal = self.detector.state();
        match (signal, inputs.acknowledged, inputs.probe) {
            (Signal::Overuse { .. }, Some(throughput), _)
                if !self.aimd.may_decrease(now, throughput) =>
            {
                return Update::default();
            }
            (Signal::Overuse { .. }, None, _) => {
                // Without an acknowledged rate, the rate is halved (libwebrtc
                // `delay_based_bwe.cc`).
                self.aimd.set_rate(now, self.aimd.rate().scale(0.5));
            }
            (Signal::Normal | Signal::Underuse, _, Some(probe)) => {
                self.aimd.set_rate(now, probe);
                return Update { rate: Some(self.aimd.rate()), probe: true, recovered: false };
            }
            (_, throughput, _) => self.aimd.update(now, signal, throughput, inputs.in_alr),
        }
        let recovered = recovered && !matches!(signal, Signal::Overuse { .. });
        Update { rate: Some(self.aimd.rate()), probe: false, recovered }
    }

    pub(super) fn rate(&self) -> Bitrate {
        self.aimd.rate()
    }

    /// Sets the rate before any feedback.
    pub(super) fn set_start(&mut self, start: Bitrate) {
        self.aimd.set_start(start);
    }

    /// Sets the minimum rate.
    pub(super) fn set_min(&mut self, min: Bitrate) {
        self.aimd.set_min(min);
    }

    pub(super) fn state(&self) -> Signal {
        self.detector.state()
    }

    /// The modified trend; `None` before the detector has compared one.
    #[cfg(test)]
    pub(super) fn compared(&self) -> Option<f64> {
        self.line.compared()
    }

    #[cfg(test)]
    pub(super) fn slope(&self) -> f64 {
        self.line.trend().slope
    }

    #[cfg(test)]
    pub(super) fn threshold(&self) -> f64 {
        self.detector.threshold()
    }

    #[cfg(test)]
    pub(super) fn aimd_state(&self) -> AimdState {
        self.aimd.state()
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> Option<Bitrate> {
        self.aimd.capacity()
    }

    pub(super) fn signals(&self, sink: &mut SignalSink<'_>) {
        sink("trend", self.line.trend().modified);
        sink("slope", self.line.trend().slope);
        sink("threshold", self.detector.threshold());
        sink(
            "state",
            match self.aimd.state() {
                AimdState::Decrease => -1.0,
                AimdState::Hold => 0.0,
                AimdState::Increase => 1.0,
            },
        );
        sink(
            "usage",
            match self.detector.state() {
                Signal::Underuse => -1.0,
                Signal::Normal => 0.0,
                Signal::Overuse { .. } => 1.0,
            },
        );
        sink("overuse_count", self.detector.overuses() as f64);
        sink("delay_based_rate", self.aimd.rate().as_bps_f64());
        sink("link_capacity", self.aimd.capacity().map_or(f64::NAN, Bitrate::as_bps_f64));
    }
}

/// Other inputs of the estimate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inputs {
    /// The acknowledged rate, if known.
    pub(super) acknowledged: Option<Bitrate>,
    /// The result of a probe, if there is a new one.
    pub(super) probe: Option<Bitrate>,
    /// Whether the application is in an application-limited region.
    pub(super) in_alr: bool,
}

#[cfg(test)]
mod expectations;

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    fn estimate() -> DelayBased {
        DelayBased::new(&LibwebrtcConfig::default(), Bitrate::from_mbps(1), Bitrate::from_kbps(5))
    }

    /// Feeds one second of packets sent every 10 ms, each delayed by `step` µs more than the
    /// previous packet, reported every 100 ms. Returns the last update.
    fn second(
        estimate: &mut DelayBased,
        from: u64,
        delay: &mut i64,
        step: i64,
        inputs: &Inputs,
    ) -> Update {
        let mut last = Update::default();
        for report in 0..10u64 {
            let arrived: Vec<_> = (0..10u64)
                .map(|k| {
                    *delay += step;
                    let sent = Time::from_millis(1000 * from + 100 * report + 10 * k);
                    let arrival = sent + Duration::from_micros(u64::try_from(*delay).unwrap());
                    (SentPacket { sequence: 0, sent, size: Bytes::new(1250), probe: None }, arrival)
                })
                .collect();
            let now = arrived[9].1 + Duration::from_millis(30);
            last = estimate.on_feedback(now, &arrived, inputs);
        }
        last
    }

    const INPUTS: Inputs =
        Inputs { acknowledged: Some(Bitrate::from_kbps(900)), probe: None, in_alr: false };

    #[test]
    fn a_growing_queue_lowers_the_rate_and_a_steady_one_raises_it() {
        let mut steady = estimate();
        let mut delay = 25_000;
        second(&mut steady, 0, &mut delay, 0, &INPUTS);
        assert!(steady.rate() > Bitrate::from_kbps(1070), "{}", steady.rate());
        let mut growing = estimate();
        second(&mut growing, 0, &mut delay, 1000, &INPUTS);
        assert!(matches!(growing.state(), Signal::Overuse { .. }));
        assert_eq!(growing.rate(), Bitrate::from_kbps(760), "0.85 × 900 − 5");
    }

    #[test]
    fn a_draining_queue_holds_the_rate_until_the_queue_is_empty() {
        let mut estimate = estimate();
        let mut delay = 400_000;
        second(&mut estimate, 0, &mut delay, -1000, &INPUTS);
        assert_eq!(estimate.state(), Signal::Underuse);
        let held = estimate.rate();
        let updates: Vec<_> =
            (1..4).map(|s| second(&mut estimate, s, &mut delay, 0, &INPUTS)).collect();
        assert_eq!(estimate.state(), Signal::Normal);
        assert!(estimate.rate() > held && updates.iter().all(|update| update.rate.is_some()));
    }

    #[test]
    fn a_probe_sets_the_rate_unless_the_link_is_over_used() {
        let probe = Inputs { probe: Some(Bitrate::from_mbps(3)), ..INPUTS };
        let mut steady = estimate();
        let mut delay = 25_000;
        let update = second(&mut steady, 0, &mut delay, 0, &probe);
        assert_eq!(
            update,
            Update { rate: Some(Bitrate::from_mbps(3)), probe: true, recovered: false }
        );
        let mut growing = estimate();
        second(&mut growing, 0, &mut delay, 1000, &INPUTS);
        second(&mut growing, 1, &mut delay, 1000, &probe);
        assert!(growing.rate() <= Bitrate::from_kbps(760), "{}", growing.rate());
    }

    #[test]
    fn over_use_without_an_acknowledged_rate_halves_the_rate() {
        let mut growing = estimate();
        let unknown = Inputs { acknowledged: None, ..INPUTS };
        second(&mut growing, 0, &mut 25_000, 1000, &unknown);
        assert!(growing.rate() <= Bitrate::from_kbps(540), "{}", growing.rate());
    }
}
