//! FQ-CoDel: one queue per flow, served round-robin, each under CoDel (RFC 8290; tc-fq_codel).
//!
//! | where it differs | RFC 8290 | here |
//! |---|---|---|
//! | hash | Jenkins (§ 4.1.1) | [`FlowHash`] |
//! | memory_limit | 32 MB | not modelled: 10240 packets of 1500 bytes stay below it |

use super::codel::{CeSelector, Codel, CodelParameters};
use super::error::QueueConfigError;
use super::fifo::Fifo;
use super::hash::FlowHash;
use super::words::Words;
use super::{Drops, FULL_PACKET, QueueDiscipline};
use crate::packet::{DropReason, Packet};
use std::collections::VecDeque;
use std::fmt;
use units::{Bytes, Duration, Stream, Time};

/// The most packets that are dropped at once from the longest queue (RFC 8290 § 5.2.2; tc-fq_codel
/// `drop_batch`).
const DROP_BATCH: usize = 64;
/// The most queues (Linux: 65536).
const MAX_FLOWS: u32 = 65_536;

/// FQ-CoDel's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FqCodelConfig {
    /// The most packets in all queues (RFC 8290 § 5.2.2: 10240).
    pub limit: u64,
    /// The number of queues (RFC 8290 § 5.2.3: 1024).
    pub flows: u32,
    /// The bytes that a queue may send per round (RFC 8290 § 5.2.4: 1514 bytes).
    pub quantum: Bytes,
    /// CoDel's parameters; ECN is on by default (RFC 8290 § 5.2.5).
    pub codel: CodelParameters,
    /// The packets that CoDel's `ce_threshold` marks.
    pub ce_selector: CeSelector,
}

impl Default for FqCodelConfig {
    fn default() -> Self {
        let (target, interval) = (Duration::from_millis(5), Duration::from_millis(100));
        let codel = CodelParameters { target, interval, ecn: true, ce_threshold: None };
        let ce_selector = CeSelector::default();
        Self { limit: 10_240, flows: 1_024, quantum: Bytes::new(1_514), codel, ce_selector }
    }
}

pub(super) const USAGE: &str = "fq_codel limit PACKETS flows NUMBER target TIME interval TIME quantum BYTES ce_threshold TIME ce_threshold_selector VALUE/MASK ecn|noecn";

impl FqCodelConfig {
    /// The most bytes that can wait in the queue.
    pub(super) fn buffer(&self) -> Bytes {
        FULL_PACKET * self.limit
    }

    pub(super) fn read(mut words: Words<'_>) -> Result<Self, QueueConfigError> {
        let mut config = Self::default();
        while let Some(key) = words.key() {
            match key {
                "limit" => config.limit = words.packets(key)?,
                "flows" => {
                    config.flows = words.positive(key)?;
                    if config.flows > MAX_FLOWS {
                        return Err(words.wrong(&format!("'flows' is {MAX_FLOWS} at most")));
                    }
                }
                // Accepted and ignored: neither matters while a queue holds fewer bytes than
                // memory_limit and drops no more packets at once than drop_batch.
                "memory_limit" => drop(words.bytes(key)?),
                "drop_batch" => drop(words.positive::<u32>(key)?),
                "quantum" => config.quantum = words.bytes(key)?,
                "ce_threshold_selector" => config.ce_selector = selector(&mut words, key)?,
                _ if config.codel.read(key, &mut words)? => {}
                _ => return Err(words.unknown(key)),
            }
        }
        Ok(config)
    }
}

/// A value and a mask in hexadecimal or decimal, `0x01/0x03`; a bit of the value that the mask
/// lacks is refused.
fn selector(words: &mut Words<'_>, key: &str) -> Result<CeSelector, QueueConfigError> {
    let word: String = words.value(key)?;
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u8::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let parts = word.split_once('/').and_then(|(value, mask)| number(value).zip(number(mask)));
    parts
        .filter(|(value, mask)| value & !mask == 0)
        .map(|(value, mask)| CeSelector { value, mask })
        .ok_or_else(|| words.wrong(&format!("'{key}' is VALUE/MASK, such as 0x01/0x03 for ECT(1)")))
}

impl fmt::Display for FqCodelConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, flows, quantum, codel, ce_selector: CeSelector { value, mask } } = self;
        write!(f, "fq_codel limit {limit} flows {flows} quantum {} {codel}", quantum.get())?;
        if *mask > 0 {
            write!(f, " ce_threshold_selector {value:#x}/{mask:#x}")?;
        }
        Ok(())
    }
}

