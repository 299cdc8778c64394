//! Assembles VP8 frames from packets (RFC 7741 § 4), in order.

use crate::descriptor::Descriptor;
use crate::packets::Unwrapper;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// The most incomplete frames that are kept: more than 4 s at 60 frames per second.
const MAX_FRAMES: usize = 256;
/// The most sequence numbers of padding packets that are kept: as many packets as libwebrtc buffers
/// (`video/rtp_video_stream_receiver2.cc`, kPacketBufferMaxSize).
const MAX_PADDING: usize = 2_048;

/// The period of picture identifiers, which have 15 bits or 7 (RFC 7741 § 4.2). In both cases the
/// next identifier is the last one plus 1.
const PICTURE_PERIOD: u64 = 1 << 15;

/// Assembles frames and returns them in the order of their timestamps.
pub(crate) struct Assembler {
    timestamps: Unwrapper,
    pictures: Unwrapper,
    incomplete: BTreeMap<u64, PartialFrame>,
    /// The sequence numbers of packets with padding only, which are between frames.
    padding: BTreeSet<u64>,
    /// The last frame that was returned.
    last: Option<LastFrame>,
}

/// The last frame that was returned.
struct LastFrame {
    timestamp: u64,
    picture: Option<u64>,
    /// The sequence number of the last packet.
    sequence: u64,
}

/// A frame of which packets may be missing.
#[derive(Default)]
struct PartialFrame {
    picture: Option<u64>,
    /// The sequence number of the first packet.
    first: Option<u64>,
    /// The sequence number of the last packet.
    last: Option<u64>,
    sequences: BTreeSet<u64>,
    /// The payload of the first packet, which contains the frame header.
    start: Bytes,
}

/// A complete frame.
pub(crate) struct CompleteFrame {
    /// The first bytes of the frame.
    pub(crate) start: Bytes,
    /// Whether the frame directly follows the one that was returned last.
    pub(crate) follows: bool,
}

impl PartialFrame {
    fn is_complete(&self) -> bool {
        let ends = self.first.zip(self.last);
        ends.is_some_and(|(first, last)| self.sequences.len() as u64 > last.saturating_sub(first))
    }

    fn is_key(&self) -> bool {
        self.start.first().is_some_and(|tag| tag & 1 == 0)
    }
}

impl Default for Assembler {
    fn default() -> Self {
        let (timestamps, pictures) = (Unwrapper::new(1 << 32), Unwrapper::new(PICTURE_PERIOD));
        Self {
            timestamps,
            pictures,
            incomplete: BTreeMap::new(),
            padding: BTreeSet::new(),
            last: None,
        }
    }
}

impl Assembler {
    /// Adds a packet. `sequence` is its unwrapped sequence number. Packets that are not VP8 are
    /// ignored.
    pub(crate) fn on_packet(
        &mut self,
        sequence: u64,
        timestamp: u32,
        marker: bool,
        payload: &Bytes,
    ) {
        if payload.is_empty() {
            self.padding.insert(sequence);
            if self.padding.len() > MAX_PADDING {
                self.padding.pop_first();
            }
        }
        let Some(descriptor) = Descriptor::read(payload) else { return };
        let timestamp = self.timestamps.next(timestamp.into());
        if self.last.as_ref().is_some_and(|last| timestamp <= last.timestamp) {
            return;
        }
        let picture = descriptor.picture.map(|picture| self.pictures.next(picture.into()));
        let frame = self.incomplete.entry(timestamp).or_default();
        frame.picture = picture;
        frame.sequences.insert(sequence);
        if descriptor.begins {
            frame.first = Some(sequence);
            frame.start = payload.slice(descriptor.size..);
        }
        if marker {
            frame.last = Some(sequence);
        }
        if self.incomplete.len() > MAX_FRAMES {
            self.incomplete.pop_first();
        }
    }

    /// Returns the next frame: the one after the last frame if it is complete, otherwise the next
    /// complete key frame.
    pub(crate) fn next(&mut self) -> Option<CompleteFrame> {
        if let Some(last) = &mut self.last {
            while self.padding.remove(&(last.sequence + 1)) {
                last.sequence += 1;
            }
            self.padding = self.padding.split_off(&last.sequence);
        }
        let follows = |frame: &PartialFrame| {
            self.last.as_ref().is_some_and(|last| {
                last.picture.is_some_and(|last| frame.picture == Some(last + 1))
                    || frame.first == Some(last.sequence + 1)
            })
        };
        let (timestamp, follows) = self.incomplete.iter().find_map(|(timestamp, frame)| {
            let follows = follows(frame);
            (frame.is_complete() && (follows || frame.is_key())).then_some((*timestamp, follows))
        })?;
        let frame = self.incomplete.remove(&timestamp)?;
        self.incomplete = self.incomplete.split_off(&timestamp);
        let sequence = frame.last.unwrap_or_default();
        self.last = Some(LastFrame { timestamp, picture: frame.picture, sequence });
        Some(CompleteFrame { start: frame.start, follows })
    }

    /// Whether any frame was returned.
    pub(crate) fn is_begun(&self) -> bool {
        self.last.is_some()
    }

    /// Whether the next frame is overdue: newer packets have arrived.
    pub(crate) fn is_stalled(&self) -> bool {
        !self.incomplete.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds packets of (sequence, frame, begins, ends, key). Returns the frames in order, and
    /// whether each follows the one before.
    fn assembled(packets: &[(u64, u32, bool, bool, bool)]) -> Vec<(u8, bool)> {
        let (mut assembler, mut frames) = (Assembler::default(), Vec::new());
        for &(sequence, frame, begins, ends, key) in packets {
            let descriptor = if begins { 0x10 } else { 0 };
            let payload = Bytes::copy_from_slice(&[descriptor, u8::from(!key), frame as u8]);
            assembler.on_packet(sequence, frame * 3_000, ends, &payload);
            frames.extend(
                std::iter::from_fn(|| assembler.next())
                    .map(|whole| (whole.start[1], whole.follows)),
            );
        }
        frames
    }

    #[test]
    fn frames_are_in_order_and_wait_for_retransmissions() {
        let [a, b] = [(1, 1, true, false, true), (2, 1, false, true, true)];
        let [c, d] = [(3, 2, true, true, false), (4, 3, true, true, false)];
        assert_eq!(assembled(&[a, b, c, d]), [(1, false), (2, true), (3, true)]);
        assert_eq!(assembled(&[a, b, d, c]), [(1, false), (2, true), (3, true)], "recovered");
        assert_eq!(assembled(&[a, b, d]), [(1, false)], "the third frame waits for the second");
        assert_eq!(
            assembled(&[b, d, a, c, a]),
            [(1, false), (2, true), (3, true)],
            "packets in any order, no frame twice"
        );
    }

    #[test]
    fn a_key_frame_skips_a_lost_frame() {
        let key = (5, 4, true, true, true);
        let frames =
            [(1, 1, true, true, true), (3, 3, true, true, false), key, (6, 5, true, true, false)];
        assert_eq!(assembled(&frames), [(1, false), (4, false), (5, true)]);
    }

    #[test]
    fn padding_between_frames_is_no_gap() {
        let mut assembler = Assembler::default();
        assembler.on_packet(1, 0, true, &Bytes::from_static(&[0x10, 0, 0]));
        assert!(assembler.next().is_some());
        assembler.on_packet(2, 0, false, &Bytes::new());
        assembler.on_packet(3, 3_000, true, &Bytes::from_static(&[0x10, 1, 0]));
        assert!(assembler.next().is_some_and(|frame| frame.follows));
    }
}
