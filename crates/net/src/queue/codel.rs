//! CoDel: drops packets at the head once the sojourn time has exceeded a target for an interval
//! (RFC 8289; tc-codel).
//!
//! | where it differs | RFC 8289 | here |
//! |---|---|---|
//! | an ECN-capable packet | marked instead of dropped (§ 5.5, optional) | marked with `ecn`, as in Linux's `codel_dequeue` |
//! | a low threshold for marks | – | `ce_threshold`, as in Linux's `codel_dequeue` |

use super::fifo::Fifo;
use super::tc_units::Printed;
use super::words::Words;
use super::{Drops, FULL_PACKET, QueueDiscipline, mark};
use crate::packet::{DropReason, Ecn, Packet};
use crate::queue::error::QueueConfigError;
use std::fmt;
use units::{Bytes, Duration, Time};

/// While no more bytes than this wait, nothing is dropped (RFC 8289 § 5.4, MAXPACKET; Linux: the
/// device's MTU and its Ethernet header).
const MAX_PACKET: Bytes = Bytes::new(1514);
/// The drop rate of the last dropping state is remembered for this many intervals (RFC 8289 § 5.6;
/// Linux `codel_dequeue`).
const MEMORY: u64 = 16;

/// The control law's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CodelParameters {
    /// The acceptable standing sojourn time (RFC 8289 § 4.3: 5 ms).
    pub target: Duration,
    /// A worst-case round-trip time: the time in which a sender can react (RFC 8289 § 4.2: 100 ms).
    pub interval: Duration,
    /// Marks ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Marks every ECN-capable packet that has waited longer than this, whatever the control law
    /// says (tc-codel `ce_threshold`); `None`: no such marks.
    pub ce_threshold: Option<Duration>,
}

/// The packets that `ce_threshold` marks (tc-fq_codel `ce_threshold_selector`): those whose octet
/// of DSCP and ECN, masked, has this value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CeSelector {
    /// The value of the masked octet.
    pub value: u8,
    /// The mask; zero selects every packet.
    pub mask: u8,
}

impl CeSelector {
    fn takes(self, packet: &Packet) -> bool {
        let ecn = match packet.ecn {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        };
        (packet.dscp.0 << 2 | ecn) & self.mask == self.value
    }
}

/// A queue under CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CodelConfig {
    /// The most packets (Linux: 1000).
    pub limit: u64,
    /// The control law.
    pub parameters: CodelParameters,
}

impl Default for CodelConfig {
    /// Linux's defaults (tc-codel).
    fn default() -> Self {
        let parameters = CodelParameters {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: false,
            ce_threshold: None,
        };
        Self { limit: 1000, parameters }
    }
}

pub(super) const USAGE: &str =
    "codel limit PACKETS target TIME interval TIME ce_threshold TIME ecn|noecn";

impl CodelConfig {
    /// The most bytes that can wait in the queue.
    pub(super) fn buffer(&self) -> Bytes {
        FULL_PACKET * self.limit
    }

    pub(super) fn read(mut words: Words<'_>) -> Result<Self, QueueConfigError> {
        let mut config = Self::default();
        while let Some(key) = words.key() {
            if key == "limit" {
                config.limit = words.packets(key)?;
            } else if !config.parameters.read(key, &mut words)? {
                return Err(words.unknown(key));
            }
        }
        Ok(config)
    }
}

impl CodelParameters {
    /// Reads the parameter `key`; returns `false` if CoDel has no such parameter.
    pub(super) fn read(
        &mut self,
        key: &str,
        words: &mut Words<'_>,
    ) -> Result<bool, QueueConfigError> {
        match key {
            "target" => self.target = words.time(key)?,
            "interval" => self.interval = words.time(key)?,
            "ecn" => self.ecn = true,
            "noecn" => self.ecn = false,
            "ce_threshold" => self.ce_threshold = Some(words.time(key)?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl fmt::Display for CodelConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "codel limit {} {}", self.limit, self.parameters)
    }
}

impl fmt::Display for CodelParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ecn = if self.ecn { "ecn" } else { "noecn" };
        write!(f, "target {} interval {} {ecn}", Printed(self.target), Printed(self.interval))?;
        match self.ce_threshold {
            Some(threshold) => write!(f, " ce_threshold {}", Printed(threshold)),
            None => Ok(()),
        }
    }
}

/// The state of the control law (RFC 8289 § 5.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Codel {
    parameters: CodelParameters,
    selector: CeSelector,
    first_above: Option<Time>,
    drop_next: Time,
    count: u64,
    last_count: u64,
    dropping: bool,
}

impl Codel {
    pub(super) const fn new(parameters: CodelParameters, selector: CeSelector) -> Self {
        Self {
            parameters,
            selector,
            first_above: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
        }
    }

