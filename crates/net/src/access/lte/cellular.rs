//! The network: what its base stations and terminals do in each subframe of a millisecond.
//!
//! ```text
//! down: packet ─▶ bearer ─▶ scheduler ─▶ transport block on the air ─▶ 4 ms later arrived, or sent again 8 ms after
//! up:   packet ─▶ bearer ─▶ scheduling request ─▶ grant ─▶ 4 ms ─▶ transport block, with a buffer status report ─▶ likewise
//! ```
//!
//! What it leaves out: control channels (a CQI, a grant and an acknowledgement always arrive), radio link failure (who is out of reach goes on
//! trying), admission control (guarantees may be more than the cell has, and then starve the rest), power saving (DRX), random access, carrier
//! aggregation, header compression; layers of a block share its fate; a band is scheduled as a whole, not by its better parts; the fast
//! fading of a terminal is the same in whichever cell, and interferers have none.

use super::bearer::PIECE_HEADER;
use super::calendar::Calendar;
use super::config::{BearerConfig, LteConfig, LteTerminal, Scheduler};
use super::fading::{Cosines, Gains, Kind};
use super::geometry::Map;
use super::link::{self, Mcs, Thresholds, ratio};
use super::scheduler::Candidate;
use super::terminal::{Equipment, MEASUREMENT, Outlet, Report, Uplink, Way};
use crate::access::CellEvents;
use crate::accounting::Accounting;
use crate::packet::{Direction, HostId, Packet};
use units::{Bitrate, Decibels, Duration, Seed, Time};

