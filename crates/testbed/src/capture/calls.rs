//! Packets of the pair of hosts that carries most RTP, for each interface that saw them. Media
//! without BUNDLE (RFC 9143) have a pair of ports each, so all ports of two hosts are one call.

use super::Counts;
use super::datagram::{Content, EXTENSIONS, Extension, RtpHeader, content, datagram};
use super::frames::Frame;
use crate::event_log::{EventLog, Format, RtcpPacket, RtpPacket, Stream, StreamKind};
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use units::{Bytes, Duration, Time};

/// The most RTP and RTCP packets that are kept: five hours of 230 packets per second, about 500 MB.
pub(super) const MAX_PACKETS: usize = 1 << 22;
/// The most bytes of RTCP that are kept.
const MAX_RTCP: usize = 256 << 20;
/// The most pairs of addresses by interface, and the most STUN transactions of each that wait for
/// their response. Our choice; further ones are not kept.
const MAX_PLACES: usize = 1_024;
const MAX_TRANSACTIONS: usize = 1_024;
/// The header extension with transport-wide numbers counts up by one from packet to packet: at
/// least in this share of the packets of a direction, which retransmissions of captures, losses
/// before the capture and reordering make less than all. Our choice.
const COUNTS_UP: f64 = 0.7;
/// Clocks of video and of audio (RFC 3551 § 6, RFC 7587 § 4.1), and how far a measured clock may be
/// off. Our choice.
const VIDEO_CLOCK: f64 = 90e3;
const CLOCK_TOLERANCE: f64 = 0.2;
/// The shortest time over which a clock is measured. Our choice.
const CLOCK_TIME: f64 = 0.5;

/// Two hosts, the lower first; with ports, if both are the same host.
type Pair = (SocketAddr, SocketAddr);

#[derive(Clone, Copy, Debug)]
struct Rtp {
    at: u64,
    header: RtpHeader,
    size: usize,
}

/// What one interface saw of a pair, by direction: 0 is from the lower address.
#[derive(Debug, Default)]
struct Seen {
    rtp: [Vec<Rtp>; 2],
    rtcp: [Vec<RtcpPacket>; 2],
    /// Binding requests without a response: by transaction, when, and in which direction.
    requests: BTreeMap<[u8; 12], (u64, usize)>,
    /// When each response arrived, and its time since the request, by the direction of the request.
    responses: [Vec<(u64, u64)>; 2],
}

/// What a capture saw.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pairs: BTreeMap<Pair, BTreeMap<usize, Seen>>,
    places: usize,
    packets: usize,
    rtcp_bytes: usize,
}

impl Calls {
    pub(super) fn is_full(&self) -> bool {
        self.packets > MAX_PACKETS || self.rtcp_bytes > MAX_RTCP
    }

    pub(super) fn take(&mut self, frame: &Frame<'_>, counts: &mut Counts) {
        let Some(datagram) = datagram(frame.link, frame.data) else {
            counts.other += 1;
            return;
        };
        let (content, size) = content(datagram.payload, datagram.length);
        match content {
            Content::Rtp(_) => counts.rtp += 1,
            Content::Rtcp(_) => counts.rtcp += 1,
            Content::ClosedRtcp => counts.closed_rtcp += 1,
            Content::Stun { .. } | Content::OtherStun => counts.stun += 1,
            Content::Dtls => counts.dtls += 1,
            Content::Unknown => counts.other += 1,
        }
        let (from, to) = (datagram.from, datagram.to);
        let [from, to] = if from.ip() == to.ip() {
            [from, to]
        } else {
            [from, to].map(|address| SocketAddr::new(address.ip(), 0))
        };
        let pair = (from.min(to), from.max(to));
        let direction = usize::from(from != pair.0);
        let is_kept = matches!(content, Content::Rtp(_) | Content::Rtcp(_) | Content::Stun { .. });
        let known = self.pairs.get(&pair).is_some_and(|seen| seen.contains_key(&frame.interface));
        if !is_kept || !known && self.places == MAX_PLACES {
            return;
        }
        self.places += usize::from(!known);
        let seen = self.pairs.entry(pair).or_default().entry(frame.interface).or_default();
        self.packets += 1;
        match content {
            Content::Rtp(header) => seen.rtp[direction].push(Rtp { at: frame.at, header, size }),
            Content::Rtcp(bytes) => {
                let at = Time::from_nanos(frame.at);
                seen.rtcp[direction].push(RtcpPacket { at, bytes: bytes.to_vec() });
                self.rtcp_bytes += bytes.len();
            }
            Content::Stun { is_request, transaction } => {
                seen.stun(frame.at, direction, is_request, transaction);
            }
            _ => {}
        }
    }

