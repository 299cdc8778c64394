//! The UDP datagrams of frames, and what they contain (RFC 7983 § 7, RFC 5761 § 4).

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use std::net::{IpAddr, SocketAddr};

/// Numbers of link types (draft-ietf-opsawg-pcaplinktype).
mod link {
    pub(super) const NULL: u32 = 0;
    pub(super) const ETHERNET: u32 = 1;
    /// Raw IP as some systems number it.
    pub(super) const RAW_BSD: [u32; 2] = [12, 14];
    pub(super) const RAW: u32 = 101;
    pub(super) const LOOP: u32 = 108;
    pub(super) const LINUX_SLL: u32 = 113;
    pub(super) const IPV4: u32 = 228;
    pub(super) const IPV6: u32 = 229;
    pub(super) const LINUX_SLL2: u32 = 276;
}

/// A UDP datagram.
#[derive(Debug)]
pub(super) struct Datagram<'a> {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    /// The bytes that were kept.
    pub(super) payload: &'a [u8],
    /// The length of the payload on the wire.
    pub(super) length: usize,
}

/// The datagram of a frame; `None` if the frame has none, or is a fragment.
pub(super) fn datagram(link: u32, data: &[u8]) -> Option<Datagram<'_>> {
    // The header of Linux cooked captures: the protocol is at its end, or at its begin (version 2).
    let cooked = |header: usize, protocol: usize| {
        let kind = [*data.get(protocol)?, *data.get(protocol + 1)?];
        let kind = EtherType(u16::from_be_bytes(kind));
        Some(LaxSlicedPacket::from_ether_type(kind, data.get(header..)?))
    };
    let sliced = match link {
        link::ETHERNET => LaxSlicedPacket::from_ethernet(data).ok()?,
        link::LINUX_SLL => cooked(16, 14)?,
        link::LINUX_SLL2 => cooked(20, 0)?,
        // A loopback frame begins with the number of the address family.
        link::NULL | link::LOOP => LaxSlicedPacket::from_ip(data.get(4..)?).ok()?,
        link::RAW | link::IPV4 | link::IPV6 => LaxSlicedPacket::from_ip(data).ok()?,
        other if link::RAW_BSD.contains(&other) => LaxSlicedPacket::from_ip(data).ok()?,
        _ => return None,
    };
    let (from, to): (IpAddr, IpAddr) = match sliced.net? {
        LaxNetSlice::Ipv4(ip) if !ip.header().is_fragmenting_payload() => {
            (ip.header().source_addr().into(), ip.header().destination_addr().into())
        }
        LaxNetSlice::Ipv6(ip) => {
            (ip.header().source_addr().into(), ip.header().destination_addr().into())
        }
        _ => return None,
    };
    let Some(TransportSlice::Udp(udp)) = sliced.transport else { return None };
    let length = usize::from(udp.length()).saturating_sub(8).max(udp.payload().len());
    Some(Datagram {
        from: SocketAddr::new(from, udp.source_port()),
        to: SocketAddr::new(to, udp.destination_port()),
        payload: udp.payload(),
        length,
    })
}

/// A two-byte header extension: its identifier and its value.
pub(super) type Extension = (u8, u16);
/// The most two-byte header extensions of a packet that are kept.
pub(super) const EXTENSIONS: usize = 3;

/// The header of an RTP packet (RFC 3550 § 5.1), which SRTP does not encrypt (RFC 3711 § 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RtpHeader {
    pub(super) marker: bool,
    pub(super) payload_type: u8,
    pub(super) sequence: u16,
    pub(super) timestamp: u32,
    pub(super) ssrc: u32,
    /// Bytes of the header.
    pub(super) length: usize,
    /// Two-byte extensions with one-byte headers (RFC 8285 § 4.2); identifier 0: none.
    pub(super) extensions: [Extension; EXTENSIONS],
}

/// What a datagram contains.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content<'a> {
    Rtp(RtpHeader),
    /// A compound packet in clear.
    Rtcp(&'a [u8]),
    /// RTCP that is encrypted, or cut by the capture.
    ClosedRtcp,
    /// A binding request of ICE or its success response, with the identifier of the transaction.
    Stun {
        is_request: bool,
        transaction: [u8; 12],
    },
    OtherStun,
    Dtls,
    Unknown,
}

