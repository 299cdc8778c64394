//! A terminal: its bearers and channel each way, where it is, and what its base station knows of it.

use super::bearer::{Bearer, Receiver};
use super::config::{LteConfig, LteTerminal};
use super::fading::Fading;
use super::geometry::{Map, Position};
use super::link::{Mcs, OuterLoop, ratio};
use super::scheduler::Share;
use crate::access::CellEvents;
use crate::access::passage::Passage;
use crate::packet::{Direction, DropReason, Packet};
use crate::queue::{Drops, Streams};
use units::{Duration, Seed, Stream, Time};

/// Subframes between two measurements of other cells: 40 to 200 ms are usual (36.133 § 8.1.2.2.1: a result every 200 ms is the least), and 80 ms
/// divide the times to trigger from 160 ms on.
pub(super) const MEASUREMENT: u64 = 80;

/// HARQ processes each way (36.213 § 7, § 8: 8 in FDD).
const PROCESSES: u8 = 8;

/// What the base station last heard of a channel.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    /// When it was measured; `u64::MAX` for never.
    pub(super) measured: u64,
    /// The SINR, of one layer and one watt of whatever it is sent with, as a ratio.
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
            fading: Fading::new(&network.fast_fading, network.carrier, terminal.speed, seed, &fading_name),
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
        let waiting = self.bearers.iter().zip(priorities).filter(|(bearer, _)| bearer.backlog() > 0);
        waiting.map(|(_, priority)| *priority).min().unwrap_or(u8::MAX)
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
    /// The cell that was better at the last measurements, and how many.
    better: (usize, u64),
    /// Nothing is sent or received before this subframe.
    pub(super) silent_until: u64,
    /// Counts handovers: what began before one is lost with it.
    pub(super) epoch: u32,
    /// Noise in a resource block of its receiver, in milliwatts.
    pub(super) noise: f64,
    /// The most that it sends with, in milliwatts.
    pub(super) power: f64,
    pub(super) uplink: Uplink,
    /// Up and down.
    pub(super) ways: [Way; 2],
}

/// What the base station knows of what waits at a terminal.
#[derive(Clone, Copy, Default)]
pub(super) struct Uplink {
    /// Whether the terminal has asked for a grant, or has one to come.
    pub(super) active: bool,
    /// Bytes known to wait that no grant covers yet.
    pub(super) known: u64,
    /// How many of them have a bit rate guaranteed to them.
    pub(super) guaranteed: u64,
    /// Bytes granted and bytes' worth of grants used, since the last handover.
    pub(super) granted: u64,
    pub(super) used: u64,
}

impl Uplink {
    /// A buffer status report of when `used` bytes' worth of grants had been used.
    pub(super) fn report(&mut self, waiting: u64, guaranteed: u64, used: u64) {
        let on_the_way = self.granted - used;
        self.known = waiting.saturating_sub(on_the_way);
        self.guaranteed = guaranteed.saturating_sub(on_the_way);
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
        terminal: &LteTerminal,
        noise: f64,
        seed: Seed,
        name: &str,
    ) -> Self {
        Self {
            position: Position::new(map, terminal, MEASUREMENT as f64 / 1_000.0, seed, name),
            cell: None,
            measured: 0,
            better: (0, 0),
            silent_until: 0,
            epoch: 0,
            noise,
            power: ratio(terminal.tx_power.as_f64()),
            uplink: Uplink::default(),
            ways: Direction::ALL.map(|direction| Way::new(network, terminal, direction, seed, name)),
        }
    }

    /// Whether anything of it is under way or waits.
    pub(super) fn is_busy(&self) -> bool {
        self.uplink.active || self.ways.iter().any(|way| way.listed || way.in_flight > 0)
    }

    /// Goes on to this subframe; at first it enters the best cell. Returns the cell that it is to change to, if any.
    pub(super) fn update(&mut self, subframe: u64, map: &Map, network: &LteConfig) -> Option<usize> {
        let present = subframe / MEASUREMENT;
        let Some(cell) = self.cell else {
            self.cell = Some(self.position.best());
            self.measured = present;
            return None;
        };
        if !self.position.moves() {
            return None;
        }
        let mut serving = cell;
        let hysteresis = ratio(network.handover.hysteresis.as_f64());
        let enough = network.handover.time_to_trigger.as_nanos() / 1_000_000 / MEASUREMENT;
        while self.measured < present {
            self.measured += 1;
            self.position.advance(map);
            let best = self.position.best();
            let gains = &self.position.gains;
            if gains[best] <= hysteresis * gains[serving] {
                self.better = (serving, 0);
                continue;
            }
            let times = if self.better.0 == best { self.better.1 + 1 } else { 1 };
            self.better = (best, times);
            if times > enough {
                serving = best;
                self.better = (serving, 0);
            }
        }
        (serving != cell).then_some(serving)
    }
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
