//! Segments of one TCP flow that leave the network at once go to their host in one write, as a network card's receive offload would
//! give them (Linux net/ipv4/tcp_offload.c, `tcp_gro_receive`). A packet waits for others no longer than [`LONGEST`].

use crate::buffers::{Buffers, HEADROOM};
use std::io::IoSlice;
use units::{Duration, Time};

/// How long a packet may wait for those behind it: far less than a packet of 1500 bytes takes at 100 Mbit/s (120 µs).
const LONGEST: Duration = Duration::from_micros(20);
/// The largest IP packet.
const MAX_BYTES: usize = 65_535;
/// What a write takes at most.
const MAX_SEGMENTS: usize = 44;

/// Where the parts of a TCP segment are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// Bytes of the IP header.
    ip: usize,
    /// Bytes of the IP and the TCP header.
    headers: usize,
    payload: usize,
    sequence: u32,
}

impl Shape {
    /// The sequence number of what follows.
    fn end(self) -> u32 {
        self.sequence.wrapping_add(self.payload as u32)
    }
}

/// Segments that are to be written together.
#[derive(Debug, Default)]
pub(crate) struct Group {
    host: usize,
    /// Handles, and when the model gave them out.
    segments: Vec<(u64, Time)>,
    shape: Option<Shape>,
    /// The sequence number and bytes that the next must have.
    next: u32,
    bytes: usize,
    /// Nothing may follow.
    closed: bool,
    began: Time,
}

impl Group {
    /// Begins a group with a packet that the model gave out at `at`, if it is a segment that others may follow.
    pub(crate) fn begin(&mut self, now: Time, host: usize, (id, at): (u64, Time), packet: &[u8]) -> bool {
        debug_assert!(self.segments.is_empty(), "a group is written before the next begins");
        let Some(shape) = shape(packet).filter(|shape| packet[shape.ip + 13] == ACK) else { return false };
        self.shape = Some(shape);
        self.host = host;
        self.next = shape.end();
        self.bytes = packet.len();
        self.closed = false;
        self.began = now;
        self.segments.push((id, at));
        true
    }

    /// Takes a packet in, if it goes on where the group ends.
    pub(crate) fn join(&mut self, now: Time, host: usize, (id, at): (u64, Time), buffers: &Buffers) -> bool {
        let Some(first) = self.shape else { return false };
        let packet = buffers.part(id, HEADROOM);
        let Some(shape) = shape(packet) else { return false };
        let fits = host == self.host
            && !self.closed
            && !self.is_due(now)
            && self.segments.len() < MAX_SEGMENTS
            && self.bytes + shape.payload <= MAX_BYTES
            && (shape.ip, shape.headers, shape.sequence) == (first.ip, first.headers, self.next)
            && shape.payload <= first.payload
            && continues(buffers.part(self.segments[0].0, HEADROOM), packet, first);
        if fits {
            self.segments.push((id, at));
            self.next = shape.end();
            self.bytes += shape.payload;
            self.closed = shape.payload < first.payload || packet[shape.ip + 13] != ACK;
        }
        fits
    }

