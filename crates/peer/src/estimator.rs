//! Adapts an estimator of `rtc` to the trait `cc::Sender`.

use crate::Clock;
use cc::{Decision, Feedback, PacketResult, SentPacket, SignalSink};
use rtc::interceptor::{BandwidthEstimator, PacketReport};
use rtc::rtcp::transport_feedbacks::cc_feedback_report::Ecn;
use std::time::{Duration, Instant};
use units::{Bitrate, Time};

/// A [`BandwidthEstimator`], for example `Gcc` of `rtc`, as the controller of a
/// [`Peer`](crate::Peer) or of a call in the simulator.
///
/// It has one rate, which is also the pacing rate, and only uses per-packet feedback.
pub struct Estimator<E> {
    estimator: E,
    clock: Clock,
    reports: Vec<PacketReport>,
}

impl<E: BandwidthEstimator> Estimator<E> {
    /// `start` is the zero of the controller's time.
    #[must_use]
    pub const fn new(estimator: E, start: Instant) -> Self {
        Self { estimator, clock: Clock::new(start), reports: Vec::new() }
    }
}

impl<E: BandwidthEstimator> cc::Sender for Estimator<E> {
    fn on_sent(&mut self, _packet: &SentPacket) {}

    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>) {
        let Feedback::Packets { results, .. } = feedback else { return };
        self.reports.clear();
        self.reports.extend(results.iter().map(|result| report(self.clock, result)));
        self.estimator.on_reports(self.clock.instant(now), &self.reports);
    }

    fn on_timeout(&mut self, now: Time) {
        self.estimator.handle_timeout(self.clock.instant(now));
    }

    fn next_timeout(&self) -> Option<Time> {
        self.estimator.poll_timeout().map(|due| self.clock.time(due))
    }

    fn decision(&self) -> Decision {
        let rate = Bitrate::from_bps_f64(self.estimator.target_bitrate());
        Decision { target_rate: rate, pacing_rate: rate, probe: None }
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        let stats = self.estimator.stats();
        let named = [
            ("delay_based_rate", stats.delay_based_bitrate),
            ("loss_based_rate", stats.loss_based_bitrate),
            ("fraction_lost", stats.packet_loss),
        ];
        for (name, value) in named {
            if let Some(value) = value {
                sink(name, value);
            }
        }
    }
}

fn report(clock: Clock, result: &PacketResult) -> PacketReport {
    let PacketResult { packet, arrival, .. } = result;
    // Sequence numbers wrap at 16 bits.
    let wrapped = packet.sequence as u16;
    PacketReport {
        ssrc: 0,
        id: packet.sequence,
        rtp_sequence_number: wrapped,
        is_twcc: true,
        twcc_sequence_number: wrapped,
        size: usize::try_from(packet.size.get()).unwrap_or(usize::MAX),
        arrived: arrival.is_some(),
        departure: clock.instant(packet.sent),
        arrival: arrival.map(|arrival| Duration::from_nanos(arrival.as_nanos())),
        ecn: Ecn::NotEct,
    }
}
