//! The network: the accesses of all hosts, joined by a core that only delays.
//!
//! A packet crosses its sender's access upwards, the core, and its receiver's access downwards.

use crate::access::{
    Access, AccessKind, BearerConfig, BearerError, CellEvents, Cellular, ConfigError,
    NetworkConfig, Shared,
};
use crate::accounting::{Accounting, Count};
use crate::agenda::{Agenda, Element};
use crate::config::Change;
use crate::line::{Line, Watch};
use crate::link::DelayLine;
use crate::packet::{Admission, Direction, DropReason, Dropped, HostId, LinkId, Packet};
use crate::queue::Drops;
use crate::schedule::Schedule;
use std::collections::BTreeSet;
use units::{Duration, Seed, Time};

/// Receives what the network does with packets.
pub trait Events {
    /// A packet reached its host.
    fn delivered(&mut self, at: Time, packet: Packet);
    /// A packet was dropped.
    fn dropped(&mut self, at: Time, dropped: Dropped);
    /// A packet left a queue after `sojourn` and is being transmitted. On a line of unlimited rate
    /// packets wait in no queue, unless it shapes.
    fn departed(&mut self, at: Time, link: LinkId, packet: &Packet, sojourn: Duration) {
        let _ = (at, link, packet, sojourn);
    }
}

/// The network of a run. Packets must be sent in order of time. The same configuration, seed and
/// packets give the same events.
pub struct Network {
    hosts: Vec<Access>,
    shared: Vec<Shared>,
    /// Packets that came out of a shared access and are not passed on yet; empty between calls.
    arrived: Vec<(LinkId, Packet)>,
    core: DelayLine,
    core_delay: Schedule<Duration>,
    agenda: Agenda,
    entered: Count,
    left: Count,
    dropped: Count,
}

/// The core's number on the agenda. The servers and delay lines of each host's lines follow, see
/// [`server_of`], and then the shared accesses.
const CORE: Element = 0;

fn server_of(link: LinkId) -> Element {
    1 + 4 * Element::from(link.host.0) + 2 * Element::from(link.direction == Direction::Down)
}

/// The link that an element belongs to, and whether the element is the link's delay line.
fn line_of(element: Element) -> (LinkId, bool) {
    let number = element - 1;
    let direction = if number & 2 == 0 { Direction::Up } else { Direction::Down };
    #[expect(clippy::cast_possible_truncation, reason = "made from a 16-bit host by `server_of`")]
    let host = HostId((number / 4) as u16);
    (LinkId { host, direction }, number & 1 == 1)
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

/// Passes on what a line does, with the line's link.
struct WatchAt<'a, E> {
    at: Time,
    link: LinkId,
    events: &'a mut E,
    dropped: &'a mut Count,
    entry: Entry,
}

impl<E: Events> Drops for WatchAt<'_, E> {
    fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.entry.dropped(&packet, reason);
        self.dropped.count(&packet);
        self.events.dropped(self.at, Dropped { packet, link: self.link, reason });
    }
}

impl<E: Events> Watch for WatchAt<'_, E> {
    fn departed(&mut self, packet: &Packet, sojourn: Duration) {
        self.events.departed(self.at, self.link, packet, sojourn);
    }
}

/// Passes on what a shared access does, with the links.
struct WatchShared<'a, E> {
    at: Time,
    arrived: &'a mut Vec<(LinkId, Packet)>,
    events: &'a mut E,
    dropped: &'a mut Count,
    entry: Entry,
}

impl<E: Events> CellEvents for WatchShared<'_, E> {
    fn arrived(&mut self, direction: Direction, packet: Packet) {
        self.arrived.push((LinkId::of(&packet, direction), packet));
    }

    fn dropped(&mut self, direction: Direction, packet: Packet, reason: DropReason) {
        self.entry.dropped(&packet, reason);
        self.dropped.count(&packet);
        self.events
            .dropped(self.at, Dropped { packet, link: LinkId::of(&packet, direction), reason });
    }

    fn departed(&mut self, direction: Direction, packet: &Packet, sojourn: Duration) {
        self.events.departed(self.at, LinkId::of(packet, direction), packet, sojourn);
    }
}

