//! What is on the air meets: signals, interference, and what a base station hears of its channels.

use super::super::fading::Gains;
use super::super::link;
use super::super::terminal::Equipment;
use super::{Cellular, DOWN, Event, RESPONSE, UP};
use crate::packet::Direction;

/// Between two reports of a channel, and how old one is when it is used: 5 ms are a usual period
/// (36.213 table 7.2.2-1A: 2 to 160 ms), then four subframes to the base station and two to make
/// use of it.
const REPORT_PERIOD: u64 = 5;
const REPORT_AGE: u64 = 6;
/// Over how many subframes interference is averaged in what a terminal reports. Ours: about the
/// time in which a burst of a video frame passes.
const AVERAGE: f64 = 100.0;
/// What power control takes off at most, as a ratio: 54 dB (36.942 § 12.1.4).
const MIN_POWER: f64 = 3.981e-6;

impl Cellular {
    /// What was sent in this subframe meets what others sent.
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

    /// What other cells send into a resource block of a terminal, in milliwatts.
    pub(super) fn interference_down(
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
    pub(super) fn power_up(&self, terminal: &Equipment, resource_blocks: u8) -> f64 {
        let Some(cell) = terminal.cell else { return 0.0 };
        let loss = 1.0 / terminal.position.gains[cell];
        let controlled = (loss / self.full_power_loss).clamp(MIN_POWER, 1.0);
        let third = f64::from(self.resource_blocks) / 3.0;
        terminal.power * (controlled / third).min(1.0 / f64::from(resource_blocks.max(1)))
    }

    /// The base station has heard of a terminal's channel by now: what is sent to it next follows
    /// that.
    pub(super) fn hear_channel(&mut self, place: usize, direction: usize, subframe: u64) {
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

/// The SINR over AWGN that carries as much as this channel does in each layer, the power shared
/// among them. One layer has both antennas combined; two have one each, as a zero-forcing receiver
/// leaves them (Winters, Salz & Gitlin 1994, "The impact of antenna diversity on the capacity of
/// wireless communication systems", § II).
fn of_layers(sinr: f64, gains: &Gains, layers: u8) -> f64 {
    if layers == 1 {
        link::effective(gains.iter().map(|[one, other]| sinr * (one + other)))
    } else {
        link::effective(gains.as_flattened().iter().map(|gain| sinr / 2.0 * gain))
    }
}
