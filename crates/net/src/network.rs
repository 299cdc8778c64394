//! The network: every host's access, joined by a core that only delays.
//!
//! A packet crosses its sender's access upwards, the core, and its receiver's access downwards.

use crate::access::{Access, AccessKind, CellEvents, Shared};
use crate::accounting::{Accounting, Count};
use crate::agenda::{Agenda, Element};
use crate::config::{Change, ConfigError, NetworkConfig};
use crate::line::{Line, Watch};
use crate::link::DelayLine;
use crate::packet::{Admission, Direction, DropReason, Dropped, HostId, Packet, Place};
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
    /// A packet left a queue for its line, having waited for `sojourn`. A line without a limit has
    /// no queue.
    fn departed(&mut self, at: Time, place: Place, packet: &Packet, sojourn: Duration) {
        let _ = (at, place, packet, sojourn);
    }
}

/// The network of a run. Feed it packets in order of time; equal configuration, seed and packets
/// give equal events.
pub struct Network {
    hosts: Vec<Access>,
    shared: Vec<Shared>,
    /// What came out of a shared access and is not passed on yet.
    arrived: Vec<(Place, Packet)>,
    core: DelayLine,
    core_delay: Schedule<Duration>,
    agenda: Agenda,
    entered: Count,
    left: Count,
    dropped: Count,
}

/// The core's number on the agenda. After it come, of each host's lines, the server and the pipe:
/// see [`server_of`]; then those that hosts share.
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

/// The packet that enters an access during a call, and what became of it.
#[derive(Clone, Copy)]
struct Entry {
    /// Its handle; `None` in a call that lets no packet in.
    id: Option<u64>,
    admission: Admission,
}

impl Entry {
    const NONE: Self = Self { id: None, admission: Admission::Accepted };

    fn of(packet: &Packet) -> Self {
        Self { id: Some(packet.id), ..Self::NONE }
    }

    /// Notes a drop, which may be of this packet or of another.
    fn dropped(&mut self, packet: &Packet, reason: DropReason) {
        if self.id == Some(packet.id) {
            self.admission = Admission::Dropped(reason);
        }
    }
}

/// Passes what a line does on, with its place.
struct WatchAt<'a, E> {
    at: Time,
    place: Place,
    events: &'a mut E,
    dropped: &'a mut Count,
    entry: Entry,
}

impl<E: Events> Drops for WatchAt<'_, E> {
    fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.entry.dropped(&packet, reason);
        self.dropped.count(&packet);
        self.events.dropped(self.at, Dropped { packet, place: self.place, reason });
    }
}

impl<E: Events> Watch for WatchAt<'_, E> {
    fn departed(&mut self, packet: &Packet, sojourn: Duration) {
        self.events.departed(self.at, self.place, packet, sojourn);
    }
}

/// Passes what a shared access does on, with the places.
struct WatchShared<'a, E> {
    at: Time,
    arrived: &'a mut Vec<(Place, Packet)>,
    events: &'a mut E,
    dropped: &'a mut Count,
    entry: Entry,
}

impl<E: Events> CellEvents for WatchShared<'_, E> {
    fn arrived(&mut self, direction: Direction, packet: Packet) {
        self.arrived.push((Place::of(&packet, direction), packet));
    }

    fn dropped(&mut self, direction: Direction, packet: Packet, reason: DropReason) {
        self.entry.dropped(&packet, reason);
        self.dropped.count(&packet);
        self.events
            .dropped(self.at, Dropped { packet, place: Place::of(&packet, direction), reason });
    }

    fn departed(&mut self, direction: Direction, packet: &Packet, sojourn: Duration) {
        self.events.departed(self.at, Place::of(packet, direction), packet, sojourn);
    }
}

impl Network {
    /// Builds the network; random elements draw from streams of `seed` named after them:
    /// `alice.up.loss`.
    ///
    /// # Errors
    /// When two hosts share a name or there are too many.
    pub fn new(config: &NetworkConfig, seed: Seed) -> Result<Self, ConfigError> {
        let count = config.hosts.len();
        if count > usize::from(u16::MAX) {
            return Err(ConfigError::TooManyHosts(count));
        }
        let mut names = BTreeSet::new();
        if let Some(twin) = config.hosts.iter().find(|host| !names.insert(&host.name)) {
            return Err(ConfigError::SameName(twin.name.clone()));
        }
        let hosts = config.hosts.iter().map(|host| Access::new(host, config, seed));
        let hosts = hosts.collect::<Result<Vec<_>, _>>()?;
        let shared = Shared::all(config, seed);
        Ok(Self {
            agenda: Agenda::new(1 + 4 * count + shared.len()),
            hosts,
            shared,
            arrived: Vec::new(),
            core: DelayLine::default(),
            core_delay: config.core_delay.clone(),
            entered: Count::default(),
            left: Count::default(),
            dropped: Count::default(),
        })
    }

