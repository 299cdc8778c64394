//! Packets of one flow that leave the network at once go to their host in one write, as a network
//! card's receive offload would give them (Linux net/ipv4/tcp_offload.c, `tcp_gro_receive`;
//! udp_offload.c). The host's stack takes them in as one, and its programs get them one by one, as
//! they were. A packet waits for others no longer than [`LONGEST`].

use crate::buffers::{Buffers, HEADROOM};
use std::io::IoSlice;
use units::{Duration, Time};

/// How long a packet may wait for those behind it: far less than a packet of 1500 bytes takes at
/// 100 Mbit/s (120 µs).
const LONGEST: Duration = Duration::from_micros(20);
/// The largest IP packet.
const MAX_BYTES: usize = 65_535;
/// What a write takes at most.
const MAX_SEGMENTS: usize = 44;

/// Where the parts of a packet are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    transport: Transport,
    /// Bytes of the IP header.
    ip: usize,
    /// Bytes of the IP and the transport header.
    headers: usize,
    payload: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Tcp { sequence: u32 },
    Udp,
}

impl Shape {
    /// What must follow: in TCP the next bytes.
    fn next(self) -> Transport {
        match self.transport {
            Transport::Tcp { sequence } => {
                Transport::Tcp { sequence: sequence.wrapping_add(self.payload as u32) }
            }
            Transport::Udp => Transport::Udp,
        }
    }

    /// Whether others may follow this packet: in TCP it must be one that only carries data.
    fn is_open(self, packet: &[u8]) -> bool {
        self.transport == Transport::Udp || packet[self.ip + 13] == ACK
    }
}

/// Segments that are to be written together.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// Whether the kernel takes UDP so (Linux 6.2).
    joins_udp: bool,
    host: usize,
    /// Handles, and when the model gave them out.
    segments: Vec<(u64, Time)>,
    shape: Option<Shape>,
    /// What the next must be.
    next: Option<Transport>,
    bytes: usize,
    /// Nothing may follow.
    closed: bool,
    began: Time,
}

impl Group {
    pub(crate) fn new(joins_udp: bool) -> Self {
        Self { joins_udp, ..Self::default() }
    }

    /// Begins a group with a packet that the model gave out at `at`, if it is a segment that others
    /// may follow.
    pub(crate) fn begin(
        &mut self,
        now: Time,
        host: usize,
        (id, at): (u64, Time),
        packet: &[u8],
    ) -> bool {
        debug_assert!(self.segments.is_empty(), "a group is written before the next begins");
        let Some(shape) = shape(packet).filter(|shape| shape.is_open(packet)) else { return false };
        if shape.transport == Transport::Udp && !self.joins_udp {
            return false;
        }
        self.shape = Some(shape);
        self.host = host;
        self.next = Some(shape.next());
        self.bytes = packet.len();
        self.closed = false;
        self.began = now;
        self.segments.push((id, at));
        true
    }

    /// Takes a packet in, if it goes on where the group ends.
    pub(crate) fn join(
        &mut self,
        now: Time,
        host: usize,
        (id, at): (u64, Time),
        buffers: &Buffers,
    ) -> bool {
        let Some(first) = self.shape else { return false };
        let packet = buffers.part(id, HEADROOM);
        let Some(shape) = shape(packet) else { return false };
        let fits = host == self.host
            && !self.closed
            && !self.is_due(now)
            // Also by the model's time: what it has spaced stays apart when the loop is late.
            && self.segments.first().is_some_and(|(_, first)| at.saturating_since(*first) <= LONGEST)
            && self.segments.len() < MAX_SEGMENTS
            && self.bytes + shape.payload <= MAX_BYTES
            && (shape.ip, shape.headers, Some(shape.transport)) == (first.ip, first.headers, self.next)
            && shape.payload <= first.payload
            && continues(buffers.part(self.segments[0].0, HEADROOM), packet, first);
        if fits {
            self.segments.push((id, at));
            self.next = Some(shape.next());
            self.bytes += shape.payload;
            self.closed = shape.payload < first.payload || !shape.is_open(packet);
        }
        fits
    }

