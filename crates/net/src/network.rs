//! The network: every host's access, joined by a core that only delays.
//!
//! A packet crosses its sender's access upwards, the core, and its receiver's access downwards.

use crate::access::{AccessConfig, Wired};
use crate::config::{ConfigError, NetworkConfig};
use crate::line::{Accounting, Line};
use crate::link::DelayLine;
use crate::packet::{Direction, DropReason, Dropped, HostId, Packet, Place};
use crate::queue::Drops;
use crate::schedule::Schedule;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::{Duration, Seed, Time};

/// Told of what the network does with packets.
pub trait Events {
    /// A packet reached its host.
    fn delivered(&mut self, at: Time, packet: Packet);
    /// A packet was given up.
    fn dropped(&mut self, at: Time, dropped: Dropped);
}

/// The network of a run.
pub struct Network {
    hosts: Vec<Wired>,
    core: DelayLine,
    core_delay: Schedule<Duration>,
    agenda: Agenda,
    accounting: Accounting,
}

/// An element that is due at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Element {
    Line(Place),
    Core,
}

/// What is due, in the order of time and then of entry. Entries may be stale: an element says itself what is due.
#[derive(Default)]
struct Agenda {
    heap: BinaryHeap<Reverse<(Time, u64, Element)>>,
    entries: u64,
}

impl Agenda {
    fn add(&mut self, at: Option<Time>, element: Element) {
        if let Some(at) = at {
            self.entries += 1;
            self.heap.push(Reverse((at, self.entries, element)));
        }
    }
}

/// Passes drops on with their place.
struct DropsAt<'a, E> {
    at: Time,
    place: Place,
    events: &'a mut E,
    count: u64,
}

impl<E: Events> Drops for DropsAt<'_, E> {
    fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.count += 1;
        self.events.dropped(self.at, Dropped { packet, place: self.place, reason });
    }
}

impl Network {
    /// Builds the network; random elements draw from streams of `seed` named after them.
    ///
    /// # Errors
    /// When two hosts share a name or there are too many.
    pub fn new(config: &NetworkConfig, seed: Seed) -> Result<Self, ConfigError> {
        if config.hosts.len() > usize::from(u16::MAX) {
            return Err(ConfigError(format!(
                "{} hosts are more than the 65535 that there can be",
                config.hosts.len()
            )));
        }
        for (index, host) in config.hosts.iter().enumerate() {
            if config.hosts[..index].iter().any(|other| other.name == host.name) {
                return Err(ConfigError(format!(
                    "two hosts are called '{}'; give one another name",
                    host.name
                )));
            }
        }
        let hosts = config.hosts.iter().map(|host| match &host.access {
            AccessConfig::Wired { up, down } => Wired::new(&host.name, up, down, seed),
        });
        Ok(Self {
            hosts: hosts.collect(),
            core: DelayLine::default(),
            core_delay: config.core_delay.clone(),
            agenda: Agenda::default(),
            accounting: Accounting::default(),
        })
    }

    /// A host hands over a packet.
    pub fn send(&mut self, now: Time, packet: Packet, events: &mut impl Events) {
        self.accounting.packets_in += 1;
        let (src, dst) = (packet.flow.src, packet.flow.dst);
        if usize::from(src.0.max(dst.0)) >= self.hosts.len() {
            self.accounting.packets_dropped += 1;
            let place = Place { host: src, direction: Direction::Up };
            events.dropped(now, Dropped { packet, place, reason: DropReason::NoRoute });
            return;
        }
        self.enter(Place { host: src, direction: Direction::Up }, now, packet, events);
    }

    /// When the network next wants [`Network::advance`].
    #[must_use]
    pub fn next_wake(&self) -> Option<Time> {
        self.agenda.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Does everything that is due at or before `now`, in order of time.
    pub fn advance(&mut self, now: Time, events: &mut impl Events) {
        while let Some(&Reverse((at, _, element))) = self.agenda.heap.peek()
            && at <= now
        {
            self.agenda.heap.pop();
            match element {
                Element::Line(place) => self.advance_line(place, at, events),
                Element::Core => self.advance_core(at, events),
            }
        }
    }

    fn advance_line(&mut self, place: Place, now: Time, events: &mut impl Events) {
        let before = self.line(place.host, place.direction).next_wake(now);
        if before.is_none_or(|due| due > now) {
            return;
        }
        let mut drops = DropsAt { at: now, place, events, count: 0 };
        let out = line_mut(&mut self.hosts, place).advance(now, &mut drops);
        self.accounting.packets_dropped += drops.count;
        self.schedule(place, now);
        if let Some(packet) = out {
            self.left(place, now, packet, events);
        }
    }

    fn advance_core(&mut self, now: Time, events: &mut impl Events) {
        if let Some(packet) = self.core.pop(now) {
            self.agenda.add(self.core.next(), Element::Core);
            self.enter(Place { host: packet.flow.dst, direction: Direction::Down }, now, packet, events);
        }
    }

    fn enter(&mut self, place: Place, now: Time, packet: Packet, events: &mut impl Events) {
        let line = line_mut(&mut self.hosts, place);
        let before = line.next_wake(now);
        let mut drops = DropsAt { at: now, place, events, count: 0 };
        let through = line.enter(now, packet, &mut drops);
        self.accounting.packets_dropped += drops.count;
        if let Some(packet) = through {
            self.left(place, now, packet, events);
        } else if line_mut(&mut self.hosts, place).next_wake(now) != before {
            self.schedule(place, now);
        }
    }

    /// A packet came out of a line: into the core, or to its host.
    fn left(&mut self, place: Place, now: Time, packet: Packet, events: &mut impl Events) {
        if place.direction == Direction::Down {
            self.accounting.packets_out += 1;
            events.delivered(now, packet);
            return;
        }
        let delay = self.core_delay.at(now);
        if self.core.passes(now, delay) {
            self.enter(Place { host: packet.flow.dst, direction: Direction::Down }, now, packet, events);
        } else if self.core.push(now, delay, packet) {
            self.agenda.add(self.core.next(), Element::Core);
        }
    }

    fn schedule(&mut self, place: Place, now: Time) {
        let due = self.line(place.host, place.direction).next_wake(now);
        self.agenda.add(due, Element::Line(place));
    }

    /// One direction of a host's access.
    ///
    /// # Panics
    /// When there is no such host.
    #[must_use]
    pub fn line(&self, host: HostId, direction: Direction) -> &Line {
        let access = &self.hosts[usize::from(host.0)];
        match direction {
            Direction::Up => &access.up,
            Direction::Down => &access.down,
        }
    }

    /// Every packet that was ever sent: in = out + dropped + held.
    #[must_use]
    pub fn accounting(&self) -> Accounting {
        let lines = self.hosts.iter().flat_map(|host| [&host.up, &host.down]);
        let held: u64 = lines.map(|line| line.accounting().packets_held).sum();
        Accounting { packets_held: held + self.core.held() as u64, ..self.accounting }
    }
}

fn line_mut(hosts: &mut [Wired], place: Place) -> &mut Line {
    let access = &mut hosts[usize::from(place.host.0)];
    match place.direction {
        Direction::Up => &mut access.up,
        Direction::Down => &mut access.down,
    }
}
