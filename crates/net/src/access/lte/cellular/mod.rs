//! An LTE network: its base stations and terminals in each subframe of a millisecond.
//!
//! ```text
//! down: packet ─▶ bearer ─▶ scheduler ─▶ transport block on the air ─▶ received after 4 ms, or retransmitted after 8 ms
//! up:   packet ─▶ bearer ─▶ scheduling request ─▶ grant ─▶ 4 ms ─▶ transport block, with a buffer status report ─▶ the same
//! ```
//!
//! Not modelled: control channels (CQIs, grants and acknowledgements always arrive), radio link
//! failure (a terminal out of reach keeps trying), admission control (guaranteed bit rates may
//! exceed the cell's capacity and then starve the rest), power saving (DRX), random access, carrier
//! aggregation, and header compression. Simplified: all layers of a block arrive or fail together;
//! scheduling is not frequency-selective; the fast fading of a terminal is the same in every cell,
//! and interference does not fade.

mod air;
mod block;
mod schedule;

use super::calendar::Calendar;
use super::config::{BearerConfig, LteConfig, LteTerminal};
use super::fading::{Cosines, FadingModel};
use super::geometry::Map;
use super::link::{self, Mcs, Thresholds, ratio};
use super::scheduler::Candidate;
use super::terminal::{MEASUREMENT, Outlet, Report, TerminalState, Uplink, Way};
use crate::access::CellEvents;
use crate::accounting::Accounting;
use crate::packet::{Direction, HostId, Packet};
use units::{Bitrate, Decibels, Duration, Seed, Time};

/// The subframes from a transmission to its acknowledgement, from there to the retransmission, and
/// from a grant to its use (36.213 § 7.3, § 8, § 10.2: four subframes in FDD).
const RESPONSE: u64 = 4;
/// The bytes that a base station grants on a scheduling request, as it does not know how much
/// waits: enough for a buffer status report and a voice packet. The value is our choice.
const FIRST_GRANT: u64 = 100;
/// Thermal noise in a resource block of 180 kHz at 290 K: −174 dBm/Hz (25.814 table A.2.1.1-3), in
/// dBm.
const NOISE: f64 = -174.0 + 52.552_725;
/// Power control (36.942 § 12.1.4, set 1): the path loss in decibels from which a terminal with a
/// third of the band transmits at full power, per least number of resource blocks. Each decibel of
/// loss less reduces the power by a decibel, down to −54 dB. The values are those of 20, 15, 10 and
/// 5 MHz.
const FULL_POWER_LOSS: [(u8, f64); 4] = [(100, 109.0), (75, 110.0), (50, 112.0), (0, 115.0)];

/// A terminal of a network: its host, the host's name, and the terminal's configuration.
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
    /// The subframe of the first transmission.
    first: u64,
    /// The sum of the SINRs of all transmissions, as ratios (chase combining).
    sinr: f64,
    succeeded: bool,
    /// Bearers and the starts of their pieces.
    pieces: Vec<(usize, u64)>,
}

/// An uplink grant.
#[derive(Clone, Copy)]
struct Grant {
    terminal: usize,
    epoch: u32,
    resource_blocks: u8,
    mcs: Mcs,
}

#[derive(Clone, Copy)]
enum Event {
    /// The base station receives a scheduling request.
    Requested { terminal: usize, epoch: u32 },
    /// The base station receives a buffer status report, made when `used` bytes of grants were
    /// used.
    Reported { terminal: usize, epoch: u32, report: Report, used: u64 },
    /// A terminal uses a grant.
    Granted(Grant),
    /// The sender of a block learns whether it arrived.
    Concluded { block: usize },
    /// A block is retransmitted.
    Repeated { block: usize },
    /// An RLC sender learns that a piece is missing.
    Missing { terminal: usize, direction: usize, bearer: usize, start: u64 },
    /// The interruption of a handover may be over.
    Resumed { terminal: usize },
}

