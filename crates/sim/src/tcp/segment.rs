//! A TCP segment (RFC 9293 § 3.1) as the simulation carries it. Sequence numbers are 64-bit stream
//! offsets, and the payload is only a size.

use units::{Bytes, Time};

/// Payload of a full segment: an Ethernet frame of 1500 bytes minus the IPv4 and TCP headers and
/// the time stamps (RFC 6691, RFC 7323 § 3.2).
pub const MAX_SEGMENT: Bytes = Bytes::new(1448);
/// IPv4 header without options.
const IPV4_HEADER: Bytes = Bytes::new(20);
/// TCP header without options.
const TCP_HEADER: Bytes = Bytes::new(20);
/// The time stamps option with padding (RFC 7323, appendix A).
const TIMESTAMPS: Bytes = Bytes::new(12);
/// Options of Linux's SYN: MSS, SACK permitted, time stamps, window scale.
const SYN_OPTIONS: Bytes = Bytes::new(20);
/// The SACK option: two bytes of padding, kind and length, then eight bytes per block (RFC 2018 §
/// 3).
const SACK_HEADER: Bytes = Bytes::new(4);
const SACK_BLOCK: Bytes = Bytes::new(8);
/// The number of blocks that fit beside the time stamps (RFC 2018 § 3).
pub(crate) const MAX_SACK_BLOCKS: usize = 3;

/// The kind of a segment with respect to the handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// SYN.
    Syn,
    /// SYN and ACK.
    SynAck,
    /// Data or an acknowledgement.
    #[default]
    Established,
}

/// A range of stream offsets that arrived: start, end (exclusive).
pub type SackBlock = (u64, u64);

/// A segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Whether it belongs to the handshake.
    pub phase: Phase,
    /// The stream offset of its first byte.
    pub sequence: u64,
    /// The size of the payload.
    pub payload: Bytes,
    /// The segment is the last of its stream (FIN).
    pub fin: bool,
    /// The receiver shall pass the data on at once (PSH, RFC 9293 § 3.9.1). Linux sets it on the
    /// last segment of a burst.
    pub push: bool,
    /// The next offset that the sender of this segment expects.
    pub acknowledgment: u64,
    /// The other end's FIN is acknowledged too.
    pub fin_acknowledged: bool,
    /// The receive window, counted from `acknowledgment`.
    pub window: Bytes,
    /// Selective acknowledgements, newest first. The first may report a duplicate (RFC 2018, RFC
    /// 2883).
    pub sack: [Option<SackBlock>; MAX_SACK_BLOCKS],
    /// When it was sent (RFC 7323 TSval).
    pub timestamp: Time,
    /// The time stamp that this segment echoes (RFC 7323 TSecr).
    pub echo: Option<Time>,
    /// ECN echo (RFC 3168 § 6.1). Together with `cwr` in a SYN: the sender supports ECN.
    pub ece: bool,
    /// Congestion window reduced (RFC 3168 § 6.1).
    pub cwr: bool,
    /// Marked segments that the sender of this segment has received (RFC 9768 r.cep). The ACE field
    /// of a real segment has its last three bits; the size of the AccECN option is not counted.
    pub marked: u64,
}

impl Segment {
    /// The size of the IPv4 packet.
    #[must_use]
    pub fn size(&self) -> Bytes {
        let blocks = self.sack.iter().flatten().count() as u64;
        let sack = if blocks > 0 { SACK_HEADER + SACK_BLOCK * blocks } else { Bytes::ZERO };
        let options =
            if self.phase == Phase::Established { TIMESTAMPS + sack } else { SYN_OPTIONS };
        IPV4_HEADER + TCP_HEADER + options + self.payload
    }

    /// The offset after the last byte.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.sequence + self.payload.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_linux() {
        let full = Segment { payload: MAX_SEGMENT, ..Segment::default() };
        let syn = Segment { phase: Phase::Syn, ..Segment::default() };
        let sack = Segment { sack: [Some((0, 1)), Some((2, 3)), None], ..Segment::default() };
        let sizes = [full, syn, Segment::default(), sack].map(|segment| segment.size().get());
        assert_eq!(sizes, [1500, 60, 52, 72]);
    }
}
