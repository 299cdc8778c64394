//! Coalesces packets of one flow that leave the network at the same time into one write, as the
//! receive offload of a network card does (Linux net/ipv4/tcp_offload.c, `tcp_gro_receive`;
//! udp_offload.c). The stack of the receiving host processes them as one packet; its programs read
//! the same segments and datagrams. A packet waits for others at most [`MAX_WAIT`].

use crate::buffers::{Buffers, HEADROOM};
use std::io::IoSlice;
use units::{Duration, Time};

/// How long a packet may wait for the next ones. It is short compared to the 120 µs that a packet
/// of 1500 bytes takes at 100 Mbit/s.
const MAX_WAIT: Duration = Duration::from_micros(20);
/// The largest IP packet.
const MAX_BYTES: usize = 65_535;
/// The most packets that one write coalesces.
const MAX_SEGMENTS: usize = 44;

/// The layout of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    transport: Transport,
    /// Bytes of the IP header.
    ip: usize,
    /// Bytes of the IP and the transport header.
    headers: usize,
    /// Bytes of payload.
    payload: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Tcp { sequence: u32 },
    Udp,
}

impl Layout {
    /// The transport header that the next packet must have: in TCP, the next sequence number.
    fn next(self) -> Transport {
        match self.transport {
            Transport::Tcp { sequence } => {
                Transport::Tcp { sequence: sequence.wrapping_add(self.payload as u32) }
            }
            Transport::Udp => Transport::Udp,
        }
    }

    /// Whether more packets may follow this one. A TCP segment must have no flag other than ACK.
    fn is_open(self, packet: &[u8]) -> bool {
        self.transport == Transport::Udp || packet[self.ip + 13] == ACK
    }
}

/// Packets that will be written together.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Whether the kernel accepts coalesced UDP datagrams (Linux 6.2).
    joins_udp: bool,
    host: usize,
    /// The handles of the packets, and the times at which the model delivered them.
    segments: Vec<(u64, Time)>,
    layout: Option<Layout>,
    /// The transport header that the next packet must have.
    next: Option<Transport>,
    bytes: usize,
    /// Whether no packet may follow.
    closed: bool,
    began: Time,
}

impl Group {
    pub(crate) fn new(joins_udp: bool) -> Self {
        Self { joins_udp, ..Self::default() }
    }

    /// Begins a group with a packet that the model delivered at `at`. Returns false if no packet
    /// may follow it; then the group stays empty.
    pub(crate) fn begin(
        &mut self,
        now: Time,
        host: usize,
        (id, at): (u64, Time),
        packet: &[u8],
    ) -> bool {
        debug_assert!(self.segments.is_empty(), "a group is written before the next begins");
        let Some(layout) = layout(packet).filter(|layout| layout.is_open(packet)) else {
            return false;
        };
        if layout.transport == Transport::Udp && !self.joins_udp {
            return false;
        }
        self.layout = Some(layout);
        self.host = host;
        self.next = Some(layout.next());
        self.bytes = packet.len();
        self.closed = false;
        self.began = now;
        self.segments.push((id, at));
        true
    }

    /// Appends a packet, if it continues the group. Returns whether it does.
    pub(crate) fn join(
        &mut self,
        now: Time,
        host: usize,
        (id, at): (u64, Time),
        buffers: &Buffers,
    ) -> bool {
        let Some(first) = self.layout else { return false };
        let packet = buffers.part(id, HEADROOM);
        let Some(layout) = layout(packet) else { return false };
        let fits = host == self.host
            && !self.closed
            && !self.is_due(now)
            // The times of the model must be close too, so that packets which the model has spaced
            // stay apart when the loop is late.
            && self.segments.first().is_some_and(|(_, first)| at.saturating_since(*first) <= MAX_WAIT)
            && self.segments.len() < MAX_SEGMENTS
            && self.bytes + layout.payload <= MAX_BYTES
            && (layout.ip, layout.headers, Some(layout.transport)) == (first.ip, first.headers, self.next)
            && layout.payload <= first.payload
            && continues(buffers.part(self.segments[0].0, HEADROOM), packet, first);
        if fits {
            self.segments.push((id, at));
            self.next = Some(layout.next());
            self.bytes += layout.payload;
            self.closed = layout.payload < first.payload || !layout.is_open(packet);
        }
        fits
    }

