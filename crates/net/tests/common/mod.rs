//! Two hosts, packets at given times, and what becomes of them.

#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use net::{
    AccessConfig, DropReason, Dropped, Events, Flow, HostConfig, HostId, LineConfig, Network, NetworkConfig,
    Packet, Place, RateConfig, Schedule,
};
use units::{Bitrate, Bytes, Duration, Seed, Time};

/// What happened, with the packets' handles.
#[derive(Debug, Default, PartialEq)]
pub struct Log {
    pub delivered: Vec<(Time, u64)>,
    pub dropped: Vec<(Time, u64, DropReason)>,
    pub departed: Vec<(Time, Place, u64, Duration)>,
}

impl Events for Log {
    fn delivered(&mut self, at: Time, packet: Packet) {
        self.delivered.push((at, packet.id));
    }
    fn dropped(&mut self, at: Time, dropped: Dropped) {
        self.dropped.push((at, dropped.packet.id, dropped.reason));
    }
    fn departed(&mut self, at: Time, place: Place, packet: &Packet, sojourn: Duration) {
        self.departed.push((at, place, packet.id, sojourn));
    }
}

pub fn network(up: LineConfig, down: LineConfig, seed: u64) -> Network {
    let host =
        |name: &str, up, down| HostConfig { name: name.into(), access: AccessConfig::Wired { up, down } };
    let hosts = vec![host("alice", up, LineConfig::default()), host("bob", LineConfig::default(), down)];
    Network::new(&NetworkConfig { hosts, ..NetworkConfig::default() }, Seed(seed)).unwrap()
}

pub fn packet(id: u64, size: u64) -> Packet {
    let flow = Flow { src: HostId(0), dst: HostId(1), ..Flow::default() };
    Packet { id, size: Bytes::new(size), flow, ..Packet::default() }
}

/// Sends packets at given times and runs until nothing is due.
pub fn run(network: &mut Network, packets: impl IntoIterator<Item = (Time, Packet)>) -> Log {
    let mut log = Log::default();
    for (at, packet) in packets {
        while let Some(due) = network.next_wake().filter(|&due| due <= at) {
            network.advance(due, &mut log);
        }
        network.send(at, packet, &mut log);
    }
    while let Some(due) = network.next_wake() {
        network.advance(due, &mut log);
    }
    log
}

pub fn limited(rate: Bitrate) -> LineConfig {
    LineConfig { rate: RateConfig::Scheduled(Schedule::constant(rate)), ..LineConfig::default() }
}

pub fn paced(count: u64, every: Duration, size: u64) -> impl Iterator<Item = (Time, Packet)> {
    (0..count).map(move |id| (Time::ZERO + every * id, packet(id, size)))
}

/// What [`run`] may have delivered, in milliseconds.
pub fn millis(log: &Log) -> Vec<u64> {
    log.delivered.iter().map(|(at, _)| at.as_millis()).collect()
}
