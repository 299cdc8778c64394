//! The allocation of resource blocks in a subframe: down for this subframe, up by grants for four
//! subframes later.

use super::super::bearer::PIECE_HEADER;
use super::super::config::Scheduler;
use super::super::scheduler::Candidate;
use super::{Cellular, DOWN, Event, Grant, RESPONSE, UP, at, eighth};
use crate::access::CellEvents;
use crate::packet::Direction;

/// Resource blocks for uplink control at the edges of the band, at least one at each edge (PUCCH,
/// 36.211 § 5.4.3).
const CONTROL_UP: u8 = 2;

impl Cellular {
    /// Allocates resource blocks to the waiting terminals of a cell; the result is in
    /// `self.grants`.
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
        for &ue in &waiting {
            if !self.may_send(ue, direction, subframe) {
                continue;
            }
            self.hear_channel(ue, direction, subframe);
            let terminal = &mut self.terminals[ue];
            let known = terminal.known(Direction::ALL[direction], at(subframe), &self.priorities);
            let way = &terminal.ways[direction];
            let class = if known.guaranteed > 0 { 0 } else { known.priority };
            let bits = f64::from(way.channel.mcs.bits(self.resource_blocks))
                * f64::from(way.channel.layers);
            candidates.push(Candidate { terminal: ue, class, bits });
        }
        let scheduler = self.config.scheduler;
        while left > 0
            && let Some(candidate) =
                scheduler.take(&mut candidates, |ue| self.terminals[ue].ways[direction].share)
        {
            let Candidate { terminal: ue, class, .. } = candidate;
            let terminal = &mut self.terminals[ue];
            let known = terminal.known(Direction::ALL[direction], at(subframe), &self.priorities);
            let way = &mut terminal.ways[direction];
            let granted = self.grants.iter().position(|(of, _)| *of == ue);
            let mut need = known.waiting;
            if class == 0 {
                // For the rest it is a candidate again, after all guaranteed bit rates.
                candidates.push(Candidate { class: known.priority.max(1), ..candidate });
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
                // The remaining blocks could carry only headers.
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
                None => self.grants.push((ue, blocks)),
            }
        }
        for &ue in &waiting {
            let way = &mut self.terminals[ue].ways[direction];
            let blocks =
                self.grants.iter().find(|(of, _)| *of == ue).map_or(0, |(_, blocks)| *blocks);
            let bits = way.channel.mcs.bits(blocks) * u32::from(way.channel.layers);
            scheduler.served(&mut way.share, bits);
        }
        self.cells[cell].waiting[direction] = waiting;
        self.candidates = candidates;
    }

    /// Whether a terminal can get a block in what is scheduled now: it has a free HARQ process and
    /// does not retransmit in that subframe (36.213 § 7.1, § 8: one transport block per subframe,
    /// or one per layer).
    pub(super) fn may_send(&self, ue: usize, direction: usize, subframe: u64) -> bool {
        let terminal = &self.terminals[ue];
        let repeats = if direction == UP {
            terminal.uplink.busy & 1 << eighth(subframe + RESPONSE) != 0
        } else {
            let of = |&(block, _): &(usize, f64)| &self.blocks[block];
            self.on_air.iter().map(of).any(|block| block.terminal == ue && block.direction == DOWN)
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
        for &(ue, resource_blocks) in &grants {
            let channel = self.terminals[ue].ways[DOWN].channel;
            let bits = channel.mcs.bits(resource_blocks) * u32::from(channel.layers);
            if let Some(index) =
                self.build(ue, Direction::Down, subframe, u64::from(bits / 8), events)
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

    /// Removes terminals without packets from the list.
    pub(super) fn unlist(&mut self, cell: usize, direction: usize) {
        let terminals = &mut self.terminals;
        self.cells[cell].waiting[direction].retain(|&ue| {
            let terminal = &mut terminals[ue];
            let way = &mut terminal.ways[direction];
            way.listed =
                if direction == UP { terminal.uplink.known > 0 } else { way.backlog() > 0 };
            way.listed
        });
    }

    /// Issues grants for four subframes later.
    pub(super) fn schedule_up(&mut self, cell: usize, subframe: u64) {
        let slot = eighth(subframe + RESPONSE);
        let reserved = std::mem::take(&mut self.cells[cell].reserved[slot]);
        if self.cells[cell].waiting[UP].is_empty() {
            return;
        }
        let usable = self.resource_blocks.saturating_sub(CONTROL_UP).saturating_sub(reserved);
        self.allocate(cell, UP, subframe, usable);
        let grants = std::mem::take(&mut self.grants);
        for &(ue, resource_blocks) in &grants {
            // A wide grant has less power per resource block than assumed for the channel state.
            let (terminal, way) = (&self.terminals[ue], &self.terminals[ue].ways[UP]);
            let power = self.power_up(terminal, resource_blocks);
            let sinr = way.channel.sinr * power * way.outer_loop.offset();
            let mcs = self.thresholds.mcs(sinr, Direction::Up);
            let epoch = terminal.epoch;
            self.terminals[ue].uplink.grant(u64::from(mcs.bits(resource_blocks) / 8));
            let grant = Grant { terminal: ue, epoch, resource_blocks, mcs };
            self.calendar.note(subframe + RESPONSE, Event::Granted(grant));
        }
        self.grants = grants;
        self.unlist(cell, UP);
    }

    pub(super) fn use_grant(&mut self, subframe: u64, grant: Grant, events: &mut impl CellEvents) {
        let Grant { terminal: ue, epoch, resource_blocks, mcs } = grant;
        if self.terminals[ue].epoch != epoch {
            return;
        }
        let room = u64::from(mcs.bits(resource_blocks) / 8);
        self.terminals[ue].uplink.used += room;
        if let Some(index) = self.build(ue, Direction::Up, subframe, room, events) {
            let power = self.power_up(&self.terminals[ue], resource_blocks);
            let block = &mut self.blocks[index];
            (block.mcs, block.layers, block.resource_blocks) = (mcs, 1, resource_blocks);
            self.on_air.push((index, power));
        }
        let terminal = &mut self.terminals[ue];
        let report = terminal.ways[UP].report(at(subframe), &self.priorities);
        let uplink = &mut terminal.uplink;
        uplink.active = report.waiting > 0 || uplink.granted > uplink.used;
        let used = uplink.used;
        self.calendar
            .note(subframe + RESPONSE, Event::Reported { terminal: ue, epoch, report, used });
    }
}

/// The smallest allowed number of resource blocks from `blocks` to `most`, or else the largest
/// below: allowed are products of 2, 3 and 5 (36.211 § 5.3.3).
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
