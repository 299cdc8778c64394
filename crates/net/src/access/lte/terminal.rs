//! A terminal: its bearers and channels, its position, and what its base station knows about it.

use super::bearer::{Bearer, Receiver};
use super::config::{BearerConfig, LteConfig, LteTerminal};
use super::fading::{Fading, FadingModel};
use super::geometry::{Map, Position};
use super::link::{Mcs, OuterLoop, ratio};
use super::scheduler::Share;
use crate::access::CellEvents;
use crate::access::passage::Passage;
use crate::packet::{Direction, DropReason, Packet};
use crate::queue::{Drops, Streams};
use units::{Duration, Seed, Stream, Time};

/// Subframes between two measurements of other cells: one per radio sample of 40 ms (36.133 §
/// 8.1.2.2.1 requires a result every 200 ms). A time to trigger is rounded up to the next
/// measurement.
pub(super) const MEASUREMENT: u64 = 40;

/// HARQ processes per direction (36.213 § 7, § 8: 8 in FDD).
const PROCESSES: u8 = 8;

/// The last channel state that the base station knows.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    /// The subframe of the measurement; `u64::MAX`: never.
    pub(super) measured: u64,
    /// The SINR as a ratio: up, at a milliwatt per resource block; down, at the cell's power.
    pub(super) sinr: f64,
    pub(super) mcs: Mcs,
    pub(super) layers: u8,
}

/// One direction between a terminal and its base station.
pub(super) struct Way {
    pub(super) bearers: Vec<Bearer>,
    /// The random streams of the bearers' queues.
    streams: Streams,
    pub(super) fading: Fading,
    /// Draws which blocks fail.
    pub(super) errors: Stream,
    pub(super) outer_loop: OuterLoop,
    pub(super) share: Share,
    pub(super) channel: Channel,
    /// HARQ processes in use.
    pub(super) in_flight: u8,
    /// Whether it is in its cell's list of waiting terminals.
    pub(super) listed: bool,
    pub(super) passage: Passage,
    pub(super) shown: Shown,
}

/// The state of a direction that records show.
#[derive(Clone, Copy, Default)]
pub(super) struct Shown {
    pub(super) mcs: Mcs,
    pub(super) layers: u8,
    /// The SINR of the last block, as a ratio.
    pub(super) sinr: f64,
    pub(super) cqi: u8,
    pub(super) resource_blocks: u64,
    pub(super) retransmissions: u64,
}

impl Way {
    fn new(
        network: &LteConfig,
        fading: &FadingModel,
        terminal: &LteTerminal,
        direction: Direction,
        seed: Seed,
        name: &str,
    ) -> Self {
        let name = format!("{name}.{direction}");
        let streams = Streams::new(seed, &format!("{name}.queue"));
        let bearers = network.bearers.iter().enumerate().map(|(index, config)| {
            let streams = streams.within(&index.to_string());
            Bearer::new(Time::ZERO, config, config.queue(direction), &streams)
        });
        let fading_name = format!("{name}.fading");
        Self {
            bearers: bearers.collect(),
            streams,
            fading: Fading::new(fading, network.carrier, terminal.speed, seed, &fading_name),
            errors: seed.stream(&format!("{name}.errors")),
            outer_loop: OuterLoop::new(),
            share: Share::default(),
            channel: Channel { measured: u64::MAX, sinr: 0.0, mcs: Mcs::default(), layers: 1 },
            in_flight: 0,
            listed: false,
            passage: Passage::default(),
            shown: Shown { layers: 1, sinr: 1.0, ..Shown::default() },
        }
    }

    /// Adds a bearer during the run.
    pub(super) fn add_bearer(&mut self, now: Time, direction: Direction, config: &BearerConfig) {
        let streams = self.streams.within(&self.bearers.len().to_string());
        self.bearers.push(Bearer::new(now, config, config.queue(direction), &streams));
    }