    /// Sends a packet from its source host, after everything that is due at or before `now`.
    /// Returns whether the sender's access took the packet in; the packet's handle must be unique
    /// among those under way for that. Other packets that the entry pushed out of a queue are
    /// reported to `events` alone.
    pub fn send(&mut self, now: Time, packet: Packet, events: &mut impl Events) -> Admission {
        self.advance(now, events);
        self.entered.count(&packet);
        let (src, dst) = (packet.flow.src, packet.flow.dst);
        let place = Place { host: src, direction: Direction::Up };
        if usize::from(src.0.max(dst.0)) >= self.hosts.len() {
            self.dropped.count(&packet);
            let reason = DropReason::NoRoute;
            events.dropped(now, Dropped { packet, place, reason });
            return Admission::Dropped(reason);
        }
        self.enter(place, now, packet, events)
    }

    /// Changes one direction of a host's wired access. What is due by then happens first.
    ///
    /// # Panics
    /// When there is no such host, or its access is not wired: see [`Network::access_kind`].
    pub fn change(&mut self, now: Time, place: Place, change: Change, events: &mut impl Events) {
        self.advance(now, events);
        let Access::Wired(wired) = &mut self.hosts[usize::from(place.host.0)] else {
            panic!("{NOT_WIRED}")
        };
        let line = wired.line_mut(place.direction);
        let dropped = &mut self.dropped;
        let mut watch = WatchAt { at: now, place, events, dropped, entry: Entry::NONE };
        line.change(now, change, &mut watch);
        let server = server_of(place);
        self.agenda.book(server, line.server_due(now));
        self.agenda.book(server + 1, line.pipe_due());
    }

    /// The technology of a host's access. A wired one can be [changed](Network::change).
    ///
    /// # Panics
    /// If there is no such host.
    #[must_use]
    pub fn access_kind(&self, host: HostId) -> AccessKind {
        match &self.hosts[usize::from(host.0)] {
            Access::Wired(_) => AccessKind::Wired,
            Access::Shared(shared) => self.shared[*shared].kind(),
        }
    }

    /// When the network next wants [`Network::advance`].
    #[must_use]
    pub fn next_wake(&self) -> Option<Time> {
        self.agenda.next()
    }

    /// Does everything that is due at or before `now`, in order of time; events carry the time at
    /// which it was due.
    pub fn advance(&mut self, now: Time, events: &mut impl Events) {
        while let Some((at, element)) = self.agenda.pop(now) {
            match element {
                CORE => self.advance_core(at, events),
                _ => match (element as usize).checked_sub(1 + 4 * self.hosts.len()) {
                    Some(shared) => self.advance_shared(shared, at, events),
                    None => self.advance_line(element, at, events),
                },
            }
        }
    }

    fn advance_line(&mut self, element: Element, now: Time, events: &mut impl Events) {
        let (place, is_pipe) = line_of(element);
        let Access::Wired(wired) = &mut self.hosts[usize::from(place.host.0)] else { return };
        let line = wired.line_mut(place.direction);
        let out = if is_pipe {
            let out = line.advance_pipe(now);
            self.agenda.book(element, line.pipe_due());
            out
        } else {
            let dropped = &mut self.dropped;
            let mut watch = WatchAt { at: now, place, events, dropped, entry: Entry::NONE };
            let out = line.advance_server(now, &mut watch);
            self.agenda.book(element, line.server_due(now));
            self.agenda.book(element + 1, line.pipe_due());
            out
        };
        if let Some(packet) = out {
            self.left(place, now, packet, events);
        }
    }

    fn advance_shared(&mut self, place: usize, now: Time, events: &mut impl Events) {
        let mut arrived = std::mem::take(&mut self.arrived);
        let mut watch = WatchShared {
            at: now,
            arrived: &mut arrived,
            events,
            dropped: &mut self.dropped,
            entry: Entry::NONE,
        };
        self.shared[place].advance(now, &mut watch);
        self.book_shared(place);
        for (place, packet) in arrived.drain(..) {
            self.left(place, now, packet, events);
        }
        self.arrived = arrived;
    }

    fn book_shared(&mut self, place: usize) {
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer of them than hosts")]
        let element = (1 + 4 * self.hosts.len() + place) as Element;
        self.agenda.book(element, self.shared[place].due());
    }

