//! The events of a log.

use super::EventLogError;
use std::collections::BTreeMap;
use units::{Bitrate, Bytes, Duration, Time};

/// The form of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// `rtc_event_log2.proto`: columns of batches, in whole milliseconds. Every libwebrtc since
    /// 2019 writes this form.
    #[default]
    Columns,
    /// `rtc_event_log.proto`: one message per event, in microseconds.
    Legacy,
    /// A packet capture ([`crate::capture`]), in the unit of its time stamps. It has no estimates.
    Capture,
}

/// An RTP packet. All times of a log are since its begin, on the clock of the endpoint that wrote
/// it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtpPacket {
    /// When it was sent or received.
    pub at: Time,
    /// Its source.
    pub ssrc: u32,
    /// RTP header, payload and padding.
    pub size: Bytes,
    /// The payload only. In legacy logs the payload with its padding.
    pub payload: Bytes,
    /// RTP sequence number.
    pub sequence: u16,
    /// RTP timestamp.
    pub rtp_timestamp: u32,
    /// RTP payload type.
    pub payload_type: u8,
    /// The marker bit: for video, the last packet of a frame.
    pub marker: bool,
    /// The transport-wide sequence number, if the packet has one.
    pub transport_sequence: Option<u16>,
    /// The probe cluster of a packet that was sent, which only legacy logs contain.
    pub probe: Option<u32>,
}

/// A compound RTCP packet. libwebrtc logs no SDES and APP blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RtcpPacket {
    /// When it was sent or received.
    pub at: Time,
    /// Its blocks.
    pub bytes: Vec<u8>,
}

/// The state of the overuse detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DetectorState {
    /// The delay is steady.
    Normal,
    /// The delay decreases.
    Underusing,
    /// The delay increases.
    Overusing,
}

/// A change of the delay-based estimate, or of the state of its detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelayBasedUpdate {
    /// When.
    pub at: Time,
    /// The delay-based estimate.
    pub rate: Bitrate,
    /// The detector's state.
    pub state: DetectorState,
}

/// A change of the target rate or of the loss that receiver reports state. An update without a
/// change is logged every 5 s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossBasedUpdate {
    /// When.
    pub at: Time,
    /// The target rate.
    pub rate: Bitrate,
    /// Loss of the newest report in 1/256.
    pub fraction_lost: u8,
    /// Packets that the newest report covers.
    pub packets: u32,
}

/// A probe cluster that was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeRequest {
    /// When.
    pub at: Time,
    /// Counts up from 1.
    pub id: u32,
    /// Sending rate of the cluster.
    pub rate: Bitrate,
    /// Minimum number of packets.
    pub min_packets: u32,
    /// Minimum size of the packets in sum.
    pub min_bytes: Bytes,
}

/// The result of a probe cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// When.
    pub at: Time,
    /// The cluster.
    pub id: u32,
    /// The measured rate; `None` if the probe failed.
    pub rate: Option<Bitrate>,
}

/// The begin or the end of an application-limited region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlrChange {
    /// When.
    pub at: Time,
    /// Whether the sender is limited by its application from now on.
    pub in_alr: bool,
}

/// A change of the network route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteChange {
    /// When.
    pub at: Time,
    /// Whether packets can be sent.
    pub connected: bool,
    /// Bytes of a packet below RTP: IP, UDP and SRTP.
    pub overhead: Bytes,
}

/// An update of SCReAM, which Chromium can use instead of GCC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScreamUpdate {
    /// When.
    pub at: Time,
    /// The target rate.
    pub target: Bitrate,
    /// The reference window.
    pub window: Bytes,
}

/// The medium of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// Audio.
    Audio,
    /// Video.
    Video,
}

/// A stream that the endpoint sends or receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    /// When it was configured.
    pub at: Time,
    /// Audio or video.
    pub kind: StreamKind,
    /// Whether the endpoint sends it.
    pub is_sent: bool,
    /// The source of its media.
    pub ssrc: u32,
    /// The source of its retransmissions, if they have their own.
    pub rtx: Option<u32>,
}