/// A cell.
#[derive(Default)]
struct Cell {
    /// Terminals with packets, up as far as is known, and down.
    waiting: [Vec<usize>; 2],
    /// Uplink resource blocks reserved for retransmissions, per subframe modulo eight.
    reserved: [u8; 8],
    /// The share of its downlink resource blocks in use, in this subframe and on average.
    load: f64,
    mean_load: f64,
    /// Uplink interference per resource block, in milliwatts, in this subframe and on average.
    interference: f64,
    mean_interference: f64,
}

const UP: usize = Direction::Up.index();
const DOWN: usize = Direction::Down.index();

/// The precedence of the bearers of a network.
struct Precedence {
    /// As [`Cellular::priorities`].
    priorities: Vec<u8>,
    /// As [`Cellular::request_priority`].
    request: u8,
    /// As [`Cellular::orders`].
    orders: [Vec<usize>; 2],
}

impl Precedence {
    fn of(bearers: &[BearerConfig]) -> Self {
        let order = |priority: fn(&BearerConfig) -> u8| {
            let mut order: Vec<usize> = (0..bearers.len()).collect();
            order.sort_by_key(|&bearer| priority(&bearers[bearer]));
            order
        };
        let priorities: Vec<u8> = bearers.iter().map(BearerConfig::priority_of_rest).collect();
        Self {
            request: priorities.iter().copied().min().unwrap_or_default(),
            priorities,
            orders: [order(BearerConfig::priority), order(BearerConfig::priority_of_rest)],
        }
    }
}

