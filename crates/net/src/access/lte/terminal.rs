//! A terminal: its bearers and channel each way, where it is, and what its base station knows of
//! it.

use super::bearer::{Bearer, Receiver};
use super::config::{LteConfig, LteTerminal};
use super::fading::{Fading, Kind};
use super::geometry::{Map, Position};
use super::link::{Mcs, OuterLoop, ratio};
use super::scheduler::Share;
use crate::access::CellEvents;
use crate::access::passage::Passage;
use crate::packet::{Direction, DropReason, Packet};
use crate::queue::{Drops, Streams};
use units::{Duration, Seed, Stream, Time};

/// Subframes between two measurements of other cells: one a radio sample of 40 ms, of which 36.133
/// § 8.1.2.2.1 asks for a result every 200 ms. A time to trigger lasts until the next measurement
/// after it.
pub(super) const MEASUREMENT: u64 = 40;

/// HARQ processes each way (36.213 § 7, § 8: 8 in FDD).
const PROCESSES: u8 = 8;

/// What the base station last heard of a channel.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    /// When it was measured; `u64::MAX` for never.
    pub(super) measured: u64,
    /// The SINR as a ratio: up, of a milliwatt a resource block; down, of what the cell sends with.
    pub(super) sinr: f64,
    pub(super) mcs: Mcs,
    pub(super) layers: u8,
}

/// One way between a terminal and its base station.
pub(super) struct Way {
    pub(super) bearers: Vec<Bearer>,
    pub(super) fading: Fading,
    /// Which blocks fail.
    pub(super) errors: Stream,
    pub(super) outer_loop: OuterLoop,
    pub(super) share: Share,
    pub(super) channel: Channel,
    /// HARQ processes in use.
    pub(super) in_flight: u8,
    /// Whether it is on its cell's list of those who wait.
    pub(super) listed: bool,
    pub(super) passage: Passage,
    pub(super) shown: Shown,
}

/// What records show of a way.
#[derive(Clone, Copy, Default)]
pub(super) struct Shown {
    pub(super) mcs: Mcs,
    pub(super) layers: u8,
    /// As a ratio.
    pub(super) sinr: f64,
    pub(super) cqi: u8,
    pub(super) resource_blocks: u64,
    pub(super) retransmissions: u64,
}

impl Way {
    fn new(
        network: &LteConfig,
        fading: &Kind,
        terminal: &LteTerminal,
        direction: Direction,
        seed: Seed,
        name: &str,
    ) -> Self {
        let name = format!("{name}.{direction}");
        let streams = Streams::new(seed, &format!("{name}.queue"));
        let bearers = network.bearers.iter().enumerate().map(|(place, config)| {
            let queue = match direction {
                Direction::Up => &config.up,
                Direction::Down => &config.down,
            };
            Bearer::new(config, queue, &streams.within(&place.to_string()))
        });
        let fading_name = format!("{name}.fading");
        Self {
            bearers: bearers.collect(),
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

    /// Bytes that wait.
    pub(super) fn backlog(&self) -> u64 {
        self.bearers.iter().map(Bearer::backlog).sum()
    }

    /// How many of them have a bit rate guaranteed to them now.
    pub(super) fn guaranteed(&mut self, now: Time) -> u64 {
        self.bearers.iter_mut().map(|bearer| bearer.guaranteed(now)).sum()
    }

    /// The priority of the most urgent bearer that has something.
    pub(super) fn priority(&self, priorities: &[u8]) -> u8 {
        let waiting =
            self.bearers.iter().zip(priorities).filter(|(bearer, _)| bearer.backlog() > 0);
        waiting.map(|(_, priority)| *priority).min().unwrap_or(u8::MAX)
    }

    /// What waits, as a buffer status report tells it.
    pub(super) fn report(&mut self, now: Time, priorities: &[u8]) -> Report {
        let (waiting, guaranteed) = (self.backlog(), self.guaranteed(now));
        Report { waiting, guaranteed, priority: self.priority(priorities) }
    }

    pub(super) fn has_free_process(&self) -> bool {
        self.in_flight < PROCESSES
    }
}

/// A terminal.
pub(super) struct Equipment {
    pub(super) position: Position,
    /// The serving cell; none before the first packet.
    pub(super) cell: Option<usize>,
    /// The number of the last measurement.
    measured: u64,
    /// For how many measurements in a row each cell was better than the serving one.
    better: Vec<u32>,
    /// Nothing is sent or received before this subframe.
    pub(super) silent_until: u64,
    /// Counts handovers: what is on the air during one is lost.
    pub(super) epoch: u32,
    /// Noise in a resource block of its receiver, in milliwatts.
    pub(super) noise: f64,
    /// The most that it sends with, in milliwatts.
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
    /// How many of them have a bit rate guaranteed to them.
    pub(super) guaranteed: u64,
    /// The priority of the most urgent bearer that has something (its logical channel group).
    pub(super) priority: u8,
}

/// What the base station knows of what waits at a terminal.
#[derive(Clone, Copy)]
pub(super) struct Uplink {
    /// Whether the terminal has asked for a grant, or has one to come.
    pub(super) active: bool,
    /// Bytes known to wait that no grant covers yet.
    pub(super) known: u64,
    /// How many of them have a bit rate guaranteed to them.
    pub(super) guaranteed: u64,
    /// The priority of the most urgent bearer that has something.
    pub(super) priority: u8,
    /// In which of eight subframes to come it repeats a block, a bit each.
    pub(super) busy: u8,
    /// Bytes granted and bytes' worth of grants used, since the last handover.
    pub(super) granted: u64,
    pub(super) used: u64,
}

impl Default for Uplink {
    /// Nothing is known: who asks is taken to be of the last priority.
    fn default() -> Self {
        Self { active: false, known: 0, guaranteed: 0, priority: 9, busy: 0, granted: 0, used: 0 }
    }
}

impl Uplink {
    /// A buffer status report of when `used` bytes' worth of grants had been used.
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

impl Equipment {
    pub(super) fn new(
        map: &Map,
        network: &LteConfig,
        fading: &Kind,
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

    /// Whether anything of it is under way or waits.
    pub(super) fn is_busy(&self) -> bool {
        self.uplink.active || self.ways.iter().any(|way| way.listed || way.in_flight > 0)
    }

    /// What waits that way, as far as the base station knows and has not granted it yet.
    pub(super) fn known(&mut self, direction: Direction, now: Time, priorities: &[u8]) -> Report {
        match direction {
            Direction::Up => {
                let Uplink { known: waiting, guaranteed, priority, .. } = self.uplink;
                Report { waiting, guaranteed, priority }
            }
            Direction::Down => self.ways[direction.index()].report(now, priorities),
        }
    }

    /// Goes on to this subframe; at first it enters the best cell. Says if it changes the cell
    /// meanwhile.
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

/// A terminal has changed the cell, for the last time in that subframe.
#[derive(Clone, Copy)]
pub(super) struct Change {
    pub(super) cell: usize,
    pub(super) at: u64,
    pub(super) handovers: u32,
}

/// Where the packets of one way come out.
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