impl Network {
    /// Builds the network. Each random element draws from a stream of `seed` named after it, such
    /// as `alice.up.loss`.
    ///
    /// # Errors
    /// Two hosts have the same name, there are too many hosts, or a Wi-Fi or LTE configuration is
    /// impossible.
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
        if self.agenda.due(now).is_some() {
            self.advance(now, events);
        }
        self.entered.count(&packet);
        let (src, dst) = (packet.flow.src, packet.flow.dst);
        let link = LinkId { host: src, direction: Direction::Up };
        if usize::from(src.0.max(dst.0)) >= self.hosts.len() {
            self.dropped.count(&packet);
            let reason = DropReason::NoRoute;
            events.dropped(now, Dropped { packet, link, reason });
            return Admission::Dropped(reason);
        }
        self.enter(link, now, packet, events)
    }

    /// Changes one direction of a host's wired access, after everything that is due at or before
    /// `now`.
    ///
    /// # Panics
    /// If there is no such host, or its access is not wired: see [`Network::access_kind`].
    pub fn change(&mut self, now: Time, link: LinkId, change: Change, events: &mut impl Events) {
        self.advance(now, events);
        let Access::Wired(wired) = &mut self.hosts[usize::from(link.host.0)] else {
            panic!("{NOT_WIRED}")
        };
        let line = wired.line_mut(link.direction);
        let dropped = &mut self.dropped;
        let mut watch = WatchAt { at: now, link, events, dropped, entry: Entry::NONE };
        line.change(now, change, &mut watch);
        let server = server_of(link);
        self.agenda.book(server, line.server_due(now));
        self.agenda.book(server + 1, line.pipe_due());
    }

    /// Establishes a dedicated bearer of a host's LTE network, after everything that is due at or
    /// before `now`. Returns its number, for [`Self::release_bearer`]. The filters of the bearer
    /// must select only packets from or to this host.
    ///
    /// # Errors
    /// If the host is not on LTE, or the bearer is impossible.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn establish_bearer(
        &mut self,
        now: Time,
        host: HostId,
        bearer: BearerConfig,
        events: &mut impl Events,
    ) -> Result<usize, BearerError> {
        self.advance(now, events);
        let lte = self.lte_of(host)?;
        bearer.check_dedicated()?;
        Ok(lte.establish_bearer(now, bearer))
    }

    /// Releases a dedicated bearer of a host's LTE network, after everything that is due at or
    /// before `now`. Packets that wait in it are still sent.
    ///
    /// # Errors
    /// If the host is not on LTE, or has no such bearer.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn release_bearer(
        &mut self,
        now: Time,
        host: HostId,
        number: usize,
        events: &mut impl Events,
    ) -> Result<(), BearerError> {
        self.advance(now, events);
        let there = self.lte_of(host)?.release_bearer(number);
        if there { Ok(()) } else { Err(BearerError::Unknown(number)) }
    }

    fn lte_of(&mut self, host: HostId) -> Result<&mut Cellular, BearerError> {
        let kind = self.access_kind(host);
        let Access::Shared(index) = &self.hosts[usize::from(host.0)] else {
            return Err(BearerError::NotLte(kind));
        };
        self.shared[*index].lte().ok_or(BearerError::NotLte(kind))
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

    /// When [`Network::advance`] is next due; `None` if nothing is.
    #[must_use]
    pub fn next_wake(&self) -> Option<Time> {
        self.agenda.next()
    }

    /// Performs everything that is due at or before `now`, in order of time. Events carry the time
    /// at which they were due.
    pub fn advance(&mut self, now: Time, events: &mut impl Events) {
        while let Some((at, element)) = self.agenda.due(now) {
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
        let (link, is_pipe) = line_of(element);
        let Access::Wired(wired) = &mut self.hosts[usize::from(link.host.0)] else {
            return self.agenda.renew(element, None);
        };
        let line = wired.line_mut(link.direction);
        let out = if is_pipe {
            let out = line.advance_pipe(now);
            self.agenda.renew(element, line.pipe_due());
            out
        } else {
            let dropped = &mut self.dropped;
            let mut watch = WatchAt { at: now, link, events, dropped, entry: Entry::NONE };
            let out = line.advance_server(now, &mut watch);
            self.agenda.renew(element, line.server_due(now));
            self.agenda.book(element + 1, line.pipe_due());
            out
        };
        if let Some(packet) = out {
            self.left(link, now, packet, events);
        }
    }

    fn advance_shared(&mut self, index: usize, now: Time, events: &mut impl Events) {
        let mut arrived = std::mem::take(&mut self.arrived);
        let mut watch = WatchShared {
            at: now,
            arrived: &mut arrived,
            events,
            dropped: &mut self.dropped,
            entry: Entry::NONE,
        };
        self.shared[index].advance(now, &mut watch);
        self.agenda.renew(self.element_of(index), self.shared[index].due());
        for (link, packet) in arrived.drain(..) {
            self.left(link, now, packet, events);
        }
        self.arrived = arrived;
    }

    /// The number of a shared access on the agenda.
    fn element_of(&self, shared: usize) -> Element {
        #[expect(clippy::cast_possible_truncation, reason = "there are fewer of them than hosts")]
        let element = (1 + 4 * self.hosts.len() + shared) as Element;
        element
    }

    fn advance_core(&mut self, now: Time, events: &mut impl Events) {
        let out = self.core.pop(now);
        self.agenda.renew(CORE, self.core.next());
        if let Some(packet) = out {
            self.enter(
                LinkId { host: packet.flow.dst, direction: Direction::Down },
                now,
                packet,
                events,
            );
        }
    }

    /// Lets a packet into one direction of a host's access.
    fn enter(
        &mut self,
        link: LinkId,
        now: Time,
        packet: Packet,
        events: &mut impl Events,
    ) -> Admission {
        match &mut self.hosts[usize::from(link.host.0)] {
            Access::Wired(wired) => {
                let line = wired.line_mut(link.direction);
                if line.is_transparent() {
                    line.pass_through(&packet);
                    self.left(link, now, packet, events);
                    return Admission::Accepted;
                }
                let entry = Entry::of(&packet);
                let dropped = &mut self.dropped;
                let mut watch = WatchAt { at: now, link, events, dropped, entry };
                if let Some(packet) = line.enter(now, packet, &mut watch) {
                    // The packet passed elements without memory: nothing else becomes due there.
                    self.left(link, now, packet, events);
                    return Admission::Accepted;
                }
                let admission = watch.entry.admission;
                let server = server_of(link);
                self.agenda.book(server, line.server_due(now));
                self.agenda.book(server + 1, line.pipe_due());
                admission
            }
            &mut Access::Shared(shared) => {
                // No packet arrives because another one enters.
                let mut none = Vec::new();
                let mut watch = WatchShared {
                    at: now,
                    arrived: &mut none,
                    events,
                    dropped: &mut self.dropped,
                    entry: Entry::of(&packet),
                };
                self.shared[shared].enter(now, link.direction, packet, &mut watch);
                let admission = watch.entry.admission;
                self.agenda.book(self.element_of(shared), self.shared[shared].due());
                admission
            }
        }
    }

    /// Passes on a packet that left a link: up into the core, down to its host.
    fn left(&mut self, link: LinkId, now: Time, packet: Packet, events: &mut impl Events) {
        if link.direction == Direction::Down {
            self.left.count(&packet);
            events.delivered(now, packet);
            return;
        }
        let delay = self.core_delay.at(now);
        if self.core.passes(now, delay) {
            self.enter(
                LinkId { host: packet.flow.dst, direction: Direction::Down },
                now,
                packet,
                events,
            );
        } else {
            self.core.push(now, delay, packet);
            self.agenda.book(CORE, self.core.next());
        }
    }

    /// Passes the state of one direction of a host's access to `sink`, by name: see [`Line::show`].
    ///
    /// For a Wi-Fi station also: the signal at the receiver (`signalStrength`, dBm), the modulation
    /// and coding scheme used last (`mcsIndex`; `rate` is its bit rate), and totals since the
    /// start: the time on the air (`airtime`, seconds), retransmitted frames (`retransmissions`)
    /// and transmissions that overlapped another (`collisions`).
    ///
    /// For an LTE terminal also: the reference signal at the receiver (`signalStrength`, dBm), the
    /// SINR of the last transport block (`sinr`, dB), the channel quality indicator (`cqi`), the
    /// scheme (`mcsIndex`; `rate` is its rate in the whole band), and totals since the start:
    /// `resourceBlocks` and retransmitted blocks (`retransmissions`); in the downlink also the
    /// serving cell (`cell`) and the number of `handovers`.
    ///
    /// # Panics
    /// If there is no such host.
    pub fn show(&self, link: LinkId, now: Time, sink: &mut dyn FnMut(&'static str, f64)) {
        match &self.hosts[usize::from(link.host.0)] {
            Access::Wired(wired) => wired.line(link.direction).show(now, sink),
            Access::Shared(shared) => self.shared[*shared].show(link.host, link.direction, sink),
        }
    }

    /// One direction of a host's wired access.
    ///
    /// # Panics
    /// If there is no such host, or it is not wired.
    #[must_use]
    pub fn line(&self, host: HostId, direction: Direction) -> &Line {
        match &self.hosts[usize::from(host.0)] {
            Access::Wired(wired) => wired.line(direction),
            Access::Shared(_) => panic!("{NOT_WIRED}"),
        }
    }

    /// The counts of all packets in one direction of a host's access.
    ///
    /// # Panics
    /// If there is no such host.
    #[must_use]
    pub fn accounting_at(&self, link: LinkId) -> Accounting {
        match &self.hosts[usize::from(link.host.0)] {
            Access::Wired(wired) => wired.line(link.direction).accounting(),
            Access::Shared(shared) => self.shared[*shared].accounting(link.host, link.direction),
        }
    }

    /// The counts of all packets that were sent: entered = left + dropped + held.
    #[must_use]
    pub fn accounting(&self) -> Accounting {
        let core = Count { packets: self.core.packets() as u64, bytes: self.core.bytes() };
        let hosts = (0..).map(HostId).take(self.hosts.len());
        let links =
            hosts.flat_map(|host| Direction::ALL.map(|direction| LinkId { host, direction }));
        let held = links.fold(core, |sum, link| sum + self.accounting_at(link).held);
        Accounting { entered: self.entered, left: self.left, dropped: self.dropped, held }
    }
}

const NOT_WIRED: &str = "this host's access is not wired";