    /// Whether its first packet has waited long enough.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.shape.is_some() && now.saturating_since(self.began) > LONGEST
    }

    /// Hands its bytes to `write` as those of one packet, its host with them. Gives when the model gave its packets out, and empties it.
    pub(crate) fn write(
        &mut self,
        buffers: &mut Buffers,
        write: impl FnOnce(usize, &[IoSlice<'_>]),
    ) -> impl Iterator<Item = Time> {
        let shape = self.shape.take();
        if let Some(shape) = shape {
            if let [(first, _), .., (last, _)] = self.segments[..] {
                let pushed = buffers.get(last)[shape.ip + 13] & PSH;
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

fn shape(packet: &[u8]) -> Option<Shape> {
    let ip = match packet.first()? >> 4 {
        // Without options, whole, and as long as it says.
        4 if packet[0] == 0x45 && packet.len() > 40 && packet[9] == TCP => {
            let whole = u16::from_be_bytes([packet[6], packet[7]]) & 0x3fff == 0;
            let length = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
            (whole && length == packet.len()).then_some(20)?
        }
        6 if packet.len() > 60 && packet[6] == TCP => {
            let length = usize::from(u16::from_be_bytes([packet[4], packet[5]]));
            (length + 40 == packet.len()).then_some(40)?
        }
        _ => return None,
    };
    let headers = ip + usize::from(packet[ip + 12] >> 4) * 4;
    let payload = packet.len().checked_sub(headers).filter(|payload| *payload > 0 && headers >= ip + 20)?;
    let sequence = u32::from_be_bytes([packet[ip + 4], packet[ip + 5], packet[ip + 6], packet[ip + 7]]);
    Some(Shape { ip, headers, payload, sequence })
}

/// What a host is given when the network gives these packets out at one instant: headroom and packet, each. For the fuzz target, which sees that
/// no byte of payload is lost whatever the packets are.
#[must_use]
pub fn gathered(packets: &[&[u8]]) -> Vec<Vec<u8>> {
    let (mut buffers, mut group, mut written) =
        (Buffers::new(crate::device::MTU), Group::default(), Vec::new());
    let flush = |group: &mut Group, buffers: &mut Buffers, written: &mut Vec<Vec<u8>>| {
        let whole = |parts: &[IoSlice<'_>]| parts.iter().flat_map(|part| part.iter().copied()).collect();
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

/// Whether the headers are alike but for what a later segment has of its own: lengths, identification, sequence number, checksums, and
/// a push.
fn continues(first: &[u8], packet: &[u8], shape: Shape) -> bool {
    let same = |from: usize, to: usize| first[from..to] == packet[from..to];
    let ip = shape.ip;
    let alike = if ip == 20 { same(0, 2) && same(6, 10) && same(12, 20) } else { same(0, 4) && same(6, 40) };
    // Ports; then acknowledgement and offset; then window and, after the checksum, the rest.
    alike
        && same(ip, ip + 4)
        && same(ip + 8, ip + 13)
        && packet[ip + 13] & !PSH == ACK
        && same(ip + 14, ip + 16)
        && same(ip + 18, shape.headers)
}

/// struct virtio_net_hdr (virtio 1.2 § 5.1.6), as TUN has it with IFF_VNET_HDR.
const NEEDS_CSUM: u8 = 1;
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;
/// Of the TCP header.
const CHECKSUM_AT: u16 = 16;

/// Makes the first segment's header that of all together.
fn join_headers(raw: &mut [u8], shape: Shape, bytes: usize, pushed: u8) {
    let (device, packet) = raw.split_at_mut(HEADROOM);
    device[0] = NEEDS_CSUM;
    device[1] = if shape.ip == 20 { GSO_TCPV4 } else { GSO_TCPV6 };
    let numbers = [shape.headers as u16, shape.payload as u16, shape.ip as u16, CHECKSUM_AT];
    for (to, number) in device[2..].chunks_exact_mut(2).zip(numbers) {
        to.copy_from_slice(&number.to_ne_bytes());
    }
    let length = (bytes - shape.ip) as u16;
    let addresses = if shape.ip == 20 {
        packet[2..4].copy_from_slice(&(bytes as u16).to_be_bytes());
        crate::header::set_ipv4_checksum(&mut packet[..20]);
        12..20
    } else {
        packet[4..6].copy_from_slice(&length.to_be_bytes());
        8..40
    };
    packet[shape.ip + 13] |= pushed;
    // The kernel completes the checksum from the pseudo header's sum (RFC 9293 § 3.1).
    let sum = etherparse::checksum::Sum16BitWords::new()
        .add_slice(&packet[addresses])
        .add_2bytes([0, TCP])
        .add_2bytes(length.to_be_bytes());
    let sum = !sum.ones_complement();
    packet[shape.ip + 16..shape.ip + 18].copy_from_slice(&sum.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{Ipv4Header, PacketBuilder, TcpHeader};

    /// A segment of so many bytes at a sequence number.
    fn segment(buffers: &mut Buffers, sequence: u32, payload: usize, change: impl Fn(&mut TcpHeader)) -> u64 {
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
        let count =
            group.write(buffers, |_, parts| parts.iter().for_each(|part| bytes.extend_from_slice(part)));
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
        assert!(!group.join(Time::ZERO, 1, (late, Time::ZERO), &buffers), "a shorter one was the last");
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
        assert_eq!((payload[999], payload[1000], payload[2399]), (100, 1100u32 as u8, 2100u32 as u8));
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
        assert!(!joins(now, 1, 1000, 1000, &|tcp| tcp.acknowledgment_number = 8), "another acknowledgement");
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
        let mut udp = Vec::new();
        PacketBuilder::ipv4([1; 4], [2; 4], 64).udp(1, 2).write(&mut udp, &[0; 100]).unwrap();
        assert!(!group.begin(Time::ZERO, 0, (9, Time::ZERO), &udp));
        for length in 0..60 {
            assert!(!group.begin(Time::ZERO, 0, (9, Time::ZERO), &vec![0x45; length]), "{length}");
            assert!(!group.begin(Time::ZERO, 0, (9, Time::ZERO), &vec![0x66; length]), "{length}");
        }
    }
}
