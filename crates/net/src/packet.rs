//! Packets as the network sees them: sizes, addresses, ports and marks, without contents.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use units::{Bytes, Time};

/// A host, as an index into the list of hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HostId(pub u16);

impl HostId {
    /// The host's IPv4 address in captures and filters. The first host has 10.0.0.1.
    #[must_use]
    pub const fn address(self) -> Ipv4Addr {
        let [high, low] = self.0.wrapping_add(1).to_be_bytes();
        Ipv4Addr::new(10, 0, high, low)
    }

    /// The host's IPv6 address when real programs run on it. The first host has fd77:6569:7200::1
    /// (RFC 4193; the 40 bits of the global ID begin with "weir" in ASCII).
    #[must_use]
    pub const fn address_v6(self) -> Ipv6Addr {
        Ipv6Addr::new(0xfd77, 0x6569, 0x7200, 0, 0, 0, 0, self.0.wrapping_add(1))
    }

    /// The host with this IPv4 address; `None` if the address is no host's.
    #[must_use]
    pub fn of_address(address: Ipv4Addr) -> Option<Self> {
        let host = u16::from_be_bytes([address.octets()[2], address.octets()[3]])
            .checked_sub(1)
            .map(Self)?;
        (host.address() == address).then_some(host)
    }

    /// The host with this IPv6 address; `None` if the address is no host's.
    #[must_use]
    pub fn of_address_v6(address: Ipv6Addr) -> Option<Self> {
        let host = address.segments()[7].checked_sub(1).map(Self)?;
        (host.address_v6() == address).then_some(host)
    }
}

/// Transport protocol (IANA protocol numbers: UDP 17, TCP 6, ICMP 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Protocol {
    /// RTP, RTCP and anything else over UDP.
    #[default]
    Udp,
    /// TCP.
    Tcp,
    /// Another protocol, by its IANA number.
    Other(u8),
}

/// The 5-tuple.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Flow {
    /// Source host.
    pub src: HostId,
    /// Destination host.
    pub dst: HostId,
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Transport protocol.
    pub protocol: Protocol,
}

/// Differentiated services code point, 0…63 (RFC 2474 § 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Dscp(pub u8);

impl Dscp {
    /// Best effort.
    pub const DEFAULT: Self = Self(0);
    /// Expedited forwarding (RFC 3246).
    pub const EF: Self = Self(46);
    /// Assured forwarding class 4, low drop precedence (RFC 2597).
    pub const AF41: Self = Self(34);

    /// The code point of a name, in upper or lower case: `be`, `le` (RFC 8622), `ef`, `va` (RFC
    /// 5865), `cs0` to `cs7` (RFC 2474 § 4.2.2), `af11` to `af43` (RFC 2597 § 6).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        match name.as_bytes() {
            b"be" => Some(Self::DEFAULT),
            b"le" => Some(Self(1)),
            b"ef" => Some(Self::EF),
            b"va" => Some(Self(44)),
            [b'c', b's', class @ b'0'..=b'7'] => Some(Self((class - b'0') * 8)),
            [b'a', b'f', class @ b'1'..=b'4', drop @ b'1'..=b'3'] => {
                Some(Self((class - b'0') * 8 + (drop - b'0') * 2))
            }
            _ => None,
        }
    }
}

/// Explicit congestion notification field (RFC 3168 § 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ecn {
    /// 00: not ECN-capable.
    #[default]
    NotEct,
    /// 10: ECN-capable.
    Ect0,
    /// 01: ECN-capable; L4S (RFC 9331).
    Ect1,
    /// 11: congestion experienced.
    Ce,
}

/// A packet in the network. The sender keeps the contents under `id`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The handle of the contents; unique among packets in the network.
    pub id: u64,
    /// The size of the IP packet: IP and transport headers and payload.
    pub size: Bytes,
    /// The 5-tuple.
    pub flow: Flow,
    /// The code point.
    pub dscp: Dscp,
    /// The ECN field.
    pub ecn: Ecn,
    /// Whether the packet is IPv6; otherwise it is IPv4.
    pub ipv6: bool,
    /// When the sending host handed it to the network.
    pub sent: Time,
}

/// A direction through a host's access network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// From the host.
    Up,
    /// To the host.
    Down,
}

impl Direction {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Up, Self::Down];

    /// The index in [`Self::ALL`].
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

/// `up` or `down`, as in the names of records and random streams.
impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Up => "up",
            Self::Down => "down",
        })
    }
}

/// One direction of a host's access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId {
    /// The host.
    pub host: HostId,
    /// The direction.
    pub direction: Direction,
}

impl LinkId {
    /// The link that a packet crosses in that direction: up at its source, down at its destination.
    #[must_use]
    pub const fn of(packet: &Packet, direction: Direction) -> Self {
        let host = match direction {
            Direction::Up => packet.flow.src,
            Direction::Down => packet.flow.dst,
        };
        Self { host, direction }
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The queue was full.
    QueueFull,
    /// Random loss of the link.
    RandomLoss,
    /// Active queue management.
    Aqm,
    /// No such host.
    NoRoute,
    /// A frame or a transport block reached its limit of retransmissions (IEEE 802.11-2016 §
    /// 10.3.4.4; 3GPP TS 36.321 § 5.4.2.2).
    RetryLimit,
    /// It waited too long: the discard timer (discardTimer, 3GPP TS 36.323 § 5.4) or the lifetime
    /// of an MSDU (IEEE 802.11-2016 § 10.22.2.11) expired.
    Discarded,
}

impl DropReason {
    /// Every reason.
    pub const ALL: [Self; 6] = [
        Self::QueueFull,
        Self::RandomLoss,
        Self::Aqm,
        Self::NoRoute,
        Self::RetryLimit,
        Self::Discarded,
    ];
}

/// A dropped packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The packet.
    pub packet: Packet,
    /// Where it was dropped.
    pub link: LinkId,
    /// Why it was dropped.
    pub reason: DropReason,
}

/// What became of a packet on its entry to the network: the answer of
/// [`Network::send`](crate::Network::send).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The sender's access took the packet in. A later drop is reported to
    /// [`Events::dropped`](crate::Events::dropped) alone.
    Accepted,
    /// The packet was dropped before `send` returned, at the sender's access or for want of a
    /// route. [`Events::dropped`](crate::Events::dropped) was called too.
    Dropped(DropReason),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_belongs_to_one_host() {
        for host in [HostId(0), HostId(7), HostId(300), HostId(65_534)] {
            assert_eq!(HostId::of_address(host.address()), Some(host));
            assert_eq!(HostId::of_address_v6(host.address_v6()), Some(host));
        }
        assert_eq!(HostId::of_address([10, 0, 0, 0].into()), None);
        assert_eq!(HostId::of_address([10, 1, 0, 1].into()), None);
        assert_eq!(HostId::of_address_v6("ff02::1".parse().unwrap()), None);
    }

    #[test]
    fn code_points_have_their_names() {
        let named = |name| Dscp::named(name).map(|dscp| dscp.0);
        let numbers = ["BE", "le", "ef", "va", "cs1", "CS7", "af11", "af41", "af43"].map(named);
        assert_eq!(numbers.map(Option::unwrap), [0, 1, 46, 44, 8, 56, 10, 34, 38]);
        assert_eq!(["af44", "af51", "cs8", "high", ""].map(named), [None; 5]);
    }
}
