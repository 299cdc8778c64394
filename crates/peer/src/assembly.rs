//! VP8 frames from packets (RFC 7741 § 4), in order.

use crate::descriptor::Descriptor;
use crate::packets::Unwrapped;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// Frames under way that are kept: over 4 s at 60 a second.
const FRAMES: usize = 256;
/// The most packets of padding that are remembered: as many packets as libwebrtc buffers
/// (`video/rtp_video_stream_receiver2.cc`, kPacketBufferMaxSize).
const PADDING: usize = 2_048;

/// A picture identifier has 15 bits (RFC 7741 § 4.2), or 7: whichever, the next one is the last one
/// plus 1.
const PICTURES: u64 = 1 << 15;

/// Puts frames together and hands them on in the order of their timestamps.
pub(crate) struct Assembler {
    timestamps: Unwrapped,
    pictures: Unwrapped,
    under_way: BTreeMap<u64, Partial>,
    /// Packets of padding alone, which are between frames.
    padding: BTreeSet<u64>,
    /// The last frame that was handed on.
    last: Option<Handed>,
}

struct Handed {
    timestamp: u64,
    picture: Option<u64>,
    sequence: u64,
}

#[derive(Default)]
struct Partial {
    picture: Option<u64>,
    first: Option<u64>,
    last: Option<u64>,
    sequences: BTreeSet<u64>,
    /// Of the first packet: the frame's header is in it.
    start: Bytes,
}

/// A complete frame.
pub(crate) struct Whole {
    /// How it begins.
    pub(crate) start: Bytes,
    /// Whether it is the one after the last that was handed on.
    pub(crate) follows: bool,
}

impl Partial {
    fn is_whole(&self) -> bool {
        let ends = self.first.zip(self.last);
        ends.is_some_and(|(first, last)| self.sequences.len() as u64 > last.saturating_sub(first))
    }

    fn is_key(&self) -> bool {
        self.start.first().is_some_and(|tag| tag & 1 == 0)
    }
}

impl Default for Assembler {
    fn default() -> Self {
        let (timestamps, pictures) = (Unwrapped::new(1 << 32), Unwrapped::new(PICTURES));
        Self {
            timestamps,
            pictures,
            under_way: BTreeMap::new(),
            padding: BTreeSet::new(),
            last: None,
        }
    }
}

impl Assembler {
    /// Takes in a packet by its sequence number, unwrapped. What is no VP8 is passed over.
    pub(crate) fn on_packet(
        &mut self,
        sequence: u64,
        timestamp: u32,
        marker: bool,
        payload: &Bytes,
    ) {
        if payload.is_empty() {
            self.padding.insert(sequence);
            if self.padding.len() > PADDING {
                self.padding.pop_first();
            }
        }
        let Some(descriptor) = Descriptor::read(payload) else { return };
        let timestamp = self.timestamps.next(timestamp.into());
        if self.last.as_ref().is_some_and(|last| timestamp <= last.timestamp) {
            return;
        }
        let picture = descriptor.picture.map(|picture| self.pictures.next(picture.into()));
        let frame = self.under_way.entry(timestamp).or_default();
        frame.picture = picture;
        frame.sequences.insert(sequence);
        if descriptor.begins {
            frame.first = Some(sequence);
            frame.start = payload.slice(descriptor.size..);
        }
        if marker {
            frame.last = Some(sequence);
        }
        if self.under_way.len() > FRAMES {
            self.under_way.pop_first();
        }
    }

    /// The next frame: the one after the last if it is whole, else a whole key frame.
    pub(crate) fn next(&mut self) -> Option<Whole> {
        if let Some(last) = &mut self.last {
            while self.padding.remove(&(last.sequence + 1)) {
                last.sequence += 1;
            }
            self.padding = self.padding.split_off(&last.sequence);
        }
        let follows = |frame: &Partial| {
            self.last.as_ref().is_some_and(|last| {
                last.picture.is_some_and(|last| frame.picture == Some(last + 1))
                    || frame.first == Some(last.sequence + 1)
            })
        };
        let (timestamp, follows) = self.under_way.iter().find_map(|(timestamp, frame)| {
            let follows = follows(frame);
            (frame.is_whole() && (follows || frame.is_key())).then_some((*timestamp, follows))
        })?;
        let frame = self.under_way.remove(&timestamp)?;
        self.under_way = self.under_way.split_off(&timestamp);
        let sequence = frame.last.unwrap_or_default();
        self.last = Some(Handed { timestamp, picture: frame.picture, sequence });
        Some(Whole { start: frame.start, follows })
    }

    /// Whether any frame was handed on.
    pub(crate) fn is_begun(&self) -> bool {
        self.last.is_some()
    }

    /// Whether a frame is overdue: something newer came than the next.
    pub(crate) fn is_stalled(&self) -> bool {
        !self.under_way.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of (sequence, frame, begins, ends, key); which frames come out, and whether they
    /// follow.
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
    fn frames_come_in_order_and_wait_for_what_is_asked_for_again() {
        let [a, b] = [(1, 1, true, false, true), (2, 1, false, true, true)];
        let [c, d] = [(3, 2, true, true, false), (4, 3, true, true, false)];
        assert_eq!(assembled(&[a, b, c, d]), [(1, false), (2, true), (3, true)]);
        assert_eq!(assembled(&[a, b, d, c]), [(1, false), (2, true), (3, true)], "recovered");
        assert_eq!(assembled(&[a, b, d]), [(1, false)], "not without the second");
        assert_eq!(
            assembled(&[b, d, a, c, a]),
            [(1, false), (2, true), (3, true)],
            "in any order, and none twice"
        );
    }

    #[test]
    fn a_key_frame_goes_on_without_the_lost_one() {
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
