//! The transmit window to one receiver: frames in order, until a block acknowledgement releases
//! them (IEEE 802.11-2016 § 10.24).

use crate::packet::{DropReason, Packet};
use std::collections::VecDeque;
use units::{Bytes, Time};

/// The window of a compressed block acknowledgement (IEEE 802.11-2016 § 9.3.1.9.3).
const WINDOW: usize = 64;
/// Header and frame check sequence of a QoS data frame (IEEE 802.11-2016 § 9.2.4, § 9.3.2.1).
const HEADER: Bytes = Bytes::new(26 + 4);
/// LLC and SNAP headers ahead of an IP packet (IEEE 802.2 § 3, RFC 1042).
const LLC_SNAP: Bytes = Bytes::new(8);
/// Header and message integrity code of CCMP (IEEE 802.11-2016 § 12.5.3.2).
const CCMP: Bytes = Bytes::new(8 + 8);
/// The delimiter ahead of each frame of an A-MPDU (IEEE 802.11-2016 § 9.7.1).
const DELIMITER: Bytes = Bytes::new(4);
/// Header of each subframe of an A-MSDU (IEEE 802.11-2016 § 9.3.2.2.2).
const SUBFRAME: Bytes = Bytes::new(14);

/// A packet in a device, and when it arrived there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) packet: Packet,
    pub(super) came: Time,
    /// Its entry to the driver, or to its receiver's queue.
    pub(super) entered: Time,
    /// Its position in the order of entries.
    pub(super) position: u64,
}

/// The source of new packets.
pub(super) trait Feed {
    /// The size of the next packet; `None` if there is none.
    fn peek(&mut self) -> Option<Bytes>;
    /// Removes the next packet.
    fn take(&mut self) -> Option<Held>;
}

/// The limits of a transmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The most frames.
    pub(super) frames: u8,
    /// The most bytes of the PSDU.
    pub(super) bytes: Bytes,
    /// Whether `bytes` applies to a single frame too.
    pub(super) strict: bool,
    /// The most bytes of an A-MSDU; zero: no A-MSDUs.
    pub(super) amsdu: Bytes,
    /// Whether frames are encrypted.
    pub(super) ccmp: bool,
}

/// The PSDU of one PPDU (IEEE 802.11-2016 § 9.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Psdu {
    /// The number of frames.
    pub(super) frames: u8,
    /// The number of frames that were sent before.
    pub(super) retransmissions: u8,
    /// Its size; with delimiters and padding if there is more than one frame.
    pub(super) bytes: Bytes,
}

impl Psdu {
    /// The PSDU with one more frame.
    fn with(self, mpdu: Bytes) -> Self {
        let bytes = match self.frames {
            0 => mpdu,
            1 => DELIMITER + padded(self.bytes) + DELIMITER + mpdu,
            _ => padded(self.bytes) + DELIMITER + mpdu,
        };
        Self { frames: self.frames + 1, bytes, ..self }
    }

    fn admits(self, mpdu: Bytes, limits: &Limits) -> bool {
        (self.frames == 0 && !limits.strict)
            || (self.frames < limits.frames && self.with(mpdu).bytes <= limits.bytes)
    }
}

fn padded(bytes: Bytes) -> Bytes {
    Bytes::new(bytes.get().next_multiple_of(4))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Waiting,
    Received,
    Abandoned(DropReason),
}

impl Fate {
    fn exit(self) -> Option<Exit> {
        match self {
            Self::Waiting => None,
            Self::Received => Some(Exit::Received),
            Self::Abandoned(reason) => Some(Exit::Abandoned(reason)),
        }
    }
}

/// An MPDU: one packet, or an A-MSDU of several.
#[derive(Clone, Copy, Debug)]
struct Frame {
    packets: u16,
    size: Bytes,
    /// The entry of its first packet.
    entered: Time,
    attempts: u32,
    fate: Fate,
    on_air: bool,
}

/// The outcome of a transmission.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    /// The number of frames that were sent.
    pub(super) attempted: u32,
    /// The number of them that arrived.
    pub(super) succeeded: u32,
    /// Whether a frame was given up.
    pub(super) abandoned: bool,
}

/// How a packet leaves the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    Received,
    Abandoned(DropReason),
}

/// The transmit window to one receiver.
#[derive(Debug, Default)]
pub(super) struct Window {
    frames: VecDeque<Frame>,
    /// The packets of the frames, in order.
    packets: VecDeque<Held>,
}

impl Window {
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The number of packets in the window.
    pub(super) fn packets(&self) -> usize {
        self.packets.len()
    }

