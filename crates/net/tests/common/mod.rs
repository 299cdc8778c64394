//! Sends packets at given times and logs their fate.

use net::{DropReason, Dropped, Events, Flow, HostId, LinkId, Network, Packet};
use units::{Bytes, Duration, Time};

/// The events, with the packets' handles.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Log {
    pub(crate) delivered: Vec<(Time, u64)>,
    pub(crate) dropped: Vec<(Time, u64, DropReason)>,
    pub(crate) departed: Vec<(Time, LinkId, u64, Duration)>,
}

impl Events for Log {
    fn delivered(&mut self, at: Time, packet: Packet) {
        self.delivered.push((at, packet.id));
    }
    fn dropped(&mut self, at: Time, dropped: Dropped) {
        self.dropped.push((at, dropped.packet.id, dropped.reason));
    }
    fn departed(&mut self, at: Time, link: LinkId, packet: &Packet, sojourn: Duration) {
        self.departed.push((at, link, packet.id, sojourn));
    }
}

pub(crate) fn packet(id: u64, size: u64) -> Packet {
    let flow = Flow { src: HostId(0), dst: HostId(1), ..Flow::default() };
    Packet { id, size: Bytes::new(size), flow, ..Packet::default() }
}

/// Sends packets at given times and runs until nothing is due.
pub(crate) fn run(network: &mut Network, packets: impl IntoIterator<Item = (Time, Packet)>) -> Log {
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