    /// Bytes that wait in all bearers.
    pub(super) fn backlog(&self) -> u64 {
        self.bearers.iter().map(Bearer::backlog).sum()
    }

    /// The bytes that wait and that a guaranteed bit rate covers now.
    pub(super) fn guaranteed(&mut self, now: Time) -> u64 {
        self.bearers.iter_mut().map(|bearer| bearer.guaranteed(now)).sum()
    }

    /// The priority of the most urgent bearer with packets; without packets, the last of all.
    fn priority(&self, priorities: &[u8]) -> u8 {
        let waiting =
            self.bearers.iter().zip(priorities).filter(|(bearer, _)| bearer.backlog() > 0);
        waiting.map(|(_, priority)| *priority).min().unwrap_or(u8::MAX)
    }

    /// The buffer status report of this direction.
    pub(super) fn report(&mut self, now: Time, priorities: &[u8]) -> Report {
        let (waiting, guaranteed) = (self.backlog(), self.guaranteed(now));
        Report { waiting, guaranteed, priority: self.priority(priorities) }
    }

    pub(super) fn has_free_process(&self) -> bool {
        self.in_flight < PROCESSES
    }
}

/// A terminal.
pub(super) struct TerminalState {
    pub(super) position: Position,
    /// The serving cell; `None` before the first packet.
    pub(super) cell: Option<usize>,
    /// The number of the last measurement.
    measured: u64,
    /// For how many measurements in a row each cell was better than the serving one.
    better: Vec<u32>,
    /// Handover interruption: nothing is sent or received before this subframe.
    pub(super) silent_until: u64,
    /// The number of handovers. Blocks of an earlier epoch are lost.
    pub(super) epoch: u32,
    /// The noise of its receiver per resource block, in milliwatts.
    pub(super) noise: f64,
    /// Its maximum transmit power, in milliwatts.
    pub(super) power: f64,
    pub(super) uplink: Uplink,
    /// Up and down.
    pub(super) ways: [Way; 2],
}

/// A buffer status report (36.321 § 5.4.5).
#[derive(Clone, Copy)]
pub(super) struct Report {
    /// Bytes that wait.
    pub(super) waiting: u64,
    /// The part of them that a guaranteed bit rate covers.
    pub(super) guaranteed: u64,
    /// The priority of the most urgent bearer with packets (its logical channel group).
    pub(super) priority: u8,
}

/// The base station's knowledge of a terminal's uplink buffer.
#[derive(Clone, Copy, Default)]
pub(super) struct Uplink {
    /// Whether the terminal has requested a grant, or has an unused one.
    pub(super) active: bool,
    /// Bytes that are known to wait and that no grant covers.
    pub(super) known: u64,
    /// The part of them that a guaranteed bit rate covers.
    pub(super) guaranteed: u64,
    /// The priority of the most urgent bearer with packets, as far as it is known.
    pub(super) priority: u8,
    /// The subframes in which it retransmits a block, modulo eight, one bit each.
    pub(super) busy: u8,
    /// Bytes granted, and bytes of grants used, since the last handover.
    pub(super) granted: u64,
    pub(super) used: u64,
}

impl Uplink {
    /// Processes a scheduling request: at least `bytes` wait, of this priority if it is unknown.
    pub(super) fn request(&mut self, bytes: u64, priority: u8) {
        if self.known == 0 {
            self.priority = priority;
        }
        self.known = self.known.max(bytes);
    }

    /// Processes a buffer status report that was made when `used` bytes of grants had been used.
    pub(super) fn hear(&mut self, report: Report, used: u64) {
        let on_the_way = self.granted - used;
        self.known = report.waiting.saturating_sub(on_the_way);
        self.guaranteed = report.guaranteed.saturating_sub(on_the_way);
        self.priority = report.priority;
    }

    pub(super) fn grant(&mut self, bytes: u64) {
        self.granted += bytes;
        self.known = self.known.saturating_sub(bytes);
        self.guaranteed = self.guaranteed.saturating_sub(bytes);
    }
}

