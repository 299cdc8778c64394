//! The cell: devices contend for one channel on which each hears every other (IEEE 802.11-2016 §
//! 10.3, § 10.22.2).
//!
//! `packet ─▶ buffer ─▶ contention ─▶ PPDU on the air ─▶ block acknowledgement ─▶ packets in order`
//!
//! What it leaves out: hidden stations, legacy stations and their protection (RTS, CTS-to-self),
//! lost acknowledgements, beacons and power saving, propagation (a slot covers it). Devices whose
//! counts end in the same slot collide; a frame is received beside others if its signal stands out
//! enough for its rate.

use super::air::{Ppdu, acknowledgement, most_bytes, sinr};
use super::buffer::Waiting;
use super::config::{Aggregation, ChannelAccess, WifiConfig, WifiDevice, WifiStation};
use super::contention::Contender;
use super::edca::{AccessCategory, AccessParameters};
use super::error_rate::bit_success_log;
use super::path::Path;
use super::phy::{self, Phy};
use super::radio::Radio;
use super::rate_control::RateController;
use super::window::{End, Limits};
use crate::access::CellEvents;
use crate::accounting::Accounting;
use crate::packet::{Direction, DropReason, HostId, Packet};
use crate::queue::{Drops, Streams};
use units::{Decibels, Duration, Seed, Time};

/// What the channel does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nobody sends.
    Idle,
    /// Frames are on the air.
    Data { until: Time },
    /// Acknowledgements of them are.
    Acknowledgement { until: Time },
}

/// One who contends, and what it has to send: a device under DCF, or one of its access categories.
struct Function {
    contender: Contender,
    waiting: Waiting,
}

struct Device {
    functions: Vec<Function>,
    config: WifiDevice,
}

/// A station of a cell: its host, its name, and where it is.
pub(crate) type Station<'a> = (HostId, &'a str, &'a WifiStation);

/// A cell.
pub(crate) struct Cell {
    phy: Phy,
    edca: bool,
    aggregation: Aggregation,
    retry_limit: Option<u8>,
    ccmp: bool,
    /// The access point first, then the stations.
    devices: Vec<Device>,
    radios: Vec<Radio>,
    /// Up and down of each station.
    paths: Vec<[Path; 2]>,
    /// The station of a host, by the host's number.
    stations: Vec<u16>,
    phase: Phase,
    /// What is on the air, or is being acknowledged.
    on_air: Vec<Ppdu>,
}

/// The place of the access point among the devices.
const ACCESS_POINT: usize = 0;