    /// The position of the oldest packet; `None` if it is empty.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.packets.front().map(|held| held.position)
    }

    /// Composes the next transmission: retransmissions first, then new frames.
    pub(super) fn compose(&mut self, limits: &Limits, feed: &mut impl Feed) -> Psdu {
        let mut psdu = Psdu::default();
        for frame in self.frames.iter_mut().filter(|frame| frame.fate == Fate::Waiting) {
            if !psdu.admits(frame.size, limits) {
                return psdu;
            }
            frame.on_air = true;
            psdu = psdu.with(frame.size);
            psdu.retransmissions += 1;
        }
        while self.frames.len() < WINDOW {
            let Some(next) = feed.peek() else { break };
            if !psdu.admits(mpdu(LLC_SNAP + next, limits), limits) {
                break;
            }
            let fits = |size: Bytes| psdu.admits(size, limits) && size <= limits.bytes;
            let Some(frame) = self.frame(next, limits, fits, feed) else { break };
            psdu = psdu.with(frame.size);
            self.frames.push_back(frame);
        }
        psdu
    }

    /// Composes a frame from the next packet and those that fit into the same A-MSDU.
    fn frame(
        &mut self,
        first: Bytes,
        limits: &Limits,
        fits: impl Fn(Bytes) -> bool,
        feed: &mut impl Feed,
    ) -> Option<Frame> {
        let held = feed.take()?;
        let entered = held.entered;
        self.packets.push_back(held);
        let (mut packets, mut body) = (1, LLC_SNAP + first);
        let mut subframes = SUBFRAME + body;
        while let Some(next) = feed.peek() {
            let longer = padded(subframes) + SUBFRAME + LLC_SNAP + next;
            if longer > limits.amsdu || !fits(mpdu(longer, limits)) {
                break;
            }
            let Some(held) = feed.take() else { break };
            self.packets.push_back(held);
            (packets, body, subframes) = (packets + 1, longer, longer);
        }
        Some(Frame {
            packets,
            size: mpdu(body, limits),
            entered,
            attempts: 0,
            fate: Fate::Waiting,
            on_air: true,
        })
    }

    /// Ends the transmission. `arrives` decides for each frame, by its size, whether it arrived; a
    /// frame that failed `attempts` times, or that `expired` by its entry, is given up.
    pub(super) fn conclude(
        &mut self,
        attempts: u32,
        expired: impl Fn(Time) -> bool,
        mut arrives: impl FnMut(Bytes) -> bool,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        for frame in self.frames.iter_mut().filter(|frame| frame.on_air) {
            frame.on_air = false;
            frame.attempts += 1;
            outcome.attempted += 1;
            if arrives(frame.size) {
                frame.fate = Fate::Received;
                outcome.succeeded += 1;
                continue;
            }
            let reason = if frame.attempts >= attempts {
                DropReason::RetryLimit
            } else if expired(frame.entered) {
                DropReason::Discarded
            } else {
                continue;
            };
            frame.fate = Fate::Abandoned(reason);
            outcome.abandoned = true;
        }
        outcome
    }

    /// Releases the packets that no earlier frame holds back, in order, as the receiver delivers
    /// them in order.
    pub(super) fn release(&mut self, mut out: impl FnMut(Held, Exit)) {
        while let Some(frame) = self.frames.front().copied()
            && let Some(end) = frame.fate.exit()
        {
            self.frames.pop_front();
            for held in self.packets.drain(..usize::from(frame.packets)) {
                out(held, end);
            }
        }
    }
}

/// The size of a data frame with this body.
fn mpdu(body: Bytes, limits: &Limits) -> Bytes {
    HEADER + if limits.ccmp { CCMP } else { Bytes::ZERO } + body
}

#[cfg(test)]
mod tests {
    use super::*;

    struct PacketList(VecDeque<Held>);

    impl PacketList {
        fn of(sizes: &[u64]) -> Self {
            let held = |(id, &size): (u64, &u64)| Held {
                packet: Packet { id, size: Bytes::new(size), ..Packet::default() },
                came: Time::ZERO,
                entered: Time::ZERO,
                position: id,
            };
            Self((0..).zip(sizes).map(held).collect())
        }
    }

    impl Feed for PacketList {
        fn peek(&mut self) -> Option<Bytes> {
            self.0.front().map(|held| held.packet.size)
        }
        fn take(&mut self) -> Option<Held> {
            self.0.pop_front()
        }
    }

    const LIMITS: Limits = Limits {
        frames: 64,
        bytes: Bytes::new(65_535),
        strict: false,
        amsdu: Bytes::ZERO,
        ccmp: true,
    };

