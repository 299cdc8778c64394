//! A testbed with a running emulator.

use super::traffic::{PORT, buffered};
use emulator::{Clock, Controls, Emulator, Host, Observer, Report, Testbed, read_header};
use net::{
    AccessConfig, HostConfig, HostId, LineConfig, Network, NetworkConfig, Packet, RateConfig,
    Schedule,
};
use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use units::{Bitrate, Duration, Seed, Time};

/// A line of this rate.
pub(crate) fn line(rate: Bitrate) -> LineConfig {
    LineConfig { rate: RateConfig::Scheduled(Schedule::constant(rate)), ..LineConfig::default() }
}

/// A line without a rate limit, with this delay.
pub(crate) fn delayed(delay: Duration) -> LineConfig {
    LineConfig { delay: Schedule::constant(delay), ..LineConfig::default() }
}

/// Pairs of hosts. The first host of each pair has the given line upwards. Pair n is the hosts 2n
/// and 2n + 1; the first pair is alice and bob.
pub(crate) fn pairs(lines: &[LineConfig]) -> NetworkConfig {
    let host = |name: String, up: &LineConfig| HostConfig {
        name,
        access: AccessConfig::Wired { up: up.clone(), down: LineConfig::default() },
    };
    let hosts = lines.iter().enumerate().flat_map(|(pair, up)| {
        let names = if pair == 0 {
            ["alice".to_owned(), "bob".to_owned()]
        } else {
            [format!("alice{pair}"), format!("bob{pair}")]
        };
        names.map(|name| host(name, up))
    });
    NetworkConfig { hosts: hosts.collect(), ..NetworkConfig::default() }
}

pub(crate) fn names(config: &NetworkConfig) -> Vec<String> {
    config.hosts.iter().map(|host| host.name.clone()).collect()
}

/// The hosts of a network, and an emulator in a thread.
pub(crate) struct Rig<O> {
    testbed: Testbed,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<(Report, O)>>,
    tid: i32,
}

impl<O: Observer + Send + 'static> Rig<O> {
    pub(crate) fn start(config: &NetworkConfig, observer: O) -> Self {
        Self::start_with(config, SEED, None, observer)
    }

    pub(crate) fn start_with(
        config: &NetworkConfig,
        seed: Seed,
        controls: Option<Controls>,
        mut observer: O,
    ) -> Self {
        let mut testbed = Testbed::new(&names(config)).unwrap();
        let network = Network::new(config, seed).unwrap();
        let mut emulator = Emulator::new(network, &mut testbed, controls, Clock::start()).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, receiver) = std::sync::mpsc::channel();
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            sender.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
            let end = Time::from_secs(1_000);
            let report =
                emulator.run(end, Duration::from_millis(100), &stopped, &mut observer).unwrap();
            (report, observer)
        });
        Self { testbed, stop, thread: Some(thread), tid: receiver.recv().unwrap() }
    }

    /// Ends the run.
    pub(crate) fn finish(mut self) -> (Report, O) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }

    /// Whether the run has ended by itself.
    pub(crate) fn over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl<O> Rig<O> {
    pub(crate) fn host(&self, number: usize) -> &Host {
        &self.testbed.hosts()[number]
    }

    /// The thread identifier of the emulator.
    pub(crate) fn tid(&self) -> i32 {
        self.tid
    }

    /// A socket on a host, at any port, connected to [`PORT`] of another host.
    pub(crate) fn sender(&self, from: usize, to: usize) -> UdpSocket {
        let to = address(to);
        self.host(from).within(move || buffered("0.0.0.0", 0, Some((to, PORT)))).unwrap()
    }

    /// A socket on a host at [`PORT`].
    pub(crate) fn receiver(&self, at: usize) -> UdpSocket {
        self.host(at).within(|| buffered("0.0.0.0", PORT, None)).unwrap()
    }
}

impl<O> Drop for Rig<O> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is reported by `finish`.
            let _ = thread.join();
        }
    }
}

/// The seed of every run.
pub(crate) const SEED: Seed = Seed(7);

pub(crate) fn id(host: usize) -> HostId {
    HostId(u16::try_from(host).unwrap())
}

pub(crate) fn address(host: usize) -> IpAddr {
    id(host).address().into()
}

/// An observer that does nothing.
pub(crate) struct NullObserver;

impl Observer for NullObserver {
    fn sample(&mut self, _: Time, _: &Network) {}
}

/// A packet at a host's interface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) at: Time,
    pub(crate) packet: Packet,
    /// The number in the payload, if the packet is UDP over IPv4.
    pub(crate) number: Option<u64>,
}

/// Logs the packets from the hosts and to the hosts.
pub(crate) struct Log {
    pub(crate) entered: Vec<Seen>,
    pub(crate) delivered: Vec<Seen>,
}

impl Log {
    /// With capacity for this many packets, so that the loop does not allocate memory.
    pub(crate) fn of(packets: usize) -> Self {
        Self { entered: Vec::with_capacity(packets), delivered: Vec::with_capacity(packets) }
    }
}

impl Observer for Log {
    fn sample(&mut self, _: Time, _: &Network) {}

    fn packet(&mut self, at: Time, host: HostId, bytes: &[u8]) {
        let Some(packet) = read_header(bytes, host) else { return };
        let number = super::traffic::number(bytes);
        let log = if packet.flow.dst == host { &mut self.delivered } else { &mut self.entered };
        log.push(Seen { at, packet, number });
    }
}

/// Waits until packets in flight have arrived.
pub(crate) fn settle(millis: u64) {
    sleep(std::time::Duration::from_millis(millis));
}