    fn advance_core(&mut self, now: Time, events: &mut impl Events) {
        let out = self.core.pop(now);
        self.agenda.book(CORE, self.core.next());
        if let Some(packet) = out {
            self.enter(
                Place { host: packet.flow.dst, direction: Direction::Down },
                now,
                packet,
                events,
            );
        }
    }

    /// Lets a packet into one direction of a host's access.
    fn enter(
        &mut self,
        place: Place,
        now: Time,
        packet: Packet,
        events: &mut impl Events,
    ) -> Admission {
        let entry = Entry::of(&packet);
        match &mut self.hosts[usize::from(place.host.0)] {
            Access::Wired(wired) => {
                let line = wired.line_mut(place.direction);
                let dropped = &mut self.dropped;
                let mut watch = WatchAt { at: now, place, events, dropped, entry };
                if let Some(packet) = line.enter(now, packet, &mut watch) {
                    // The packet passed elements without memory: nothing else becomes due there.
                    self.left(place, now, packet, events);
                    return Admission::Accepted;
                }
                let admission = watch.entry.admission;
                let server = server_of(place);
                self.agenda.book(server, line.server_due(now));
                self.agenda.book(server + 1, line.pipe_due());
                admission
            }
            &mut Access::Shared(shared) => {
                // A packet that enters does not make another arrive.
                let mut none = Vec::new();
                let mut watch = WatchShared {
                    at: now,
                    arrived: &mut none,
                    events,
                    dropped: &mut self.dropped,
                    entry,
                };
                self.shared[shared].enter(now, place.direction, packet, &mut watch);
                let admission = watch.entry.admission;
                self.book_shared(shared);
                admission
            }
        }
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
            self.enter(
                Place { host: packet.flow.dst, direction: Direction::Down },
                now,
                packet,
                events,
            );
        } else {
            self.core.push(now, delay, packet);
            self.agenda.book(CORE, self.core.next());
        }
    }

    /// Shows the truth about one direction of a host's access, by name: see [`Line::show`]. Of a
    /// station of a Wi-Fi cell also the signal at the receiver (`signalStrength`, dBm), the
    /// modulation and coding scheme last used (`mcsIndex`; `rate` is its bit rate), and since the
    /// beginning the time on the air (`airtime`, seconds), frames that were sent again
    /// (`retransmissions`) and transmissions that met another (`collisions`). Of a terminal of an
    /// LTE network the reference signal at the receiver (`signalStrength`, dBm), the SINR of the
    /// last transport block (`sinr`, dB), the channel quality indicator (`cqi`), `mcsIndex` (`rate`
    /// is what it would carry in the whole band), and since the beginning `resourceBlocks` and
    /// blocks sent again (`retransmissions`); down also the serving cell (`cell`) and `handovers`.
    ///
    /// # Panics
    /// When there is no such host.
    pub fn show(&self, place: Place, now: Time, sink: &mut dyn FnMut(&'static str, f64)) {
        match &self.hosts[usize::from(place.host.0)] {
            Access::Wired(wired) => wired.line(place.direction).show(now, sink),
            Access::Shared(shared) => self.shared[*shared].show(place.host, place.direction, sink),
        }
    }

    /// One direction of a host's wired access.
    ///
    /// # Panics
    /// When there is no such host, or it is not wired.
    #[must_use]
    pub fn line(&self, host: HostId, direction: Direction) -> &Line {
        match &self.hosts[usize::from(host.0)] {
            Access::Wired(wired) => wired.line(direction),
            Access::Shared(_) => panic!("{NOT_WIRED}"),
        }
    }

    /// Every packet that ever came into one direction of a host's access.
    ///
    /// # Panics
    /// When there is no such host.
    #[must_use]
    pub fn accounting_at(&self, place: Place) -> Accounting {
        match &self.hosts[usize::from(place.host.0)] {
            Access::Wired(wired) => wired.line(place.direction).accounting(),
            Access::Shared(shared) => self.shared[*shared].accounting(place.host, place.direction),
        }
    }

    /// Every packet that was ever sent: in = out + dropped + held.
    #[must_use]
    pub fn accounting(&self) -> Accounting {
        let core = Count { packets: self.core.packets() as u64, bytes: self.core.bytes() };
        let hosts = (0..).map(HostId).take(self.hosts.len());
        let places =
            hosts.flat_map(|host| Direction::ALL.map(|direction| Place { host, direction }));
        let held = places.fold(core, |sum, place| sum + self.accounting_at(place).held);
        Accounting { entered: self.entered, left: self.left, dropped: self.dropped, held }
    }
}

/// A slip of the program: what is asked of a line is asked of who has none.
const NOT_WIRED: &str = "this host's access is not wired";
