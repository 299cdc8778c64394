//! Who gets which resource blocks in a subframe: down now, up by grants that are used four
//! subframes later.

use super::super::bearer::PIECE_HEADER;
use super::super::config::Scheduler;
use super::super::scheduler::Candidate;
use super::{Cellular, DOWN, Event, Grant, RESPONSE, UP, at, eighth};
use crate::access::CellEvents;
use crate::packet::Direction;

/// Resource blocks at both edges of the band that carry control up (PUCCH, 36.211 § 5.4.3); at
/// least one each.
const CONTROL_UP: u8 = 2;

impl Cellular {
    /// Shares resource blocks among those who wait in a cell that way, into `self.grants`.
    pub(super) fn allocate(
        &mut self,
        cell: usize,
        direction: usize,
        subframe: u64,
        resource_blocks: u8,
    ) {
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
            let known = terminal.known(Direction::ALL[direction], at(subframe), &self.priorities);
            let way = &terminal.ways[direction];
            let class = if known.guaranteed > 0 { 0 } else { known.priority };
            let bits = f64::from(way.channel.mcs.bits(self.resource_blocks))
                * f64::from(way.channel.layers);
            candidates.push(Candidate { terminal: place, class, bits });
        }
        let scheduler = self.config.scheduler;
        while left > 0
            && let Some(candidate) =
                scheduler.take(&mut candidates, |place| self.terminals[place].ways[direction].share)
        {
            let Candidate { terminal: place, class, .. } = candidate;
            let terminal = &mut self.terminals[place];
            let known = terminal.known(Direction::ALL[direction], at(subframe), &self.priorities);
            let way = &mut terminal.ways[direction];
            let granted = self.grants.iter().position(|(of, _)| *of == place);
            let mut need = known.waiting;
            if class == 0 {
                // With the rest it takes part again, after all that is guaranteed.
                candidates.push(Candidate { class: known.priority, ..candidate });
                need = known.guaranteed;
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
            if class > 0
                && 2 * blocks >= resource_blocks.min(way.channel.mcs.resource_blocks(bits, u8::MAX))
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
            let blocks =
                self.grants.iter().find(|(of, _)| *of == place).map_or(0, |(_, blocks)| *blocks);
            let bits = way.channel.mcs.bits(blocks) * u32::from(way.channel.layers);
            scheduler.served(&mut way.share, bits);
        }
        self.cells[cell].waiting[direction] = waiting;
        self.candidates = candidates;
    }

    /// Whether a terminal can have a block that way in what is scheduled now: it has a free HARQ
    /// process, and repeats none just then (36.213 § 7.1, § 8: one transport block, or one a layer,
    /// in a subframe).
    pub(super) fn may_send(&self, place: usize, direction: usize, subframe: u64) -> bool {
        let terminal = &self.terminals[place];
        let repeats = if direction == UP {
            terminal.uplink.busy & 1 << eighth(subframe + RESPONSE) != 0
        } else {
            let of = |&(block, _): &(usize, f64)| &self.blocks[block];
            self.on_air
                .iter()
                .map(of)
                .any(|block| block.terminal == place && block.direction == DOWN)
        };
        !repeats && terminal.ways[direction].has_free_process()
    }

    pub(super) fn schedule_down(
        &mut self,
        cell: usize,
        subframe: u64,
        events: &mut impl CellEvents,
    ) {
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
            if let Some(index) =
                self.build(place, Direction::Down, subframe, u64::from(bits / 8), events)
            {
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
    pub(super) fn unlist(&mut self, cell: usize, direction: usize) {
        let terminals = &mut self.terminals;
        self.cells[cell].waiting[direction].retain(|&place| {
            let terminal = &mut terminals[place];
            let way = &mut terminal.ways[direction];
            way.listed =
                if direction == UP { terminal.uplink.known > 0 } else { way.backlog() > 0 };
            way.listed
        });
    }

    /// Gives grants for four subframes later.
    pub(super) fn schedule_up(&mut self, cell: usize, subframe: u64) {
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

    pub(super) fn use_grant(&mut self, subframe: u64, grant: Grant, events: &mut impl CellEvents) {
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
        let report = terminal.ways[UP].report(at(subframe), &self.priorities);
        let uplink = &mut terminal.uplink;
        uplink.active = report.waiting > 0 || uplink.granted > uplink.used;
        let used = uplink.used;
        self.calendar
            .note(subframe + RESPONSE, Event::Reported { terminal: place, epoch, report, used });
    }
}

/// The least number of resource blocks from `blocks` on, or else the most below, that a terminal
/// may use at once: products of 2, 3 and 5 (36.211 § 5.3.3), of `most` that there are.
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