    /// The logs of the pair with most RTP, and the number of the RTP packets of others.
    pub(super) fn finish(self, counts: &mut Counts, bytes: u64) -> Vec<EventLog> {
        let size = |seen: &BTreeMap<usize, Seen>| seen.values().map(Seen::len).sum::<usize>();
        let all: usize = self.pairs.values().map(size).sum();
        let most = self.pairs.into_iter().max_by_key(|(_, seen)| size(seen));
        let Some((pair, seen)) = most.filter(|(_, seen)| size(seen) > 0) else { return Vec::new() };
        counts.other_calls = (all - size(&seen)) as u64;
        let seen: Vec<Seen> = seen.into_values().filter(|seen| seen.len() > 0).collect();
        let firsts: Vec<[Option<u64>; 2]> = seen.iter().map(Seen::firsts).collect();
        let logs = seen.into_iter().enumerate().map(|(index, seen)| {
            let others = firsts.iter().enumerate().filter(|(other, _)| *other != index);
            let others: Vec<_> = others.map(|(_, firsts)| *firsts).collect();
            let near = seen.near(pair, &others);
            seen.log(near, bytes)
        });
        logs.collect()
    }
}

impl Seen {
    fn len(&self) -> usize {
        self.rtp.iter().map(Vec::len).sum()
    }

    fn firsts(&self) -> [Option<u64>; 2] {
        [0, 1].map(|way| self.rtp[way].iter().map(|rtp| rtp.at).min())
    }

    fn stun(&mut self, at: u64, direction: usize, is_request: bool, transaction: [u8; 12]) {
        if is_request {
            if self.requests.len() < MAX_TRANSACTIONS {
                self.requests.entry(transaction).or_insert((at, direction));
            }
        } else if let Some((sent, way)) = self.requests.remove(&transaction)
            && way != direction
        {
            self.responses[way].push((at, at.saturating_sub(sent)));
        }
    }

    /// The direction of the packets of the nearest endpoint. In this order: responses of the far
    /// endpoint take longer than those of the near one; packets of the near endpoint are seen
    /// before they are seen elsewhere; a private address (RFC 1918, RFC 4193) is near, a public one
    /// is far; the endpoint that sends first is near.
    fn near(&self, pair: Pair, others: &[[Option<u64>; 2]]) -> usize {
        let median = |way: usize| {
            let mut times: Vec<u64> = self.responses[way].iter().map(|(_, took)| *took).collect();
            times.sort_unstable();
            times.get(times.len() / 2).copied()
        };
        if let (Some(there), Some(back)) = (median(0), median(1))
            && there != back
        {
            return usize::from(back > there);
        }
        let firsts = self.firsts();
        for other in others {
            for way in [0, 1] {
                if let (Some(here), Some(there)) = (firsts[way], other[way])
                    && here != there
                {
                    return if here < there { way } else { 1 - way };
                }
            }
        }
        match [pair.0.ip(), pair.1.ip()].map(is_private) {
            [true, false] => 0,
            [false, true] => 1,
            _ => {
                usize::from(firsts[0].is_none() || firsts[1].is_some_and(|at| Some(at) < firsts[0]))
            }
        }
    }

