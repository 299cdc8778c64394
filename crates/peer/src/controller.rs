//! Adapts a controller of `cc` to the trait `BandwidthEstimator` of `rtc-interceptor`.

use crate::clock::{Clock, span};
use crate::packets::Unwrapper;
use cc::{Allocation, Decision, Feedback, PacketResult, SentPacket, SignalSink};
use rtc::interceptor::{BandwidthEstimator, PacketReport};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use units::{Bitrate, Bytes, Duration, Time};

/// The period of the reference time of transport-wide feedback, ns: 24 bits of 64 ms
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 § 3.1).
const ARRIVAL_PERIOD: u64 = (1 << 24) * 64_000_000;

/// A `cc::Sender` that the interceptor chain of `rtc` and the application share. Clones share one
/// controller.
///
/// The chain takes only one rate from a [`BandwidthEstimator`] and passes it to the pacer.
/// Therefore [`BandwidthEstimator::target_bitrate`] is the *pacing* rate; the rate for the encoder
/// is in [`Self::decision`]. Probe clusters are only sent if [`MediaSender`](crate::MediaSender) is
/// in the chain.
#[derive(Clone)]
pub struct Controller {
    clock: Clock,
    state: Arc<Mutex<ControllerState>>,
}

struct ControllerState {
    sender: Box<dyn cc::Sender>,
    /// The number of the next packet to report to the controller. Packets are numbered from zero,
    /// as in the history of the chain.
    next_sequence: u64,
    /// The newest round-trip time that RTCP measured.
    rtt: Option<Duration>,
    arrivals: Unwrapper,
    results: Vec<PacketResult>,
    /// The probe clusters of packets without feedback so far, which the history of the chain does
    /// not store.
    probes: BTreeMap<u64, u32>,
}

impl Controller {
    /// `start` is the zero of the controller's time.
    #[must_use]
    pub fn new(sender: Box<dyn cc::Sender>, start: Instant) -> Self {
        let state = ControllerState {
            sender,
            next_sequence: 0,
            rtt: None,
            arrivals: Unwrapper::new(ARRIVAL_PERIOD),
            results: Vec::new(),
            probes: BTreeMap::new(),
        };
        Self { clock: Clock::new(start), state: Arc::new(Mutex::new(state)) }
    }

    /// The current decision: target rate, pacing rate and probes.
    #[must_use]
    pub fn decision(&self) -> Decision {
        self.state().sender.decision()
    }

    /// The rates that the streams can use have changed.
    pub fn on_allocation(&self, now: Instant, allocation: Allocation) {
        self.state().sender.on_allocation(self.clock.time(now), allocation);
    }

    /// The packets take another route, for example another ICE candidate pair; the estimate starts
    /// again at `start`.
    pub fn on_route_change(&self, now: Instant, start: Bitrate) {
        self.state().sender.on_route_change(self.clock.time(now), start);
    }

    /// The share of the frames that the encoder should drop.
    #[must_use]
    pub fn frame_reduction(&self) -> f64 {
        self.state().sender.frame_reduction()
    }

    /// The longest burst of the pacer, if the controller has one.
    pub(crate) fn pacing_burst(&self) -> Option<Duration> {
        self.state().sender.pacing_burst()
    }

    /// The newest round-trip time that RTCP measured (RFC 3550 § 6.4.1), if
    /// [`Reports`](crate::Reports) is in the chain.
    #[must_use]
    pub fn rtt(&self) -> Option<Duration> {
        self.state().rtt
    }

    /// Reports the internal signals of the controller.
    pub fn signals(&self, sink: &mut SignalSink<'_>) {
        self.state().sender.signals(sink);
    }

    /// The clock of the controller.
    #[must_use]
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// A packet leaves. Called before the history of the chain could report it.
    pub(crate) fn on_sent(&self, now: Instant, size: Bytes, probe: Option<u32>) {
        let mut state = self.state();
        let packet =
            SentPacket { sequence: state.next_sequence, sent: self.clock.time(now), size, probe };
        state.report_sent(&packet);
    }

    /// A message other than per-packet feedback arrived.
    pub(crate) fn on_feedback(&self, now: Instant, feedback: Feedback<'_>) {
        let mut state = self.state();
        if let Feedback::Report { rtt: Some(rtt), .. } = feedback {
            state.rtt = Some(rtt);
        }
        state.sender.on_feedback(self.clock.time(now), feedback);
    }

    fn state(&self) -> MutexGuard<'_, ControllerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ControllerState {
    fn report_sent(&mut self, packet: &SentPacket) {
        self.sender.on_sent(packet);
        if let Some(probe) = packet.probe {
            self.probes.insert(packet.sequence, probe);
        }
        self.next_sequence = packet.sequence + 1;
    }

    fn add_result(&mut self, clock: Clock, report: &PacketReport) {
        let size = Bytes::new(report.size as u64);
        let sent = clock.time(report.departure);
        // Packets before this one are lost or were reported already.
        self.probes = self.probes.split_off(&report.id);
        let probe = self.probes.remove(&report.id);
        let packet = SentPacket { sequence: report.id, sent, size, probe };
        if packet.sequence >= self.next_sequence {
            self.report_sent(&packet);
        }
        let arrival = report.arrival.map(|arrival| self.arrivals.next(span(arrival).as_nanos()));
        self.results.push(PacketResult {
            packet,
            arrival: arrival.map(Time::from_nanos),
            ecn: cc::Ecn::NotEct,
        });
    }
}

impl BandwidthEstimator for Controller {
    fn on_reports(&mut self, now: Instant, reports: &[PacketReport]) {
        let mut state = self.state();
        state.results.clear();
        // RFC 8888 can report that a packet arrived without saying when. That is neither a loss nor
        // a measurement.
        for report in reports.iter().filter(|report| report.arrived == report.arrival.is_some()) {
            state.add_result(self.clock, report);
        }
        let Some(newest) = reports.iter().rfind(|report| report.arrived) else { return };
        let rtt =
            state.rtt.unwrap_or_else(|| span(now.saturating_duration_since(newest.departure)));
        let ControllerState { sender, results, .. } = &mut *state;
        sender.on_feedback(self.clock.time(now), Feedback::Packets { results, rtt: Some(rtt) });
    }

    fn target_bitrate(&self) -> f64 {
        self.decision().pacing_rate.as_bps_f64()
    }

    fn handle_timeout(&mut self, now: Instant) {
        let now = self.clock.time(now);
        let mut state = self.state();
        if state.sender.next_timeout().is_some_and(|due| due <= now) {
            state.sender.on_timeout(now);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.state().sender.next_timeout().map(|due| self.clock.instant(due))
    }
}