    /// Removes the next packet that may leave (RFC 8289 § 5.5). `backlog` is the bytes that wait in
    /// all queues of the line, this one included; every packet removed is subtracted.
    pub(super) fn dequeue(
        &mut self,
        now: Time,
        queue: &mut Fifo,
        backlog: &mut Bytes,
        drops: &mut impl Drops,
    ) -> Option<(Packet, Duration)> {
        let mut next = self.look(now, queue, backlog);
        if self.dropping {
            if !next.drop {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if self.marks(&mut next) {
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                next.discard(drops);
                next = self.look(now, queue, backlog);
                if next.drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if next.drop {
            if !self.marks(&mut next) {
                next.discard(drops);
                next = self.look(now, queue, backlog);
            }
            self.dropping = true;
            // If the last dropping state is recent, its drop rate is the starting point.
            let delta = self.count - self.last_count;
            let recent = now.saturating_since(self.drop_next) < self.parameters.interval * MEMORY;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = self.control_law(now);
            self.last_count = self.count;
        }
        if let Some((packet, sojourn)) = &mut next.packet
            && self.parameters.ce_threshold.is_some_and(|threshold| *sojourn > threshold)
            && self.selector.takes(packet)
        {
            mark(packet);
        }
        next.packet
    }

    /// Removes the packet at the head and decides whether it may be dropped (RFC 8289 § 5.6,
    /// `dodequeue`).
    fn look(&mut self, now: Time, queue: &mut Fifo, backlog: &mut Bytes) -> Candidate {
        let Some((came, packet)) = queue.pop() else {
            self.first_above = None;
            return Candidate { packet: None, drop: false };
        };
        *backlog -= packet.size;
        let sojourn = now.saturating_since(came);
        let packet = Some((packet, sojourn));
        if sojourn < self.parameters.target || *backlog <= MAX_PACKET {
            self.first_above = None;
            return Candidate { packet, drop: false };
        }
        let first = *self.first_above.get_or_insert(now + self.parameters.interval);
        Candidate { packet, drop: now >= first }
    }

    fn marks(&self, candidate: &mut Candidate) -> bool {
        self.parameters.ecn && candidate.packet.as_mut().is_some_and(|(packet, _)| mark(packet))
    }

    /// Time of the next drop (RFC 8289 § 5.6).
    fn control_law(&self, from: Time) -> Time {
        let span = self.parameters.interval.as_secs_f64() / (self.count as f64).sqrt();
        from + Duration::from_secs_f64(span)
    }
}

/// The packet at the head, and whether it may be dropped.
struct Candidate {
    packet: Option<(Packet, Duration)>,
    drop: bool,
}

impl Candidate {
    fn discard(&mut self, drops: &mut impl Drops) {
        if let Some((packet, _)) = self.packet.take() {
            drops.drop(packet, DropReason::Aqm);
        }
    }
}

/// A FIFO under CoDel.
pub(crate) struct CodelQueue {
    limit: u64,
    codel: Codel,
    queue: Fifo,
}

impl CodelQueue {
    pub(crate) fn new(config: &CodelConfig) -> Self {
        Self {
            limit: config.limit,
            codel: Codel::new(config.parameters, CeSelector::default()),
            queue: Fifo::default(),
        }
    }
}

impl QueueDiscipline for CodelQueue {
    fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut impl Drops) {
        if self.queue.packets.len() as u64 >= self.limit {
            drops.drop(packet, DropReason::QueueFull);
        } else {
            self.queue.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut impl Drops) -> Option<(Packet, Duration)> {
        let mut backlog = self.queue.bytes;
        self.codel.dequeue(now, &mut self.queue, &mut backlog, drops)
    }

    fn oldest(&self) -> Option<Time> {
        self.queue.oldest()
    }

    fn packets(&self) -> usize {
        self.queue.packets.len()
    }

    fn bytes(&self) -> Bytes {
        self.queue.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;

    const fn ms(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// A queue that never empties: a packet arrives every millisecond and leaves after `sojourn`
    /// ms. Returns the times of drops in ms, and the number of marks.
    fn drops(ecn: bool, sojourn: u64, until: u64) -> (Vec<u64>, usize) {
        let mut config = CodelConfig::default();
        config.parameters.ecn = ecn;
        let mut queue = CodelQueue::new(&config);
        let packet = Packet {
            size: Bytes::new(1000),
            ecn: if ecn { Ecn::Ect0 } else { Ecn::NotEct },
            ..Packet::default()
        };
        let (mut at, mut marked) = (Vec::new(), 0);
        for now in 0..until {
            let mut dropped = Vec::new();
            queue.enqueue(ms(now), packet, &mut dropped);
            while queue
                .oldest()
                .is_some_and(|came| came + Duration::from_millis(sojourn) <= ms(now))
            {
                if let Some((packet, _)) = queue.dequeue(ms(now), &mut dropped) {
                    marked += usize::from(packet.ecn == Ecn::Ce);
                }
            }
            at.extend(dropped.iter().map(|_| now));
        }
        (at, marked)
    }

    /// RFC 8289 § 5.6: the first drop follows an interval after the sojourn time first exceeded the
    /// target, the others follow after interval / √count.
    #[test]
    fn drops_follow_the_control_law() {
        let (at, _) = drops(false, 20, 400);
        // Above the target from 20 ms on: drops at 120, then + 100, + 70.7, + 57.7.
        assert_eq!(at, [120, 220, 291, 349, 399]);
        assert!(drops(false, 4, 1_000).0.is_empty(), "below the target nothing is dropped");
    }

    #[test]
    fn ecn_capable_packets_are_marked_instead_of_dropped() {
        let (at, marked) = drops(true, 20, 400);
        assert!(at.is_empty());
        assert_eq!(marked, 5);
    }

    #[test]
    fn a_single_packet_is_never_dropped() {
        let mut queue = CodelQueue::new(&CodelConfig::default());
        let mut dropped = Vec::new();
        for second in 0..100 {
            let packet = Packet { size: Bytes::new(1000), ..Packet::default() };
            queue.enqueue(Time::from_secs(second), packet, &mut dropped);
            assert!(queue.dequeue(Time::from_secs(second + 1), &mut dropped).is_some());
        }
        assert!(dropped.is_empty());
    }
}