impl TerminalState {
    pub(super) fn new(
        map: &Map,
        network: &LteConfig,
        fading: &FadingModel,
        terminal: &LteTerminal,
        noise: f64,
        seed: Seed,
        name: &str,
    ) -> Self {
        Self {
            position: Position::new(map, terminal, MEASUREMENT as f64 / 1_000.0, seed, name),
            cell: None,
            measured: 0,
            better: vec![0; network.layout.cells()],
            silent_until: 0,
            epoch: 0,
            noise,
            power: ratio(terminal.tx_power.as_f64()),
            uplink: Uplink::default(),
            ways: Direction::ALL
                .map(|direction| Way::new(network, fading, terminal, direction, seed, name)),
        }
    }

    /// Whether it has packets waiting or blocks in flight.
    pub(super) fn is_busy(&self) -> bool {
        self.uplink.active || self.ways.iter().any(|way| way.listed || way.in_flight > 0)
    }

    /// The packets that wait in a direction, as far as the base station knows; up, without those
    /// that are granted already.
    pub(super) fn known(&mut self, direction: Direction, now: Time, priorities: &[u8]) -> Report {
        match direction {
            Direction::Up => {
                let Uplink { known: waiting, guaranteed, priority, .. } = self.uplink;
                Report { waiting, guaranteed, priority }
            }
            Direction::Down => self.ways[direction.index()].report(now, priorities),
        }
    }

    /// Advances to this subframe; the first call selects the best cell. Returns the last handover
    /// since the previous call, if there was one.
    pub(super) fn update(
        &mut self,
        subframe: u64,
        map: &Map,
        network: &LteConfig,
    ) -> Option<Change> {
        let present = subframe / MEASUREMENT;
        let Some(cell) = self.cell else {
            self.cell = Some(self.position.best());
            self.measured = present;
            return None;
        };
        if !self.position.moves() {
            return None;
        }
        let hysteresis = ratio(network.handover.hysteresis.as_f64());
        let enough = network.handover.time_to_trigger.as_nanos().div_ceil(MEASUREMENT * 1_000_000);
        let mut change = Change { cell, at: 0, handovers: 0 };
        while self.measured < present {
            self.measured += 1;
            self.position.advance(map);
            let gains = &self.position.gains;
            let serving = gains[change.cell];
            let mut target: Option<usize> = None;
            for (cell, (times, gain)) in self.better.iter_mut().zip(gains).enumerate() {
                *times = if *gain > hysteresis * serving { *times + 1 } else { 0 };
                let lasted = u64::from(*times) > enough;
                if lasted && target.is_none_or(|best| gains[best] < *gain) {
                    target = Some(cell);
                }
            }
            if let Some(cell) = target {
                change = Change {
                    cell,
                    at: self.measured * MEASUREMENT,
                    handovers: change.handovers + 1,
                };
                self.better.fill(0);
            }
        }
        (change.handovers > 0).then_some(change)
    }
}

/// The last of one or more handovers: the new cell, the subframe, and the number of handovers.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub(super) cell: usize,
    pub(super) at: u64,
    pub(super) handovers: u32,
}

/// Receives the packets of one direction that arrive or are dropped.
pub(super) struct Outlet<'a, E> {
    pub(super) passage: &'a mut Passage,
    pub(super) direction: Direction,
    pub(super) events: &'a mut E,
}

impl<E: CellEvents> Drops for Outlet<'_, E> {
    fn drop(&mut self, packet: Packet, reason: DropReason) {
        self.passage.dropped(&packet, reason);
        self.events.dropped(self.direction, packet, reason);
    }
}

impl<E: CellEvents> Receiver for Outlet<'_, E> {
    fn arrived(&mut self, packet: Packet, sojourn: Duration) {
        self.passage.arrived(&packet, sojourn);
        self.events.departed(self.direction, &packet, sojourn);
        self.events.arrived(self.direction, packet);
    }
}
