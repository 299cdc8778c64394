//! Transport blocks: how they are filled, and their HARQ.

use super::super::bearer::PIECE_HEADER;
use super::super::config::Scheduler;
use super::super::terminal::Outlet;
use super::{Block, Cellular, Event, RESPONSE, UP, at, eighth};
use crate::access::CellEvents;
use crate::packet::Direction;

/// The subframes after which an RLC receiver reports a missing piece (t-Reordering,
/// 36.331 § 6.3.2: 0 to 200 ms; 35 ms is the default of 36.331 § 9.2.1.1 for signalling).
const REORDERING: u64 = 35;

impl Cellular {
    /// Builds a block of `room` bytes for a terminal, filled by priority: first the bytes covered
    /// by guaranteed bit rates, then the rest. `None` if there is nothing to send.
    pub(super) fn build(
        &mut self,
        ue: usize,
        direction: Direction,
        subframe: u64,
        room: u64,
        events: &mut impl CellEvents,
    ) -> Option<usize> {
        let index = self.free.pop().unwrap_or_else(|| {
            self.blocks.push(Block::default());
            self.blocks.len() - 1
        });
        let terminal = &mut self.terminals[ue];
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
                // There may be several pieces to retransmit.
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
        (block.terminal, block.direction, block.epoch) = (ue, direction.index(), terminal.epoch);
        block.cell = terminal.cell.unwrap_or(0);
        (block.transmissions, block.sinr) = (0, 0.0);
        Some(index)
    }

    pub(super) fn conclude(&mut self, subframe: u64, index: usize, events: &mut impl CellEvents) {
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

    /// Ends a block that arrived or is given up.
    pub(super) fn release(
        &mut self,
        subframe: u64,
        index: usize,
        current: bool,
        events: &mut impl CellEvents,
    ) {
        let block = &mut self.blocks[index];
        let (ue, direction) = (block.terminal, block.direction);
        let way = &mut self.terminals[ue].ways[direction];
        way.in_flight -= 1;
        let mut outlet =
            Outlet { passage: &mut way.passage, direction: Direction::ALL[direction], events };
        let mut wants_more = false;
        for &(bearer, start) in &block.pieces {
            let of = &mut way.bearers[bearer];
            if block.succeeded && current {
                of.arrived(at(subframe), start, &mut outlet);
            } else if of.failed(at(subframe), start, current, &mut outlet) {
                if current {
                    let missing = Event::Missing { terminal: ue, direction, bearer, start };
                    // The receiver's timer started with the next block.
                    let known = block.first + 1 + REORDERING + RESPONSE;
                    self.calendar.note(known.max(subframe + 1), missing);
                } else {
                    // At a handover, unacknowledged data are forwarded at once (36.300 § 10.1.2.3).
                    of.retransmit(start);
                    wants_more = true;
                }
            }
        }
        block.pieces.clear();
        self.free.push(index);
        if wants_more {
            self.offer(ue, direction);
        }
    }

    pub(super) fn repeat(&mut self, subframe: u64, index: usize, events: &mut impl CellEvents) {
        let block = &self.blocks[index];
        let (ue, direction, resource_blocks) =
            (block.terminal, block.direction, block.resource_blocks);
        if direction == UP {
            self.terminals[ue].uplink.busy &= !(1 << eighth(subframe));
        }
        let terminal = &self.terminals[ue];
        if terminal.epoch != block.epoch {
            self.release(subframe, index, false, events);
            return;
        }
        let power = if direction == UP { self.power_up(terminal, resource_blocks) } else { 0.0 };
        let bits = block.mcs.bits(resource_blocks) * u32::from(block.layers);
        let way = &mut self.terminals[ue].ways[direction];
        way.shown.retransmissions += 1;
        // A retransmission uses the terminal's turn.
        Scheduler::had_turn(&mut way.share, subframe);
        self.config.scheduler.served(&mut way.share, bits);
        self.on_air.push((index, power));
    }
}
