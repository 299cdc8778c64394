//! The network: every host's access, joined by a core that only delays.
//!
//! A packet crosses its sender's access upwards, the core, and its receiver's access downwards.

use crate::access::{AccessConfig, Wired};
use crate::accounting::{Accounting, Count};
use crate::agenda::{Agenda, Element};
use crate::config::{Change, ConfigError, NetworkConfig};
use crate::line::{Line, Watch};
use crate::link::DelayLine;
use crate::packet::{Direction, DropReason, Dropped, HostId, Packet, Place};
use crate::queue::Drops;
use crate::schedule::Schedule;
use std::collections::BTreeSet;
use units::{Duration, Seed, Time};

/// Told of what the network does with packets.
pub trait Events {
    /// A packet reached its host.
    fn delivered(&mut self, at: Time, packet: Packet);
    /// A packet was given up.
    fn dropped(&mut self, at: Time, dropped: Dropped);
    /// A packet left a queue for its line, having waited for `sojourn`. A line without a limit has no queue.
    fn departed(&mut self, at: Time, place: Place, packet: &Packet, sojourn: Duration) {
        let _ = (at, place, packet, sojourn);
    }
}

/// The network of a run. Feed it packets in order of time; equal configuration, seed and packets give equal events.
pub struct Network {
    hosts: Vec<Wired>,
    core: DelayLine,
    core_delay: Schedule<Duration>,
    agenda: Agenda,
    entered: Count,
    left: Count,
    dropped: Count,
}

/// The core's number on the agenda. After it come, of each host's lines, the server and the pipe: see [`server_of`].
const CORE: Element = 0;

fn server_of(place: Place) -> Element {
    1 + 4 * Element::from(place.host.0) + 2 * Element::from(place.direction == Direction::Down)
}

/// The line of an element, and whether it is its pipe.
fn line_of(element: Element) -> (Place, bool) {
    let number = element - 1;
    let direction = if number & 2 == 0 { Direction::Up } else { Direction::Down };
    #[expect(clippy::cast_possible_truncation, reason = "made from a 16-bit host by `server_of`")]
    let host = HostId((number / 4) as u16);
    (Place { host, direction }, number & 1 == 1)
}

/// Passes what a line does on, with its place.
struct WatchAt<'a, E> {
    at: Time,
    place: Place,
    events: &'a mut E,
    dropped: &'a mut Count,
}

impl<E: Events> Drops for WatchAt<'_, E> {
    fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.dropped.count(&packet);
        self.events.dropped(self.at, Dropped { packet, place: self.place, reason });
    }
}

impl<E: Events> Watch for WatchAt<'_, E> {
    fn departed(&mut self, packet: &Packet, sojourn: Duration) {
        self.events.departed(self.at, self.place, packet, sojourn);
    }
}

impl Network {
    /// Builds the network; random elements draw from streams of `seed` named after them: `alice.up.loss`.
    ///
    /// # Errors
    /// When two hosts share a name or there are too many.
    pub fn new(config: &NetworkConfig, seed: Seed) -> Result<Self, ConfigError> {
        let count = config.hosts.len();
        if count > usize::from(u16::MAX) {
            return Err(ConfigError(format!("{count} hosts are more than the 65535 that there can be")));
        }
        let mut names = BTreeSet::new();
        if let Some(twin) = config.hosts.iter().find(|host| !names.insert(&host.name)) {
            let reason = format!("two hosts are called '{}'; give one another name", twin.name);
            return Err(ConfigError(reason));
        }
        let hosts = config.hosts.iter().map(|host| match &host.access {
            AccessConfig::Wired { up, down } => Ok(Wired::new(&host.name, up, down, seed)),
            AccessConfig::Wifi(_) => Err(ConfigError("no Wi-Fi".into())),
        });
        Ok(Self {
            hosts: hosts.collect::<Result<_, _>>()?,
            core: DelayLine::default(),
            core_delay: config.core_delay.clone(),
            agenda: Agenda::new(1 + 4 * count),
            entered: Count::default(),
            left: Count::default(),
            dropped: Count::default(),
        })
    }

