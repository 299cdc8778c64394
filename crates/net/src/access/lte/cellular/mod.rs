//! The network: what its base stations and terminals do in each subframe of a millisecond.
//!
//! ```text
//! down: packet ─▶ bearer ─▶ scheduler ─▶ transport block on the air ─▶ 4 ms later arrived, or sent again 8 ms after
//! up:   packet ─▶ bearer ─▶ scheduling request ─▶ grant ─▶ 4 ms ─▶ transport block, with a buffer status report ─▶ likewise
//! ```
//!
//! What it leaves out: control channels (a CQI, a grant and an acknowledgement always arrive),
//! radio link failure (who is out of reach goes on trying), admission control (guarantees may be
//! more than the cell has, and then starve the rest), power saving (DRX), random access, carrier
//! aggregation, header compression; layers of a block share its fate; a band is scheduled as a
//! whole, not by its better parts; the fast fading of a terminal is the same in whichever cell, and
//! interferers have none.

mod air;
mod block;
mod schedule;

use super::calendar::Calendar;
use super::config::{BearerConfig, LteConfig, LteTerminal};
use super::fading::{Cosines, Kind};
use super::geometry::Map;
use super::link::{self, Mcs, Thresholds, ratio};
use super::scheduler::Candidate;
use super::terminal::{Equipment, MEASUREMENT, Outlet, Report, Uplink, Way};
use crate::access::CellEvents;
use crate::accounting::Accounting;
use crate::packet::{Direction, HostId, Packet};
use units::{Bitrate, Decibels, Duration, Seed, Time};

/// From a transmission to its acknowledgement, from that to the repetition, and from a grant to its
/// use (36.213 § 7.3, § 8, § 10.2: four subframes in FDD).
const RESPONSE: u64 = 4;
/// What a base station grants to one who asked, as it cannot know how much waits: enough for a
/// report and a packet of voice. Ours.
const FIRST_GRANT: u64 = 100;
/// Thermal noise in a resource block of 180 kHz at 290 K: −174 dBm/Hz (25.814 table A.2.1.1-3), in
/// dBm.
const NOISE: f64 = -174.0 + 52.552_725;
/// Power control (36.942 § 12.1.4, set 1): a path of this loss has a terminal at full power for a
/// third of the band, and each decibel less takes a decibel off, down to −54 dB. The values are
/// those of 5, 10, 15 and 20 MHz.
const FULL_POWER_LOSS: [(u8, f64); 4] = [(100, 109.0), (75, 110.0), (50, 112.0), (0, 115.0)];

/// A host, its name, and what terminal it is.
pub(crate) type Terminal<'a> = (HostId, &'a str, &'a LteTerminal);

/// A transport block.
#[derive(Default)]
struct Block {
    terminal: usize,
    direction: usize,
    cell: usize,
    epoch: u32,
    mcs: Mcs,
    layers: u8,
    resource_blocks: u8,
    transmissions: u8,
    /// The subframe of the first.
    first: u64,
    /// Over all transmissions (chase combining).
    sinr: f64,
    succeeded: bool,
    /// Bearers and the starts of their pieces.
    pieces: Vec<(usize, u64)>,
}

/// Permission to send.
#[derive(Clone, Copy)]
struct Grant {
    terminal: usize,
    epoch: u32,
    resource_blocks: u8,
    mcs: Mcs,
}

#[derive(Clone, Copy)]
enum Event {
    /// A scheduling request has reached the base station.
    Requested { terminal: usize, epoch: u32 },
    /// A buffer status report has, and the grants used by then.
    Reported { terminal: usize, epoch: u32, report: Report, used: u64 },
    /// A grant is used.
    Granted(Grant),
    /// It is known what became of a block.
    Concluded { block: usize },
    /// A block is sent again.
    Repeated { block: usize },
    /// An RLC sender knows that a piece is missing.
    Missing { terminal: usize, direction: usize, bearer: usize, start: u64 },
    /// A handover may be over.
    Resumed { terminal: usize },
}

