//! Calls of peers in one process and in virtual time, over the network of `net`.

use bytes::BytesMut;
use cc::{ControllerConfig, Controllers};
use net::{
    AccessConfig, Dropped, Events, Flow, HostConfig, HostId, LineConfig, Network, NetworkConfig,
    Packet, QueueConfig, RateConfig, Schedule,
};
use peer::{Clock, Peer, PeerConfig, Rates, Signal, Stack};
use serde_json::Value;
use sim::codec::{AudioConfig, Codec, EncoderConfig, SourceSize};
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use units::{Bitrate, Bytes, Duration, Seed, Time};

/// The size of the UDP and IPv4 headers, bytes.
const HEADERS: u64 = 28;

/// Calls between two hosts. The first peer of each pair is on the first host.
pub(crate) struct Call {
    pub(crate) peers: Vec<Peer>,
    pub(crate) clock: Clock,
    pub(crate) now: Time,
    network: Network,
    /// The sender and the bytes of each packet in the network.
    in_flight: HashMap<u64, (usize, BytesMut)>,
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

/// The stack of this name: a profile of `cc` on `rtc`, or a stack with its own estimator, `rtc` or
/// `str0m`.
pub(crate) fn stack(name: &str, max_rate: Bitrate) -> Stack {
    let start = max_rate.min(Bitrate::from_kbps(300));
    let rates = Rates { start, min: Bitrate::from_kbps(50), max: max_rate };
    match name {
        "rtc" => Stack::RtcGcc(rates),
        "str0m" => Stack::Str0m(rates),
        profile => Stack::Rtc(controllers(profile, max_rate)),
    }
}

pub(crate) fn video() -> EncoderConfig {
    let source = SourceSize { width: 640, height: 360, fps: 30 };
    EncoderConfig::new(Codec::Vp8, source, Bitrate::from_mbps(3))
}

fn host(peer: usize) -> HostId {
    HostId(if peer.is_multiple_of(2) { 0 } else { 1 })
}

fn address(peer: usize) -> SocketAddr {
    let port = 5_000 + u16::try_from(peer / 2).unwrap();
    SocketAddr::from((host(peer).address(), port))
}

/// A network with a line of this rate and queue from the first host, and 25 ms of delay each way.
pub(crate) fn line(rate: Schedule<Bitrate>, queue: Duration) -> NetworkConfig {
    let delay = Schedule::constant(Duration::from_millis(25));
    let slow = LineConfig {
        rate: RateConfig::Scheduled(rate),
        queue: QueueConfig::DropTail(queue),
        delay: delay.clone(),
        ..Default::default()
    };
    let fast = LineConfig { delay, ..Default::default() };
    let host = |name: &str, up| HostConfig {
        name: name.into(),
        access: AccessConfig::Wired { up, down: LineConfig::default() },
    };
    NetworkConfig { hosts: vec![host("alice", slow), host("bob", fast)], ..Default::default() }
}

impl Call {
    /// A call over a line of `rate` from the caller, with 25 ms of delay each way and 300 ms of
    /// queue. Both endpoints use this stack, and only the caller sends.
    pub(crate) fn new(name: &str, rate: Bitrate) -> Self {
        Self::between([name, name], [true, false], rate)
    }

    /// As [`Self::new`], with one stack per endpoint; `sends` says which endpoints send video.
    pub(crate) fn between(names: [&str; 2], sends: [bool; 2], rate: Bitrate) -> Self {
        Self::with_audio(names, sends, [false; 2], rate)
    }

    /// As [`Self::between`]; `speaks` says which endpoints send audio.
    pub(crate) fn with_audio(
        names: [&str; 2],
        sends: [bool; 2],
        speaks: [bool; 2],
        rate: Bitrate,
    ) -> Self {
        let network = line(Schedule::constant(rate), Duration::from_millis(300));
        let mut call = Self::over(&network);
        let ends = [0, 1].map(|end| {
            let stack = stack(names[end], Bitrate::from_mbps(3));
            (stack, sends[end].then(video), speaks[end].then(AudioConfig::opus))
        });
        call.join_all(ends, 1);
        call
    }