/// The queue of a flow.
struct FlowQueue {
    queue: Fifo,
    codel: Codel,
    /// The bytes that it may still send in this round (RFC 8290 § 3.1).
    credits: i64,
    active: bool,
}

/// FQ-CoDel.
pub(crate) struct FqCodel {
    config: FqCodelConfig,
    hash: FlowHash,
    flows: Vec<FlowQueue>,
    new: VecDeque<u32>,
    old: VecDeque<u32>,
    packets: usize,
    bytes: Bytes,
}

impl FqCodel {
    pub(crate) fn new(config: &FqCodelConfig, mut random: Stream) -> Self {
        let flow = || FlowQueue {
            queue: Fifo::default(),
            codel: Codel::new(config.codel, config.ce_selector),
            credits: 0,
            active: false,
        };
        Self {
            config: *config,
            hash: FlowHash::new(&mut random),
            flows: std::iter::repeat_with(flow).take(config.flows as usize).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            packets: 0,
            bytes: Bytes::ZERO,
        }
    }

    /// Drops half of the bytes of the longest queue, from its head (RFC 8290 § 4.1.3).
    fn drop_from_the_longest(&mut self, drops: &mut impl Drops) {
        let listed = self.new.iter().chain(&self.old).copied();
        let Some(longest) = listed.max_by_key(|&index| self.flows[index as usize].queue.bytes)
        else {
            return;
        };
        let queue = &mut self.flows[longest as usize].queue;
        let enough = queue.bytes.get() / 2;
        let mut dropped = Bytes::ZERO;
        for _ in 0..DROP_BATCH {
            let Some((_, packet)) = queue.pop() else { break };
            dropped += packet.size;
            self.packets -= 1;
            self.bytes -= packet.size;
            drops.drop(packet, DropReason::QueueFull);
            if dropped.get() >= enough {
                break;
            }
        }
    }
}

impl QueueDiscipline for FqCodel {
    fn enqueue(&mut self, now: Time, packet: Packet, drops: &mut impl Drops) {
        let index = self.hash.queue_of(&packet.flow, self.config.flows);
        let flow = &mut self.flows[index as usize];
        self.packets += 1;
        self.bytes += packet.size;
        flow.queue.push(now, packet);
        if !flow.active {
            flow.active = true;
            flow.credits = self.config.quantum.get().cast_signed();
            self.new.push_back(index);
        }
        if self.packets as u64 > self.config.limit {
            self.drop_from_the_longest(drops);
        }
    }

    /// RFC 8290 § 4.2.
    fn dequeue(&mut self, now: Time, drops: &mut impl Drops) -> Option<(Packet, Duration)> {
        loop {
            let is_new = !self.new.is_empty();
            let index = *self.new.front().or_else(|| self.old.front())?;
            let flow = &mut self.flows[index as usize];
            if flow.credits <= 0 {
                flow.credits += self.config.quantum.get().cast_signed();
                if is_new {
                    self.new.pop_front()
                } else {
                    self.old.pop_front()
                };
                self.old.push_back(index);
                continue;
            }
            let before = flow.queue.packets.len();
            let taken = flow.codel.dequeue(now, &mut flow.queue, &mut self.bytes, drops);
            self.packets -= before - flow.queue.packets.len();
            if let Some((packet, sojourn)) = taken {
                flow.credits -= packet.size.get().cast_signed();
                return Some((packet, sojourn));
            }
            // A new queue that empties goes through the list of old queues once, so that it cannot
            // become new again at once.
            if is_new {
                self.new.pop_front();
            } else {
                self.old.pop_front();
            }
            if is_new && !self.old.is_empty() {
                self.old.push_back(index);
            } else {
                flow.active = false;
            }
        }
    }