/// A cell.
#[derive(Default)]
struct Cell {
    /// Terminals that have something up, as far as it is known, and down.
    waiting: [Vec<usize>; 2],
    /// Resource blocks up that repetitions take, by subframe.
    reserved: [u8; 8],
    /// The share of its resource blocks down that it uses, now and on average.
    load: f64,
    mean_load: f64,
    /// Interference up in a resource block, in milliwatts, now and on average.
    interference: f64,
    mean_interference: f64,
}

const UP: usize = Direction::Up.index();
const DOWN: usize = Direction::Down.index();

/// A network.
pub(crate) struct Cellular {
    config: LteConfig,
    resource_blocks: u8,
    /// What a cell sends with in a resource block, and its receiver's noise there, in milliwatts.
    power: f64,
    noise: f64,
    /// The loss, as a ratio, from which on a terminal sends with full power.
    full_power_loss: f64,
    /// Priorities of what bearers have above their guarantees.
    priorities: Vec<u8>,
    /// The places of bearers in the order in which a block is filled: with what is guaranteed, and
    /// with the rest.
    orders: [Vec<usize>; 2],
    map: Map,
    cosines: Cosines,
    thresholds: Thresholds,
    cells: Vec<Cell>,
    terminals: Vec<Equipment>,
    /// The terminal of a host, by the host's number.
    places: Vec<u16>,
    calendar: Calendar<Event>,
    /// The first subframe that is still to come.
    next: u64,
    /// The last one in which something was on the air.
    last: u64,
    blocks: Vec<Block>,
    free: Vec<usize>,
    /// What is on the air: blocks, and the power in each resource block of those up.
    on_air: Vec<(usize, f64)>,
    // Lists that are kept to be used again.
    due: Vec<Event>,
    candidates: Vec<Candidate>,
    grants: Vec<(usize, u8)>,
}