    /// Whether the first packet has waited long enough.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.layout.is_some() && now.saturating_since(self.began) > MAX_WAIT
    }

    /// Passes the index of the host and the bytes of the coalesced packet to `write`, and empties
    /// the group. Returns the times at which the model delivered the packets.
    pub(crate) fn write(
        &mut self,
        buffers: &mut Buffers,
        write: impl FnOnce(usize, &[IoSlice<'_>]),
    ) -> impl Iterator<Item = Time> {
        let layout = self.layout.take();
        if let Some(layout) = layout {
            if let [(first, _), .., (last, _)] = self.segments[..] {
                let pushed =
                    buffers.get(last).get(layout.ip + 13).is_some_and(|flags| flags & PSH != 0);
                join_headers(buffers.raw(first), layout, self.bytes, pushed);
            }
            let mut parts: [IoSlice<'_>; MAX_SEGMENTS] = std::array::from_fn(|_| IoSlice::new(&[]));
            for (index, (part, (id, _))) in parts.iter_mut().zip(&self.segments).enumerate() {
                let from = if index == 0 { 0 } else { HEADROOM + layout.headers };
                *part = IoSlice::new(buffers.part(*id, from));
            }
            write(self.host, &parts[..self.segments.len()]);
        }
        self.segments.drain(..).map(|(id, at)| {
            buffers.give_back(id);
            at
        })
    }
}

const ACK: u8 = 0x10;
const PSH: u8 = 0x08;
const TCP: u8 = 6;
const UDP: u8 = 17;

fn layout(packet: &[u8]) -> Option<Layout> {
    let (ip, protocol) = match packet.first()? >> 4 {
        // The header has no options, the packet is not a fragment, and its length field is right.
        4 if packet[0] == 0x45 && packet.len() > 28 => {
            let unfragmented = u16_at(packet, 6) & 0x3fff == 0;
            (unfragmented && u16_at(packet, 2) == packet.len()).then_some((20, packet[9]))?
        }
        6 if packet.len() > 48 => {
            (u16_at(packet, 4) + 40 == packet.len()).then_some((40, packet[6]))?
        }
        _ => return None,
    };
    let (transport, length) = match protocol {
        TCP if packet.len() > ip + 20 => {
            let sequence = u32::from_be_bytes([
                packet[ip + 4],
                packet[ip + 5],
                packet[ip + 6],
                packet[ip + 7],
            ]);
            (Transport::Tcp { sequence }, usize::from(packet[ip + 12] >> 4) * 4)
        }
        // A checksum of zero means that there is none (RFC 768).
        UDP if u16_at(packet, ip + 4) + ip == packet.len() && u16_at(packet, ip + 6) != 0 => {
            (Transport::Udp, 8)
        }
        _ => return None,
    };
    let min_length = if protocol == TCP { 20 } else { 8 };
    let payload = packet
        .len()
        .checked_sub(ip + length)
        .filter(|payload| *payload > 0 && length >= min_length)?;
    Some(Layout { transport, ip, headers: ip + length, payload })
}

/// The 16 bits in network byte order at offset `at`.
fn u16_at(packet: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes([packet[at], packet[at + 1]]))
}

/// The writes with which a host receives these packets if the network delivers them at one instant:
/// each is headroom and packet. For the fuzz target, which checks that no byte of payload is lost,
/// whatever the packets contain.
#[must_use]
pub fn coalesce(packets: &[&[u8]]) -> Vec<Vec<u8>> {
    let (mut buffers, mut group, mut written) =
        (Buffers::new(crate::device::MTU), Group::new(true), Vec::new());
    let flush = |group: &mut Group, buffers: &mut Buffers, written: &mut Vec<Vec<u8>>| {
        let joined =
            |parts: &[IoSlice<'_>]| parts.iter().flat_map(|part| part.iter().copied()).collect();
        group.write(buffers, |_, parts| written.push(joined(parts))).for_each(drop);
    };
    for packet in packets.iter().filter(|packet| packet.len() <= crate::device::MTU) {
        let (id, buffer) = buffers.take();
        buffer[HEADROOM..HEADROOM + packet.len()].copy_from_slice(packet);
        buffers.fill(id, packet.len());
        if !group.join(Time::ZERO, 0, (id, Time::ZERO), &buffers) {
            flush(&mut group, &mut buffers, &mut written);
            if !group.begin(Time::ZERO, 0, (id, Time::ZERO), packet) {
                written.push(buffers.raw(id).to_vec());
                buffers.give_back(id);
            }
        }
    }
    flush(&mut group, &mut buffers, &mut written);
    written
}

/// Whether the headers of two packets are the same, except for the fields in which successive
/// packets of a flow differ: lengths, identification, checksums, and in TCP the sequence number and
/// PSH.
fn continues(first: &[u8], packet: &[u8], layout: Layout) -> bool {
    let same = |from: usize, to: usize| first[from..to] == packet[from..to];
    let ip = layout.ip;
    let same_ip = if ip == 20 {
        same(0, 2) && same(6, 10) && same(12, 20)
    } else {
        same(0, 4) && same(6, 40)
    };
    let same_ports = same(ip, ip + 4);
    // Acknowledgement number and data offset; then the window and, after the checksum, the urgent
    // pointer and the options.
    let same_tcp = || {
        same(ip + 8, ip + 13)
            && packet[ip + 13] & !PSH == ACK
            && same(ip + 14, ip + 16)
            && same(ip + 18, layout.headers)
    };
    same_ip && same_ports && (layout.transport == Transport::Udp || same_tcp())
}

/// Values of struct virtio_net_hdr (virtio 1.2 § 5.1.6; linux/virtio_net.h), which TUN has with
/// IFF_VNET_HDR.
const NEEDS_CSUM: u8 = 1;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;

/// Rewrites the headers of the first packet so that they describe the coalesced packet of `bytes`
/// bytes.
fn join_headers(raw: &mut [u8], layout: Layout, bytes: usize, pushed: bool) {
    let (device, packet) = raw.split_at_mut(HEADROOM);
    let (gso_type, protocol, checksum) = match (layout.transport, layout.ip) {
        (Transport::Tcp { .. }, 20) => (GSO_TCPV4, TCP, 16),
        (Transport::Tcp { .. }, _) => (GSO_TCPV6, TCP, 16),
        (Transport::Udp, _) => (GSO_UDP_L4, UDP, 6),
    };
    (device[0], device[1]) = (NEEDS_CSUM, gso_type);
    let fields = [layout.headers as u16, layout.payload as u16, layout.ip as u16, checksum];
    for (to, field) in device[2..].chunks_exact_mut(2).zip(fields) {
        to.copy_from_slice(&field.to_ne_bytes());
    }
    let (ip, length) = (layout.ip, ((bytes - layout.ip) as u16).to_be_bytes());
    let addresses = if ip == 20 {
        packet[2..4].copy_from_slice(&(bytes as u16).to_be_bytes());
        crate::header::set_ipv4_checksum(&mut packet[..20]);
        12..20
    } else {
        packet[4..6].copy_from_slice(&length);
        8..40
    };
    match layout.transport {
        Transport::Tcp { .. } if pushed => packet[ip + 13] |= PSH,
        Transport::Tcp { .. } => {}
        Transport::Udp => packet[ip + 4..ip + 6].copy_from_slice(&length),
    }
    // The kernel computes the checksum, starting from the sum of the pseudo header (RFC 9293 § 3.1,
    // RFC 768).
    let sum = etherparse::checksum::Sum16BitWords::new().add_slice(&packet[addresses]);
    let sum = !sum.add_2bytes([0, protocol]).add_2bytes(length).ones_complement();
    let at = ip + usize::from(checksum);
    packet[at..at + 2].copy_from_slice(&sum.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{Ipv4Header, PacketBuilder, TcpHeader};

    /// A segment with this many bytes of payload at a sequence number.
    fn segment(
        buffers: &mut Buffers,
        sequence: u32,
        payload: usize,
        change: impl Fn(&mut TcpHeader),
    ) -> u64 {
        let mut tcp = TcpHeader::new(5001, 80, sequence, 1000);
        (tcp.ack, tcp.acknowledgment_number) = (true, 7);
        change(&mut tcp);
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).tcp_header(tcp);
        builder.write(&mut bytes, &vec![sequence as u8; payload]).unwrap();
        let (id, buffer) = buffers.take();
        buffer[HEADROOM..HEADROOM + bytes.len()].copy_from_slice(&bytes);
        buffers.fill(id, bytes.len());
        id
    }

    fn begin(group: &mut Group, buffers: &mut Buffers, id: u64) -> bool {
        let packet = buffers.get(id).to_vec();
        group.begin(Time::ZERO, 1, (id, Time::ZERO), &packet)
    }

    /// How many packets the group had, and the bytes that it writes.
    fn written(group: &mut Group, buffers: &mut Buffers) -> (usize, Vec<u8>) {
        let mut bytes = Vec::new();
        let count = group
            .write(buffers, |_, parts| parts.iter().for_each(|part| bytes.extend_from_slice(part)));
        (count.count(), bytes)
    }

    #[test]
    fn consecutive_segments_are_coalesced_under_one_header() {
        let (mut buffers, mut group) = (Buffers::new(1500), Group::default());
        let plain = |_: &mut TcpHeader| ();
        let first = segment(&mut buffers, 100, 1000, plain);
        assert!(begin(&mut group, &mut buffers, first));
        for (sequence, payload) in [(1100, 1000), (2100, 400)] {
            let push = |tcp: &mut TcpHeader| tcp.psh = payload == 400;
            let id = segment(&mut buffers, sequence, payload, push);
            assert!(group.join(Time::from_micros(5), 1, (id, Time::ZERO), &buffers));
        }
        let late = segment(&mut buffers, 2500, 400, plain);
        assert!(
            !group.join(Time::ZERO, 1, (late, Time::ZERO), &buffers),
            "a shorter segment closes the group"
        );
        let (count, bytes) = written(&mut group, &mut buffers);
        let (device, packet) = bytes.split_at(HEADROOM);
        assert_eq!((count, device[0], device[1]), (3, NEEDS_CSUM, GSO_TCPV4));
        assert_eq!(u16::from_ne_bytes([device[4], device[5]]), 1000, "gso_size");
        let (ip, rest) = Ipv4Header::from_slice(packet).unwrap();
        assert_eq!(
            (usize::from(ip.total_len), ip.header_checksum),
            (packet.len(), ip.calc_header_checksum())
        );
        let (tcp, payload) = TcpHeader::from_slice(rest).unwrap();
        assert_eq!((tcp.sequence_number, tcp.psh, payload.len()), (100, true, 2400));
        assert_eq!(
            (payload[999], payload[1000], payload[2399]),
            (100, 1100u32 as u8, 2100u32 as u8)
        );
        assert_eq!(written(&mut group, &mut buffers), (0, Vec::new()), "the group is empty");
    }

    #[test]
    fn segments_that_do_not_continue_the_group_stay_apart() {
        let (mut buffers, mut group) = (Buffers::new(1500), Group::default());
        let first = segment(&mut buffers, 0, 1000, |_| ());
        assert!(begin(&mut group, &mut buffers, first));
        let mut joins = |at, host, sequence, payload, change: &dyn Fn(&mut TcpHeader)| {
            let id = segment(&mut buffers, sequence, payload, change);
            group.join(at, host, (id, at), &buffers)
        };
        let now = Time::from_micros(1);
        assert!(!joins(now, 1, 2000, 1000, &|_| ()), "a gap");
        assert!(!joins(now, 1, 1000, 1200, &|_| ()), "longer than the first");
        assert!(!joins(now, 2, 1000, 1000, &|_| ()), "another host");
        assert!(
            !joins(now, 1, 1000, 1000, &|tcp| tcp.acknowledgment_number = 8),
            "another acknowledgement"
        );
        assert!(!joins(now, 1, 1000, 1000, &|tcp| tcp.source_port = 5002), "another flow");
        assert!(!joins(now, 1, 1000, 1000, &|tcp| tcp.fin = true), "FIN");
        assert!(!joins(Time::from_micros(30), 1, 1000, 1000, &|_| ()), "too late");
        assert!(joins(now, 1, 1000, 1000, &|_| ()));
    }

    #[test]
    fn packets_that_cannot_be_followed_begin_no_group() {
        let (mut buffers, mut group) = (Buffers::new(1500), Group::default());
        for id in [
            segment(&mut buffers, 0, 0, |_| ()),
            segment(&mut buffers, 0, 10, |tcp| tcp.psh = true),
            segment(&mut buffers, 0, 10, |tcp| tcp.syn = true),
        ] {
            assert!(!begin(&mut group, &mut buffers, id));
        }
        let mut icmp = Vec::new();
        PacketBuilder::ipv4([1; 4], [2; 4], 64)
            .icmpv4_echo_request(1, 1)
            .write(&mut icmp, &[0; 100])
            .unwrap();
        assert!(!group.begin(Time::ZERO, 0, (9, Time::ZERO), &icmp));
        for length in 0..60 {
            assert!(!group.begin(Time::ZERO, 0, (9, Time::ZERO), &vec![0x45; length]), "{length}");
            assert!(!group.begin(Time::ZERO, 0, (9, Time::ZERO), &vec![0x66; length]), "{length}");
        }
    }

    #[test]
    fn datagrams_of_a_flow_are_coalesced() {
        let (alice, bob) = ([0xfd; 16], [0xfc; 16]);
        let datagram = |payload: &[u8]| {
            let mut bytes = Vec::new();
            PacketBuilder::ipv6(alice, bob, 64).udp(5004, 5006).write(&mut bytes, payload).unwrap();
            bytes
        };
        let packets =
            [datagram(&[1; 160]), datagram(&[2; 160]), datagram(&[3; 20]), datagram(&[4; 20])];
        let written = coalesce(&packets.each_ref().map(Vec::as_slice));
        assert_eq!(written.len(), 2, "a shorter datagram closes the group");
        let (device, packet) = written[0].split_at(HEADROOM);
        assert_eq!((device[1], u16::from_ne_bytes([device[4], device[5]])), (GSO_UDP_L4, 160));
        assert_eq!((u16_at(packet, 4), u16_at(packet, 44)), (packet.len() - 40, packet.len() - 40));
        assert_eq!(
            (packet.len(), packet[48], packet[48 + 160], packet[48 + 320]),
            (48 + 340, 1, 2, 3)
        );
    }
}
