//! Stochastic fairness queueing: flows are hashed into queues, which are served round-robin
//! (McKenney, INFOCOM 1990; tc-sfq, Linux `net/sched/sch_sfq.c`).

use super::error::QueueConfigError;
use super::fifo::Fifo;
use super::hash::FlowHash;
use super::words::Words;
use super::{Drops, FULL_PACKET, QueueDiscipline};
use crate::packet::{DropReason, Packet};
use std::collections::VecDeque;
use std::fmt;
use units::{Bytes, Duration, Stream, Time};

/// SFQ's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SfqConfig {
    /// The most packets in all queues (Linux: 127).
    pub limit: u64,
    /// The most packets in one queue (Linux: 127).
    pub depth: u64,
    /// The number of queues, a power of two (Linux: 1024).
    pub divisor: u32,
    /// The bytes that a queue may send per round (Linux: the MTU with its Ethernet header).
    pub quantum: Bytes,
    /// Interval at which the hash changes; zero: never (Linux: never).
    pub perturb: Duration,
}

impl Default for SfqConfig {
    fn default() -> Self {
        Self {
            limit: 127,
            depth: 127,
            divisor: 1024,
            quantum: Bytes::new(1514),
            perturb: Duration::ZERO,
        }
    }
}

pub(super) const USAGE: &str =
    "sfq limit PACKETS depth PACKETS divisor NUMBER quantum BYTES perturb SECONDS";

impl SfqConfig {
    /// The most bytes of one flow that can wait in the queue.
    pub(super) fn buffer(&self) -> Bytes {
        FULL_PACKET * self.limit.min(self.depth)
    }

    pub(super) fn read(mut words: Words<'_>) -> Result<Self, QueueConfigError> {
        let mut config = Self::default();
        while let Some(key) = words.key() {
            match key {
                "limit" => config.limit = words.packets(key)?,
                "depth" => config.depth = words.positive(key)?,
                "divisor" => {
                    config.divisor = words.positive(key)?;
                    if !config.divisor.is_power_of_two() || config.divisor > 65_536 {
                        return Err(words.wrong("'divisor' is a power of two up to 65536"));
                    }
                }
                "quantum" => config.quantum = words.bytes(key)?,
                "perturb" => config.perturb = Duration::from_secs(words.value::<u32>(key)?.into()),
                _ => return Err(words.unknown(key)),
            }
        }
        Ok(config)
    }
}

impl fmt::Display for SfqConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, depth, divisor, quantum, perturb } = self;
        let seconds = perturb.as_millis() / 1_000;
        write!(
            f,
            "sfq limit {limit} depth {depth} divisor {divisor} quantum {} perturb {seconds}",
            quantum.get()
        )
    }
}

/// SFQ.
pub(crate) struct Sfq {
    config: SfqConfig,
    random: Stream,
    hash: FlowHash,
    next_perturbation: Time,
    queues: Vec<SfqQueue>,
    /// Queues with packets, in the order of service.
    active: VecDeque<u32>,
    packets: usize,
    bytes: Bytes,
}

#[derive(Default)]
struct SfqQueue {
    queue: Fifo,
    /// The bytes that it may still send in this round.
    allotment: i64,
}

impl Sfq {
    pub(crate) fn new(config: &SfqConfig, mut random: Stream) -> Self {
        let hash = FlowHash::new(&mut random);
        Self {
            config: *config,
            random,
            hash,
            next_perturbation: Time::ZERO + config.perturb,
            queues: std::iter::repeat_with(SfqQueue::default)
                .take(config.divisor as usize)
                .collect(),
            active: VecDeque::new(),
            packets: 0,
            bytes: Bytes::ZERO,
        }
    }

    fn push(&mut self, came: Time, packet: Packet) {
        let index = self.hash.queue_of(&packet.flow, self.config.divisor);
        let entry = &mut self.queues[index as usize];
        if entry.queue.packets.is_empty() {
            entry.allotment = self.config.quantum.get().cast_signed();
            self.active.push_back(index);
        }
        self.packets += 1;
        self.bytes += packet.size;
        entry.queue.push(came, packet);
    }

    /// Changes the hash if that is due, and sorts the waiting packets into their new queues in the
    /// order of their arrival.
    fn perturb(&mut self, now: Time) {
        if self.config.perturb == Duration::ZERO || now < self.next_perturbation {
            return;
        }
        while self.next_perturbation <= now {
            self.next_perturbation += self.config.perturb;
            self.hash = FlowHash::new(&mut self.random);
        }
        let mut waiting = Vec::with_capacity(self.packets);
        for index in std::mem::take(&mut self.active) {
            waiting.extend(std::mem::take(&mut self.queues[index as usize].queue).packets);
        }
        // The sort is stable: packets of a flow that arrived at the same time stay in order.
        waiting.sort_by_key(|&(came, _)| came);
        (self.packets, self.bytes) = (0, Bytes::ZERO);
        for (came, packet) in waiting {
            self.push(came, packet);
        }
    }