impl Cellular {
    pub(crate) fn new(config: &LteConfig, terminals: &[Terminal<'_>], seed: Seed) -> Self {
        let map = Map::new(config);
        let noise = |figure: Decibels| ratio(NOISE + figure.as_f64());
        let resource_blocks = config.bandwidth.resource_blocks();
        let full = FULL_POWER_LOSS.iter().find(|(blocks, _)| resource_blocks >= *blocks);
        let fading = Kind::new(&config.fast_fading);
        let equipment = terminals.iter().map(|(_, name, terminal)| {
            Equipment::new(
                &map,
                config,
                &fading,
                terminal,
                noise(terminal.noise_figure),
                seed,
                name,
            )
        });
        let equipment = equipment.collect();
        let hosts = terminals.iter().map(|(host, ..)| usize::from(host.0) + 1).max().unwrap_or(0);
        let mut places = vec![0; hosts];
        for ((host, ..), place) in terminals.iter().zip(0..) {
            places[usize::from(host.0)] = place;
        }
        let order = |priority: fn(&BearerConfig) -> u8| {
            let mut order: Vec<usize> = (0..config.bearers.len()).collect();
            order.sort_by_key(|&bearer| priority(&config.bearers[bearer]));
            order
        };
        Self {
            resource_blocks,
            power: ratio(config.tx_power.as_f64()) / f64::from(resource_blocks),
            noise: noise(config.noise_figure),
            full_power_loss: ratio(full.map_or(115.0, |(_, loss)| *loss)),
            priorities: config.bearers.iter().map(BearerConfig::priority_of_rest).collect(),
            orders: [order(BearerConfig::priority), order(BearerConfig::priority_of_rest)],
            map,
            cosines: Cosines::new(),
            thresholds: Thresholds::new(),
            cells: (0..config.layout.cells()).map(|_| Cell::default()).collect(),
            terminals: equipment,
            places,
            calendar: Calendar::new(),
            next: 0,
            last: 0,
            blocks: Vec::new(),
            free: Vec::new(),
            on_air: Vec::new(),
            due: Vec::new(),
            candidates: Vec::new(),
            grants: Vec::new(),
            config: config.clone(),
        }
    }

    /// A packet comes to where it is sent: to its terminal, or to the base station.
    pub(crate) fn enter(
        &mut self,
        now: Time,
        direction: Direction,
        packet: Packet,
        events: &mut impl CellEvents,
    ) {
        self.next = self.next.max(now.as_nanos().div_ceil(SUBFRAME.as_nanos()));
        let place =
            self.place(if direction == Direction::Up { packet.flow.src } else { packet.flow.dst });
        self.measure(place, self.next);
        let way = &mut self.terminals[place].ways[direction.index()];
        way.passage.entered.count(&packet);
        let dedicated = self.config.bearers.iter().enumerate().skip(1);
        let fits =
            |filters: &[crate::queue::Filter]| filters.iter().any(|filter| filter.fits(&packet));
        let bearer =
            dedicated.filter(|(_, bearer)| fits(&bearer.filters)).map(|(place, _)| place).next();
        let mut outlet = Outlet { passage: &mut way.passage, direction, events };
        way.bearers[bearer.unwrap_or(0)].enqueue(now, packet, &mut outlet);
        self.offer(place, direction.index());
    }

    /// When something is next to be done.
    pub(crate) fn due(&self) -> Option<Time> {
        let waits = self.cells.iter().any(|cell| cell.waiting.iter().any(|list| !list.is_empty()));
        let next = if waits { Some(self.next) } else { self.calendar.next(self.next) };
        next.map(at)
    }

    /// Does what is due in the subframe that begins now.
    pub(crate) fn advance(&mut self, now: Time, events: &mut impl CellEvents) {
        let subframe = now.as_nanos() / SUBFRAME.as_nanos();
        if subframe < self.next {
            return;
        }
        self.next = subframe + 1;
        self.average(subframe);
        if subframe / MEASUREMENT > self.last / MEASUREMENT {
            for place in 0..self.terminals.len() {
                if self.terminals[place].is_busy() {
                    self.measure(place, subframe);
                }
            }
        }
        self.last = subframe;
        let mut due = std::mem::take(&mut self.due);
        self.calendar.take(subframe, &mut due);
        for event in due.drain(..) {
            self.happen(subframe, event, events);
        }
        self.due = due;
        for cell in 0..self.cells.len() {
            self.schedule_down(cell, subframe, events);
            self.schedule_up(cell, subframe);
        }
        self.transmit(subframe);
    }

    /// Shows the truth about one direction of a terminal.
    pub(crate) fn show(
        &self,
        host: HostId,
        direction: Direction,
        sink: &mut dyn FnMut(&'static str, f64),
    ) {
        let terminal = &self.terminals[self.place(host)];
        let Way { passage, shown, .. } = &terminal.ways[direction.index()];
        let bits = u64::from(shown.mcs.bits(self.resource_blocks)) * u64::from(shown.layers);
        passage.show(Bitrate::from_bps(bits * 1_000), sink);
        let cell = terminal.cell.unwrap_or_else(|| terminal.position.best());
        let gain = 10.0 * libm::log10(terminal.position.gains[cell]);
        // RSRP: of one of the twelve subcarriers of a resource block (36.214 § 5.1.1). Up, what
        // arrives of full power likewise.
        let power = if direction == Direction::Up {
            terminal.power / f64::from(self.resource_blocks)
        } else {
            self.power
        };
        sink("signalStrength", 10.0 * libm::log10(power / 12.0) + gain);
        // Before the first block there is none.
        let sinr =
            if shown.resource_blocks > 0 { link::decibels(shown.sinr).as_f64() } else { f64::NAN };
        sink("sinr", sinr);
        sink("cqi", f64::from(shown.cqi));
        sink("mcsIndex", f64::from(shown.mcs.index()));
        sink("resourceBlocks", shown.resource_blocks as f64);
        sink("retransmissions", shown.retransmissions as f64);
        if direction == Direction::Down {
            sink("cell", cell as f64);
            sink("handovers", f64::from(terminal.epoch));
        }
    }

    /// What went through one direction of a terminal.
    pub(crate) fn accounting(&self, host: HostId, direction: Direction) -> Accounting {
        self.terminals[self.place(host)].ways[direction.index()].passage.accounting()
    }

    fn place(&self, host: HostId) -> usize {
        usize::from(self.places[usize::from(host.0)])
    }

    /// Lets a terminal go on to this subframe, and change the cell where that is better.
    fn measure(&mut self, place: usize, subframe: u64) {
        let terminal = &mut self.terminals[place];
        let Some(change) = terminal.update(subframe, &self.map, &self.config) else { return };
        let old = terminal.cell.replace(change.cell);
        terminal.epoch += change.handovers;
        terminal.uplink = Uplink { busy: terminal.uplink.busy, ..Uplink::default() };
        terminal.silent_until = change.at + subframes(self.config.handover.interruption);
        for way in &mut terminal.ways {
            way.channel.measured = u64::MAX;
            way.listed = false;
        }
        if let Some(old) = old {
            for list in &mut self.cells[old].waiting {
                list.retain(|&waiting| waiting != place);
            }
        }
        self.resume(place, subframe);
    }

    /// After the interruption a terminal takes part again.
    fn resume(&mut self, place: usize, subframe: u64) {
        let until = self.terminals[place].silent_until;
        if until > subframe {
            let next = until.min(subframe + Calendar::<Event>::FURTHEST - 1).max(self.next);
            self.calendar.note(next, Event::Resumed { terminal: place });
        } else {
            (0..2).for_each(|direction| self.offer(place, direction));
        }
    }

    /// Has a terminal take part if something waits that way: down it is listed, up it asks.
    fn offer(&mut self, place: usize, direction: usize) {
        let terminal = &mut self.terminals[place];
        let Some(cell) = terminal.cell else { return };
        if terminal.silent_until > self.next || terminal.ways[direction].backlog() == 0 {
            return;
        }
        if direction == DOWN {
            list(&mut self.cells[cell], terminal, place, DOWN);
        } else if !terminal.uplink.active {
            terminal.uplink.active = true;
            let period = subframes(self.config.scheduling_request_period).max(1);
            let offset = place as u64 % period;
            let opportunity = self.next + (offset + period - self.next % period) % period;
            let event = Event::Requested { terminal: place, epoch: terminal.epoch };
            self.calendar.note(opportunity + RESPONSE, event);
        }
    }

    fn happen(&mut self, subframe: u64, event: Event, events: &mut impl CellEvents) {
        match event {
            Event::Requested { terminal, epoch } => self.known(terminal, epoch, |uplink| {
                uplink.known = uplink.known.max(FIRST_GRANT);
            }),
            Event::Reported { terminal, epoch, report, used } => {
                self.known(terminal, epoch, |uplink| uplink.hear(report, used));
            }
            Event::Granted(grant) => self.use_grant(subframe, grant, events),
            Event::Concluded { block } => self.conclude(subframe, block, events),
            Event::Repeated { block } => self.repeat(subframe, block, events),
            Event::Missing { terminal, direction, bearer, start } => {
                self.terminals[terminal].ways[direction].bearers[bearer].send_anew(start);
                self.offer(terminal, direction);
            }
            Event::Resumed { terminal } => self.resume(terminal, subframe),
        }
    }

    /// The base station hears from a terminal.
    fn known(&mut self, place: usize, epoch: u32, hear: impl FnOnce(&mut Uplink)) {
        let terminal = &mut self.terminals[place];
        if terminal.epoch != epoch {
            return;
        }
        hear(&mut terminal.uplink);
        if let Some(cell) = terminal.cell
            && terminal.uplink.known > 0
        {
            list(&mut self.cells[cell], terminal, place, UP);
        }
    }
}

/// The length of a subframe (36.211 § 4).
const SUBFRAME: Duration = Duration::from_millis(1);

fn at(subframe: u64) -> Time {
    Time::from_millis(subframe)
}

fn subframes(span: Duration) -> u64 {
    span.as_nanos().div_ceil(SUBFRAME.as_nanos())
}

/// A subframe's place among eight.
fn eighth(subframe: u64) -> usize {
    usize::from(subframe as u8 % 8)
}

fn list(cell: &mut Cell, terminal: &mut Equipment, place: usize, direction: usize) {
    if !std::mem::replace(&mut terminal.ways[direction].listed, true) {
        cell.waiting[direction].push(place);
    }
}
