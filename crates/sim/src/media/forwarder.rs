//! The sending end of a leg that forwards the stream of another leg, as a Selective Forwarding Unit
//! does (RFC 7667 § 3.7). It has no encoder, no pacer and no congestion control. Packets are
//! forwarded at once, with their sequence numbers and time stamps; only the SSRCs and the
//! transport-wide sequence numbers are the leg's own.
//!
//! The model is the videoroom of Janus as used in Jansen 2016 (July 2016). Differences:
//!
//! | Janus | here |
//! |---|---|
//! | keeps packets for 300 ms, sends none twice within 100 ms (`ice.c`, `DEFAULT_MAX_NACK_QUEUE`, `MAX_NACK_IGNORE`) | the same, with at most 1024 packets |
//! | a request for a key frame goes to the publisher (`janus_videoroom.c`, `janus_videoroom_incoming_rtcp`) | the same, but at most one per 300 ms and per round trip |
//! | a subscriber's REMB is ignored (same function) | the same, also for transport-wide feedback |
//! | requests a lost packet from the publisher after 12 ms and again after 155 ms (`ice.c`, `SEQ_MISSING_WAIT`, `SEQ_NACKED_WAIT`) | requests it as a browser does |
//! | no RTX: a packet is retransmitted unchanged | the same to subscribers; publishers send RTX, which is unpacked |

use super::frame_buffer::Counted;
use super::report_timer::ReportTimer;
use super::sender::Reported;
use super::{EndReason, Outbox, Show, Sources, VIDEO_PAYLOAD_TYPE};
use crate::payload::{Rtcp, Rtp, SenderReport};
use crate::scenario::{CallConfig, Marks};
use crate::wire;
use units::{Duration, Seed, Time};

/// How long packets are kept for retransmission (Janus, July 2016: `ice.c`,
/// `DEFAULT_MAX_NACK_QUEUE`).
const KEEP_TIME: Duration = Duration::from_millis(300);
/// A packet is retransmitted at most once within this time (same file, `MAX_NACK_IGNORE`).
const RESEND_INTERVAL: Duration = Duration::from_millis(100);
/// The maximum number of packets kept: 300 ms at 40 Mbit/s.
const CAPACITY: u64 = 1024;
/// Time between sender reports of a leg without video (RFC 3550 § 6.2).
const AUDIO_REPORT_INTERVAL: Duration = Duration::from_secs(5);

/// A forwarded packet.
#[derive(Clone)]
struct Kept {
    packet: Rtp,
    arrived: Time,
    resent: Option<Time>,
}

/// Forwards what another leg receives.
pub(crate) struct Forwarder {
    sources: Sources,
    dscp: Marks,
    start: Time,
    ring: Vec<Option<Kept>>,
    next_transport_sequence: u64,
    video: Counted,
    retransmitted: Counted,
    parity: Counted,
    audio: Counted,
    report: ReportTimer,
    reference: Option<(Time, Time)>,
    reported: Reported,
    key_frame_wanted: bool,
    ended: Option<(Time, EndReason)>,
}

impl Forwarder {
    pub(crate) fn new(sources: Sources, call: &CallConfig, seed: Seed, name: &str) -> Self {
        let interval =
            call.video.as_ref().map_or(AUDIO_REPORT_INTERVAL, |video| video.report_interval);
        Self {
            sources,
            dscp: call.dscp,
            start: call.start,
            ring: vec![None; CAPACITY as usize],
            next_transport_sequence: 0,
            video: Counted::default(),
            retransmitted: Counted::default(),
            parity: Counted::default(),
            audio: Counted::default(),
            report: ReportTimer::new(
                call.start,
                interval,
                seed.stream(&format!("{name}.sender.reports")),
            ),
            reference: None,
            reported: Reported::default(),
            key_frame_wanted: false,
            ended: None,
        }
    }

    /// Forwards a packet of another leg, whose sources are `theirs`. Padding and packets that were
    /// already forwarded are dropped.
    pub(crate) fn forward(
        &mut self,
        now: Time,
        packet: &Rtp,
        theirs: &Sources,
        out: &mut impl Outbox,
    ) {
        if self.ended.is_some() || packet.padding {
            return;
        }
        let mut onward = packet.clone();
        let (counted, dscp) = if packet.ssrc == theirs.audio {
            onward.ssrc = self.sources.audio;
            (&mut self.audio, self.dscp.audio)
        } else if packet.fec.is_some() {
            onward.ssrc = self.sources.fec;
            (&mut self.parity, self.dscp.video)
        } else {
            // A retransmission (RFC 4588) is forwarded as the original packet.
            onward.sequence = packet.retransmission_of.unwrap_or(packet.sequence);
            onward = Rtp {
                ssrc: self.sources.video,
                payload_type: VIDEO_PAYLOAD_TYPE,
                retransmission_of: None,
                ..onward
            };
            let entry = &mut self.ring[slot(onward.sequence)];
            if entry.as_ref().is_some_and(|kept| kept.packet.sequence >= onward.sequence) {
                return;
            }
            *entry = Some(Kept { packet: onward.clone(), arrived: now, resent: None });
            (&mut self.video, self.dscp.video)
        };
        onward.probe = None;
        onward.ecn = net::Ecn::NotEct;
        number(&mut onward, &mut self.next_transport_sequence);
        counted.add(onward.payload, wire::rtp_header_size(&onward));
        out.rtp(now, &onward, dscp);
    }

