//! Transmission: signals, interference, and the channel state that the base station knows.

use super::super::fading::Gains;
use super::super::link;
use super::super::terminal::TerminalState;
use super::{Cellular, DOWN, Event, RESPONSE, UP};
use crate::packet::Direction;

/// The period of channel reports, and the age of a report when it is used, in subframes: 5 ms are a
/// usual period (36.213 table 7.2.2-1A: 2 to 160 ms); four subframes pass until the base station
/// has the report and two until it is used.
const REPORT_PERIOD: u64 = 5;
const REPORT_AGE: u64 = 6;
/// The subframes over which interference is averaged in channel reports. The value is our choice:
/// about the duration of the burst of a video frame.
const AVERAGE: f64 = 100.0;
/// The largest reduction by power control, as a ratio: 54 dB (36.942 § 12.1.4).
const MIN_POWER: f64 = 3.981e-6;

impl Cellular {
    /// Transmits the blocks of this subframe and updates the interference.
    pub(super) fn transmit(&mut self, subframe: u64) {
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
            for (number, (cell, gain)) in self.cells.iter_mut().zip(gains).enumerate() {
                if number != block.cell {
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

    /// Receives a block: decides whether it can be decoded.
    pub(super) fn receive(&mut self, subframe: u64, index: usize, power: f64) {
        let block = &self.blocks[index];
        let terminal = &self.terminals[block.terminal];
        let gain = terminal.position.gains[block.cell];
        let sinr = if block.direction == UP {
            power * gain / (self.cells[block.cell].interference + self.noise)
        } else {
            let loads = self.cells.iter().map(|cell| cell.load);
            self.power * gain
                / (self.interference_down(terminal, block.cell, loads) + terminal.noise)
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

    /// The interference of other cells at a terminal per resource block, in milliwatts.
    pub(super) fn interference_down(
        &self,
        terminal: &TerminalState,
        serving: usize,
        loads: impl Iterator<Item = f64>,
    ) -> f64 {
        let others = terminal.position.gains.iter().zip(loads).enumerate();
        let others = others.filter(|(cell, _)| *cell != serving);
        others.map(|(_, (gain, load))| self.power * gain * load.min(1.0)).sum()
    }

    /// The transmit power of a terminal per resource block, in milliwatts.
    pub(super) fn power_up(&self, terminal: &TerminalState, resource_blocks: u8) -> f64 {
        let Some(cell) = terminal.cell else { return 0.0 };
        let loss = 1.0 / terminal.position.gains[cell];
        let controlled = (loss / self.full_power_loss).clamp(MIN_POWER, 1.0);
        let third = f64::from(self.resource_blocks) / 3.0;
        terminal.power * (controlled / third).min(1.0 / f64::from(resource_blocks.max(1)))
    }

    /// Updates the channel state that the base station knows from the last report, if there is a
    /// new one.
    pub(super) fn hear_channel(&mut self, ue: usize, direction: usize, subframe: u64) {
        let measured = subframe.saturating_sub(REPORT_AGE) / REPORT_PERIOD * REPORT_PERIOD;
        let terminal = &self.terminals[ue];
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
            // For a grant of a third of the band; for a wider grant, `schedule_up` corrects it.
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
                let mcs =
                    self.thresholds.mcs(self.thresholds.sinr_of_cqi(cqi) * offset, Direction::Down);
                (mcs.bits(self.resource_blocks) * u32::from(layers), cqi, mcs, layers)
            };
            let (one, most) = (of(1), of(self.config.layers));
            let best = if most.0 > one.0 { most } else { one };
            (_, cqi, channel.mcs, channel.layers) = best;
            channel.sinr = sinr;
        }
        let way = &mut self.terminals[ue].ways[direction];
        way.channel = channel;
        way.shown.cqi = cqi;
    }

    /// Lets the averages decay over the subframes without transmissions.
    pub(super) fn average(&mut self, subframe: u64) {
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

/// The effective SINR per layer: that of an AWGN channel of the same capacity, with the power
/// shared among the layers. One layer combines both antennas; two have one antenna each, as with a
/// zero-forcing receiver (Winters, Salz & Gitlin 1994, "The impact of antenna diversity on the
/// capacity of wireless communication systems", § II).
fn of_layers(sinr: f64, gains: &Gains, layers: u8) -> f64 {
    if layers == 1 {
        link::effective(gains.iter().map(|[one, other]| sinr * (one + other)))
    } else {
        link::effective(gains.as_flattened().iter().map(|gain| sinr / 2.0 * gain))
    }
}
