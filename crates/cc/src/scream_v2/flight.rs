//! The packets that left: bytes in flight, newly acknowledged bytes, and lost packets.

use super::config::LossDetection;
use super::ntp;
use std::collections::VecDeque;
use units::Duration;

/// Packets remembered (the code, `kMaxTxPackets`).
const CAPACITY: u64 = 4096;
/// A missing packet is lost when the newest acknowledged one is this far ahead (the code,
/// `detectLoss`).
const MAX_BEHIND: u64 = 512;
/// At most so many packets are given up per message (the code, `detectLoss`).
const MAX_GIVEN_UP: u64 = 32;
/// With [`LossDetection::Spaced`] packets that are more than this before the newest of the message
/// before are not examined any more (the code of SCReAM v1, `detectLoss`).
const MAX_EXAMINED: u64 = 256;
/// The newest acknowledged frame does not advance by more than this, in ticks: 50000 at 90 kHz (the
/// code, `markAcked`). After a longer gap in the feedback packets are lost only when they are
/// [`MAX_BEHIND`].
const MAX_ADVANCE: u64 = 36_408;

/// A packet that left. Times in ticks.
#[derive(Clone, Copy, Default)]
struct Slot {
    sequence: u64,
    sent: u64,
    /// When its frame was added to the sender's queue.
    frame: u64,
    size: u32,
    used: bool,
    acked: bool,
    /// The last packet of its frame.
    last: bool,
    /// When a later packet was acknowledged first; 0: not yet.
    passed: u64,
}

/// What the acknowledgements of a message tell, in order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A packet arrived.
    Arrived,
    /// A packet of this size is lost.
    Lost(u64),
}

pub(crate) struct Flight {
    detection: LossDetection,
    reordering: u64,
    slots: Vec<Slot>,
    /// Bytes from the newest packet down to the newest acknowledged one.
    pub(crate) bytes: u64,
    /// The first packet that no acknowledgement has passed.
    edge: u64,
    /// One after the newest packet.
    next: u64,
    /// The newest packet of the last message.
    highest: Option<u64>,
    /// Passed packets that are neither acknowledged nor given up.
    missing: VecDeque<u64>,
    newest_frame: Option<u64>,
    /// When the newest acknowledged packet was sent.
    acked_sent: u64,
    pub(crate) newly_acked: u64,
    pub(crate) newly_marked: u64,
}

/// An acknowledged packet, when it had not been acknowledged before.
pub(crate) struct Acknowledged {
    pub(crate) sent: u64,
    pub(crate) size: u64,
    /// The last packet of its frame.
    pub(crate) last: bool,
}

impl Flight {
    /// `reordering`: the first reordering window.
    pub(crate) fn new(detection: LossDetection, reordering: Duration) -> Self {
        Self {
            detection,
            reordering: ntp::span(reordering),
            slots: vec![Slot::default(); CAPACITY as usize],
            bytes: 0,
            edge: 0,
            next: 0,
            highest: None,
            missing: VecDeque::with_capacity(CAPACITY as usize),
            newest_frame: None,
            acked_sent: 0,
            newly_acked: 0,
            newly_marked: 0,
        }
    }

    fn slot(&mut self, sequence: u64) -> Option<&mut Slot> {
        let slot = &mut self.slots[(sequence % CAPACITY) as usize];
        Some(slot).filter(|slot| slot.used && slot.sequence == sequence)
    }

    /// A packet left, whose frame was queued at `frame`; `last`: the last of the frame.
    pub(crate) fn on_sent(
        &mut self,
        now: u64,
        sequence: u64,
        size: u64,
        (frame, last): (u64, bool),
    ) {
        if self.next == 0 {
            self.edge = sequence;
        }
        self.next = sequence + 1;
        let slot = Slot {
            sequence,
            sent: now,
            frame,
            size: size as u32,
            last,
            used: true,
            ..Slot::default()
        };
        self.slots[(sequence % CAPACITY) as usize] = slot;
        self.bytes += size;
    }

