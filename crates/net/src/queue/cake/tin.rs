//! A tin: the flows of a traffic class, served by DRR++ (Linux `cake_enqueue` and `cake_dequeue`).

use super::cobalt::{Cobalt, Parameters};
use super::isolation::{CakeIsolation, FLOWS, Hosts, find};
use super::lists::{List, Lists};
use crate::packet::{DropReason, Flow, Packet};
use crate::queue::Drops;
use crate::queue::fifo::Fifo;
use crate::queue::hash::{FlowHash, Key};
use crate::serialisation::time_for;
use units::{Bitrate, Bytes, Duration, Stream, Time};

/// The quantum of a flow is the tin's rate in bit/s divided by this, in bytes (1/4096 s), within
/// the range below.
const QUANTUM_BITS: u64 = 8 * 4_096;
const MIN_QUANTUM: u64 = 300;
const MAX_QUANTUM: u64 = 1_514;
/// The lowest rate of a tin: 64 byte/s, so that it always makes progress (Linux `MIN_RATE`).
pub(super) const MIN_RATE: Bitrate = Bitrate::from_bps(512);

/// The scheduling state of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// In no list.
    Idle,
    /// The flow has not used up its first quantum.
    Sparse,
    /// The flow used up its first quantum and was empty then: it is in the list of bulk flows, but
    /// is not counted as one.
    SparseWaits,
    Bulk,
    /// Empty, and its AQM still has state.
    Decaying,
}

struct FlowQueue {
    queue: Fifo,
    cobalt: Cobalt,
    /// The bytes that it may still send in this round.
    deficit: i64,
    standing: Standing,
    source: u16,
    destination: u16,
}

/// A traffic class.
pub(super) struct Tin {
    isolation: CakeIsolation,
    parameters: Parameters,
    /// The bytes that a flow may send per round.
    quantum: u64,
    /// The bytes that the tin may send per round if CAKE does not shape.
    pub(super) tin_quantum: i64,
    /// The bytes that the tin may still send in this round.
    pub(super) deficit: i64,
    /// The rate above which the tin loses its priority; `None` without shaping.
    rate: Option<Bitrate>,
    /// When the tin is within its rate again.
    pub(super) next: Time,
    flows: Vec<FlowQueue>,
    /// The tag of the flow of each queue.
    tags: Vec<u64>,
    sources: Hosts,
    destinations: Hosts,
    lists: Lists,
    /// The number of sparse and bulk flows.
    active: u32,
    pub(super) packets: usize,
    pub(super) bytes: Bytes,
}

impl Tin {
    /// `rate` is the tin's share of the shaped rate.
    pub(super) fn new(
        isolation: CakeIsolation,
        rtt: Duration,
        rate: Option<Bitrate>,
        tin_quantum: i64,
    ) -> Self {
        let rate = rate.map(|rate| rate.max(MIN_RATE));
        let flow = || FlowQueue {
            queue: Fifo::default(),
            cobalt: Cobalt::default(),
            deficit: 0,
            standing: Standing::Idle,
            source: 0,
            destination: 0,
        };
        let quantum =
            |rate: Bitrate| (rate.as_bps() / QUANTUM_BITS).clamp(MIN_QUANTUM, MAX_QUANTUM);
        Self {
            isolation,
            parameters: Parameters::new(rtt, rate),
            quantum: rate.map_or(MAX_QUANTUM, quantum),
            tin_quantum,
            deficit: 0,
            rate,
            next: Time::ZERO,
            flows: std::iter::repeat_with(flow).take(FLOWS.into()).collect(),
            tags: vec![0; FLOWS.into()],
            sources: Hosts::new(Key::Source),
            destinations: Hosts::new(Key::Destination),
            lists: Lists::new(FLOWS),
            active: 0,
            packets: 0,
            bytes: Bytes::ZERO,
        }
    }

    /// Whether it has a flow with packets, or one that was not yet found empty.
    pub(super) fn is_active(&self) -> bool {
        self.active > 0
    }

    pub(super) fn push(&mut self, now: Time, packet: Packet, hash: &FlowHash) {
        if self.packets == 0 {
            self.next = self.next.max(now);
        }
        let index = self.index(hash, &packet.flow);
        self.packets += 1;
        self.bytes += packet.size;
        let flow = &mut self.flows[usize::from(index)];
        flow.queue.push(now, packet);
        match flow.standing {
            Standing::Idle | Standing::Decaying => {
                flow.standing = Standing::Sparse;
                self.active += 1;
                self.lists.append(List::New, index);
                let quantum = self.quantum / self.load(index);
                self.flows[usize::from(index)].deficit = quantum.cast_signed();
            }
            Standing::SparseWaits => self.count_as_bulk(index),
            Standing::Sparse | Standing::Bulk => {}
        }
    }

    /// The queue of a packet's flow. A queue with a new flow is attributed to the flow's hosts.
    fn index(&mut self, hash: &FlowHash, flow: &Flow) -> u16 {
        let tag = hash.of(flow, self.isolation.key());
        let flows = &self.flows;
        let (index, known) =
            find(&mut self.tags, tag, |index| flows[index].standing == Standing::Idle);
        let queue = &mut self.flows[usize::from(index)];
        if known && queue.standing != Standing::Idle {
            return index;
        }
        let bulk = queue.standing == Standing::Bulk;
        if bulk {
            self.sources.remove(queue.source);
            self.destinations.remove(queue.destination);
        }
        if self.isolation.is_fair_to_sources() {
            queue.source = self.sources.index(hash, flow);
        }
        if self.isolation.is_fair_to_destinations() {
            queue.destination = self.destinations.index(hash, flow);
        }
        if bulk {
            self.sources.add(queue.source);
            self.destinations.add(queue.destination);
        }
        index
    }

