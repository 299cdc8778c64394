//! The estimator `Gcc` of `rtc` (webrtc-rs).

use adapters::{Answer, Clock, Estimator, Feedback, Packet, serve};
use rtc_interceptor::{BandwidthEstimator, Gcc, PacketReport};
use rtc_rtcp::transport_feedbacks::cc_feedback_report::Ecn;
use std::time::Duration;

struct Rtc {
    gcc: Gcc,
    clock: Clock,
}

impl Estimator for Rtc {
    fn on_sent(&mut self, _packet: &Packet) {}

    fn on_feedback(&mut self, now: f64, feedback: &Feedback) {
        let Feedback::Packets { results } = feedback else { return };
        let report = |packet: &Packet| PacketReport {
            ssrc: 0,
            id: packet.sequence,
            rtp_sequence_number: packet.sequence as u16,
            is_twcc: true,
            twcc_sequence_number: packet.sequence as u16,
            size: packet.size as usize,
            arrived: packet.arrival.is_some(),
            departure: self.clock.instant(packet.sent),
            arrival: packet.arrival.map(Duration::from_secs_f64),
            ecn: Ecn::NotEct,
        };
        let reports: Vec<PacketReport> = results.iter().map(report).collect();
        self.gcc.on_reports(self.clock.instant(now), &reports);
    }

    fn on_timeout(&mut self, now: f64) {
        self.gcc.handle_timeout(self.clock.instant(now));
    }

    fn answer(&mut self, now: f64) -> Answer {
        let stats = self.gcc.stats();
        let named = [
            ("delay_based_rate", stats.delay_based_bitrate),
            ("loss_based_rate", stats.loss_based_bitrate),
            ("fraction_lost", stats.packet_loss),
        ];
        let rate = self.gcc.target_bitrate();
        let due = self.gcc.poll_timeout().map(|due| self.clock.seconds(due));
        Answer {
            target_rate: rate,
            // Its pacer has the rate of the target (pacing/sender.rs).
            pacing_rate: Some(rate),
            next_timeout: due.filter(|due| *due > now),
            signals: named.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
            ..Answer::default()
        }
    }
}

fn main() -> std::io::Result<()> {
    serve(|call| Rtc {
        gcc: Gcc::new(call.start_rate, call.min_rate, call.max_rate),
        clock: Clock::new(),
    })
}