    /// A network without calls.
    #[expect(
        clippy::disallowed_methods,
        reason = "only the clock makes instants; after this one, time is virtual"
    )]
    pub(crate) fn over(network: &NetworkConfig) -> Self {
        let network = Network::new(network, Seed(1)).unwrap();
        let (clock, now) = (Clock::new(std::time::Instant::now()), Time::ZERO);
        Self { peers: Vec::new(), clock, now, network, in_flight: HashMap::new(), sent: 0 }
    }

    /// Starts a call.
    pub(crate) fn join(
        &mut self,
        caller: (Stack, Option<EncoderConfig>),
        callee: (Stack, Option<EncoderConfig>),
        seed: u64,
    ) {
        self.join_all([caller, callee].map(|(stack, video)| (stack, video, None)), seed);
    }

    fn join_all(
        &mut self,
        ends: [(Stack, Option<EncoderConfig>, Option<AudioConfig>); 2],
        seed: u64,
    ) {
        let now = self.clock.instant(self.now);
        for (end, (stack, video, audio)) in ends.into_iter().enumerate() {
            let (address, seed) = (address(self.peers.len()), Seed(seed * 2 + end as u64));
            self.peers
                .push(Peer::new(PeerConfig { address, stack, video, audio, seed }, now).unwrap());
        }
        let caller = self.peers.len() - 2;
        let offer = self.peers[caller].offer(now).unwrap();
        let answer = self.peers[caller + 1].signal(now, offer).unwrap().unwrap();
        assert!(matches!(answer, Signal::Answer(_)));
        assert!(self.peers[caller].signal(now, answer).unwrap().is_none());
    }

    pub(crate) fn run_until(&mut self, end: Time) {
        while self.now < end {
            for sender in 0..self.peers.len() {
                self.transmit(sender);
            }
            let clock = self.clock;
            let timeouts =
                self.peers.iter_mut().filter_map(Peer::next_timeout).map(|due| clock.time(due));
            let next = timeouts.chain(self.network.next_wake()).chain([end]).min().unwrap();
            // The clock must advance even if a timeout is still due after it was handled.
            self.now = next.max(self.now + Duration::from_micros(1));
            self.step();
        }
    }

    fn transmit(&mut self, sender: usize) {
        let mut log = Log::default();
        while let Some((to, datagram)) = self.peers[sender].poll_transmit() {
            let receiver = sender ^ 1;
            assert_eq!(to, address(receiver), "the destination is the other endpoint");
            self.sent += 1;
            let flow = Flow { src: host(sender), dst: host(receiver), ..Default::default() };
            let size = Bytes::new(datagram.len() as u64 + HEADERS);
            self.in_flight.insert(self.sent, (sender, datagram));
            self.network.send(
                self.now,
                Packet { id: self.sent, size, flow, ..Default::default() },
                &mut log,
            );
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
            let (sender, datagram) = self.in_flight.remove(&packet.id).unwrap();
            self.peers[sender ^ 1].receive(now, address(sender), &datagram).unwrap();
        }
        for id in log.dropped {
            self.in_flight.remove(&id);
        }
    }

    /// The statistics object of this type of a peer, if it exists yet. Not that of its audio.
    pub(crate) fn object(&mut self, peer: usize, kind: &str) -> Option<Value> {
        let (now, timestamp) = (self.clock.instant(self.now), self.now.as_secs_f64() * 1e3);
        let objects = self.peers[peer].stats(now, timestamp).unwrap();
        let matches = |object: &&Value| object["type"] == kind && object["kind"] != "audio";
        objects.values().find(matches).cloned()
    }

    /// The statistics object of this type of the audio of a peer, if it exists yet.
    pub(crate) fn audio(&mut self, peer: usize, kind: &str) -> Option<Value> {
        let (now, timestamp) = (self.clock.instant(self.now), self.now.as_secs_f64() * 1e3);
        let objects = self.peers[peer].stats(now, timestamp).unwrap();
        objects.values().find(|object| object["type"] == kind && object["kind"] == "audio").cloned()
    }

    /// The statistics object of this type of a peer. Panics if it does not exist.
    pub(crate) fn stats(&mut self, peer: usize, kind: &str) -> Value {
        self.object(peer, kind).unwrap_or_else(|| panic!("no {kind} of peer {peer}"))
    }

    /// The received rate and the target rate, bit/s, in each of the next `seconds`.
    pub(crate) fn seconds(&mut self, seconds: u64) -> Vec<(f64, f64)> {
        let mut previous = if self.now == Time::ZERO { 0.0 } else { self.received() };
        let mut rates = Vec::new();
        for _ in 0..seconds {
            self.run_until(self.now + Duration::from_secs(1));
            let received = self.received();
            let target = self.peers[0].target_rate();
            rates.push(((received - previous) * 8.0, target.as_bps_f64()));
            previous = received;
        }
        rates
    }

    fn received(&mut self) -> f64 {
        let stats = self.stats(1, "inbound-rtp");
        stats["bytesReceived"].as_f64().unwrap() + stats["headerBytesReceived"].as_f64().unwrap()
    }
}

pub(crate) const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