    /// Whether its first packet has waited long enough.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.shape.is_some() && now.saturating_since(self.began) > LONGEST
    }

    /// Hands its bytes to `write` as those of one packet, its host with them. Gives when the model
    /// gave its packets out, and empties it.
    pub(crate) fn write(
        &mut self,
        buffers: &mut Buffers,
        write: impl FnOnce(usize, &[IoSlice<'_>]),
    ) -> impl Iterator<Item = Time> {
        let shape = self.shape.take();
        if let Some(shape) = shape {
            if let [(first, _), .., (last, _)] = self.segments[..] {
                let pushed =
                    buffers.get(last).get(shape.ip + 13).is_some_and(|flags| flags & PSH != 0);
                join_headers(buffers.raw(first), shape, self.bytes, pushed);
            }
            let mut parts: [IoSlice<'_>; MAX_SEGMENTS] = std::array::from_fn(|_| IoSlice::new(&[]));
            for (place, (part, (id, _))) in parts.iter_mut().zip(&self.segments).enumerate() {
                let from = if place == 0 { 0 } else { HEADROOM + shape.headers };
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

fn shape(packet: &[u8]) -> Option<Shape> {
    let (ip, protocol) = match packet.first()? >> 4 {
        // Without options, whole, and as long as it says.
        4 if packet[0] == 0x45 && packet.len() > 28 => {
            let whole = number(packet, 6) & 0x3fff == 0;
            (whole && number(packet, 2) == packet.len()).then_some((20, packet[9]))?
        }
        6 if packet.len() > 48 => {
            (number(packet, 4) + 40 == packet.len()).then_some((40, packet[6]))?
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
        // A checksum of zero is none (RFC 768).
        UDP if number(packet, ip + 4) + ip == packet.len() && number(packet, ip + 6) != 0 => {
            (Transport::Udp, 8)
        }
        _ => return None,
    };
    let least = if protocol == TCP { 20 } else { 8 };
    let payload =
        packet.len().checked_sub(ip + length).filter(|payload| *payload > 0 && length >= least)?;
    Some(Shape { transport, ip, headers: ip + length, payload })
}

/// The 16 bits at a place.
fn number(packet: &[u8], at: usize) -> usize {
    usize::from(u16::from_be_bytes([packet[at], packet[at + 1]]))
}

/// What a host is given when the network gives these packets out at one instant: headroom and
/// packet, each. For the fuzz target, which sees that no byte of payload is lost whatever the
/// packets are.
#[must_use]
pub fn gathered(packets: &[&[u8]]) -> Vec<Vec<u8>> {
    let (mut buffers, mut group, mut written) =
        (Buffers::new(crate::device::MTU), Group::new(true), Vec::new());
    let flush = |group: &mut Group, buffers: &mut Buffers, written: &mut Vec<Vec<u8>>| {
        let whole =
            |parts: &[IoSlice<'_>]| parts.iter().flat_map(|part| part.iter().copied()).collect();
        group.write(buffers, |_, parts| written.push(whole(parts))).for_each(drop);
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

/// Whether the headers are alike but for what a later packet has of its own: lengths,
/// identification, checksums, and of TCP the sequence number and a push.
fn continues(first: &[u8], packet: &[u8], shape: Shape) -> bool {
    let same = |from: usize, to: usize| first[from..to] == packet[from..to];
    let ip = shape.ip;
    let alike = if ip == 20 {
        same(0, 2) && same(6, 10) && same(12, 20)
    } else {
        same(0, 4) && same(6, 40)
    };
    let ports = same(ip, ip + 4);
    // Acknowledgement and offset; then window and, after the checksum, the rest.
    let tcp = || {
        same(ip + 8, ip + 13)
            && packet[ip + 13] & !PSH == ACK
            && same(ip + 14, ip + 16)
            && same(ip + 18, shape.headers)
    };
    alike && ports && (shape.transport == Transport::Udp || tcp())
}

/// struct virtio_net_hdr (virtio 1.2 § 5.1.6; linux/virtio_net.h), as TUN has it with IFF_VNET_HDR.
const NEEDS_CSUM: u8 = 1;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;

/// Makes the first packet's header that of all together.
fn join_headers(raw: &mut [u8], shape: Shape, bytes: usize, pushed: bool) {
    let (device, packet) = raw.split_at_mut(HEADROOM);
    let (kind, protocol, checksum) = match (shape.transport, shape.ip) {
        (Transport::Tcp { .. }, 20) => (GSO_TCPV4, TCP, 16),
        (Transport::Tcp { .. }, _) => (GSO_TCPV6, TCP, 16),
        (Transport::Udp, _) => (GSO_UDP_L4, UDP, 6),
    };
    (device[0], device[1]) = (NEEDS_CSUM, kind);
    let numbers = [shape.headers as u16, shape.payload as u16, shape.ip as u16, checksum];
    for (to, number) in device[2..].chunks_exact_mut(2).zip(numbers) {
        to.copy_from_slice(&number.to_ne_bytes());
    }
    let (ip, length) = (shape.ip, ((bytes - shape.ip) as u16).to_be_bytes());
    let addresses = if ip == 20 {
        packet[2..4].copy_from_slice(&(bytes as u16).to_be_bytes());
        crate::header::set_ipv4_checksum(&mut packet[..20]);
        12..20
    } else {
        packet[4..6].copy_from_slice(&length);
        8..40
    };
    match shape.transport {
        Transport::Tcp { .. } if pushed => packet[ip + 13] |= PSH,
        Transport::Tcp { .. } => {}
        Transport::Udp => packet[ip + 4..ip + 6].copy_from_slice(&length),
    }
    // The kernel completes the checksum from the pseudo header's sum (RFC 9293 § 3.1, RFC 768).
    let sum = etherparse::checksum::Sum16BitWords::new().add_slice(&packet[addresses]);
    let sum = !sum.add_2bytes([0, protocol]).add_2bytes(length).ones_complement();
    let at = ip + usize::from(checksum);
    packet[at..at + 2].copy_from_slice(&sum.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{Ipv4Header, PacketBuilder, TcpHeader};

    /// A segment of so many bytes at a sequence number.
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

    /// What is written, in one piece.
    fn written(group: &mut Group, buffers: &mut Buffers) -> (usize, Vec<u8>) {
        let mut bytes = Vec::new();
        let count = group
            .write(buffers, |_, parts| parts.iter().for_each(|part| bytes.extend_from_slice(part)));
        (count.count(), bytes)
    }

    #[test]
    fn segments_that_go_on_become_one_with_a_header_for_all() {
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
            "a shorter one was the last"
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
        assert_eq!(written(&mut group, &mut buffers), (0, Vec::new()), "it is empty now");
    }

    #[test]
    fn what_does_not_go_on_stays_apart() {
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
        assert!(!joins(now, 1, 1000, 1000, &|tcp| tcp.fin = true), "an end");
        assert!(!joins(Time::from_micros(30), 1, 1000, 1000, &|_| ()), "too late");
        assert!(joins(now, 1, 1000, 1000, &|_| ()));
    }

    #[test]
    fn what_cannot_be_followed_begins_nothing() {
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
    fn datagrams_of_a_flow_become_one_too() {
        let (alice, bob) = ([0xfd; 16], [0xfc; 16]);
        let datagram = |payload: &[u8]| {
            let mut bytes = Vec::new();
            PacketBuilder::ipv6(alice, bob, 64).udp(5004, 5006).write(&mut bytes, payload).unwrap();
            bytes
        };
        let packets =
            [datagram(&[1; 160]), datagram(&[2; 160]), datagram(&[3; 20]), datagram(&[4; 20])];
        let written = gathered(&packets.each_ref().map(Vec::as_slice));
        assert_eq!(written.len(), 2, "a shorter one is the last");
        let (device, packet) = written[0].split_at(HEADROOM);
        assert_eq!((device[1], u16::from_ne_bytes([device[4], device[5]])), (GSO_UDP_L4, 160));
        assert_eq!((number(packet, 4), number(packet, 44)), (packet.len() - 40, packet.len() - 40));
        assert_eq!(
            (packet.len(), packet[48], packet[48 + 160], packet[48 + 320]),
            (48 + 340, 1, 2, 3)
        );
    }
}