/// An LTE network.
pub(crate) struct Cellular {
    config: LteConfig,
    resource_blocks: u8,
    /// A cell's transmit power and its receiver's noise, both per resource block in milliwatts.
    power: f64,
    noise: f64,
    /// The path loss, as a ratio, from which a terminal transmits at full power.
    full_power_loss: f64,
    /// The priority of each bearer for bytes above its guaranteed bit rate.
    priorities: Vec<u8>,
    /// The priority of a scheduling request, which names no bearer (36.321 § 5.4.4): that of the
    /// most urgent one, so that none waits behind bulk traffic because it is not known yet.
    request_priority: u8,
    /// The bearers in the order in which a block is filled: for bytes within guaranteed bit rates,
    /// and for the rest.
    orders: [Vec<usize>; 2],
    map: Map,
    cosines: Cosines,
    thresholds: Thresholds,
    cells: Vec<Cell>,
    terminals: Vec<TerminalState>,
    /// The index of each host's terminal.
    ue_of_host: Vec<u16>,
    calendar: Calendar<Event>,
    /// The next subframe.
    next: u64,
    /// The last subframe that was processed.
    last: u64,
    blocks: Vec<Block>,
    free: Vec<usize>,
    /// The blocks on the air, and for those of the uplink the power per resource block.
    on_air: Vec<(usize, f64)>,
    // Lists whose memory is reused.
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
        let fading = FadingModel::new(&config.fast_fading);
        let equipment = terminals.iter().map(|(_, name, terminal)| {
            TerminalState::new(
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
        let mut ue_of_host = vec![0; hosts];
        for ((host, ..), ue) in terminals.iter().zip(0..) {
            ue_of_host[usize::from(host.0)] = ue;
        }
        let Precedence { priorities, request, orders } = Precedence::of(&config.bearers);
        Self {
            resource_blocks,
            power: ratio(config.tx_power.as_f64()) / f64::from(resource_blocks),
            noise: noise(config.noise_figure),
            full_power_loss: ratio(full.map_or(115.0, |(_, loss)| *loss)),
            request_priority: request,
            priorities,
            orders,
            map,
            cosines: Cosines::new(),
            thresholds: Thresholds::new(),
            cells: (0..config.layout.cells()).map(|_| Cell::default()).collect(),
            terminals: equipment,
            ue_of_host,
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

    /// Establishes a dedicated bearer at `now`, as a base station does when its core network asks
    /// for one (23.401 § 5.4.1). Returns its index. Every terminal has it, but its filters select
    /// the packets of one.
    pub(crate) fn establish_bearer(&mut self, now: Time, config: BearerConfig) -> usize {
        for terminal in &mut self.terminals {
            for (direction, way) in Direction::ALL.into_iter().zip(&mut terminal.ways) {
                way.add_bearer(now, direction, &config);
            }
        }
        self.config.bearers.push(config);
        let Precedence { priorities, request, orders } = Precedence::of(&self.config.bearers);
        (self.priorities, self.request_priority, self.orders) = (priorities, request, orders);
        self.config.bearers.len() - 1
    }

    /// Releases a dedicated bearer (23.401 § 5.4.4): the packets that enter from now on use
    /// another. Simplified: packets that wait in it are still sent. Returns whether there was one.
    pub(crate) fn release_bearer(&mut self, index: usize) -> bool {
        let bearer = self.config.bearers.get_mut(index).filter(|_| index > 0);
        // A bearer without filters takes no packet.
        bearer.is_some_and(|bearer| !std::mem::take(&mut bearer.filters).is_empty())
    }

    /// Queues a packet: up at its terminal, down at the base station.
    pub(crate) fn enter(
        &mut self,
        now: Time,
        direction: Direction,
        packet: Packet,
        events: &mut impl CellEvents,
    ) {
        self.next = self.next.max(now.as_nanos().div_ceil(SUBFRAME.as_nanos()));
        let ue =
            self.ue(if direction == Direction::Up { packet.flow.src } else { packet.flow.dst });
        self.measure(ue, self.next);
        let way = &mut self.terminals[ue].ways[direction.index()];
        way.passage.entered.count(&packet);
        let dedicated = self.config.bearers.iter().enumerate().skip(1);
        let fits =
            |filters: &[crate::queue::Filter]| filters.iter().any(|filter| filter.fits(&packet));
        let bearer = dedicated.filter(|(_, bearer)| fits(&bearer.filters)).map(|(ue, _)| ue).next();
        let mut outlet = Outlet { passage: &mut way.passage, direction, events };
        way.bearers[bearer.unwrap_or(0)].enqueue(now, packet, &mut outlet);
        self.offer(ue, direction.index());
    }

    /// When [`Self::advance`] is next due; `None` if nothing is.
    pub(crate) fn due(&self) -> Option<Time> {
        let waits = self.cells.iter().any(|cell| cell.waiting.iter().any(|list| !list.is_empty()));
        let next = if waits { Some(self.next) } else { self.calendar.next(self.next) };
        next.map(at)
    }

    /// Processes the subframe that begins now.
    pub(crate) fn advance(&mut self, now: Time, events: &mut impl CellEvents) {
        let subframe = now.as_nanos() / SUBFRAME.as_nanos();
        if subframe < self.next {
            return;
        }
        self.next = subframe + 1;
        self.average(subframe);
        if subframe / MEASUREMENT > self.last / MEASUREMENT {
            for ue in 0..self.terminals.len() {
                if self.terminals[ue].is_busy() {
                    self.measure(ue, subframe);
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

    /// Passes the state of one direction of a terminal to `sink`, by name.
    pub(crate) fn show(
        &self,
        host: HostId,
        direction: Direction,
        sink: &mut dyn FnMut(&'static str, f64),
    ) {
        let terminal = &self.terminals[self.ue(host)];
        let Way { passage, shown, .. } = &terminal.ways[direction.index()];
        let bits = u64::from(shown.mcs.bits(self.resource_blocks)) * u64::from(shown.layers);
        passage.show(Bitrate::from_bps(bits * 1_000), sink);
        let cell = terminal.cell.unwrap_or_else(|| terminal.position.best());
        let gain = 10.0 * libm::log10(terminal.position.gains[cell]);
        // RSRP: the power of one of the twelve subcarriers of a resource block (36.214 § 5.1.1).
        // For the uplink, the same for a terminal at full power.
        let power = if direction == Direction::Up {
            terminal.power / f64::from(self.resource_blocks)
        } else {
            self.power
        };
        sink("signalStrength", 10.0 * libm::log10(power / 12.0) + gain);
        // Before the first block there is no SINR.
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

    /// The packet counts of one direction of a terminal.
    pub(crate) fn accounting(&self, host: HostId, direction: Direction) -> Accounting {
        self.terminals[self.ue(host)].ways[direction.index()].passage.accounting()
    }

    fn ue(&self, host: HostId) -> usize {
        usize::from(self.ue_of_host[usize::from(host.0)])
    }

    /// Advances a terminal to this subframe, with handovers that are due.
    fn measure(&mut self, ue: usize, subframe: u64) {
        let terminal = &mut self.terminals[ue];
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
                list.retain(|&waiting| waiting != ue);
            }
        }
        self.resume(ue, subframe);
    }

    /// Resumes a terminal if the interruption of its handover is over.
    fn resume(&mut self, ue: usize, subframe: u64) {
        let until = self.terminals[ue].silent_until;
        if until > subframe {
            let next = until.min(subframe + Calendar::<Event>::FURTHEST - 1).max(self.next);
            self.calendar.note(next, Event::Resumed { terminal: ue });
        } else {
            (0..2).for_each(|direction| self.offer(ue, direction));
        }
    }

    /// If packets wait in a direction: lists the terminal (down), or sends a scheduling request
    /// (up).
    fn offer(&mut self, ue: usize, direction: usize) {
        let terminal = &mut self.terminals[ue];
        let Some(cell) = terminal.cell else { return };
        if terminal.silent_until > self.next || terminal.ways[direction].backlog() == 0 {
            return;
        }
        if direction == DOWN {
            list(&mut self.cells[cell], terminal, ue, DOWN);
        } else if !terminal.uplink.active {
            terminal.uplink.active = true;
            let period = subframes(self.config.scheduling_request_period).max(1);
            let offset = ue as u64 % period;
            let opportunity = self.next + (offset + period - self.next % period) % period;
            let event = Event::Requested { terminal: ue, epoch: terminal.epoch };
            self.calendar.note(opportunity + RESPONSE, event);
        }
    }

    fn happen(&mut self, subframe: u64, event: Event, events: &mut impl CellEvents) {
        match event {
            Event::Requested { terminal, epoch } => {
                let priority = self.request_priority;
                self.known(terminal, epoch, |uplink| uplink.request(FIRST_GRANT, priority));
            }
            Event::Reported { terminal, epoch, report, used } => {
                self.known(terminal, epoch, |uplink| uplink.hear(report, used));
            }
            Event::Granted(grant) => self.use_grant(subframe, grant, events),
            Event::Concluded { block } => self.conclude(subframe, block, events),
            Event::Repeated { block } => self.repeat(subframe, block, events),
            Event::Missing { terminal, direction, bearer, start } => {
                self.terminals[terminal].ways[direction].bearers[bearer].retransmit(start);
                self.offer(terminal, direction);
            }
            Event::Resumed { terminal } => self.resume(terminal, subframe),
        }
    }

    /// Updates the base station's knowledge of a terminal's uplink buffer.
    fn known(&mut self, ue: usize, epoch: u32, hear: impl FnOnce(&mut Uplink)) {
        let terminal = &mut self.terminals[ue];
        if terminal.epoch != epoch {
            return;
        }
        hear(&mut terminal.uplink);
        if let Some(cell) = terminal.cell
            && terminal.uplink.known > 0
        {
            list(&mut self.cells[cell], terminal, ue, UP);
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

/// The subframe modulo eight.
fn eighth(subframe: u64) -> usize {
    usize::from(subframe as u8 % 8)
}

fn list(cell: &mut Cell, terminal: &mut TerminalState, ue: usize, direction: usize) {
    if !std::mem::replace(&mut terminal.ways[direction].listed, true) {
        cell.waiting[direction].push(ue);
    }
}