/// Classifies a payload of `length` bytes on the wire. Returns the content, and the length of what
/// a TURN channel carries in place of the whole.
pub(super) fn content(payload: &[u8], length: usize) -> (Content<'_>, usize) {
    let kind = match payload {
        [0..=3, ..] => stun(payload),
        [20..=63, ..] => Content::Dtls,
        // Channel data: channel, length, data (RFC 8656 § 12.4). A channel is not within a channel.
        [64..=79, _, high, low, inner @ ..] => {
            let length = usize::from(u16::from_be_bytes([*high, *low])).min(length - 4);
            let inner = &inner[..inner.len().min(length)];
            return match inner {
                [128..=191, ..] => (media(inner, length), length),
                [0..=3, ..] => (stun(inner), length),
                [20..=63, ..] => (Content::Dtls, length),
                _ => (Content::Unknown, length),
            };
        }
        [128..=191, ..] => media(payload, length),
        _ => Content::Unknown,
    };
    (kind, length)
}

fn stun(payload: &[u8]) -> Content<'_> {
    // Type, length, magic cookie, transaction (RFC 8489 § 5).
    const COOKIE: [u8; 4] = [0x21, 0x12, 0xA4, 0x42];
    let (Some(head), Some(cookie)) = (payload.get(..2), payload.get(4..8)) else {
        return Content::Unknown;
    };
    let transaction = payload.get(8..20).and_then(|bytes| <[u8; 12]>::try_from(bytes).ok());
    match (head, transaction) {
        _ if cookie != COOKIE => Content::Unknown,
        ([0x00, 0x01], Some(transaction)) => Content::Stun { is_request: true, transaction },
        ([0x01, 0x01], Some(transaction)) => Content::Stun { is_request: false, transaction },
        _ => Content::OtherStun,
    }
}

fn media(payload: &[u8], length: usize) -> Content<'_> {
    // Types of RTCP packets (RFC 5761 § 4).
    if payload.get(1).is_some_and(|kind| (192..=223).contains(kind)) {
        return if payload.len() == length && is_compound(payload) {
            Content::Rtcp(payload)
        } else {
            Content::ClosedRtcp
        };
    }
    rtp(payload).map_or(Content::Unknown, Content::Rtp)
}

/// Whether the blocks fill the packet exactly, which encrypted ones do not.
fn is_compound(mut rest: &[u8]) -> bool {
    while let [first, kind, high, low, ..] = rest {
        let length = 4 * (usize::from(u16::from_be_bytes([*high, *low])) + 1);
        if first >> 6 != 2 || !(192..=223).contains(kind) || length > rest.len() {
            return false;
        }
        rest = &rest[length..];
    }
    rest.is_empty()
}

fn rtp(payload: &[u8]) -> Option<RtpHeader> {
    let fixed: &[u8; 12] = payload.first_chunk()?;
    let &[first, second, s0, s1, t0, t1, t2, t3, i0, i1, i2, i3] = fixed;
    let mut header = RtpHeader {
        marker: second & 0x80 != 0,
        payload_type: second & 0x7f,
        sequence: u16::from_be_bytes([s0, s1]),
        timestamp: u32::from_be_bytes([t0, t1, t2, t3]),
        ssrc: u32::from_be_bytes([i0, i1, i2, i3]),
        length: 12 + 4 * usize::from(first & 0x0f),
        extensions: [(0, 0); EXTENSIONS],
    };
    if first & 0x10 != 0 {
        let &[p0, p1, l0, l1] = payload.get(header.length..)?.first_chunk()?;
        let length = 4 * usize::from(u16::from_be_bytes([l0, l1]));
        let data = payload.get(header.length + 4..header.length + 4 + length)?;
        header.length += 4 + length;
        // The profile of one-byte headers (RFC 8285 § 4.2).
        if [p0, p1] == [0xBE, 0xDE] {
            extensions(data, &mut header.extensions);
        }
    }
    Some(header)
}

fn extensions(mut data: &[u8], out: &mut [Extension; EXTENSIONS]) {
    let mut count = 0;
    while let [head, rest @ ..] = data {
        let (id, length) = (head >> 4, usize::from(head & 0x0f) + 1);
        if *head == 0 {
            data = rest;
            continue;
        }
        let Some((value, after)) = rest.split_at_checked(length).filter(|_| id != 15) else {
            return;
        };
        if let [high, low] = value
            && count < EXTENSIONS
        {
            out[count] = (id, u16::from_be_bytes([*high, *low]));
            count += 1;
        }
        data = after;
    }
}
