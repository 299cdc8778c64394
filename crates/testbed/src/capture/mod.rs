//! Packet captures (pcap, pcapng) of a call: the headers of RTP, and RTCP where it is in clear.
//!
//! ```text
//! bytes ─▶ frames (one record at a time) ─▶ datagram (link, IP, UDP) ─▶ content (RFC 7983)
//!                                                                          │
//!                 EventLog of each interface ◀── calls (RTP, RTCP, STUN) ◀──┘
//! ```
//!
//! SRTP leaves the headers of RTP in clear. SRTCP is encrypted: then round-trip times come from the
//! binding requests of ICE, and losses from gaps in the sequence numbers, or from the capture at the
//! other end. pcap-file, the crate that writes our captures, does not say at which byte a damaged
//! file is wrong and ignores the unit of time stamps of pcapng, so `frames` reads the records.

mod calls;
mod datagram;
mod error;
mod frames;
#[cfg(test)]
mod tests;

pub use error::CaptureError;

use crate::event_log::EventLog;
use calls::Calls;
use frames::Frames;
use std::io::Read;

/// A capture of a call.
#[derive(Debug, Default)]
pub struct Capture {
    /// For each interface that saw the call, what the nearest endpoint sent and received. A capture
    /// at one place has one.
    pub sides: Vec<EventLog>,
    /// What the capture contains.
    pub counts: Counts,
    /// The first error. The capture has what was readable.
    pub error: Option<CaptureError>,
}

/// What a capture contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames.
    pub frames: u64,
    /// RTP packets.
    pub rtp: u64,
    /// RTCP packets in clear.
    pub rtcp: u64,
    /// RTCP packets that are encrypted or cut.
    pub closed_rtcp: u64,
    /// STUN messages.
    pub stun: u64,
    /// DTLS records.
    pub dtls: u64,
    /// Frames that are none of these.
    pub other: u64,
    /// RTP packets of other pairs of addresses, which are left out.
    pub other_calls: u64,
}

/// Reads a capture. What was readable is returned together with the first error, if there is one.
///
/// # Errors
/// If the file does not begin as a capture, or has no RTP.
pub fn read(bytes: impl Read) -> Result<Capture, CaptureError> {
    let mut frames = Frames::new(bytes)?;
    let (mut counts, mut calls) = (Counts::default(), Calls::default());
    let error = loop {
        match frames.next() {
            Ok(None) => break None,
            Ok(Some(frame)) => {
                counts.frames += 1;
                calls.take(&frame, &mut counts);
            }
            Err(error) => break Some(error),
        }
        if calls.is_full() {
            let (offset, allowed) = (frames.offset, calls::MAX_PACKETS);
            break Some(CaptureError::TooManyPackets { offset, allowed });
        }
    };
    let sides = calls.finish(&mut counts, frames.offset);
    match error {
        Some(error) if sides.is_empty() => Err(error),
        None if sides.is_empty() => Err(CaptureError::NoRtp { frames: counts.frames }),
        error => Ok(Capture { sides, counts, error }),
    }
}
