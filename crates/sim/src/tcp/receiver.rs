//! The receiving end: reassembles the stream and acknowledges as Linux does
//! (`net/ipv4/tcp_input.c`, `tcp_timer.c`).

use super::TcpOutbox;
use super::config::TcpConfig;
use super::reassembly::Reassembly;
use super::segment::{MAX_SEGMENT, Phase, SackBlock, Segment};
use super::timer_wheel::TimerWheel;
use crate::endpoint::Show;
use net::Ecn;
use units::{Bytes, Duration, Time};

/// An acknowledgement waits at most this long for a second segment (Linux `TCP_DELACK_MIN`; RFC
/// 1122 § 4.2.3.2 allows 500 ms).
const DELAYED_ACK: Duration = Duration::from_millis(40);
/// Acknowledgements at the start that are not delayed (Linux `TCP_MAX_QUICKACKS`).
const QUICK_ACKS: u32 = 16;

/// The receiving end of a flow.
#[derive(Debug)]
pub(crate) struct TcpReceiver {
    window: Bytes,
    wheel: TimerWheel,
    stream: Reassembly,
    fin: Option<u64>,
    /// Bytes that arrived and are not acknowledged.
    pending: u64,
    ack_due: Option<Time>,
    quick_acks: u32,
    /// The time stamp to echo: that of the segment that advanced the stream, or of the first one
    /// that is not acknowledged (RFC 7323 § 4.3).
    echo: Option<Time>,
    echo_congestion: bool,
    /// Whether marks are counted (AccECN) instead of echoed until the sender has reacted.
    accurate: bool,
    marked: u64,
    bytes: u64,
    packets: u64,
    duplicates: u64,
}

impl TcpReceiver {
    pub(crate) fn new(config: &TcpConfig) -> Self {
        Self {
            window: config.receive_window,
            wheel: TimerWheel::new(config.hz),
            stream: Reassembly::default(),
            fin: None,
            pending: 0,
            ack_due: None,
            quick_acks: QUICK_ACKS,
            echo: None,
            echo_congestion: false,
            accurate: config.congestion_control.is_l4s(),
            marked: 0,
            bytes: 0,
            packets: 0,
            duplicates: 0,
        }
    }

    /// Payload that arrived for the first time.
    #[cfg(test)]
    pub(crate) fn received(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn next_wake(&self) -> Option<Time> {
        self.ack_due
    }

    pub(crate) fn wake(&mut self, now: Time, out: &mut impl TcpOutbox) {
        if self.ack_due.is_some_and(|due| due <= now) {
            self.acknowledge(now, None, out);
        }
    }

    pub(crate) fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        ecn: Ecn,
        out: &mut impl TcpOutbox,
    ) {
        match segment.phase {
            Phase::Syn => {
                let answer = Segment {
                    phase: Phase::SynAck,
                    window: self.window,
                    timestamp: now,
                    echo: Some(segment.timestamp),
                    // RFC 3168 § 6.1.1: ECN is agreed if the SYN asked for it.
                    ece: segment.ece && segment.cwr,
                    ..Segment::default()
                };
                out.segment(now, answer, Ecn::NotEct);
            }
            Phase::SynAck => debug_assert!(false, "this end does not open"),
            Phase::Established if segment.payload > Bytes::ZERO => {
                self.on_data(now, segment, ecn, out);
            }
            Phase::Established => {}
        }
    }

    fn on_data(&mut self, now: Time, segment: &Segment, ecn: Ecn, out: &mut impl TcpOutbox) {
        self.packets += 1;
        // RFC 3168 § 6.1.3: echo the mark until the sender reports that it has reacted.
        if segment.cwr {
            self.echo_congestion = false;
        }
        let marked = ecn == Ecn::Ce;
        self.echo_congestion |= marked && !self.accurate;
        self.marked += u64::from(marked && self.accurate);
        if segment.sequence <= self.stream.next() && (self.pending == 0 || self.echo.is_none()) {
            self.echo = Some(segment.timestamp);
        }
        if segment.fin {
            self.fin = Some(segment.end());
        }
        let arrival = self.stream.arrive(segment.sequence, segment.end());
        self.bytes += arrival.new_bytes;
        self.duplicates += u64::from(arrival.new_bytes == 0);
        self.pending += arrival.new_bytes;
        // RFC 5681 § 4.2: acknowledge at once if the segment is out of order or fills a hole, else
        // with the second full segment. A segment with PSH is acknowledged when the application
        // reads it, which is at once (Linux 6.7 and later, `tcp_measure_rcv_mss`,
        // `tcp_cleanup_rbuf`).
        let at_once =
            !arrival.in_order || marked || segment.fin || segment.push || self.quick_acks > 0;
        if at_once || self.pending > MAX_SEGMENT.get() {
            self.acknowledge(now, arrival.duplicate, out);
        } else if self.ack_due.is_none() {
            self.ack_due = Some(self.wheel.expiry(now, DELAYED_ACK));
        }
    }

    fn acknowledge(&mut self, now: Time, duplicate: Option<SackBlock>, out: &mut impl TcpOutbox) {
        (self.pending, self.ack_due) = (0, None);
        self.quick_acks = self.quick_acks.saturating_sub(1);
        let segment = Segment {
            acknowledgment: self.stream.next(),
            fin_acknowledged: self.fin == Some(self.stream.next()),
            window: self.window,
            sack: self.stream.blocks(duplicate),
            timestamp: now,
            echo: self.echo,
            ece: self.echo_congestion,
            marked: self.marked,
            ..Segment::default()
        };
        out.segment(now, segment, Ecn::NotEct);
    }

    pub(crate) fn show(&self, show: &mut Show<'_>) {
        show("bytesReceived", self.bytes as f64);
        show("packetsReceived", self.packets as f64);
        show("packetsDuplicated", self.duplicates as f64);
    }
}
