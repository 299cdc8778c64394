//! The recorded columns of a sender.

use super::TcpSender;
use crate::endpoint::Show;
use crate::tcp::segment::MAX_SEGMENT;
use units::{Bitrate, Duration};

/// Counters since the start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counters {
    pub(super) bytes: u64,
    pub(super) packets: u64,
    pub(super) retransmitted_bytes: u64,
    pub(super) retransmitted_packets: u64,
    pub(super) recoveries: u64,
    pub(super) timeouts: u64,
    pub(super) undone: u64,
    pub(super) local_drops: u64,
    pub(super) ecn_echoes: u64,
}

impl TcpSender {
    pub(crate) fn show(&self, show: &mut Show<'_>) {
        let segments = |count: f64| count * MAX_SEGMENT.get() as f64;
        let seconds = |span: Option<Duration>| span.map_or(f64::NAN, Duration::as_secs_f64);
        let counters = &self.counters;
        let pacing = self.congestion.pacing_rate().map_or(f64::NAN, Bitrate::as_bps_f64);
        show("bytesSent", counters.bytes as f64);
        show("packetsSent", counters.packets as f64);
        show("retransmittedBytesSent", counters.retransmitted_bytes as f64);
        show("retransmittedPacketsSent", counters.retransmitted_packets as f64);
        show("bytesAcknowledged", self.acknowledged as f64);
        show("congestionWindow", segments(self.window.cwnd));
        show("slowStartThreshold", segments(self.window.ssthresh));
        show("bytesInFlight", segments(self.outstanding.in_flight() as f64));
        show("unackData", self.outstanding.bytes().get() as f64);
        show("receiverWindow", self.peer_window.get() as f64);
        show("roundTripTime", seconds(self.rtt.latest()));
        show("smoothedRoundTripTime", seconds(self.rtt.srtt()));
        show("retransmissionTimeout", self.rtt.rto().as_secs_f64());
        show("pacingRate", pacing);
        show("unsentBytes", self.queue.unsent().get() as f64);
        show("recoveries", counters.recoveries as f64);
        show("timeouts", counters.timeouts as f64);
        show("spuriousReductions", counters.undone as f64);
        show("localDrops", counters.local_drops as f64);
        show("ecnEchoes", counters.ecn_echoes as f64);
    }
}