    /// A packet is reported as arrived.
    pub(crate) fn acknowledge(
        &mut self,
        now: u64,
        sequence: u64,
        marked: bool,
        rtt: u64,
    ) -> Option<Acknowledged> {
        self.adapt(now, sequence, rtt);
        let slot = self.slot(sequence).filter(|slot| !slot.acked)?;
        slot.acked = true;
        let Slot { sent, frame, size, last, .. } = *slot;
        let size = u64::from(size);
        let newest = self.newest_frame.unwrap_or(frame);
        if (newest..newest + MAX_ADVANCE).contains(&frame) {
            self.newest_frame = Some(frame);
        }
        self.acked_sent = sent;
        self.newly_marked += if marked { size } else { 0 };
        Some(Acknowledged { sent, size, last })
    }

    /// A packet that was passed arrived after all: the reordering window becomes the time since, at
    /// most a round-trip time (RFC 8985 § 6.2).
    fn adapt(&mut self, now: u64, sequence: u64, rtt: u64) {
        let slot = &mut self.slots[(sequence % CAPACITY) as usize];
        let passed = slot.passed;
        let was_passed = passed > 0 && slot.sequence == sequence && !slot.acked;
        if was_passed && self.detection == LossDetection::Adaptive {
            slot.acked = !slot.used;
            self.reordering = now.saturating_sub(passed).min(rtt);
        }
    }

    /// The message ends with the packet `highest`: everything up to it leaves the flight, lost or
    /// not. `each` gets the fate of packets in order of sequence number.
    pub(crate) fn advance(&mut self, now: u64, highest: u64, mut each: impl FnMut(Fate)) {
        let before = self.highest.replace(highest).unwrap_or(highest);
        let given_up = before.saturating_sub(MAX_BEHIND);
        let first = given_up.saturating_sub(highest.saturating_sub(before).min(MAX_GIVEN_UP));
        for _ in 0..self.missing.len() {
            let Some(sequence) = self.missing.pop_front() else { break };
            let is_spaced = self.detection == LossDetection::Spaced;
            let keep = if is_spaced && sequence + MAX_EXAMINED < before {
                false
            } else if sequence < given_up && self.detection == LossDetection::Fixed {
                // A packet just before the range may be in the range of a later, longer message.
                let is_near = sequence + MAX_GIVEN_UP >= given_up;
                if sequence >= first || !is_near {
                    self.give_up(sequence, sequence >= first, &mut each);
                }
                sequence < first && is_near
            } else {
                sequence > highest || self.examine(now, sequence, &mut each)
            };
            if keep {
                self.missing.push_back(sequence);
            }
        }
        // Packets that are not remembered any more are skipped.
        self.edge = self.edge.max(self.next.saturating_sub(CAPACITY));
        while self.edge <= highest && self.edge < self.next {
            let sequence = self.edge;
            self.edge += 1;
            let Some(slot) = self.slot(sequence) else { continue };
            slot.passed = now.max(1);
            let size = u64::from(slot.size);
            self.newly_acked += size;
            self.bytes = self.bytes.saturating_sub(size);
            if self.examine(now, sequence, &mut each) && self.missing.len() < CAPACITY as usize {
                self.missing.push_back(sequence);
            }
        }
    }

    /// Forgets a packet that is too far behind; `counts`: it counts as lost.
    fn give_up(&mut self, sequence: u64, counts: bool, each: &mut impl FnMut(Fate)) {
        if let Some(slot) = self.slot(sequence) {
            slot.used = false;
            let (acked, size) = (slot.acked, u64::from(slot.size));
            if !acked && counts {
                each(Fate::Lost(size));
            }
        }
    }