    /// Drops the newest packet of the longest queue (Linux `sfq_drop`).
    fn drop_from_the_longest(&mut self, drops: &mut impl Drops) {
        let longest = self
            .active
            .iter()
            .copied()
            .max_by_key(|&index| self.queues[index as usize].queue.packets.len());
        let Some(longest) = longest else { return };
        let queue = &mut self.queues[longest as usize].queue;
        let Some((_, packet)) = queue.packets.pop_back() else { return };
        queue.bytes -= packet.size;
        if queue.packets.is_empty() {
            self.active.retain(|&index| index != longest);
        }
        self.packets -= 1;
        self.bytes -= packet.size;
        drops.drop(packet, DropReason::QueueFull);
    }
}

impl QueueDiscipline for Sfq {
    fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut impl Drops) {
        self.perturb(now);
        let index = self.hash.queue_of(&packet.flow, self.config.divisor);
        if self.queues[index as usize].queue.packets.len() as u64 >= self.config.depth {
            drops.drop(packet, DropReason::QueueFull);
            return;
        }
        self.push(now, packet);
        if self.packets as u64 > self.config.limit {
            self.drop_from_the_longest(drops);
        }
    }

    fn dequeue(&mut self, now: Time, _: &mut impl Drops) -> Option<(Packet, Duration)> {
        self.perturb(now);
        loop {
            let index = *self.active.front()?;
            let entry = &mut self.queues[index as usize];
            if entry.allotment <= 0 {
                entry.allotment += self.config.quantum.get().cast_signed();
                self.active.rotate_left(1);
                continue;
            }
            let Some((came, packet)) = entry.queue.pop() else {
                debug_assert!(false, "an active queue has packets");
                self.active.pop_front();
                continue;
            };
            entry.allotment -= packet.size.get().cast_signed();
            if entry.queue.packets.is_empty() {
                self.active.pop_front();
            }
            self.packets -= 1;
            self.bytes -= packet.size;
            return Some((packet, now.saturating_since(came)));
        }
    }

    fn oldest(&self) -> Option<Time> {
        let heads = self
            .active
            .iter()
            .filter_map(|&index| self.queues[index as usize].queue.packets.front());
        heads.map(|&(came, _)| came).min()
    }

    fn packets(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> Bytes {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Flow;
    use units::Seed;

    fn packet(flow: u16, size: u64) -> Packet {
        Packet {
            size: Bytes::new(size),
            flow: Flow { src_port: flow, ..Flow::default() },
            ..Packet::default()
        }
    }

    #[test]
    fn flows_are_served_in_turn_and_the_longest_queue_is_dropped_from() {
        let mut queue =
            Sfq::new(&SfqConfig { limit: 10, ..SfqConfig::default() }, Seed(1).stream("queue"));
        let mut drops = Vec::new();
        for flow in [1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3] {
            queue.enqueue(Time::ZERO, packet(flow, 1_500), &mut drops);
        }
        let dropped: Vec<u16> = drops.iter().map(|(packet, _)| packet.flow.src_port).collect();
        assert_eq!(dropped, [1], "the eleventh packet makes the longest queue lose one");
        let order: Vec<u16> = std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut drops))
            .map(|(packet, _)| packet.flow.src_port)
            .collect();
        assert_eq!(order, [1, 1, 2, 2, 3, 1, 1, 1, 1, 1]);
        assert_eq!((queue.packets(), queue.bytes()), (0, Bytes::ZERO));
    }

    #[test]
    fn hashing_anew_keeps_every_packet_and_the_order_of_a_flow() {
        let config =
            SfqConfig { perturb: Duration::from_secs(1), divisor: 2, ..SfqConfig::default() };
        let mut queue = Sfq::new(&config, Seed(1).stream("queue"));
        let mut drops = Vec::new();
        for id in 0..100 {
            let numbered = Packet { id, ..packet((id % 5) as u16, 1_000) };
            queue.enqueue(Time::from_millis(id * 30), numbered, &mut drops);
        }
        let left: Vec<Packet> =
            std::iter::from_fn(|| queue.dequeue(Time::from_secs(9), &mut drops))
                .map(|(packet, _)| packet)
                .collect();
        assert_eq!((left.len(), drops.len()), (100, 0));
        for flow in 0..5 {
            let ids =
                left.iter().filter(|packet| packet.flow.src_port == flow).map(|packet| packet.id);
            assert!(ids.is_sorted());
        }
    }
}