    fn count_as_bulk(&mut self, index: u16) {
        let flow = &mut self.flows[usize::from(index)];
        flow.standing = Standing::Bulk;
        self.sources.add(flow.source);
        self.destinations.add(flow.destination);
    }

    /// The number of flows among which the share of the flow's host is divided.
    fn load(&self, index: u16) -> u64 {
        let flow = &self.flows[usize::from(index)];
        let mut load = 1;
        if self.isolation.is_fair_to_sources() {
            load = load.max(self.sources.bulk(flow.source));
        }
        if self.isolation.is_fair_to_destinations() {
            load = load.max(self.destinations.bulk(flow.destination));
        }
        load.into()
    }

    /// Dequeues the next packet. `None`: a flow was found empty, so that another tin may come first
    /// now. While `decays` is set, a decaying flow is served first, once per packet: otherwise none
    /// would decay under load.
    pub(super) fn serve(
        &mut self,
        now: Time,
        decays: &mut bool,
        random: &mut Stream,
        drops: &mut impl Drops,
    ) -> Option<(Packet, Duration, u16)> {
        let index = self.turn(decays, random)?;
        if let Some((packet, sojourn)) = self.take(index, now, random, drops) {
            return Some((packet, sojourn, index));
        }
        self.retire(index, now);
        None
    }

    /// The flow to serve.
    fn turn(&mut self, decays: &mut bool, random: &mut Stream) -> Option<u16> {
        loop {
            let first =
                if std::mem::take(decays) { self.lists.first(List::Decaying) } else { None };
            let index = first
                .or_else(|| self.lists.first(List::New))
                .or_else(|| self.lists.first(List::Old))
                .or_else(|| self.lists.first(List::Decaying))?;
            let flow = &mut self.flows[usize::from(index)];
            if flow.deficit > 0 {
                return Some(index);
            }
            if flow.standing == Standing::Sparse {
                if flow.queue.packets.is_empty() {
                    flow.standing = Standing::SparseWaits;
                } else {
                    self.count_as_bulk(index);
                }
            }
            let load = self.load(index);
            // The remainder of the division is assigned at random: otherwise hosts with many flows
            // would lose it.
            let lot = if load > 1 { random.below(load) } else { 0 };
            self.flows[usize::from(index)].deficit += ((self.quantum + lot) / load).cast_signed();
            self.lists.append(List::Old, index);
        }
    }

    /// The flow's next packet that the AQM does not drop. The last packet is never dropped.
    fn take(
        &mut self,
        index: u16,
        now: Time,
        random: &mut Stream,
        drops: &mut impl Drops,
    ) -> Option<(Packet, Duration)> {
        let flow = &mut self.flows[usize::from(index)];
        loop {
            let (came, mut packet) = flow.queue.pop()?;
            self.packets -= 1;
            self.bytes -= packet.size;
            let sojourn = now.saturating_since(came);
            let drop = flow.cobalt.drops(&self.parameters, now, sojourn, &mut packet, random);
            if !drop || flow.queue.packets.is_empty() {
                return Some((packet, sojourn));
            }
            drops.drop(packet, DropReason::Aqm);
        }
    }

    /// Removes an empty flow from its list; while its AQM has state, it goes to the list of
    /// decaying flows.
    fn retire(&mut self, index: u16, now: Time) {
        let flow = &mut self.flows[usize::from(index)];
        flow.cobalt.emptied(&self.parameters, now);
        if flow.standing == Standing::Bulk {
            self.sources.remove(flow.source);
            self.destinations.remove(flow.destination);
        }
        if flow.standing != Standing::Decaying {
            self.active -= 1;
        }
        if flow.cobalt.rests(now) {
            flow.standing = Standing::Idle;
            self.lists.remove(index);
        } else {
            flow.standing = Standing::Decaying;
            self.lists.append(List::Decaying, index);
        }
    }

    /// Charges a packet of this size on the link to the flow, the tin and its rate (Linux
    /// `cake_advance_shaper`).
    pub(super) fn charge(&mut self, now: Time, index: u16, size: Bytes) {
        let bytes = size.get().cast_signed();
        self.flows[usize::from(index)].deficit -= bytes;
        self.deficit -= bytes;
        let Some(rate) = self.rate else { return };
        let span = time_for(u128::from(size.bits()) * 1_000_000_000, rate).unwrap_or(Duration::MAX);
        // A tin below its rate may catch up; otherwise it waits at least for this packet.
        self.next = if self.next < now { self.next + span } else { self.next.max(now + span) };
    }

    /// The longest queue and its bytes.
    pub(super) fn longest(&self) -> Option<(Bytes, u16)> {
        let listed = self.lists.iter(List::New).chain(self.lists.iter(List::Old));
        listed.map(|index| (self.flows[usize::from(index)].queue.bytes, index)).max()
    }

    /// Drops the packet at the head of a queue because the memory is full; returns its size.
    pub(super) fn overflow(&mut self, now: Time, index: u16, drops: &mut impl Drops) -> Bytes {
        let flow = &mut self.flows[usize::from(index)];
        let Some((_, packet)) = flow.queue.pop() else { return Bytes::ZERO };
        flow.cobalt.overflowed(&self.parameters, now);
        self.packets -= 1;
        self.bytes -= packet.size;
        drops.drop(packet, DropReason::QueueFull);
        packet.size
    }

    pub(super) fn oldest(&self) -> Option<Time> {
        let listed = self.lists.iter(List::New).chain(self.lists.iter(List::Old));
        let heads = listed.filter_map(|index| self.flows[usize::from(index)].queue.packets.front());
        heads.map(|&(came, _)| came).min()
    }
}
