//! A tin: the flows of a class and their turns by DRR++ (Linux `cake_enqueue` and `cake_dequeue`).

use super::cobalt::{Cobalt, Parameters};
use super::isolation::{CakeIsolation, FLOWS, Hosts, find};
use super::lists::{List, Lists};
use crate::link::time_for;
use crate::packet::{DropReason, Flow, Packet};
use crate::queue::Drops;
use crate::queue::fifo::Fifo;
use crate::queue::hash::{FlowHash, Key};
use units::{Bitrate, Bytes, Duration, Stream, Time};

/// What a flow may send in its turn: the bytes of 1/4096 of a second's at the tin's rate (8 · 4096
/// bits), between these.
const QUANTUM_BITS: u64 = 8 * 4_096;
const MIN_QUANTUM: u64 = 300;
const MAX_QUANTUM: u64 = 1_514;
/// The slowest tin: 64 byte/s, so that it goes on some day (Linux `MIN_RATE`).
pub(super) const MIN_RATE: Bitrate = Bitrate::from_bps(512);

/// Where a flow stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// In no rotation.
    Idle,
    /// It has not used up its first quantum.
    Sparse,
    /// It has, but was empty then: among the bulk flows without being one.
    SparseWaits,
    Bulk,
    /// Empty, and its AQM not yet at rest.
    Decaying,
}

struct FlowQueue {
    queue: Fifo,
    cobalt: Cobalt,
    /// What it may still send in its turn, bytes.
    deficit: i64,
    standing: Standing,
    source: u16,
    destination: u16,
}

/// A class of packets.
pub(super) struct Tin {
    isolation: CakeIsolation,
    parameters: Parameters,
    /// What a flow may send in its turn.
    quantum: u64,
    /// What the tin may send in its turn, where nothing shapes.
    pub(super) tin_quantum: i64,
    /// What it may still send in its turn.
    pub(super) deficit: i64,
    /// Above this rate it loses its priority.
    rate: Option<Bitrate>,
    /// When it is on schedule again.
    pub(super) next: Time,
    flows: Vec<FlowQueue>,
    /// Whose each queue is.
    tags: Vec<u64>,
    sources: Hosts,
    destinations: Hosts,
    lists: Lists,
    /// Flows that are sparse or bulk.
    active: u32,
    pub(super) packets: usize,
    pub(super) bytes: Bytes,
}

impl Tin {
    /// `rate` is the tin's own.
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

    /// Whether it has a flow that has packets or had some when its turn last came.
    pub(super) fn is_active(&self) -> bool {
        self.active > 0
    }

    pub(super) fn push(&mut self, now: Time, packet: Packet, hash: &FlowHash) {
        if self.packets == 0 {
            self.next = self.next.max(now);
        }
        let place = self.place(hash, &packet.flow);
        self.packets += 1;
        self.bytes += packet.size;
        let flow = &mut self.flows[usize::from(place)];
        flow.queue.push(now, packet);
        match flow.standing {
            Standing::Idle | Standing::Decaying => {
                flow.standing = Standing::Sparse;
                self.active += 1;
                self.lists.append(List::New, place);
                let quantum = self.quantum / self.load(place);
                self.flows[usize::from(place)].deficit = quantum.cast_signed();
            }
            Standing::SparseWaits => self.count_as_bulk(place),
            Standing::Sparse | Standing::Bulk => {}
        }
    }

    /// The queue of a packet's flow. A queue that is taken anew counts for the flow's hosts.
    fn place(&mut self, hash: &FlowHash, flow: &Flow) -> u16 {
        let tag = hash.of(flow, self.isolation.key());
        let flows = &self.flows;
        let (place, known) =
            find(&mut self.tags, tag, |place| flows[place].standing == Standing::Idle);
        let queue = &mut self.flows[usize::from(place)];
        if known && queue.standing != Standing::Idle {
            return place;
        }
        let bulk = queue.standing == Standing::Bulk;
        if bulk {
            self.sources.remove(queue.source);
            self.destinations.remove(queue.destination);
        }
        if self.isolation.is_fair_to_sources() {
            queue.source = self.sources.place(hash, flow);
        }
        if self.isolation.is_fair_to_destinations() {
            queue.destination = self.destinations.place(hash, flow);
        }
        if bulk {
            self.sources.add(queue.source);
            self.destinations.add(queue.destination);
        }
        place
    }

    fn count_as_bulk(&mut self, place: u16) {
        let flow = &mut self.flows[usize::from(place)];
        flow.standing = Standing::Bulk;
        self.sources.add(flow.source);
        self.destinations.add(flow.destination);
    }