    /// What the endpoint that sends in direction `near` sent and received.
    fn log(self, near: usize, bytes: u64) -> EventLog {
        let mut log = EventLog { format: Format::Capture, bytes, ..EventLog::default() };
        let Self { mut rtp, mut rtcp, mut responses, .. } = self;
        for (way, is_sent) in [(near, true), (1 - near, false)] {
            let packets = std::mem::take(&mut rtp[way]);
            let transport = transport_extension(&packets);
            for (ssrc, (first, kind)) in kinds(&packets) {
                let at = Time::from_nanos(first);
                log.streams.push(Stream { at, kind, is_sent, ssrc, rtx: None });
            }
            let packets = packets.iter().map(|packet| packet.of_log(transport));
            if is_sent { &mut log.sent } else { &mut log.received }.extend(packets);
        }
        log.rtcp_sent = std::mem::take(&mut rtcp[near]);
        log.rtcp_received = std::mem::take(&mut rtcp[1 - near]);
        let round_trip = |(at, took)| (Time::from_nanos(at), Duration::from_nanos(took));
        log.round_trips =
            std::mem::take(&mut responses[near]).into_iter().map(round_trip).collect();
        log.finish();
        // Time stamps of captures are since 1970.
        log.begin_unix_millis = i64::try_from(log.begin.as_nanos() / 1_000_000).ok();
        log
    }
}

impl Rtp {
    fn of_log(&self, transport: Option<u8>) -> RtpPacket {
        let extension = |id| self.header.extensions.iter().find(|extension| extension.0 == id);
        let bytes = |size: usize| Bytes::new(size as u64);
        RtpPacket {
            at: Time::from_nanos(self.at),
            ssrc: self.header.ssrc,
            size: bytes(self.size),
            payload: bytes(self.size.saturating_sub(self.header.length)),
            sequence: self.header.sequence,
            rtp_timestamp: self.header.timestamp,
            payload_type: self.header.payload_type,
            marker: self.header.marker,
            transport_sequence: transport.and_then(extension).map(|extension| extension.1),
            probe: None,
        }
    }
}

/// The identifier of the header extension that counts up with each packet: transport-wide numbers.
fn transport_extension(packets: &[Rtp]) -> Option<u8> {
    // By identifier: the value before, the packets with it, and those that count up.
    let mut seen: BTreeMap<u8, (u16, u64, u64)> = BTreeMap::new();
    for packet in packets {
        let all: &[Extension; EXTENSIONS] = &packet.header.extensions;
        for &(id, value) in all.iter().filter(|(id, _)| *id != 0) {
            let (before, count, up) = seen.entry(id).or_insert((value.wrapping_sub(1), 0, 0));
            *up += u64::from(value.wrapping_sub(*before) == 1);
            *count += 1;
            *before = value;
        }
    }
    let counts_up = seen
        .into_iter()
        .filter(|(_, (_, count, up))| *count > 1 && *up as f64 >= COUNTS_UP * *count as f64);
    counts_up.max_by_key(|(_, (_, _, up))| *up).map(|(id, _)| id)
}

/// When each source began, and whether its clock is that of video.
fn kinds(packets: &[Rtp]) -> BTreeMap<u32, (u64, StreamKind)> {
    // By source: the first packet, the newest, and the ticks between them.
    let mut sources: BTreeMap<u32, (u64, Rtp, i64)> = BTreeMap::new();
    for packet in packets {
        let (_, newest, ticks) =
            sources.entry(packet.header.ssrc).or_insert((packet.at, *packet, 0));
        let step = packet.header.timestamp.wrapping_sub(newest.header.timestamp).cast_signed();
        *ticks = ticks.saturating_add(step.into());
        *newest = *packet;
    }
    let kind = |(ssrc, (first, newest, ticks)): (u32, (u64, Rtp, i64))| {
        let seconds = newest.at.saturating_sub(first) as f64 / 1e9;
        let clock = ticks as f64 / seconds;
        let is_video = (clock / VIDEO_CLOCK - 1.0).abs() < CLOCK_TOLERANCE;
        // Too short to tell: short sources are those of retransmissions and probes.
        let kind =
            if seconds < CLOCK_TIME || is_video { StreamKind::Video } else { StreamKind::Audio };
        (ssrc, (first, kind))
    };
    sources.into_iter().map(kind).collect()
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_private() || address.is_loopback() || address.is_link_local()
        }
        IpAddr::V6(address) => {
            address.is_unique_local() || address.is_loopback() || address.is_unicast_link_local()
        }
    }
}
