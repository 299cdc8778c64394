//! Dividing what TCP handed out as one into packets as they would be on a wire.

use std::io::IoSlice;

/// The length of `virtio_net_hdr`, which is before each packet of a device with `IFF_VNET_HDR`:
/// flags, kind of segmentation, length of headers, length of a segment, where the checksum begins
/// and where it goes.
pub(crate) const HEADER: usize = 10;
/// In the flags: the checksum is for the receiver of the header to complete.
const NEEDS_CHECKSUM: u8 = 1;
/// In the kind: segments of TCP over IPv4, and over IPv6.
const TCP: [u8; 2] = [1, 4];
/// The kind, without the bit that says that the packet has congestion marks.
const KIND: u8 = 0x7f;
/// The flags of TCP that only the last segment has, FIN and PSH.
const LAST: u8 = 0x09;
/// The flag of TCP that only the first segment has, CWR.
const FIRST: u8 = 0x80;

/// Gives `put` each of the packets in `packet`, which begins with a `virtio_net_hdr`; each again
/// does.
///
/// The headers are written over from one segment to the next; the payload is never copied.
pub(crate) fn split(packet: &mut [u8], mut put: impl FnMut(&[IoSlice<'_>])) {
    if packet.len() < HEADER || !TCP.contains(&(packet[1] & KIND)) {
        return put(&[IoSlice::new(packet)]);
    }
    let size = usize::from(u16::from_ne_bytes([packet[4], packet[5]]));
    let tcp = HEADER + usize::from(u16::from_ne_bytes([packet[6], packet[7]]));
    let payload = tcp + usize::from(packet[tcp + 12] >> 4) * 4;
    let (head, body) = packet.split_at_mut(payload);
    head[..6].copy_from_slice(&[NEEDS_CHECKSUM, 0, 0, 0, 0, 0]);
    let flags = head[tcp + 13];
    let segments = body.len().div_ceil(size);
    for (n, segment) in body.chunks(size).enumerate() {
        let not_first = if n > 0 { FIRST } else { 0 };
        let not_last = if n + 1 < segments { LAST } else { 0 };
        head[tcp + 13] = flags & !not_first & !not_last;
        lengths(&mut head[HEADER..], tcp - HEADER, segment.len());
        put(&[IoSlice::new(head), IoSlice::new(segment)]);
        advance(&mut head[HEADER..], tcp - HEADER, segment.len());
    }
}

/// Writes into the headers what depends on the length of the payload: the lengths, the checksum of
/// IPv4, and that part of TCP's checksum which is the sender's to write, over the addresses and the
/// length.
fn lengths(head: &mut [u8], tcp: usize, payload: usize) {
    let length = head.len() - tcp + payload;
    let addresses = if head[0] >> 4 == 4 {
        put16(head, 2, (tcp + length) as u16);
        put16(head, 10, 0);
        let checksum = !sum(&head[..tcp], 0);
        put16(head, 10, checksum);
        12..20
    } else {
        put16(head, 4, (tcp + length - 40) as u16);
        8..40
    };
    let partial = sum(&head[addresses], libc::IPPROTO_TCP as u32 + length as u32);
    put16(head, tcp + 16, partial);
}

/// Moves the headers on to the next segment: the sequence number, and the identification of IPv4.
fn advance(head: &mut [u8], tcp: usize, payload: usize) {
    let sequence = [head[tcp + 4], head[tcp + 5], head[tcp + 6], head[tcp + 7]];
    let next = u32::from_be_bytes(sequence).wrapping_add(payload as u32);
    head[tcp + 4..tcp + 8].copy_from_slice(&next.to_be_bytes());
    if head[0] >> 4 == 4 {
        let id = u16::from_be_bytes([head[4], head[5]]).wrapping_add(1);
        put16(head, 4, id);
    }
}

/// Writes 16 bits in the order of networks.
fn put16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// The sum that the checksums of IP, TCP and UDP are the complement of. `bytes` is of even length.
fn sum(bytes: &[u8], start: u32) -> u16 {
    let words = bytes.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
    let mut total = start + words.sum::<u32>();
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2500 bytes in segments of 1000, with the flags CWR, ACK, PSH and FIN.
    fn large() -> Vec<u8> {
        let mut packet = vec![0; HEADER + 40 + 2500];
        packet[1] = TCP[0];
        packet[4..6].copy_from_slice(&1000_u16.to_ne_bytes());
        packet[6..8].copy_from_slice(&20_u16.to_ne_bytes());
        packet[HEADER] = 0x45;
        packet[HEADER + 4..HEADER + 6].copy_from_slice(&[0xff, 0xff]);
        packet[HEADER + 24..HEADER + 28].copy_from_slice(&[0xff; 4]);
        packet[HEADER + 32..HEADER + 34].copy_from_slice(&[0x50, 0x99]);
        packet
    }

    #[test]
    fn a_large_packet_becomes_small_ones_in_sequence() {
        let mut seen = Vec::new();
        split(&mut large(), |parts| {
            let packet = [&parts[0][HEADER..], &parts[1]].concat();
            let number = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
            assert_eq!(usize::from(number(2)), packet.len());
            assert_eq!(sum(&packet[..20], 0), 0xffff);
            assert_eq!(usize::from(number(36)), 6 + packet.len() - 20);
            seen.push((packet.len(), number(4), number(26), packet[33]));
        });
        assert_eq!(
            seen,
            [(1040, 0xffff, 0xffff, 0x90), (1040, 0, 999, 0x10), (540, 1, 1999, 0x19)]
        );
    }
}
