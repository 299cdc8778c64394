//! The sizes of packets on the wire, computed without encoding them.

use super::app;
use super::feedback::transport_size;
use crate::payload::{FecGroup, Rtcp, Rtp};
use units::Bytes;

/// RTP header without extensions (RFC 3550 § 5.1).
const RTP_HEADER: u64 = 12;
/// Two one-byte-form extensions (RFC 8285 § 4.2): 4 bytes of extension header, transport-wide
/// sequence number 1 + 2, abs-send-time 1 + 3, padded to a multiple of 4.
const EXTENSIONS: u64 = 4 + 8;
/// The original sequence number of a retransmission (RFC 4588 § 4).
const RTX: u64 = 2;
/// The FEC header (RFC 5109 § 7.3), and the protection length in its one level header (§ 7.4).
const FEC_HEADER: u64 = 10 + 2;
/// The number of packets that the short mask of a level header covers (RFC 5109 § 7.4; the L bit
/// selects the mask).
const FEC_SHORT_MASK: u64 = 16;
/// The number of packets that the long mask covers.
pub const FEC_MASK: u64 = 48;

/// The size of the FEC header and level header of a parity packet.
#[must_use]
pub fn fec_header_size(group: &FecGroup) -> Bytes {
    let mask = if group.span() > FEC_SHORT_MASK { FEC_MASK } else { FEC_SHORT_MASK };
    Bytes::new(FEC_HEADER + mask / 8)
}

/// The size of the RTP header with its extensions. It includes the original sequence number in a
/// retransmission, and the FEC header in a parity packet.
#[must_use]
pub fn rtp_header_size(packet: &Rtp) -> Bytes {
    let extensions = if packet.transport_sequence.is_some() { EXTENSIONS } else { 0 };
    let rtx = if packet.retransmission_of.is_some() { RTX } else { 0 };
    let fec = packet.fec.as_ref().map_or(Bytes::ZERO, fec_header_size);
    Bytes::new(RTP_HEADER + extensions + rtx) + fec
}

/// The size of an RTP packet.
#[must_use]
pub fn rtp_size(packet: &Rtp) -> Bytes {
    rtp_header_size(packet) + packet.payload
}

/// The size of a compound RTCP packet.
#[must_use]
pub fn rtcp_size(packet: &Rtcp) -> Bytes {
    // RFC 3550 § 6.4.1: sender report 28, receiver report 8, a block 24.
    let report = match (&packet.sender_report, &packet.report) {
        (Some(_), block) => 28 + if block.is_some() { 24 } else { 0 },
        (None, Some(_)) => 32,
        (None, None) => 0,
    };
    // RFC 3611 § 2: header 8; receiver reference time 12 (§ 4.4); DLRR 4 + 12 (§ 4.5).
    let reference = if packet.reference_time.is_some() { 12 } else { 0 };
    let dlrr = if packet.dlrr.is_some() { 16 } else { 0 };
    let extended = if reference + dlrr > 0 { 8 + reference + dlrr } else { 0 };
    // draft-alvestrand-rmcat-remb-03 § 2.2, with one synchronisation source.
    let remb = if packet.remb.is_some() { 24 } else { 0 };
    let custom = packet.custom.map_or(0, |message| app::size(&message) as u64);
    // RFC 4585 § 6.1: header 12; 4 per NACK item; PLI has none.
    let items = nack_items(&packet.nack).count() as u64;
    let nack = if items > 0 { 12 + 4 * items } else { 0 };
    let pli = if packet.pli { 12 } else { 0 };
    // RFC 3550 § 6.6: header, source, and an empty reason.
    let bye = if packet.bye { 12 } else { 0 };
    Bytes::new(
        report + extended + remb + custom + nack + pli + bye + transport_size(&packet.transport),
    )
}

/// Sequence numbers as generic NACK items (RFC 4585 § 6.2.1): the first, and a bit mask of the next
/// sixteen.
pub fn nack_items(sequences: &[u64]) -> impl Iterator<Item = (u64, u16)> + '_ {
    let mut rest = sequences;
    std::iter::from_fn(move || {
        let (&first, after) = rest.split_first()?;
        let together = after.iter().take_while(|&&sequence| sequence - first <= 16).count();
        let mask =
            after[..together].iter().fold(0, |mask, &sequence| mask | 1 << (sequence - first - 1));
        rest = &after[together..];
        Some((first, mask))
    })
}