    /// Decides on a passed packet. Returns whether it is still missing.
    fn examine(&mut self, now: u64, sequence: u64, each: &mut impl FnMut(Fate)) -> bool {
        let (acked_sent, newest_frame, reordering) =
            (self.acked_sent, self.newest_frame, self.reordering);
        let detection = self.detection;
        let Some(slot) = self.slot(sequence) else { return false };
        let waited = now.saturating_sub(slot.passed);
        if slot.acked {
            slot.used = false;
            each(Fate::Arrived);
            return false;
        }
        let is_lost = match detection {
            LossDetection::Adaptive => waited >= reordering,
            LossDetection::Spaced => slot.sent + reordering < acked_sent,
            LossDetection::Fixed => {
                let frames = newest_frame.and_then(|newest| newest.checked_sub(slot.frame));
                frames.is_some_and(|frames| slot.sent + reordering + frames < acked_sent)
            }
        };
        if is_lost {
            slot.used = false;
            let size = u64::from(slot.size);
            each(Fate::Lost(size));
        }
        !is_lost
    }

    /// Forgets everything in flight.
    pub(crate) fn forget(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.used = false);
        self.missing.clear();
        self.edge = self.next;
        self.bytes = 0;
    }

    /// Takes the bytes that were newly acknowledged, and those of them that were marked.
    pub(crate) fn take_acked(&mut self) -> (u64, u64) {
        (std::mem::take(&mut self.newly_acked), std::mem::take(&mut self.newly_marked))
    }

    /// The reordering window in s.
    pub(crate) fn reordering(&self) -> f64 {
        ntp::seconds(self.reordering)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scream_v2::ScreamV2Config;

    const RTT: u64 = 3277;

    fn flight(config: &ScreamV2Config) -> Flight {
        let mut flight = Flight::new(config.loss_detection, config.reordering);
        (0..20).for_each(|k| flight.on_sent(100 * k, k, 1000, (100 * k, true)));
        flight
    }

    fn lost(flight: &mut Flight, now: u64, arrived: &[u64]) -> u64 {
        for &sequence in arrived {
            flight.acknowledge(now, sequence, false, RTT);
        }
        let mut lost = 0;
        let highest = *arrived.last().unwrap();
        flight.advance(now, highest, |fate| lost += u64::from(fate != Fate::Arrived));
        lost
    }

    #[test]
    fn passed_packets_leave_the_flight_lost_or_not() {
        let mut flight = flight(&ScreamV2Config::code());
        assert_eq!(flight.bytes, 20_000);
        assert_eq!(lost(&mut flight, 5000, &[0, 1, 4]), 0, "30 ms are not over");
        assert_eq!((flight.bytes, flight.take_acked().0), (15_000, 5_000));
        assert_eq!(lost(&mut flight, 6000, &[2, 19]), 0, "the frames differ as much");
        flight.forget();
        assert_eq!(flight.bytes, 0);
    }

    #[test]
    fn a_packet_far_behind_is_lost() {
        let mut flight = flight(&ScreamV2Config::code());
        (20..600).for_each(|k| flight.on_sent(100 * k, k, 1000, (100 * k, true)));
        for report in 0..26 {
            let arrived: Vec<u64> = (1 + 20 * report..=20 + 20 * report).collect();
            assert_eq!(lost(&mut flight, 60_000 + report, &arrived), 0);
        }
        assert_eq!(lost(&mut flight, 60_500, &[540]), 1, "packet 0 is 512 behind 520");
    }

    #[test]
    fn the_reordering_window_adapts() {
        let mut flight = flight(&ScreamV2Config::draft());
        assert_eq!(lost(&mut flight, 5000, &[0, 2]), 1, "no reordering was seen");
        assert_eq!(lost(&mut flight, 5500, &[1, 3]), 0);
        assert_eq!(flight.reordering(), 500.0 / 65_536.0);
        assert_eq!(lost(&mut flight, 6000, &[5]), 0, "4 may still come");
        assert_eq!(lost(&mut flight, 6600, &[6]), 1);
    }
}