impl Cell {
    pub(crate) fn new(config: &WifiConfig, stations: &[Station<'_>], seed: Seed) -> Self {
        let phy = Phy { width: config.width };
        let names: Vec<&str> = stations.iter().map(|(_, name, _)| *name).collect();
        let device = |name: &str, device: &WifiDevice, receivers: &[&str], access_point: bool| {
            let parameters = AccessParameters::of(config.access, access_point);
            let streams = Streams::new(seed, &format!("{name}.queue"));
            let functions =
                parameters.into_iter().zip(0..).map(|(parameters, category): (_, u8)| {
                    let contender = format!("{name}.backoff.{category}");
                    let streams = streams.within(&category.to_string());
                    Function {
                        contender: Contender::new(parameters, seed.stream(&contender)),
                        waiting: Waiting::new(&device.buffer, receivers, &streams),
                    }
                });
            Device { functions: functions.collect(), config: device.clone() }
        };
        let station_devices = stations.iter().map(|(_, name, station)| {
            device(&format!("{name}.up"), &station.device, &[&config.name], false)
        });
        let devices = std::iter::once(device(&config.name, &config.ap, &names, true))
            .chain(station_devices)
            .collect();
        let mut radios: Vec<Radio> = stations
            .iter()
            .map(|(_, name, station)| Radio::new(config, station, seed, name))
            .collect();
        let paths = stations.iter().zip(&mut radios).map(|((_, name, station), radio)| {
            // Nobody is sent more streams than it has.
            let streams = station.device.spatial_streams.min(config.ap.spatial_streams);
            [(Direction::Up, &station.device), (Direction::Down, &config.ap)].map(
                |(direction, device)| {
                    let name = format!("{name}.{direction}");
                    let stream = seed.stream(&format!("{name}.rate"));
                    let rate = RateController::new(
                        device.rate,
                        phy,
                        streams,
                        device.guard_interval,
                        stream,
                    );
                    let signal = device.tx_power + Decibels::from_f64(radio.gain(Time::ZERO));
                    Path::new(rate, seed.stream(&format!("{name}.errors")), signal)
                },
            )
        });
        let paths = paths.collect();
        let hosts = stations.iter().map(|(host, ..)| usize::from(host.0) + 1).max().unwrap_or(0);
        let mut station_of_host = vec![0; hosts];
        for ((host, ..), index) in stations.iter().zip(0..) {
            station_of_host[usize::from(host.0)] = index;
        }
        Self {
            phy,
            edca: config.access == ChannelAccess::Edca,
            aggregation: config.aggregation,
            retry_limit: config.retry_limit,
            ccmp: config.ccmp,
            devices,
            radios,
            paths,
            stations: station_of_host,
            phase: Phase::Idle,
            on_air: Vec::new(),
        }
    }

    /// A packet comes to its device: a station's own, or the access point's.
    pub(crate) fn enter(
        &mut self,
        now: Time,
        direction: Direction,
        packet: Packet,
        events: &mut impl CellEvents,
    ) {
        let station = station_of(&self.stations, direction, &packet);
        let category = if self.edca { AccessCategory::of(packet.dscp) as usize } else { 0 };
        let (device, receiver) = match direction {
            Direction::Up => (station + 1, 0),
            Direction::Down => (ACCESS_POINT, station),
        };
        self.paths[station][direction.index()].passage.entered.count(&packet);
        let Function { contender, waiting } = &mut self.devices[device].functions[category];
        let stations = &self.stations;
        let of = |packet: &Packet| receiver_of(stations, direction, packet);
        let mut drops = Counted { paths: &mut self.paths, stations, direction, events };
        waiting.enqueue(now, packet, receiver, of, &mut drops);
        if !waiting.is_empty() {
            contender.ask(now, self.phase != Phase::Idle);
        }
    }

    /// When the channel has something to do.
    pub(crate) fn due(&self) -> Option<Time> {
        match self.phase {
            Phase::Data { until } | Phase::Acknowledgement { until } => Some(until),
            Phase::Idle => {
                let functions = self.devices.iter().flat_map(|device| &device.functions);
                functions.filter_map(|function| function.contender.starts()).min()
            }
        }
    }

    /// Does what is due now.
    pub(crate) fn advance(&mut self, now: Time, events: &mut impl CellEvents) {
        match self.phase {
            Phase::Idle => self.begin(now, events),
            Phase::Data { .. } => self.receive(now, events),
            Phase::Acknowledgement { .. } => self.acknowledged(now, events),
        }
    }

    /// Those whose counts end send. Within a slot of the first nobody hears that the channel is
    /// taken: a slot is as long as that takes, and the turn from listening to sending (IEEE
    /// 802.11-2016 § 10.3.7).
    fn begin(&mut self, now: Time, events: &mut impl CellEvents) {
        let deaf_until = now + phy::SLOT;
        let starts_of =
            |function: &Function| function.contender.starts().filter(|starts| *starts < deaf_until);
        for device in 0..self.devices.len() {
            let mut begins = None;
            for category in (0..self.devices[device].functions.len()).rev() {
                let Some(starts) = starts_of(&self.devices[device].functions[category]) else {
                    continue;
                };
                match begins {
                    None => {
                        if self.transmit(device, category, now, starts.max(now), None, events) {
                            begins = Some(starts);
                        }
                    }
                    Some(begins) if starts == begins => {
                        // An internal collision: the more urgent one sends (§ 10.22.2.4).
                        let contender = &mut self.devices[device].functions[category].contender;
                        contender.failed();
                        contender.not_before(deaf_until);
                    }
                    // The device hears itself.
                    Some(_) => {}
                }
            }
        }
        let Some(until) = self.silent_from() else { return };
        self.phase = Phase::Data { until };
        // The others stop counting.
        for (device, Device { functions, .. }) in self.devices.iter_mut().enumerate() {
            for (category, function) in functions.iter_mut().enumerate() {
                if !self
                    .on_air
                    .iter()
                    .any(|ppdu| (ppdu.device, ppdu.category) == (device, category))
                {
                    function.contender.interrupt(now);
                }
            }
        }
    }

    /// When the last of what is on the air ends.
    fn silent_from(&self) -> Option<Time> {
        self.on_air.iter().map(|ppdu| ppdu.ends).max()
    }

    /// Puts a PPDU on the air that begins then; if the queues drop all that waits, none. Returns
    /// whether it did.
    fn transmit(
        &mut self,
        device: usize,
        category: usize,
        now: Time,
        began: Time,
        opportunity: Option<Time>,
        events: &mut impl CellEvents,
    ) -> bool {
        let direction = if device == ACCESS_POINT { Direction::Down } else { Direction::Up };
        let Device { functions, config } = &mut self.devices[device];
        let Function { contender, waiting } = &mut functions[category];
        let txop_limit = contender.parameters().txop_limit;
        // No limit is one transmission, of any length.
        let whole = if txop_limit == Duration::ZERO { Duration::MAX } else { txop_limit };
        let remaining = opportunity.map_or(whole, |ends| ends.saturating_since(began));
        while let Some(receiver) = waiting.turn() {
            let station = if device == ACCESS_POINT { receiver } else { device - 1 };
            let to = &mut waiting.receivers[receiver];
            let rate = &mut self.paths[station][direction.index()].rate;
            let choice = if to.failures > 0 {
                rate.retry(to.failures, to.sampled)
            } else {
                let choice = rate.choose();
                to.sampled = choice.sample;
                choice
            };
            let guard = config.guard_interval;
            let limits = Limits {
                frames: if choice.sample { 1 } else { self.aggregation.ampdu_frames },
                bytes: most_bytes(self.phy, &self.aggregation, choice.mcs, guard, remaining),
                strict: opportunity.is_some(),
                amsdu: self.aggregation.amsdu_bytes,
                ccmp: self.ccmp,
            };
            let mut drops =
                Counted { paths: &mut self.paths, stations: &self.stations, direction, events };
            let (window, mut staged) = waiting.feed(receiver, now, &mut drops);
            let psdu = window.compose(&limits, &mut staged);
            if psdu.frames == 0 {
                // The queue has dropped what waited; or the rest of the opportunity is too short.
                if opportunity.is_some() {
                    waiting.put_off(receiver);
                    return false;
                }
                continue;
            }
            let signal = config.tx_power + Decibels::from_f64(self.radios[station].gain(now));
            let path = &mut self.paths[station][direction.index()];
            path.began(choice.mcs, self.phy.bitrate(choice.mcs, guard), psdu, signal);
            let data = self.phy.data_duration(choice.mcs, guard, psdu.bytes);
            let acknowledgement = acknowledgement(choice.mcs, psdu.frames > 1);
            let opportunity = opportunity.unwrap_or(began + txop_limit);
            self.on_air.push(Ppdu {
                device,
                category,
                receiver,
                station,
                direction,
                choice,
                began,
                ends: began + data,
                acknowledgement,
                opportunity,
                signal,
            });
            return true;
        }
        contender.rest();
        false
    }

    /// The channel falls silent: receivers acknowledge what got through.
    fn receive(&mut self, now: Time, events: &mut impl CellEvents) {
        let on_air = std::mem::take(&mut self.on_air);
        let mut acknowledged = None;
        for ppdu in &on_air {
            if self.conclude(ppdu, &on_air, now, events) {
                let until = ppdu.ends + phy::SIFS + ppdu.acknowledgement;
                acknowledged = acknowledged.max(Some(until.max(now)));
            }
        }
        match acknowledged {
            Some(until) => {
                self.phase = Phase::Acknowledgement { until };
                self.on_air = on_air;
            }
            None => {
                self.unacknowledged(&on_air, now);
                self.on_air = on_air;
                self.on_air.clear();
            }
        }
    }

    /// What got through of a PPDU; whether anything did.
    fn conclude(
        &mut self,
        ppdu: &Ppdu,
        on_air: &[Ppdu],
        now: Time,
        events: &mut impl CellEvents,
    ) -> bool {
        let receiving = match ppdu.direction {
            Direction::Up => ACCESS_POINT,
            Direction::Down => ppdu.station + 1,
        };
        // Who sends does not hear.
        let deaf = on_air.iter().any(|other| other.device == receiving);
        let noise = self.devices[receiving].config.noise;
        let others =
            on_air.iter().filter(|other| other.device != ppdu.device).map(|other| other.signal);
        let bit = bit_success_log(sinr(ppdu.signal, noise, others), ppdu.choice.mcs);
        let path = &mut self.paths[ppdu.station][ppdu.direction.index()];
        let Function { contender, waiting } =
            &mut self.devices[ppdu.device].functions[ppdu.category];
        let window = &mut waiting.receivers[ppdu.receiver].window;
        let attempts = self.retry_limit.map_or_else(|| path.rate.attempts(), u32::from);
        let outcome = window.conclude(attempts, |size| {
            let gets_through = libm::exp(8.0 * size.get() as f64 * bit);
            path.errors.chance(gets_through) && !deaf
        });
        window.release(|held, end| {
            let (packet, sojourn) = (held.packet, now.saturating_since(held.came));
            match end {
                End::Received => {
                    path.passage.arrived(&packet, sojourn);
                    events.departed(ppdu.direction, &packet, sojourn);
                    events.arrived(ppdu.direction, packet);
                }
                End::Abandoned => {
                    path.passage.dropped(&packet, DropReason::RetryLimit);
                    events.dropped(ppdu.direction, packet, DropReason::RetryLimit);
                }
            }
        });
        let acknowledged = outcome.succeeded > 0;
        path.rate.report(now, ppdu.choice, outcome.attempted, outcome.succeeded);
        let answer = if acknowledged { phy::SIFS + ppdu.acknowledgement } else { Duration::ZERO };
        let airtime = ppdu.ends.saturating_since(ppdu.began) + answer;
        path.ended(airtime, on_air.len() > 1);
        let repeat = !acknowledged && !outcome.abandoned;
        waiting.concluded(ppdu.receiver, repeat);
        if repeat {
            contender.failed();
        } else {
            contender.succeeded();
        }
        let (stations, direction) = (&self.stations, ppdu.direction);
        let of = |packet: &Packet| receiver_of(stations, direction, packet);
        let mut drops = Counted { paths: &mut self.paths, stations, direction, events };
        waiting.refill(now, of, &mut drops);
        contender.rest();
        if !waiting.is_empty() {
            contender.ask(now, false);
        }
        // What a station sends is of its airtime too (Høiland-Jørgensen et al. 2017, § 3.2).
        self.devices[ACCESS_POINT].functions[ppdu.category].waiting.charge(ppdu.station, airtime);
        acknowledged
    }

    /// Nobody answered. Senders wait for the time-out of the acknowledgement; others heard for how
    /// long the channel is reserved, or, of frames that collided, only that there was something (§
    /// 10.3.2.9, § 10.3.7, § 10.22.2.4).
    fn unacknowledged(&mut self, on_air: &[Ppdu], now: Time) {
        self.phase = Phase::Idle;
        let (reserved, extra) = match on_air {
            [only] => (now + phy::SIFS + only.acknowledgement, Duration::ZERO),
            _ => (now, phy::EIFS.saturating_sub(phy::DIFS)),
        };
        for (device, Device { functions, .. }) in self.devices.iter_mut().enumerate() {
            let own = on_air.iter().find(|ppdu| ppdu.device == device);
            for Function { contender, .. } in functions {
                match own {
                    // An EDCAF waits for AIFS from then on; under DCF the channel has been idle for
                    // DIFS by then.
                    Some(own) if self.edca => {
                        contender.resume(now.max(own.ends + phy::ACK_TIMEOUT), Duration::ZERO);
                    }
                    Some(own) => {
                        contender.resume(now, Duration::ZERO);
                        contender.not_before(own.ends + phy::ACK_TIMEOUT);
                    }
                    None => contender.resume(reserved, extra),
                }
            }
        }
    }

    /// The exchange is over: who sent alone goes on while its transmit opportunity lasts (§
    /// 10.22.2.8), or all contend.
    fn acknowledged(&mut self, now: Time, events: &mut impl CellEvents) {
        let alone = if let [only] = self.on_air[..] { Some(only) } else { None };
        self.on_air.clear();
        if let Some(Ppdu { device, category, opportunity, .. }) = alone
            && now + phy::SIFS < opportunity
            && !self.devices[device].functions[category].waiting.is_empty()
            && self.transmit(device, category, now, now + phy::SIFS, Some(opportunity), events)
            && let Some(until) = self.silent_from()
        {
            self.phase = Phase::Data { until };
            return;
        }
        self.phase = Phase::Idle;
        for function in self.devices.iter_mut().flat_map(|device| &mut device.functions) {
            function.contender.resume(now, Duration::ZERO);
        }
    }

    /// Shows the truth about one direction of a station: see [`Path::show`].
    pub(crate) fn show(
        &self,
        host: HostId,
        direction: Direction,
        sink: &mut dyn FnMut(&'static str, f64),
    ) {
        self.path(host, direction).show(sink);
    }

    /// What went through one direction of a station.
    pub(crate) fn accounting(&self, host: HostId, direction: Direction) -> Accounting {
        self.path(host, direction).passage.accounting()
    }

    fn path(&self, host: HostId, direction: Direction) -> &Path {
        &self.paths[usize::from(self.stations[usize::from(host.0)])][direction.index()]
    }
}

fn station_of(stations: &[u16], direction: Direction, packet: &Packet) -> usize {
    let host = if direction == Direction::Up { packet.flow.src } else { packet.flow.dst };
    usize::from(stations[usize::from(host.0)])
}

/// The place of a packet's receiver among those of its device: a station has but the access point.
fn receiver_of(stations: &[u16], direction: Direction, packet: &Packet) -> usize {
    if direction == Direction::Up { 0 } else { station_of(stations, direction, packet) }
}

/// Counts drops of the queues on their way out.
struct Counted<'a, E> {
    paths: &'a mut [[Path; 2]],
    stations: &'a [u16],
    direction: Direction,
    events: &'a mut E,
}

impl<E: CellEvents> Drops for Counted<'_, E> {
    fn drop(&mut self, packet: Packet, reason: DropReason) {
        let station = station_of(self.stations, self.direction, &packet);
        self.paths[station][self.direction.index()].passage.dropped(&packet, reason);
        self.events.dropped(self.direction, packet, reason);
    }
}