    fn oldest(&self) -> Option<Time> {
        let listed = self.new.iter().chain(&self.old);
        listed
            .filter_map(|&index| self.flows[index as usize].queue.packets.front())
            .map(|&(came, _)| came)
            .min()
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
    use crate::packet::{Ecn, Flow};
    use crate::queue::QueueConfig;
    use units::Seed;

    fn queue(config: &FqCodelConfig) -> FqCodel {
        FqCodel::new(config, Seed(1).stream("queue"))
    }

    fn packet(flow: u16, size: u64) -> Packet {
        let flow = Flow { src_port: flow, ..Flow::default() };
        Packet { size: Bytes::new(size), flow, ..Packet::default() }
    }

    fn order(queue: &mut FqCodel, count: usize) -> Vec<u16> {
        let mut drops = Vec::new();
        (0..count)
            .filter_map(|_| queue.dequeue(Time::ZERO, &mut drops))
            .map(|(packet, _)| packet.flow.src_port)
            .collect()
    }

    /// Packets with each ECN field that wait for `wait`, in a queue of these words: which leave
    /// with a mark.
    fn marked_after(words: &str, wait: Duration) -> [bool; 4] {
        let QueueConfig::FqCodel(config) = words.parse().unwrap() else { panic!("{words}") };
        [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce].map(|ecn| {
            let mut queue = queue(&config);
            queue.enqueue(Time::ZERO, Packet { ecn, ..packet(1, 500) }, &mut Vec::new());
            let left = queue.dequeue(Time::ZERO + wait, &mut Vec::new());
            left.is_some_and(|(packet, _)| packet.ecn == Ecn::Ce)
        })
    }

    /// Linux `codel_dequeue`: longer than `ce_threshold`, and among the selected packets.
    #[test]
    fn the_threshold_marks_what_has_waited_longer() {
        let (at, above) = (Duration::from_millis(1), Duration::from_micros(1_001));
        assert_eq!(marked_after("fq_codel ce_threshold 1ms", at), [false, false, false, true]);
        assert_eq!(marked_after("fq_codel ce_threshold 1ms", above), [false, true, true, true]);
        let l4s = "fq_codel noecn ce_threshold 1ms ce_threshold_selector 0x01/0x03";
        assert_eq!(marked_after(l4s, above), [false, false, true, true]);
        assert_eq!(marked_after("fq_codel", above), [false, false, false, true]);
        let printed = l4s.parse::<QueueConfig>().unwrap().to_string();
        assert!(
            printed.ends_with("noecn ce_threshold 1ms ce_threshold_selector 0x1/0x3"),
            "{printed}"
        );
        for wrong in ["0x04/0x03", "1", "x/y"] {
            let words = format!("fq_codel ce_threshold 1ms ce_threshold_selector {wrong}");
            assert!(words.parse::<QueueConfig>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn flows_share_by_bytes_and_a_new_flow_is_served_first() {
        let mut queue = queue(&FqCodelConfig::default());
        let mut drops = Vec::new();
        for _ in 0..8 {
            queue.enqueue(Time::ZERO, packet(1, 1_500), &mut drops);
            queue.enqueue(Time::ZERO, packet(2, 500), &mut drops);
        }
        // A quantum of 1514 bytes: just over one packet of flow 1 and just over three of flow 2.
        assert_eq!(order(&mut queue, 12), [1, 1, 2, 2, 2, 2, 1, 2, 2, 2, 1, 2]);
        queue.enqueue(Time::ZERO, packet(3, 100), &mut drops);
        assert_eq!(order(&mut queue, 1), [3], "sparse flows do not wait");
        assert!(drops.is_empty());
        assert_eq!(order(&mut queue, 99).len(), 4);
        assert_eq!((queue.packets(), queue.bytes()), (0, Bytes::ZERO));
    }

    #[test]
    fn a_full_queue_drops_from_the_flow_with_the_longest_queue() {
        let mut queue = queue(&FqCodelConfig { limit: 20, ..FqCodelConfig::default() });
        let mut drops = Vec::new();
        queue.enqueue(Time::ZERO, packet(2, 1_000), &mut drops);
        for _ in 0..20 {
            queue.enqueue(Time::ZERO, packet(1, 1_000), &mut drops);
        }
        assert_eq!(drops.len(), 10, "half of it");
        assert!(drops.iter().all(|(packet, _)| packet.flow.src_port == 1));
        assert_eq!(queue.packets(), 11);
    }

    #[test]
    fn codel_works_on_each_flow_alone() {
        let mut queue = queue(&FqCodelConfig::default());
        let mut drops = Vec::new();
        // Two packets of flow 1 arrive for each that leaves. Flow 2 sends a packet every 10 ms,
        // which leaves at once.
        for now in 0..1_000 {
            let at = Time::from_millis(now);
            queue.enqueue(at, packet(1, 1_000), &mut drops);
            queue.enqueue(at, packet(1, 1_000), &mut drops);
            if now.is_multiple_of(10) {
                queue.enqueue(at, packet(2, 200), &mut drops);
                queue.dequeue(at, &mut drops);
            }
            queue.dequeue(at, &mut drops);
        }
        assert!(
            drops.len() > 10 && drops.iter().all(|(packet, _)| packet.flow.src_port == 1),
            "{}",
            drops.len()
        );
    }
}