/// From a transmission to its acknowledgement, from that to the repetition, and from a grant to its use (36.213 § 7.3, § 8, § 10.2: four
/// subframes in FDD).
const RESPONSE: u64 = 4;
/// After so many subframes without the rest an RLC receiver reports what is missing (t-Reordering, 36.331 § 6.3.2: 0 to 200 ms; 35 ms is the
/// default of 36.331 § 9.2.1.1 for signalling).
const REORDERING: u64 = 35;
/// Between two reports of a channel, and how old one is when it is used: 5 ms are a usual period (36.213 table 7.2.2-1A: 2 to 160 ms), then four
/// subframes to the base station and two to make use of it.
const REPORT_PERIOD: u64 = 5;
const REPORT_AGE: u64 = 6;
/// What a base station grants to one who asked, as it cannot know how much waits: enough for a report and a packet of voice. Ours.
const FIRST_GRANT: u64 = 100;
/// Over how many subframes interference is averaged in what a terminal reports. Ours: about the time in which a burst of a video frame passes.
const AVERAGE: f64 = 100.0;
/// Thermal noise in a resource block of 180 kHz at 290 K: −174 dBm/Hz (25.814 table A.2.1.1-3), in dBm.
const NOISE: f64 = -174.0 + 52.552_725;
/// Resource blocks at both edges of the band that carry control up (PUCCH, 36.211 § 5.4.3); at least one each.
const CONTROL_UP: u8 = 2;
/// Power control (36.942 § 12.1.4, set 1): a path of this loss has a terminal at full power for a third of the band, and each decibel less
/// takes a decibel off, down to −54 dB. The values are those of 5, 10, 15 and 20 MHz.
const FULL_POWER_LOSS: [(u8, f64); 4] = [(100, 109.0), (75, 110.0), (50, 112.0), (0, 115.0)];
const LEAST_POWER: f64 = 3.981e-6;

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
    /// The places of bearers in the order in which a block is filled: with what is guaranteed, and with the rest.
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
            Equipment::new(&map, config, &fading, terminal, noise(terminal.noise_figure), seed, name)
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
        let place = self.place(if direction == Direction::Up { packet.flow.src } else { packet.flow.dst });
        self.measure(place, self.next);
        let way = &mut self.terminals[place].ways[direction.index()];
        way.passage.entered.count(&packet);
        let dedicated = self.config.bearers.iter().enumerate().skip(1);
        let fits = |filters: &[crate::queue::Filter]| filters.iter().any(|filter| filter.fits(&packet));
        let bearer = dedicated.filter(|(_, bearer)| fits(&bearer.filters)).map(|(place, _)| place).next();
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
    pub(crate) fn show(&self, host: HostId, direction: Direction, sink: &mut dyn FnMut(&'static str, f64)) {
        let terminal = &self.terminals[self.place(host)];
        let Way { passage, shown, .. } = &terminal.ways[direction.index()];
        let bits = u64::from(shown.mcs.bits(self.resource_blocks)) * u64::from(shown.layers);
        passage.show(Bitrate::from_bps(bits * 1_000), sink);
        let cell = terminal.cell.unwrap_or_else(|| terminal.position.best());
        let gain = 10.0 * libm::log10(terminal.position.gains[cell]);
        // RSRP: of one of the twelve subcarriers of a resource block (36.214 § 5.1.1). Up, what arrives of full power likewise.
        let power = if direction == Direction::Up {
            terminal.power / f64::from(self.resource_blocks)
        } else {
            self.power
        };
        sink("signalStrength", 10.0 * libm::log10(power / 12.0) + gain);
        // Before the first block there is none.
        let sinr = if shown.resource_blocks > 0 { link::decibels(shown.sinr).as_f64() } else { f64::NAN };
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

    /// A block of one terminal with so much room, filled by priority: first what is guaranteed, then the rest.
    fn build(
        &mut self,
        place: usize,
        direction: Direction,
        subframe: u64,
        room: u64,
        events: &mut impl CellEvents,
    ) -> Option<usize> {
        let index = self.free.pop().unwrap_or_else(|| {
            self.blocks.push(Block::default());
            self.blocks.len() - 1
        });
        let terminal = &mut self.terminals[place];
        let way = &mut terminal.ways[direction.index()];
        let mut outlet = Outlet { passage: &mut way.passage, direction, events };
        let block = &mut self.blocks[index];
        block.pieces.clear();
        let (now, mut room) = (at(subframe), room);
        for (order, only_guaranteed) in self.orders.iter().zip([true, false]) {
            for &bearer in order {
                let of = &mut way.bearers[bearer];
                let mut most = room;
                if only_guaranteed {
                    most = match of.guaranteed(now) {
                        0 => continue,
                        bytes => most.min(bytes + PIECE_HEADER),
                    };
                }
                // Of what is to be sent anew there may be several pieces.
                while let Some((start, bytes)) = of.fill(now, most, &mut outlet) {
                    block.pieces.push((bearer, start));
                    room -= bytes;
                    most -= bytes;
                }
            }
        }
        if block.pieces.is_empty() {
            self.free.push(index);
            return None;
        }
        way.in_flight += 1;
        (block.terminal, block.direction, block.epoch) = (place, direction.index(), terminal.epoch);
        block.cell = terminal.cell.unwrap_or(0);
        (block.transmissions, block.sinr) = (0, 0.0);
        Some(index)
    }

    /// Shares resource blocks among those who wait in a cell that way, into `self.grants`.
    fn allocate(&mut self, cell: usize, direction: usize, subframe: u64, resource_blocks: u8) {
        let mut left = resource_blocks;
        self.grants.clear();
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.clear();
        let waiting = std::mem::take(&mut self.cells[cell].waiting[direction]);
        for &place in &waiting {
            if !self.may_send(place, direction, subframe) {
                continue;
            }
            self.hear_channel(place, direction, subframe);
            let terminal = &mut self.terminals[place];
            let uplink = terminal.uplink;
            let way = &mut terminal.ways[direction];
            let guaranteed = if direction == UP { uplink.guaranteed } else { way.guaranteed(at(subframe)) };
            let rest = if direction == UP { uplink.priority } else { way.priority(&self.priorities) };
            let class = if guaranteed > 0 { 0 } else { rest };
            let bits = f64::from(way.channel.mcs.bits(self.resource_blocks)) * f64::from(way.channel.layers);
            candidates.push(Candidate { terminal: place, class, bits });
        }
        let scheduler = self.config.scheduler;
        while left > 0
            && let Some(candidate) =
                scheduler.take(&mut candidates, |place| self.terminals[place].ways[direction].share)
        {
            let Candidate { terminal: place, class, .. } = candidate;
            let terminal = &mut self.terminals[place];
            let uplink = terminal.uplink;
            let way = &mut terminal.ways[direction];
            let granted = self.grants.iter().position(|(of, _)| *of == place);
            let (mut need, mut guaranteed) = (way.backlog(), 0);
            if direction == UP {
                (need, guaranteed) = (uplink.known, uplink.guaranteed);
            } else if class == 0 {
                guaranteed = way.guaranteed(at(subframe));
            }
            if class == 0 {
                // With the rest it takes part again, after all that is guaranteed.
                let class = if direction == UP { uplink.priority } else { way.priority(&self.priorities) };
                candidates.push(Candidate { class, ..candidate });
                need = guaranteed;
            }
            let bits = (need + PIECE_HEADER * self.priorities.len() as u64).saturating_mul(8);
            let layers = u32::from(way.channel.layers);
            let bits = u32::try_from(bits).unwrap_or(u32::MAX).div_ceil(layers);
            let has = granted.map_or(0, |at| self.grants[at].1);
            let mut blocks = way.channel.mcs.resource_blocks(bits, has + left);
            if direction == UP {
                blocks = smooth(blocks, has + left);
            }
            let Some(more) = blocks.checked_sub(has).filter(|&more| more > 0) else { continue };
            if u64::from(way.channel.mcs.bits(blocks) * layers / 8) <= PIECE_HEADER {
                // What is left would carry nothing of it.
                continue;
            }
            if class > 0 && 2 * blocks >= resource_blocks.min(way.channel.mcs.resource_blocks(bits, u8::MAX))
            {
                Scheduler::had_turn(&mut way.share, subframe);
            }
            left -= more;
            match granted {
                Some(at) => self.grants[at].1 = blocks,
                None => self.grants.push((place, blocks)),
            }
        }
        for &place in &waiting {
            let way = &mut self.terminals[place].ways[direction];
            let blocks = self.grants.iter().find(|(of, _)| *of == place).map_or(0, |(_, blocks)| *blocks);
            let bits = way.channel.mcs.bits(blocks) * u32::from(way.channel.layers);
            scheduler.served(&mut way.share, bits);
        }
        self.cells[cell].waiting[direction] = waiting;
        self.candidates = candidates;
    }

    /// Whether a terminal can have a block that way in what is scheduled now: it has a free HARQ process, and repeats none just then (36.213 § 7.1, § 8:
    /// one transport block, or one a layer, in a subframe).
    fn may_send(&self, place: usize, direction: usize, subframe: u64) -> bool {
        let terminal = &self.terminals[place];
        let repeats = if direction == UP {
            terminal.uplink.busy & 1 << eighth(subframe + RESPONSE) != 0
        } else {
            let of = |&(block, _): &(usize, f64)| &self.blocks[block];
            self.on_air.iter().map(of).any(|block| block.terminal == place && block.direction == DOWN)
        };
        !repeats && terminal.ways[direction].has_free_process()
    }

    fn schedule_down(&mut self, cell: usize, subframe: u64, events: &mut impl CellEvents) {
        if self.cells[cell].waiting[DOWN].is_empty() {
            return;
        }
        let used = self.on_air.iter().map(|&(block, _)| &self.blocks[block]);
        let used = used.filter(|block| block.cell == cell && block.direction == DOWN);
        let used: u8 = used.map(|block| block.resource_blocks).sum();
        self.allocate(cell, DOWN, subframe, self.resource_blocks.saturating_sub(used));
        let grants = std::mem::take(&mut self.grants);
        for &(place, resource_blocks) in &grants {
            let channel = self.terminals[place].ways[DOWN].channel;
            let bits = channel.mcs.bits(resource_blocks) * u32::from(channel.layers);
            if let Some(index) = self.build(place, Direction::Down, subframe, u64::from(bits / 8), events) {
                let block = &mut self.blocks[index];
                (block.mcs, block.layers) = (channel.mcs, channel.layers);
                block.resource_blocks = resource_blocks;
                self.on_air.push((index, 0.0));
            }
        }
        self.grants = grants;
        self.unlist(cell, DOWN);
    }

    /// Takes those off the list who have nothing left.
    fn unlist(&mut self, cell: usize, direction: usize) {
        let terminals = &mut self.terminals;
        self.cells[cell].waiting[direction].retain(|&place| {
            let terminal = &mut terminals[place];
            let way = &mut terminal.ways[direction];
            way.listed = if direction == UP { terminal.uplink.known > 0 } else { way.backlog() > 0 };
            way.listed
        });
    }

    /// Gives grants for four subframes later.
    fn schedule_up(&mut self, cell: usize, subframe: u64) {
        let slot = eighth(subframe + RESPONSE);
        let reserved = std::mem::take(&mut self.cells[cell].reserved[slot]);
        if self.cells[cell].waiting[UP].is_empty() {
            return;
        }
        let usable = self.resource_blocks.saturating_sub(CONTROL_UP).saturating_sub(reserved);
        self.allocate(cell, UP, subframe, usable);
        let grants = std::mem::take(&mut self.grants);
        for &(place, resource_blocks) in &grants {
            // A wide grant has less power in each resource block than the channel was heard with.
            let (terminal, way) = (&self.terminals[place], &self.terminals[place].ways[UP]);
            let power = self.power_up(terminal, resource_blocks);
            let sinr = way.channel.sinr * power * way.outer_loop.offset();
            let mcs = self.thresholds.mcs(sinr, Direction::Up);
            let epoch = terminal.epoch;
            self.terminals[place].uplink.grant(u64::from(mcs.bits(resource_blocks) / 8));
            let grant = Grant { terminal: place, epoch, resource_blocks, mcs };
            self.calendar.note(subframe + RESPONSE, Event::Granted(grant));
        }
        self.grants = grants;
        self.unlist(cell, UP);
    }

    fn use_grant(&mut self, subframe: u64, grant: Grant, events: &mut impl CellEvents) {
        let Grant { terminal: place, epoch, resource_blocks, mcs } = grant;
        if self.terminals[place].epoch != epoch {
            return;
        }
        let room = u64::from(mcs.bits(resource_blocks) / 8);
        self.terminals[place].uplink.used += room;
        if let Some(index) = self.build(place, Direction::Up, subframe, room, events) {
            let power = self.power_up(&self.terminals[place], resource_blocks);
            let block = &mut self.blocks[index];
            (block.mcs, block.layers, block.resource_blocks) = (mcs, 1, resource_blocks);
            self.on_air.push((index, power));
        }
        let terminal = &mut self.terminals[place];
        let way = &mut terminal.ways[UP];
        let report = Report {
            waiting: way.backlog(),
            guaranteed: way.guaranteed(at(subframe)),
            priority: way.priority(&self.priorities),
        };
        let uplink = &mut terminal.uplink;
        uplink.active = report.waiting > 0 || uplink.granted > uplink.used;
        let used = uplink.used;
        self.calendar.note(subframe + RESPONSE, Event::Reported { terminal: place, epoch, report, used });
    }

    fn conclude(&mut self, subframe: u64, index: usize, events: &mut impl CellEvents) {
        let block = &self.blocks[index];
        let terminal = &mut self.terminals[block.terminal];
        let current = terminal.epoch == block.epoch;
        if current && block.transmissions == 1 {
            terminal.ways[block.direction].outer_loop.first_transmission(block.succeeded);
        }
        if current && !block.succeeded && block.transmissions <= self.config.harq_retransmissions {
            if block.direction == UP {
                let eighth = eighth(subframe + RESPONSE);
                self.cells[block.cell].reserved[eighth] += block.resource_blocks;
                terminal.uplink.busy |= 1 << eighth;
            }
            self.calendar.note(subframe + RESPONSE, Event::Repeated { block: index });
        } else {
            self.release(subframe, index, current, events);
        }
    }

    /// A block is through, or given up.
    fn release(&mut self, subframe: u64, index: usize, current: bool, events: &mut impl CellEvents) {
        let block = &mut self.blocks[index];
        let (place, direction) = (block.terminal, block.direction);
        let way = &mut self.terminals[place].ways[direction];
        way.in_flight -= 1;
        let mut outlet = Outlet { passage: &mut way.passage, direction: Direction::ALL[direction], events };
        let mut wants_more = false;
        for &(bearer, start) in &block.pieces {
            let of = &mut way.bearers[bearer];
            if block.succeeded && current {
                of.arrived(at(subframe), start, &mut outlet);
            } else if of.failed(at(subframe), start, current, &mut outlet) {
                if current {
                    let missing = Event::Missing { terminal: place, direction, bearer, start };
                    // The receiver has waited since the block that came next.
                    let known = block.first + 1 + REORDERING + RESPONSE;
                    self.calendar.note(known.max(subframe + 1), missing);
                } else {
                    // A handover forwards what is not acknowledged at once (36.300 § 10.1.2.3).
                    of.send_anew(start);
                    wants_more = true;
                }
            }
        }
        block.pieces.clear();
        self.free.push(index);
        if wants_more {
            self.offer(place, direction);
        }
    }

    fn repeat(&mut self, subframe: u64, index: usize, events: &mut impl CellEvents) {
        let block = &self.blocks[index];
        let (place, direction, resource_blocks) = (block.terminal, block.direction, block.resource_blocks);
        if direction == UP {
            self.terminals[place].uplink.busy &= !(1 << eighth(subframe));
        }
        let terminal = &self.terminals[place];
        if terminal.epoch != block.epoch {
            self.release(subframe, index, false, events);
            return;
        }
        let power = if direction == UP { self.power_up(terminal, resource_blocks) } else { 0.0 };
        let bits = block.mcs.bits(resource_blocks) * u32::from(block.layers);
        let way = &mut self.terminals[place].ways[direction];
        way.shown.retransmissions += 1;
        // It is the terminal's turn that a repetition uses.
        Scheduler::had_turn(&mut way.share, subframe);
        self.config.scheduler.served(&mut way.share, bits);
        self.on_air.push((index, power));
    }

    /// What was sent in this subframe meets what others sent.
    fn transmit(&mut self, subframe: u64) {
        let on_air = std::mem::take(&mut self.on_air);
        let share = 1.0 / f64::from(self.resource_blocks);
        for &(index, power) in &on_air {
            let block = &self.blocks[index];
            let part = f64::from(block.resource_blocks) * share;
            if block.direction == DOWN {
                self.cells[block.cell].load += part;
                continue;
            }
            let gains = &self.terminals[block.terminal].position.gains;
            for (place, (cell, gain)) in self.cells.iter_mut().zip(gains).enumerate() {
                if place != block.cell {
                    cell.interference += power * part * gain;
                }
            }
        }
        for &(index, power) in &on_air {
            self.receive(subframe, index, power);
        }
        self.on_air = on_air;
        self.on_air.clear();
        for cell in &mut self.cells {
            cell.mean_load += (cell.load.min(1.0) - cell.mean_load) / AVERAGE;
            cell.mean_interference += (cell.interference - cell.mean_interference) / AVERAGE;
            (cell.load, cell.interference) = (0.0, 0.0);
        }
    }

    /// Whether a block is read.
    fn receive(&mut self, subframe: u64, index: usize, power: f64) {
        let block = &self.blocks[index];
        let terminal = &self.terminals[block.terminal];
        let gain = terminal.position.gains[block.cell];
        let sinr = if block.direction == UP {
            power * gain / (self.cells[block.cell].interference + self.noise)
        } else {
            let loads = self.cells.iter().map(|cell| cell.load);
            self.power * gain / (self.interference_down(terminal, block.cell, loads) + terminal.noise)
        };
        let gains = terminal.ways[block.direction].fading.at(subframe, &self.cosines);
        let block = &mut self.blocks[index];
        block.sinr += of_layers(sinr, &gains, block.layers);
        if block.transmissions == 0 {
            block.first = subframe;
        }
        block.transmissions += 1;
        let way = &mut self.terminals[block.terminal].ways[block.direction];
        block.succeeded = !way.errors.chance(self.thresholds.error_rate(
            block.mcs,
            block.sinr,
            Direction::ALL[block.direction],
        ));
        let resource_blocks = way.shown.resource_blocks + u64::from(block.resource_blocks);
        way.shown.resource_blocks = resource_blocks;
        (way.shown.mcs, way.shown.layers, way.shown.sinr) = (block.mcs, block.layers, block.sinr);
        self.calendar.note(subframe + RESPONSE, Event::Concluded { block: index });
    }

    /// What other cells send into a resource block of a terminal, in milliwatts.
    fn interference_down(
        &self,
        terminal: &Equipment,
        serving: usize,
        loads: impl Iterator<Item = f64>,
    ) -> f64 {
        let others = terminal.position.gains.iter().zip(loads).enumerate();
        let others = others.filter(|(place, _)| *place != serving);
        others.map(|(_, (gain, load))| self.power * gain * load.min(1.0)).sum()
    }

    /// What a terminal sends with in each of so many resource blocks, in milliwatts.
    fn power_up(&self, terminal: &Equipment, resource_blocks: u8) -> f64 {
        let Some(cell) = terminal.cell else { return 0.0 };
        let loss = 1.0 / terminal.position.gains[cell];
        let controlled = (loss / self.full_power_loss).clamp(LEAST_POWER, 1.0);
        let third = f64::from(self.resource_blocks) / 3.0;
        terminal.power * (controlled / third).min(1.0 / f64::from(resource_blocks.max(1)))
    }

    /// The base station has heard of a terminal's channel by now: what is sent to it next follows that.
    fn hear_channel(&mut self, place: usize, direction: usize, subframe: u64) {
        let measured = subframe.saturating_sub(REPORT_AGE) / REPORT_PERIOD * REPORT_PERIOD;
        let terminal = &self.terminals[place];
        let way = &terminal.ways[direction];
        let Some(cell) = terminal.cell.filter(|_| way.channel.measured != measured) else { return };
        let gains = way.fading.at(measured, &self.cosines);
        let offset = way.outer_loop.offset();
        let mut channel = way.channel;
        channel.measured = measured;
        let gain = terminal.position.gains[cell];
        let cqi;
        if direction == UP {
            let noise = self.cells[cell].mean_interference + self.noise;
            // For a grant of a third of the band; a wider one is looked at when it is given.
            let power = self.power_up(terminal, self.resource_blocks.div_ceil(3));
            channel.sinr = of_layers(power * gain / noise, &gains, 1) / power;
            let sinr = channel.sinr * power;
            cqi = self.thresholds.cqi(sinr);
            channel.mcs = self.thresholds.mcs(sinr * offset, Direction::Up);
            channel.layers = 1;
        } else {
            let loads = self.cells.iter().map(|cell| cell.mean_load);
            let noise = self.interference_down(terminal, cell, loads) + terminal.noise;
            let sinr = self.power * gain / noise;
            let of = |layers: u8| {
                let cqi = self.thresholds.cqi(of_layers(sinr, &gains, layers));
                let mcs = self.thresholds.mcs(self.thresholds.told(cqi) * offset, Direction::Down);
                (mcs.bits(self.resource_blocks) * u32::from(layers), cqi, mcs, layers)
            };
            let (one, most) = (of(1), of(self.config.layers));
            let best = if most.0 > one.0 { most } else { one };
            (_, cqi, channel.mcs, channel.layers) = best;
            channel.sinr = sinr;
        }
        let way = &mut self.terminals[place].ways[direction];
        way.channel = channel;
        way.shown.cqi = cqi;
    }

    /// While nothing was on the air the averages went down.
    fn average(&mut self, subframe: u64) {
        let silent = subframe.saturating_sub(self.last + 1);
        if silent > 0 {
            let left = libm::pow(1.0 - 1.0 / AVERAGE, silent as f64);
            for cell in &mut self.cells {
                cell.mean_load *= left;
                cell.mean_interference *= left;
            }
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

/// The SINR over AWGN that carries as much as this channel does in each layer, the power shared among them. One layer has both antennas
/// combined; two have one each, as a zero-forcing receiver leaves them (Winters, Salz & Gitlin 1994, "The impact of antenna diversity on the capacity
/// of wireless communication systems", § II).
fn of_layers(sinr: f64, gains: &Gains, layers: u8) -> f64 {
    if layers == 1 {
        link::effective(gains.iter().map(|[one, other]| sinr * (one + other)))
    } else {
        link::effective(gains.as_flattened().iter().map(|gain| sinr / 2.0 * gain))
    }
}

/// The least number of resource blocks from `blocks` on, or else the most below, that a terminal may use at once: products of 2, 3 and 5 (36.211
/// § 5.3.3), of `most` that there are.
fn smooth(blocks: u8, most: u8) -> u8 {
    let fits = |&blocks: &u8| {
        let mut left = blocks;
        for factor in [2, 3, 5] {
            while left > 0 && left % factor == 0 {
                left /= factor;
            }
        }
        left == 1
    };
    (blocks..=most).find(fits).or_else(|| (1..blocks).rev().find(fits)).unwrap_or(0)
}