    /// A compound RTCP packet from the receiver arrived.
    pub(crate) fn on_rtcp(&mut self, now: Time, packet: &Rtcp, out: &mut impl Outbox) {
        if packet.bye {
            self.hang_up(now);
        }
        if self.ended.is_some() {
            return;
        }
        if let Some(reference) = packet.reference_time {
            self.reference = Some((reference, now));
        }
        if let Some(block) = &packet.report {
            self.reported.on_block(now, block);
        }
        self.key_frame_wanted |= packet.pli;
        for &sequence in &packet.nack {
            self.resend(now, sequence, out);
        }
    }

    fn resend(&mut self, now: Time, sequence: u64, out: &mut impl Outbox) {
        let kept =
            self.ring[slot(sequence)].as_mut().filter(|kept| kept.packet.sequence == sequence);
        let Some(kept) = kept.filter(|kept| now.saturating_since(kept.arrived) < KEEP_TIME) else {
            return;
        };
        if kept.resent.is_some_and(|at| now.saturating_since(at) < RESEND_INTERVAL) {
            return;
        }
        kept.resent = Some(now);
        let mut packet = kept.packet.clone();
        number(&mut packet, &mut self.next_transport_sequence);
        self.retransmitted.add(packet.payload, wire::rtp_header_size(&packet));
        out.rtp(now, &packet, self.dscp.video);
    }

    /// Whether the receiver has requested a key frame since the last call.
    pub(crate) fn take_key_frame_request(&mut self) -> bool {
        std::mem::take(&mut self.key_frame_wanted)
    }

    /// The call has ended.
    pub(crate) fn hang_up(&mut self, now: Time) {
        self.ended.get_or_insert((now, EndReason::Left));
    }

    /// When and why this end ended the call.
    pub(crate) fn ended(&self) -> Option<(Time, EndReason)> {
        self.ended
    }

    /// When the next report is due.
    pub(crate) fn next_wake(&self) -> Option<Time> {
        self.ended.is_none().then(|| self.report.due())
    }

    /// Sends the report that is due.
    pub(crate) fn wake(&mut self, now: Time, out: &mut impl Outbox) {
        if self.ended.is_some() || self.report.due() > now {
            return;
        }
        self.report.restart(now);
        let rtp_timestamp = now.saturating_since(self.start).as_nanos() / 100 * 9 / 1_000;
        let (packets, bytes) = (self.video.packets, self.video.payload);
        let report = SenderReport { sent: now, rtp_timestamp, packets, bytes };
        let dlrr = self.reference.map(|(stamp, arrived)| (stamp, now.saturating_since(arrived)));
        let ssrc = self.sources.video;
        out.rtcp(
            now,
            Rtcp { ssrc, sender_report: Some(report), dlrr, media_ssrc: ssrc, ..Rtcp::default() },
        );
    }

    /// Shows the outbound-rtp and remote-inbound-rtp members of the video.
    pub(crate) fn show_video(&self, show: &mut Show<'_>) {
        let (media, rtx, fec) = (self.video, self.retransmitted, self.parity);
        show("bytesSent", (media.payload + rtx.payload + fec.payload).get() as f64);
        show("headerBytesSent", (media.headers + rtx.headers + fec.headers).get() as f64);
        show("packetsSent", (media.packets + rtx.packets + fec.packets) as f64);
        show("mediaPacketsSent", media.packets as f64);
        show("retransmittedPacketsSent", rtx.packets as f64);
        show("retransmittedBytesSent", rtx.payload.get() as f64);
        self.reported.show(show);
    }

    /// Shows the outbound-rtp members of the audio.
    pub(crate) fn show_audio(&self, show: &mut Show<'_>) {
        self.audio.show_sent(show);
    }

    /// The contents of the receiver reports so far.
    pub(crate) fn reported(&self) -> &Reported {
        &self.reported
    }
}

/// Assigns the leg's next transport-wide sequence number to a packet that has one.
fn number(packet: &mut Rtp, next: &mut u64) {
    if let Some(sequence) = &mut packet.transport_sequence {
        *sequence = *next;
        *next += 1;
    }
}

fn slot(sequence: u64) -> usize {
    (sequence % CAPACITY) as usize
}
