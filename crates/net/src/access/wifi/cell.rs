//! The cell: devices contend for one channel, on which each receives every other (IEEE 802.11-2016
//! § 10.3, § 10.22.2).
//!
//! `packet ─▶ buffer ─▶ contention ─▶ PPDU on the air ─▶ block acknowledgement ─▶ packets in order`
//!
//! Not modelled: hidden stations, legacy stations and their protection (RTS, CTS-to-self), lost
//! acknowledgements, beacons and power saving, propagation delay (a slot covers it). Devices whose
//! backoffs end in the same slot collide; a frame is received in spite of others if its signal is
//! strong enough for its rate (capture).

use super::air::{Ppdu, acknowledgement, most_bytes, sinr};
use super::buffer::{Waiting, expired};
use super::config::{Aggregation, ChannelAccess, WifiConfig, WifiDevice, WifiStation};
use super::contention::Contender;
use super::edca::{AccessCategory, AccessParameters};
use super::error_rate::bit_success_log;
use super::path::Path;
use super::phy::{self, Phy};
use super::radio::Radio;
use super::rate_control::RateController;
use super::window::{Exit, Limits};
use crate::access::CellEvents;
use crate::accounting::Accounting;
use crate::packet::{Direction, DropReason, HostId, Packet};
use crate::queue::{Drops, Streams};
use units::{Decibels, Duration, Seed, Time};

/// The state of the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChannelState {
    /// No transmission.
    Idle,
    /// Data frames are on the air.
    Data { until: Time },
    /// Acknowledgements are on the air.
    Acknowledgement { until: Time },
}

/// A contender and its packets: a device under DCF, or one of its access categories under EDCA.
struct ContenderQueue {
    contender: Contender,
    waiting: Waiting,
}

struct Device {
    functions: Vec<ContenderQueue>,
    config: WifiDevice,
}

/// A station of a cell: its host, the host's name, and the station's configuration.
pub(crate) type Station<'a> = (HostId, &'a str, &'a WifiStation);

/// A cell.
pub(crate) struct Cell {
    phy: Phy,
    edca: bool,
    aggregation: Aggregation,
    retry_limit: Option<u8>,
    ccmp: bool,
    /// The access point, then the stations.
    devices: Vec<Device>,
    radios: Vec<Radio>,
    /// Per station, the paths up and down.
    paths: Vec<[Path; 2]>,
    /// The index of each host's station.
    stations: Vec<u16>,
    state: ChannelState,
    /// The PPDUs that are on the air or being acknowledged.
    on_air: Vec<Ppdu>,
}