    fn released(window: &mut Window) -> Vec<(u64, Exit)> {
        let mut seen = Vec::new();
        window.release(|held, end| seen.push((held.packet.id, end)));
        seen
    }

    #[test]
    fn a_single_frame_has_no_delimiter_and_several_have_one_each() {
        let mut window = Window::default();
        assert_eq!(
            window.compose(&LIMITS, &mut PacketList::of(&[1000])).bytes,
            Bytes::new(1000 + 8 + 30 + 16)
        );
        let mut window = Window::default();
        // 1054 is padded to 1056, the last is not.
        let psdu = window.compose(&LIMITS, &mut PacketList::of(&[1000, 1000, 101]));
        assert_eq!((psdu.frames, psdu.bytes), (3, Bytes::new(2 * (4 + 1056) + 4 + 155)));
    }

    #[test]
    fn limits_of_frames_and_bytes_are_obeyed() {
        let compose = |limits: Limits| {
            Window::default().compose(&limits, &mut PacketList::of(&[1000; 100])).frames
        };
        assert_eq!(compose(LIMITS), 61);
        assert_eq!(compose(Limits { frames: 7, ..LIMITS }), 7);
        assert_eq!(compose(Limits { bytes: Bytes::new(3 * 1060), ..LIMITS }), 3);
        assert_eq!(compose(Limits { bytes: Bytes::new(10), ..LIMITS }), 1);
        assert_eq!(compose(Limits { bytes: Bytes::new(10), strict: true, ..LIMITS }), 0);
        let mut small = PacketList::of(&[40; 100]);
        assert_eq!(Window::default().compose(&LIMITS, &mut small).frames, 64);
    }

    #[test]
    fn an_a_msdu_holds_several_packets_which_arrive_or_fail_together() {
        let limits = Limits { amsdu: Bytes::new(3839), frames: 1, ..LIMITS };
        let mut window = Window::default();
        let psdu = window.compose(&limits, &mut PacketList::of(&[1500; 4]));
        // Two subframes of 1522, the first padded; a third would not fit.
        assert_eq!(
            psdu,
            Psdu { frames: 1, retransmissions: 0, bytes: Bytes::new(30 + 16 + 1524 + 1522) }
        );
        window.conclude(7, |_| false, |_| true);
        assert_eq!(released(&mut window), [(0, Exit::Received), (1, Exit::Received)]);
        assert!(window.is_empty() && window.packets() == 0);
    }

    #[test]
    fn a_lost_frame_holds_later_ones_back_and_is_retransmitted_first() {
        let mut window = Window::default();
        let mut line = PacketList::of(&[100; 6]);
        let limits = Limits { frames: 4, ..LIMITS };
        window.compose(&limits, &mut line);
        let mut fates = [true, false, true, true].into_iter();
        let outcome = window.conclude(7, |_| false, |_| fates.next().unwrap());
        assert_eq!(outcome, Outcome { attempted: 4, succeeded: 3, abandoned: false });
        assert_eq!(released(&mut window), [(0, Exit::Received)]);
        let psdu = window.compose(&limits, &mut line);
        assert_eq!((psdu.frames, psdu.retransmissions), (3, 1));
        window.conclude(7, |_| false, |_| true);
        assert_eq!(
            released(&mut window).iter().map(|(id, _)| *id).collect::<Vec<_>>(),
            [1, 2, 3, 4, 5]
        );
    }

    #[test]
    fn a_frame_is_given_up_at_the_retry_limit() {
        let mut window = Window::default();
        let mut line = PacketList::of(&[100]);
        for attempt in 1..=3 {
            assert_eq!(window.compose(&LIMITS, &mut line).frames, 1, "attempt {attempt}");
            assert_eq!(window.conclude(3, |_| false, |_| false).abandoned, attempt == 3);
        }
        assert_eq!(released(&mut window), [(0, Exit::Abandoned(DropReason::RetryLimit))]);
    }

    #[test]
    fn a_frame_that_failed_is_given_up_after_its_lifetime() {
        let mut window = Window::default();
        let mut line = PacketList::of(&[100; 2]);
        line.0[1].entered = Time::from_millis(500);
        window.compose(&LIMITS, &mut line);
        let expired = |entered| entered < Time::from_millis(100);
        assert!(window.conclude(7, expired, |_| false).abandoned);
        assert_eq!(released(&mut window), [(0, Exit::Abandoned(DropReason::Discarded))]);
        assert_eq!(window.compose(&LIMITS, &mut line).retransmissions, 1);
        // What arrives is received, however old it is.
        window.conclude(7, |_| true, |_| true);
        assert_eq!(released(&mut window), [(1, Exit::Received)]);
    }
}