    /// A host hands over a packet. What is due by then happens first.
    pub fn send(&mut self, now: Time, packet: Packet, events: &mut impl Events) {
        self.advance(now, events);
        self.entered.count(&packet);
        let (src, dst) = (packet.flow.src, packet.flow.dst);
        let place = Place { host: src, direction: Direction::Up };
        if usize::from(src.0.max(dst.0)) >= self.hosts.len() {
            self.dropped.count(&packet);
            events.dropped(now, Dropped { packet, place, reason: DropReason::NoRoute });
            return;
        }
        self.enter(place, now, packet, events);
    }

    /// Changes one direction of a host's access. What is due by then happens first.
    ///
    /// # Panics
    /// When there is no such host.
    pub fn change(&mut self, now: Time, place: Place, change: Change, events: &mut impl Events) {
        self.advance(now, events);
        let line = line_mut(&mut self.hosts, place);
        let mut watch = WatchAt { at: now, place, events, dropped: &mut self.dropped };
        line.change(now, change, &mut watch);
        let server = server_of(place);
        self.agenda.book(server, line.server_due(now));
        self.agenda.book(server + 1, line.pipe_due());
    }

    /// When the network next wants [`Network::advance`].
    #[must_use]
    pub fn next_wake(&self) -> Option<Time> {
        self.agenda.next()
    }

    /// Does everything that is due at or before `now`, in order of time; events carry the time at which it was due.
    pub fn advance(&mut self, now: Time, events: &mut impl Events) {
        while let Some((at, element)) = self.agenda.pop(now) {
            match element {
                CORE => self.advance_core(at, events),
                _ => self.advance_line(element, at, events),
            }
        }
    }

    fn advance_line(&mut self, element: Element, now: Time, events: &mut impl Events) {
        let (place, is_pipe) = line_of(element);
        let line = line_mut(&mut self.hosts, place);
        let out = if is_pipe {
            let out = line.advance_pipe(now);
            self.agenda.book(element, line.pipe_due());
            out
        } else {
            let mut watch = WatchAt { at: now, place, events, dropped: &mut self.dropped };
            let out = line.advance_server(now, &mut watch);
            self.agenda.book(element, line.server_due(now));
            self.agenda.book(element + 1, line.pipe_due());
            out
        };
        if let Some(packet) = out {
            self.left(place, now, packet, events);
        }
    }

    fn advance_core(&mut self, now: Time, events: &mut impl Events) {
        let out = self.core.pop(now);
        self.agenda.book(CORE, self.core.next());
        if let Some(packet) = out {
            self.enter(Place { host: packet.flow.dst, direction: Direction::Down }, now, packet, events);
        }
    }

    fn enter(&mut self, place: Place, now: Time, packet: Packet, events: &mut impl Events) {
        let line = line_mut(&mut self.hosts, place);
        let mut watch = WatchAt { at: now, place, events, dropped: &mut self.dropped };
        if let Some(packet) = line.enter(now, packet, &mut watch) {
            // It passed an element without a memory: nothing else there is due because of it.
            self.left(place, now, packet, events);
            return;
        }
        let server = server_of(place);
        self.agenda.book(server, line.server_due(now));
        self.agenda.book(server + 1, line.pipe_due());
    }

    /// A packet came out of a line: into the core, or to its host.
    fn left(&mut self, place: Place, now: Time, packet: Packet, events: &mut impl Events) {
        if place.direction == Direction::Down {
            self.left.count(&packet);
            events.delivered(now, packet);
            return;
        }
        let delay = self.core_delay.at(now);
        if self.core.passes(now, delay) {
            self.enter(Place { host: packet.flow.dst, direction: Direction::Down }, now, packet, events);
        } else {
            self.core.push(now, delay, packet);
            self.agenda.book(CORE, self.core.next());
        }
    }

    /// Shows the truth about one direction of a host's access, by name: see [`Line::show`].
    ///
    /// # Panics
    /// When there is no such host.
    pub fn show(&self, place: Place, now: Time, sink: &mut dyn FnMut(&'static str, f64)) {
        self.line(place.host, place.direction).show(now, sink);
    }

    /// One direction of a host's wired access.
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
        let core = Count { packets: self.core.packets() as u64, bytes: self.core.bytes() };
        let held = lines.fold(core, |sum, line| sum + line.accounting().held);
        Accounting { entered: self.entered, left: self.left, dropped: self.dropped, held }
    }
}

fn line_mut(hosts: &mut [Wired], place: Place) -> &mut Line {
    let access = &mut hosts[usize::from(place.host.0)];
    match place.direction {
        Direction::Up => &mut access.up,
        Direction::Down => &mut access.down,
    }
}