/// The index of the access point among the devices.
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
                    ContenderQueue {
                        contender: Contender::new(parameters, seed.stream(&contender)),
                        waiting: Waiting::new(device, receivers, &streams),
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
            // The number of streams is that of the end with fewer.
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
            state: ChannelState::Idle,
            on_air: Vec::new(),
        }
    }

    /// Queues a packet: up at its station, down at the access point.
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
        let ContenderQueue { contender, waiting } = &mut self.devices[device].functions[category];
        let stations = &self.stations;
        let of = |packet: &Packet| receiver_of(stations, direction, packet);
        let mut drops = Counted { paths: &mut self.paths, stations, direction, events };
        waiting.enqueue(now, packet, receiver, of, &mut drops);
        if !waiting.is_empty() {
            contender.request(now, self.state != ChannelState::Idle);
        }
    }

    /// When the channel next changes its state; `None` if no device has packets.
    pub(crate) fn due(&self) -> Option<Time> {
        match self.state {
            ChannelState::Data { until } | ChannelState::Acknowledgement { until } => Some(until),
            ChannelState::Idle => {
                let functions = self.devices.iter().flat_map(|device| &device.functions);
                functions.filter_map(|function| function.contender.starts()).min()
            }
        }
    }

    /// Performs the change of state that is due.
    pub(crate) fn advance(&mut self, now: Time, events: &mut impl CellEvents) {
        match self.state {
            ChannelState::Idle => self.begin(now, events),
            ChannelState::Data { .. } => self.receive(now, events),
            ChannelState::Acknowledgement { .. } => self.acknowledged(now, events),
        }
    }

    /// The contenders whose backoff ends transmit. Within a slot of the first one, no other detects
    /// that the channel is busy: a slot covers carrier sensing and the turnaround from receiving to
    /// transmitting (IEEE 802.11-2016 § 10.3.7).
    fn begin(&mut self, now: Time, events: &mut impl CellEvents) {
        let deaf_until = now + phy::SLOT;
        let starts_of = |function: &ContenderQueue| {
            function.contender.starts().filter(|starts| *starts < deaf_until)
        };
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
                        // An internal collision: the category of higher priority transmits (§
                        // 10.22.2.4).
                        let contender = &mut self.devices[device].functions[category].contender;
                        contender.failed();
                        contender.not_before(deaf_until);
                    }
                    // The device knows of its own transmission.
                    Some(_) => {}
                }
            }
        }
        let Some(until) = self.silent_from() else { return };
        self.state = ChannelState::Data { until };
        // The other contenders stop counting.
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

    /// When the last PPDU on the air ends.
    fn silent_from(&self) -> Option<Time> {
        self.on_air.iter().map(|ppdu| ppdu.ends).max()
    }

    /// Starts a PPDU at `began`. Returns `false` if there is none to send: the queues dropped all
    /// packets, or the rest of the transmit opportunity is too short.
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
        let ContenderQueue { contender, waiting } = &mut functions[category];
        let txop_limit = contender.parameters().txop_limit;
        // A limit of zero allows one transmission of any length.
        let whole = if txop_limit == Duration::ZERO { Duration::MAX } else { txop_limit };
        let remaining = opportunity.map_or(whole, |ends| ends.saturating_since(began));
        while let Some(receiver) = waiting.next_receiver() {
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
                // All packets were dropped, or the rest of the opportunity is too short.
                if opportunity.is_some() {
                    waiting.keep_turn(receiver);
                    return false;
                }
                // A driver has room where packets expired.
                let of = |packet: &Packet| receiver_of(&self.stations, direction, packet);
                waiting.refill(now, of, &mut drops);
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
        contender.withdraw();
        false
    }

    /// The transmissions end: receivers acknowledge the frames that arrived.
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
                self.state = ChannelState::Acknowledgement { until };
                self.on_air = on_air;
            }
            None => {
                self.unacknowledged(&on_air, now);
                self.on_air = on_air;
                self.on_air.clear();
            }
        }
    }

    /// Ends a PPDU; returns whether any of its frames arrived.
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
        // A device that transmits cannot receive.
        let deaf = on_air.iter().any(|other| other.device == receiving);
        let noise = self.devices[receiving].config.noise;
        let others =
            on_air.iter().filter(|other| other.device != ppdu.device).map(|other| other.signal);
        let bit = bit_success_log(sinr(ppdu.signal, noise, others), ppdu.choice.mcs);
        let path = &mut self.paths[ppdu.station][ppdu.direction.index()];
        let ContenderQueue { contender, waiting } =
            &mut self.devices[ppdu.device].functions[ppdu.category];
        let attempts = self.retry_limit.map_or_else(|| path.rate.attempts(), u32::from);
        let lifetime = waiting.lifetime;
        let window = &mut waiting.receivers[ppdu.receiver].window;
        let outcome = window.conclude(
            attempts,
            |entered| expired(lifetime, entered, now),
            |size| {
                let gets_through = libm::exp(8.0 * size.get() as f64 * bit);
                path.errors.chance(gets_through) && !deaf
            },
        );
        window.release(|held, exit| {
            let (packet, sojourn) = (held.packet, now.saturating_since(held.came));
            match exit {
                Exit::Received => {
                    path.passage.arrived(&packet, sojourn);
                    events.departed(ppdu.direction, &packet, sojourn);
                    events.arrived(ppdu.direction, packet);
                }
                Exit::Abandoned(reason) => {
                    path.passage.dropped(&packet, reason);
                    events.dropped(ppdu.direction, packet, reason);
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
        contender.withdraw();
        if !waiting.is_empty() {
            contender.request(now, false);
        }
        // The airtime of a station's own transmissions counts too (Høiland-Jørgensen et al. 2017, §
        // 3.2).
        self.devices[ACCESS_POINT].functions[ppdu.category].waiting.charge(ppdu.station, airtime);
        acknowledged
    }

    /// No frame was acknowledged. Senders wait for the acknowledgement's time-out. Others decoded
    /// for how long the channel is reserved, or, after a collision, wait for EIFS (§ 10.3.2.9, §
    /// 10.3.7, § 10.22.2.4).
    fn unacknowledged(&mut self, on_air: &[Ppdu], now: Time) {
        self.state = ChannelState::Idle;
        let (reserved, extra) = match on_air {
            [only] => (now + phy::SIFS + only.acknowledgement, Duration::ZERO),
            _ => (now, phy::EIFS.saturating_sub(phy::DIFS)),
        };
        for (device, Device { functions, .. }) in self.devices.iter_mut().enumerate() {
            let own = on_air.iter().find(|ppdu| ppdu.device == device);
            for ContenderQueue { contender, .. } in functions {
                match own {
                    // An EDCAF waits for AIFS after the time-out; under DCF the channel has been
                    // idle for DIFS by then.
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

    /// The exchange is over. A device that sent alone continues while its transmit opportunity
    /// lasts (§ 10.22.2.8); otherwise all devices contend.
    fn acknowledged(&mut self, now: Time, events: &mut impl CellEvents) {
        let alone = if let [only] = self.on_air[..] { Some(only) } else { None };
        self.on_air.clear();
        if let Some(Ppdu { device, category, opportunity, .. }) = alone
            && now + phy::SIFS < opportunity
            && !self.devices[device].functions[category].waiting.is_empty()
            && self.transmit(device, category, now, now + phy::SIFS, Some(opportunity), events)
            && let Some(until) = self.silent_from()
        {
            self.state = ChannelState::Data { until };
            return;
        }
        self.state = ChannelState::Idle;
        for function in self.devices.iter_mut().flat_map(|device| &mut device.functions) {
            function.contender.resume(now, Duration::ZERO);
        }
    }

    /// Passes the state of one direction of a station to `sink`: see [`Path::show`].
    pub(crate) fn show(
        &self,
        host: HostId,
        direction: Direction,
        sink: &mut dyn FnMut(&'static str, f64),
    ) {
        self.path(host, direction).show(sink);
    }

    /// The packet counts of one direction of a station.
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

/// The index of a packet's receiver among those of its sender; a station's only receiver is the
/// access point.
fn receiver_of(stations: &[u16], direction: Direction, packet: &Packet) -> usize {
    if direction == Direction::Up { 0 } else { station_of(stations, direction, packet) }
}

/// Counts the drops of the queues and passes them on.
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
