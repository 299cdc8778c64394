//! TCP headers in wire format. The crate `etherparse` encodes them; this module maps the fields of
//! a simulated segment to them.

use super::PacketError;
use etherparse::{TcpHeader, TcpOptionElement};
use net::Flow;
use sim::tcp::{MAX_SEGMENT, Phase, Segment};
use units::Time;

/// The window scale (RFC 7323 § 2). Every receive window that an experiment may set fits, rounded
/// up to 1024 bytes.
const WINDOW_SCALE: u8 = 10;
/// The MSS option: the payload of an Ethernet frame with headers without options (RFC 6691).
const MSS_OPTION: u16 = MAX_SEGMENT.get() as u16 + 12;

/// The header of a segment. The initial sequence number of both ends is 0 and is that of the SYN.
///
/// # Errors
/// If the options do not fit into the header.
pub fn header(flow: Flow, segment: &Segment) -> Result<TcpHeader, PacketError> {
    let opening = segment.phase != Phase::Established;
    let sequence = if opening { 0 } else { low32(segment.sequence + 1) };
    let mut header =
        TcpHeader::new(flow.src_port, flow.dst_port, sequence, window(segment, opening));
    header.syn = opening;
    header.ack = segment.phase != Phase::Syn;
    if header.ack {
        header.acknowledgment_number =
            low32(segment.acknowledgment + 1 + u64::from(segment.fin_acknowledged));
    }
    (header.fin, header.psh) = (segment.fin, segment.fin || segment.push);
    (header.ece, header.cwr) = (segment.ece, segment.cwr);
    header.set_options(&options(segment, opening))?;
    Ok(header)
}

fn options(segment: &Segment, opening: bool) -> Vec<TcpOptionElement> {
    use TcpOptionElement::{
        MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted,
        Timestamp, WindowScale,
    };
    let echo = segment.echo.map_or(0, milliseconds);
    let stamps = Timestamp(milliseconds(segment.timestamp), echo);
    if opening {
        let mss = MaximumSegmentSize(MSS_OPTION);
        return vec![
            mss,
            SelectiveAcknowledgementPermitted,
            stamps,
            Noop,
            WindowScale(WINDOW_SCALE),
        ];
    }
    let mut options = vec![Noop, Noop, stamps];
    let mut blocks =
        segment.sack.iter().flatten().map(|&(from, upto)| (low32(from + 1), low32(upto + 1)));
    if let Some(first) = blocks.next() {
        let others = [blocks.next(), blocks.next(), blocks.next()];
        options.extend([Noop, Noop, SelectiveAcknowledgement(first, others)]);
    }
    options
}

/// The window field, rounded up so that no data appear to exceed it. The window of a SYN is not
/// scaled.
fn window(segment: &Segment, opening: bool) -> u16 {
    let bytes = segment.window.get();
    let field = if opening { bytes } else { bytes.div_ceil(1 << WINDOW_SCALE) };
    u16::try_from(field).unwrap_or(u16::MAX)
}

/// The TCP time stamp in milliseconds, as in Linux.
fn milliseconds(at: Time) -> u32 {
    low32(at.as_nanos() / 1_000_000)
}

#[expect(clippy::cast_possible_truncation, reason = "the wire carries the low bits")]
fn low32(value: u64) -> u32 {
    value as u32
}
