//! Reads what the model needs from the IP and transport headers of a packet, and writes the one
//! field that the model changes.

use etherparse::{IpNumber, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use net::{Dscp, Ecn, Flow, HostId, Packet, Protocol};
use units::Bytes;

/// The packet as the model sees it, without a handle and a time. `None` if the bytes are not IP. If
/// no host has the destination address, the destination is an unknown host, and the model drops the
/// packet.
#[must_use]
pub fn read(bytes: &[u8], src: HostId) -> Option<Packet> {
    let packet = LaxSlicedPacket::from_ip(bytes).ok()?;
    let (dst, number, class, ipv6) = match packet.net.as_ref()? {
        LaxNetSlice::Ipv4(slice) => {
            let header = slice.header();
            let class = header.dcp().value() << 2 | header.ecn().value();
            (HostId::of_address(header.destination_addr()), slice.payload().ip_number, class, false)
        }
        LaxNetSlice::Ipv6(slice) => {
            let header = slice.header();
            let class = header.traffic_class();
            (
                HostId::of_address_v6(header.destination_addr()),
                slice.payload().ip_number,
                class,
                true,
            )
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let (src_port, dst_port) = match &packet.transport {
        Some(TransportSlice::Udp(header)) => (header.source_port(), header.destination_port()),
        Some(TransportSlice::Tcp(header)) => (header.source_port(), header.destination_port()),
        _ => (0, 0),
    };
    let protocol = match number {
        IpNumber::UDP => Protocol::Udp,
        IpNumber::TCP => Protocol::Tcp,
        other => Protocol::Other(other.0),
    };
    let flow = Flow { src, dst: dst.unwrap_or(UNKNOWN_HOST), src_port, dst_port, protocol };
    let size = Bytes::new(bytes.len() as u64);
    Some(Packet { size, flow, dscp: Dscp(class >> 2), ecn: ecn(class), ipv6, ..Packet::default() })
}

/// The number of no host: there are fewer hosts.
const UNKNOWN_HOST: HostId = HostId(u16::MAX);

/// ECN: the two low bits of the traffic class (RFC 3168 § 5).
fn ecn(class: u8) -> Ecn {
    match class & 0b11 {
        0b00 => Ecn::NotEct,
        0b01 => Ecn::Ect1,
        0b10 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// Sets ECN to CE, congestion experienced, in an IP header (RFC 3168 § 5).
pub(crate) fn mark_ce(bytes: &mut [u8]) {
    match bytes.first().map(|first| first >> 4) {
        Some(4) if bytes.len() >= ipv4_header(bytes) && ipv4_header(bytes) >= 20 => {
            bytes[1] |= 0b11;
            let length = ipv4_header(bytes);
            set_ipv4_checksum(&mut bytes[..length]);
        }
        // The traffic class spans the first two bytes (RFC 8200 § 3).
        Some(6) if bytes.len() >= 40 => bytes[1] |= 0b11 << 4,
        _ => {}
    }
}

/// The length of an IPv4 header, bytes, from its IHL field (RFC 791 § 3.1).
fn ipv4_header(bytes: &[u8]) -> usize {
    usize::from(bytes[0] & 0xf) * 4
}

/// Writes the checksum (RFC 1071) of an IPv4 header.
pub(crate) fn set_ipv4_checksum(header: &mut [u8]) {
    header[10..12].fill(0);
    let sum = etherparse::checksum::Sum16BitWords::new().add_slice(header).ones_complement();
    header[10..12].copy_from_slice(&sum.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{Ipv4Header, PacketBuilder};

    const ALICE: [u8; 4] = [10, 0, 0, 1];
    const BOB: [u8; 4] = [10, 0, 0, 2];

    fn udp(dscp: u8, ecn: u8) -> Vec<u8> {
        let mut header = Ipv4Header::new(0, 64, IpNumber::UDP, ALICE, BOB).unwrap();
        header.dscp = dscp.try_into().unwrap();
        header.ecn = ecn.try_into().unwrap();
        let mut bytes = Vec::new();
        PacketBuilder::ip(etherparse::IpHeaders::Ipv4(header, Default::default()))
            .udp(5004, 5006)
            .write(&mut bytes, &[0; 172])
            .unwrap();
        bytes
    }

    #[test]
    fn udp_over_ipv4_is_read() {
        let packet = read(&udp(46, 0b10), HostId(0)).unwrap();
        let flow = Flow {
            src: HostId(0),
            dst: HostId(1),
            src_port: 5004,
            dst_port: 5006,
            protocol: Protocol::Udp,
        };
        assert_eq!(
            (packet.flow, packet.size, packet.dscp, packet.ecn),
            (flow, Bytes::new(200), Dscp::EF, Ecn::Ect0)
        );
    }

    #[test]
    fn tcp_over_ipv6_is_read() {
        let (alice, bob) = (HostId(0).address_v6().octets(), HostId(1).address_v6().octets());
        let mut bytes = Vec::new();
        PacketBuilder::ipv6(alice, bob, 64).tcp(1, 80, 0, 0).write(&mut bytes, b"GET").unwrap();
        bytes[0] |= 0b1000;
        bytes[1] |= 0b0111 << 4;
        let packet = read(&bytes, HostId(0)).unwrap();
        assert_eq!(
            (packet.flow.dst, packet.flow.dst_port, packet.flow.protocol),
            (HostId(1), 80, Protocol::Tcp)
        );
        assert_eq!((packet.dscp, packet.ecn), (Dscp(0b10_0001), Ecn::Ce));
    }

    #[test]
    fn fragments_have_no_ports_and_unknown_addresses_no_host() {
        let mut header = Ipv4Header::new(8, 64, IpNumber::UDP, ALICE, [224, 0, 0, 22]).unwrap();
        header.fragment_offset = 100.try_into().unwrap();
        let bytes = [&header.to_bytes()[..], &[7; 8]].concat();
        let packet = read(&bytes, HostId(0)).unwrap();
        assert_eq!((packet.flow.dst, packet.flow.src_port), (UNKNOWN_HOST, 0));
        assert_eq!(read(&[], HostId(0)), None);
        assert_eq!(read(&[0x20; 60], HostId(0)), None);
    }

    #[test]
    fn marking_keeps_the_packet_valid() {
        let mut bytes = udp(34, 0b10);
        mark_ce(&mut bytes);
        let (header, _) = Ipv4Header::from_slice(&bytes).unwrap();
        assert_eq!((header.ecn.value(), header.dscp.value()), (0b11, 34));
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        let mut bytes = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(1, 2).write(&mut bytes, b"x").unwrap();
        mark_ce(&mut bytes);
        assert_eq!(read(&bytes, HostId(0)).unwrap().ecn, Ecn::Ce);
        mark_ce(&mut [0x45; 3]);
        mark_ce(&mut []);
    }
}
