//! Splits frames into packets.

use crate::codec::Frame;
use crate::payload::FramePart;
use std::collections::VecDeque;
use units::{Bytes, Time};

/// The maximum size of an RTP packet with header and extensions (1200 B: RFC 8834 § 4 stays below
/// any path's MTU; libwebrtc `media/base/media_constants.h`).
pub(crate) const MAX_PACKET: Bytes = Bytes::new(1200);

/// A part of a frame that waits to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) part: FramePart,
    pub(crate) rtp_timestamp: u64,
    pub(crate) payload: Bytes,
}

/// Frames that are not yet sent. They are split into packets when these are taken.
#[derive(Default)]
pub(crate) struct Packetizer {
    frames: VecDeque<QueuedFrame>,
    next_frame: u64,
    bytes: Bytes,
}

/// A frame, and the number of its packets that were taken.
struct QueuedFrame {
    frame: Frame,
    number: u64,
    captured: Time,
    count: u16,
    taken: u16,
}

impl Packetizer {
    /// Queues a frame captured at `now`; `header` is the size of the RTP header. Returns the number
    /// of its packets.
    pub(crate) fn push(&mut self, now: Time, frame: Frame, header: Bytes) -> u16 {
        let room = (MAX_PACKET - header).get();
        let count = u16::try_from(frame.size.get().div_ceil(room).max(1)).unwrap_or(u16::MAX);
        self.bytes += frame.size;
        self.frames.push_back(QueuedFrame {
            frame,
            number: self.next_frame,
            captured: now,
            count,
            taken: 0,
        });
        self.next_frame += 1;
        count
    }

    /// The number of the frame whose packets are next, if one waits.
    pub(crate) fn front(&self) -> Option<u64> {
        self.frames.front().map(|queued| queued.number)
    }

    /// The number of the next frame to be queued.
    pub(crate) fn next_frame(&self) -> u64 {
        self.next_frame
    }

    /// The queued payload bytes.
    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The next packet's part of its frame. The parts of a frame differ in size by at most one
    /// byte.
    pub(crate) fn pop(&mut self) -> Option<Part> {
        let queued = self.frames.front_mut()?;
        let (size, count) = (queued.frame.size.get(), u64::from(queued.count));
        let payload = Bytes::new(size / count + u64::from(u64::from(queued.taken) < size % count));
        let part = Part {
            part: FramePart {
                frame: queued.number,
                index: queued.taken,
                count: queued.count,
                key: queued.frame.key,
                width: u16::try_from(queued.frame.width).unwrap_or(u16::MAX),
                height: u16::try_from(queued.frame.height).unwrap_or(u16::MAX),
                captured: queued.captured,
            },
            rtp_timestamp: queued.frame.rtp_timestamp,
            payload,
        };
        queued.taken += 1;
        self.bytes -= payload;
        if queued.taken == queued.count {
            self.frames.pop_front();
        }
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_to_the_frame() {
        let mut packetizer = Packetizer::default();
        let frame = Frame {
            size: Bytes::new(4001),
            key: true,
            width: 1280,
            height: 720,
            rtp_timestamp: 90_000,
        };
        packetizer.push(Time::from_millis(5), frame, Bytes::new(24));
        let parts: Vec<Part> = std::iter::from_fn(|| packetizer.pop()).collect();
        assert_eq!(parts.len(), 4);
        assert_eq!(parts.iter().map(|p| p.payload).sum::<Bytes>(), Bytes::new(4001));
        assert!(parts.iter().all(|p| p.payload.get() == 1000 || p.payload.get() == 1001));
        assert_eq!(parts.iter().map(|p| p.part.index).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert!(packetizer.is_empty() && packetizer.bytes() == Bytes::ZERO);
    }
}
