//! A call of two peers in one process and in virtual time, over the network of `net`.

use bytes::BytesMut;
use cc::{ControllerConfig, Controllers};
use net::{
    AccessConfig, Dropped, Events, Flow, HostConfig, HostId, LineConfig, Network, NetworkConfig, Packet,
    QueueConfig, RateConfig, Schedule,
};
use peer::{Clock, Peer, PeerConfig, Signal};
use serde_json::Value;
use sim::codec::{Codec, EncoderConfig, SourceSize};
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use units::{Bitrate, Bytes, Duration, Seed, Time};

/// UDP and IPv4.
const HEADERS: u64 = 28;

/// The first peer sends, the second receives.
pub(crate) struct Call {
    pub(crate) peers: [Peer; 2],
    pub(crate) clock: Clock,
    pub(crate) now: Time,
    network: Network,
    under_way: HashMap<u64, BytesMut>,
    sent: u64,
}

#[derive(Default)]
struct Log {
    delivered: Vec<Packet>,
    dropped: Vec<u64>,
}

impl Events for Log {
    fn delivered(&mut self, _: Time, packet: Packet) {
        self.delivered.push(packet);
    }
    fn dropped(&mut self, _: Time, dropped: Dropped) {
        self.dropped.push(dropped.packet.id);
    }
}

pub(crate) fn controllers(profile: &str, max_rate: Bitrate) -> Controllers {
    let config = ControllerConfig {
        profile: profile.to_owned(),
        settings: Vec::new(),
        start_rate: max_rate.min(Bitrate::from_kbps(300)),
        min_rate: Bitrate::from_kbps(50),
        max_rate,
    };
    cc::build(&config).unwrap()
}

pub(crate) fn video() -> EncoderConfig {
    let source = SourceSize { width: 640, height: 360, fps: 30 };
    EncoderConfig::new(Codec::Vp8, source, Bitrate::from_mbps(3))
}

fn address(host: u16) -> SocketAddr {
    SocketAddr::from((HostId(host).address(), 5_000))
}

impl Call {
    /// A line of `rate` from the sender, 25 ms each way, with 300 ms of queue; a profile of `cc`.
    pub(crate) fn new(profile: &str, rate: Bitrate) -> Self {
        Self::with(|_| controllers(profile, Bitrate::from_mbps(3)), rate)
    }

    /// Controllers made with the zero of time.
    #[expect(
        clippy::disallowed_methods,
        reason = "instants can be had from the clock only; from here on time is virtual"
    )]
    pub(crate) fn with(controllers: impl Fn(std::time::Instant) -> Controllers, rate: Bitrate) -> Self {
        let start = std::time::Instant::now();
        let end = |host, video| {
            let config =
                PeerConfig { address: address(host), controllers: controllers(start), video, seed: Seed(1) };
            Peer::new(config, start).unwrap()
        };
        let peers = [end(0, Some(video())), end(1, None)];
        let delay = Schedule::constant(Duration::from_millis(25));
        let slow = LineConfig {
            rate: RateConfig::Scheduled(Schedule::constant(rate)),
            queue: QueueConfig::DropTail(Duration::from_millis(300)),
            delay: delay.clone(),
            ..Default::default()
        };
        let fast = LineConfig { delay, ..Default::default() };
        let host = |name: &str, up| HostConfig {
            name: name.into(),
            access: AccessConfig::Wired { up, down: LineConfig::default() },
        };
        let hosts = vec![host("sender", slow), host("receiver", fast)];
        let network = Network::new(&NetworkConfig { hosts, ..Default::default() }, Seed(1)).unwrap();
        let (clock, now) = (Clock::new(start), Time::ZERO);
        let mut call = Self { peers, clock, now, network, under_way: HashMap::new(), sent: 0 };
        let offer = call.peers[0].offer(start).unwrap();
        let answer = call.peers[1].signal(start, offer).unwrap().unwrap();
        assert!(matches!(answer, Signal::Answer(_)));
        assert!(call.peers[0].signal(start, answer).unwrap().is_none());
        call
    }

    pub(crate) fn run_until(&mut self, end: Time) {
        while self.now < end {
            for sender in 0..2 {
                self.transmit(sender);
            }
            let clock = self.clock;
            let timeouts = self.peers.iter_mut().filter_map(Peer::next_timeout).map(|due| clock.time(due));
            let next = timeouts.chain(self.network.next_wake()).chain([end]).min().unwrap();
            // A time-out that is due still, after it was handled, may not stop the clock.
            self.now = next.max(self.now + Duration::from_micros(1));
            self.step();
        }
    }

    fn transmit(&mut self, sender: u16) {
        let mut log = Log::default();
        while let Some((to, datagram)) = self.peers[usize::from(sender)].poll_transmit() {
            let dst = HostId(1 - sender);
            assert_eq!(to.ip(), dst.address(), "to the other end");
            self.sent += 1;
            let flow = Flow { src: HostId(sender), dst, ..Default::default() };
            let size = Bytes::new(datagram.len() as u64 + HEADERS);
            self.under_way.insert(self.sent, datagram);
            self.network.send(self.now, Packet { id: self.sent, size, flow, ..Default::default() }, &mut log);
        }
        self.arrive(log);
    }

    fn step(&mut self) {
        let mut log = Log::default();
        if self.network.next_wake().is_some_and(|wake| wake <= self.now) {
            self.network.advance(self.now, &mut log);
        }
        self.arrive(log);
        let now = self.clock.instant(self.now);
        for peer in &mut self.peers {
            if peer.next_timeout().is_some_and(|due| due <= now) {
                peer.handle_timeout(now).unwrap();
            }
        }
    }

    fn arrive(&mut self, log: Log) {
        let now = self.clock.instant(self.now);
        for packet in log.delivered {
            let datagram = self.under_way.remove(&packet.id).unwrap();
            let from = address(packet.flow.src.0);
            self.peers[usize::from(packet.flow.dst.0)].receive(now, from, &datagram).unwrap();
        }
        for id in log.dropped {
            self.under_way.remove(&id);
        }
    }

    /// The object of this type of a peer's statistics.
    pub(crate) fn stats(&mut self, peer: usize, kind: &str) -> Value {
        let objects = self.peers[peer].stats(self.clock.instant(self.now)).unwrap();
        let found = objects.values().find(|object| object["type"] == kind);
        found.unwrap_or_else(|| panic!("no {kind} in {objects:#?}")).clone()
    }

    /// Bytes that have arrived, and the target, in each of `seconds` from now.
    pub(crate) fn seconds(&mut self, seconds: u64) -> Vec<(f64, f64)> {
        let mut before = if self.now == Time::ZERO { 0.0 } else { self.received() };
        let mut rates = Vec::new();
        for _ in 0..seconds {
            self.run_until(self.now + Duration::from_secs(1));
            let received = self.received();
            let target = self.peers[0].controller().unwrap().decision().target_rate;
            rates.push(((received - before) * 8.0, target.as_bps_f64()));
            before = received;
        }
        rates
    }

    fn received(&mut self) -> f64 {
        let stats = self.stats(1, "inbound-rtp");
        stats["bytesReceived"].as_f64().unwrap() + stats["headerBytesReceived"].as_f64().unwrap()
    }
}

pub(crate) const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
