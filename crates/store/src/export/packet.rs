use etherparse::TcpOptionWriteError;
use etherparse::err::ValueTooBigError;
use etherparse::err::packet::BuildWriteError;
use std::num::TryFromIntError;

/// Why a packet cannot be encoded or decoded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// An RTP or RTCP packet does not fit its format.
    #[error("not an RTP or RTCP packet: {0}")]
    Rtp(#[from] rtc_shared::error::Error),
    /// The options do not fit into a TCP header.
    #[error("the options do not fit into a TCP header: {0}")]
    TcpOptions(#[from] TcpOptionWriteError),
    /// The payload does not fit into an IPv4 packet.
    #[error("the payload does not fit into an IPv4 packet: {0}")]
    Ipv4Payload(#[from] ValueTooBigError<u16>),
    /// The value does not fit into the DSCP field.
    #[error("the value does not fit into the DSCP field: {0}")]
    Dscp(#[from] ValueTooBigError<u8>),
    /// The headers of the packet cannot be written.
    #[error("the packet cannot be built: {0}")]
    Build(#[from] BuildWriteError),
    /// The packet is longer than its length field allows.
    #[error("the packet is too long: {0}")]
    TooLong(#[from] TryFromIntError),
}