    /// Among how many flows a host's part is shared.
    fn load(&self, place: u16) -> u64 {
        let flow = &self.flows[usize::from(place)];
        let mut load = 1;
        if self.isolation.is_fair_to_sources() {
            load = load.max(self.sources.bulk(flow.source));
        }
        if self.isolation.is_fair_to_destinations() {
            load = load.max(self.destinations.bulk(flow.destination));
        }
        load.into()
    }

    /// Gives the packet whose turn it is. `None`: a flow was found empty, and another tin may now
    /// come first. `decays` is taken: once for a packet a decaying flow goes before all, or none
    /// would decay under load.
    pub(super) fn serve(
        &mut self,
        now: Time,
        decays: &mut bool,
        random: &mut Stream,
        drops: &mut impl Drops,
    ) -> Option<(Packet, Duration, u16)> {
        let place = self.turn(decays, random)?;
        if let Some((packet, sojourn)) = self.take(place, now, random, drops) {
            return Some((packet, sojourn, place));
        }
        self.retire(place, now);
        None
    }

    /// The flow that may send.
    fn turn(&mut self, decays: &mut bool, random: &mut Stream) -> Option<u16> {
        loop {
            let first =
                if std::mem::take(decays) { self.lists.first(List::Decaying) } else { None };
            let place = first
                .or_else(|| self.lists.first(List::New))
                .or_else(|| self.lists.first(List::Old))
                .or_else(|| self.lists.first(List::Decaying))?;
            let flow = &mut self.flows[usize::from(place)];
            if flow.deficit > 0 {
                return Some(place);
            }
            if flow.standing == Standing::Sparse {
                if flow.queue.packets.is_empty() {
                    flow.standing = Standing::SparseWaits;
                } else {
                    self.count_as_bulk(place);
                }
            }
            let load = self.load(place);
            // What the division leaves over is given by lot, or hosts with many flows would lose
            // it.
            let lot = if load > 1 { random.below(load) } else { 0 };
            self.flows[usize::from(place)].deficit += ((self.quantum + lot) / load).cast_signed();
            self.lists.append(List::Old, place);
        }
    }

    /// The flow's next packet that the AQM lets pass; the last one always does.
    fn take(
        &mut self,
        place: u16,
        now: Time,
        random: &mut Stream,
        drops: &mut impl Drops,
    ) -> Option<(Packet, Duration)> {
        let flow = &mut self.flows[usize::from(place)];
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

    /// An empty flow leaves its rotation; while its AQM is not at rest it is kept among those that
    /// decay.
    fn retire(&mut self, place: u16, now: Time) {
        let flow = &mut self.flows[usize::from(place)];
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
            self.lists.remove(place);
        } else {
            flow.standing = Standing::Decaying;
            self.lists.append(List::Decaying, place);
        }
    }

    /// A packet of this size on the wire left: flow, tin and schedule pay (Linux
    /// `cake_advance_shaper`).
    pub(super) fn charge(&mut self, now: Time, place: u16, size: Bytes) {
        let bytes = size.get().cast_signed();
        self.flows[usize::from(place)].deficit -= bytes;
        self.deficit -= bytes;
        let Some(rate) = self.rate else { return };
        let span = time_for(u128::from(size.bits()) * 1_000_000_000, rate).unwrap_or(Duration::MAX);
        // A tin that is behind may catch up; one that is not waits for this packet at least.
        self.next = if self.next < now { self.next + span } else { self.next.max(now + span) };
    }

    /// The longest queue and its bytes.
    pub(super) fn longest(&self) -> Option<(Bytes, u16)> {
        let listed = self.lists.iter(List::New).chain(self.lists.iter(List::Old));
        listed.map(|place| (self.flows[usize::from(place)].queue.bytes, place)).max()
    }

    /// Drops the packet at the head of a queue, for want of memory; returns its size.
    pub(super) fn overflow(&mut self, now: Time, place: u16, drops: &mut impl Drops) -> Bytes {
        let flow = &mut self.flows[usize::from(place)];
        let Some((_, packet)) = flow.queue.pop() else { return Bytes::ZERO };
        flow.cobalt.overflowed(&self.parameters, now);
        self.packets -= 1;
        self.bytes -= packet.size;
        drops.drop(packet, DropReason::QueueFull);
        packet.size
    }

    pub(super) fn oldest(&self) -> Option<Time> {
        let listed = self.lists.iter(List::New).chain(self.lists.iter(List::Old));
        let heads = listed.filter_map(|place| self.flows[usize::from(place)].queue.packets.front());
        heads.map(|&(came, _)| came).min()
    }
}