/// A log. Each list is in order of time.
#[derive(Debug, Default)]
pub struct EventLog {
    /// Its form.
    pub format: Format,
    /// The begin of the log on the endpoint's own clock: the time at which logging was switched on,
    /// or that of the first packet if that is earlier.
    pub begin: Time,
    /// The begin that the log states.
    pub(crate) stated_begin: Option<Time>,
    /// The begin in milliseconds since 1970, if the log says it.
    pub begin_unix_millis: Option<i64>,
    /// The time at which logging ended. `None` if the log is cut or its program was killed.
    pub end: Option<Time>,
    /// RTP packets sent.
    pub sent: Vec<RtpPacket>,
    /// RTP packets received.
    pub received: Vec<RtpPacket>,
    /// RTCP packets sent.
    pub rtcp_sent: Vec<RtcpPacket>,
    /// RTCP packets received.
    pub rtcp_received: Vec<RtcpPacket>,
    /// The delay-based estimate.
    pub delay_based: Vec<DelayBasedUpdate>,
    /// The target rate.
    pub loss_based: Vec<LossBasedUpdate>,
    /// Probe clusters.
    pub probes: Vec<ProbeRequest>,
    /// Their results.
    pub probe_results: Vec<ProbeResult>,
    /// Application-limited regions.
    pub alr: Vec<AlrChange>,
    /// Network routes.
    pub routes: Vec<RouteChange>,
    /// SCReAM.
    pub scream: Vec<ScreamUpdate>,
    /// Audio and video.
    pub streams: Vec<Stream>,
    /// Round-trip times of binding requests of ICE, and when the response arrived. Only captures
    /// have them.
    pub round_trips: Vec<(Time, Duration)>,
    /// Bytes that were read.
    pub bytes: u64,
    /// The number of top-level messages that were skipped because nothing here uses their field, by
    /// the number of the field.
    pub skipped: BTreeMap<u32, u64>,
    /// The number of messages that were skipped because they are damaged.
    pub damaged: u64,
    /// The first error. The log has what was readable.
    pub error: Option<EventLogError>,
}

impl EventLog {
    /// The longest recording that is used. A damaged time stamp makes longer ones, which would be
    /// sampled and replayed for hours.
    pub(crate) const MAX_DURATION: Duration = Duration::from_secs(86_400);

    /// The number of events that are kept.
    #[must_use]
    pub fn events(&self) -> usize {
        self.sent.len()
            + self.received.len()
            + self.rtcp_sent.len()
            + self.rtcp_received.len()
            + self.delay_based.len()
            + self.loss_based.len()
            + self.probes.len()
            + self.probe_results.len()
            + self.alr.len()
            + self.routes.len()
            + self.scream.len()
            + self.streams.len()
    }

    /// Puts each list in order of time, because batches are written per kind and source, and makes
    /// times relative to the begin of the log.
    pub(crate) fn finish(&mut self) {
        // Packets from before the log was switched on are in the log too.
        let begin = self.first().into_iter().chain(self.stated_begin).min().unwrap_or(Time::ZERO);
        self.begin = begin;
        self.end = self.end.map(|end| since(begin, end));
        arrange(&mut self.sent, begin);
        arrange(&mut self.received, begin);
        arrange(&mut self.rtcp_sent, begin);
        arrange(&mut self.rtcp_received, begin);
        arrange(&mut self.delay_based, begin);
        arrange(&mut self.loss_based, begin);
        arrange(&mut self.probes, begin);
        arrange(&mut self.probe_results, begin);
        arrange(&mut self.alr, begin);
        arrange(&mut self.routes, begin);
        arrange(&mut self.scream, begin);
        arrange(&mut self.streams, begin);
        for (at, _) in &mut self.round_trips {
            *at = since(begin, *at);
        }
    }

    /// The earliest packet.
    fn first(&self) -> Option<Time> {
        let packets = self.sent.iter().chain(&self.received).map(|packet| packet.at);
        let reports = self.rtcp_sent.iter().chain(&self.rtcp_received).map(|packet| packet.at);
        packets.chain(reports).min()
    }
}

/// An event of a log.
trait Event {
    fn when(&self) -> Time;
    fn at(&mut self) -> &mut Time;
}

macro_rules! events {
    ($($event:ty),+) => {
        $(impl Event for $event {
            fn when(&self) -> Time {
                self.at
            }
            fn at(&mut self) -> &mut Time {
                &mut self.at
            }
        })+
    };
}

events!(
    RtpPacket,
    RtcpPacket,
    DelayBasedUpdate,
    LossBasedUpdate,
    ProbeRequest,
    ProbeResult,
    AlrChange,
    RouteChange,
    ScreamUpdate,
    Stream
);

/// Puts events in order and makes their times relative. An event before the begin, such as the
/// configuration of a stream that existed already, is at the begin.
fn arrange<T: Event>(events: &mut [T], begin: Time) {
    for event in events.iter_mut() {
        let at = event.at();
        *at = since(begin, *at);
    }
    events.sort_by_key(Event::when);
}

fn since(begin: Time, at: Time) -> Time {
    Time::ZERO + at.saturating_since(begin)
}
