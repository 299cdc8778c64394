//! The adaptor: a controller of `cc` behind the seam of `rtc-interceptor`.

use crate::clock::{Clock, span};
use crate::packets::Unwrapped;
use cc::{Decision, Feedback, PacketResult, SentPacket, SignalSink};
use rtc::interceptor::{BandwidthEstimator, PacketReport};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use units::{Bytes, Duration, Time};

/// The reference time of transport-wide feedback has 24 bits of 64 ms
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 § 3.1); in nanoseconds.
const ARRIVAL_PERIOD: u64 = (1 << 24) * 64_000_000;

/// A `cc::Sender` that `rtc`'s chain of interceptors and the application share: clones are the same
/// controller.
///
/// The chain asks a [`BandwidthEstimator`] for one rate only, and gives it to the pacer; so
/// [`BandwidthEstimator::target_bitrate`] is the *pacing* rate, and the rate for the encoder is in
/// [`Self::decision`]. Probe clusters are sent if [`MediaSender`](crate::MediaSender) is in the
/// chain.
#[derive(Clone)]
pub struct Controller {
    clock: Clock,
    state: Arc<Mutex<State>>,
}

struct State {
    sender: Box<dyn cc::Sender>,
    /// How many packets the controller has been told of; they are numbered from zero, as in the
    /// chain's history.
    told: u64,
    rtt: Option<Duration>,
    arrivals: Unwrapped,
    results: Vec<PacketResult>,
    /// The clusters of packets that are not reported on yet, which the chain's history does not
    /// keep.
    probes: BTreeMap<u64, u32>,
}

impl Controller {
    /// `start` is the zero of the controller's time.
    #[must_use]
    pub fn new(sender: Box<dyn cc::Sender>, start: Instant) -> Self {
        let state = State {
            sender,
            told: 0,
            rtt: None,
            arrivals: Unwrapped::new(ARRIVAL_PERIOD),
            results: Vec::new(),
            probes: BTreeMap::new(),
        };
        Self { clock: Clock::new(start), state: Arc::new(Mutex::new(state)) }
    }

    /// What the sender is to do now.
    #[must_use]
    pub fn decision(&self) -> Decision {
        self.state().sender.decision()
    }

    /// The newest round-trip time that RTCP measured (RFC 3550 § 6.4.1), if
    /// [`Reports`](crate::Reports) is in the chain.
    #[must_use]
    pub fn rtt(&self) -> Option<Duration> {
        self.state().rtt
    }

    /// Shows the controller's inner signals.
    pub fn signals(&self, sink: &mut SignalSink<'_>) {
        self.state().sender.signals(sink);
    }

    /// The clock of the controller.
    #[must_use]
    pub const fn clock(&self) -> Clock {
        self.clock
    }

    /// A packet leaves, earlier than the chain's history could tell.
    pub(crate) fn on_sent(&self, now: Instant, size: Bytes, probe: Option<u32>) {
        let mut state = self.state();
        let packet = SentPacket { sequence: state.told, sent: self.clock.time(now), size, probe };
        state.tell(&packet);
    }

    /// A message other than per-packet feedback arrived.
    pub(crate) fn on_feedback(&self, now: Instant, feedback: Feedback<'_>) {
        let mut state = self.state();
        if let Feedback::Report { rtt: Some(rtt), .. } = feedback {
            state.rtt = Some(rtt);
        }
        state.sender.on_feedback(self.clock.time(now), feedback);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn tell(&mut self, packet: &SentPacket) {
        self.sender.on_sent(packet);
        if let Some(probe) = packet.probe {
            self.probes.insert(packet.sequence, probe);
        }
        self.told = packet.sequence + 1;
    }

    fn take(&mut self, clock: Clock, report: &PacketReport) {
        let size = Bytes::new(report.size as u64);
        let sent = clock.time(report.departure);
        // What is before it was lost, or told of already.
        self.probes = self.probes.split_off(&report.id);
        let probe = self.probes.remove(&report.id);
        let packet = SentPacket { sequence: report.id, sent, size, probe };
        if packet.sequence >= self.told {
            self.tell(&packet);
        }
        let arrival = report.arrival.map(|arrival| self.arrivals.next(span(arrival).as_nanos()));
        self.results.push(PacketResult { packet, arrival: arrival.map(Time::from_nanos) });
    }
}

impl BandwidthEstimator for Controller {
    fn on_reports(&mut self, now: Instant, reports: &[PacketReport]) {
        let mut state = self.state();
        state.results.clear();
        // RFC 8888 may say that a packet arrived and not when: neither a loss nor a measurement.
        for report in reports.iter().filter(|report| report.arrived == report.arrival.is_some()) {
            state.take(self.clock, report);
        }
        let Some(newest) = reports.iter().rfind(|report| report.arrived) else { return };
        let rtt =
            state.rtt.unwrap_or_else(|| span(now.saturating_duration_since(newest.departure)));
        let State { sender, results, .. } = &mut *state;
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
