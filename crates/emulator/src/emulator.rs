//! The loop: reads packets from the interfaces, passes them to the network model, writes what the
//! model delivers, and sleeps.

use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::control::{Controls, PendingRequest, Request};
use crate::device::{Device, MTU, Read};
use crate::error::EmulatorError;
use crate::gather::Group;
use crate::header;
use crate::lateness::Lateness;
use crate::scheduling::{RealTime, SchedulingError, real_time};
use crate::testbed::{Host, Testbed, lost_before_entry};
use crate::waiter::{Ready, Waiter};
use net::{AccessKind, Direction, DropReason, Dropped, Ecn, Events, HostId, Network, Packet};
use std::fmt::Write as _;
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Duration, Time};

/// How many packets are read from one interface before the next interface is read.
const BATCH: usize = 64;
/// The longest sleep of the loop, after which it looks at its stop flag.
const MAX_SLEEP: Duration = Duration::from_millis(100);
/// The size of a buffer: one byte more than the MTU, so that a longer packet is noticed.
const BUFFER_SIZE: usize = MTU + 1;

/// Observes the network. It runs in the thread of the loop, so a slow observer makes the loop late.
pub trait Observer {
    /// A sample of the network is due.
    fn sample(&mut self, at: Time, network: &Network);
    /// A packet passed the interface of a host, from the host or to it.
    fn packet(&mut self, at: Time, host: HostId, bytes: &[u8]) {
        let _ = (at, host, bytes);
    }
    /// A host sent a packet that is longer than [`MTU`]. The packet is discarded.
    fn refused(&mut self, host: HostId) {
        let _ = host;
    }
}

/// How well the loop kept time, and what it did with packets.
#[derive(Clone, Debug)]
pub struct Report {
    /// How late packets were written, relative to the time at which the model delivered them.
    pub lateness: Lateness,
    /// How the thread of the loop was scheduled.
    pub real_time: RealTime,
    /// Packets from the hosts that entered the network.
    pub entered: u64,
    /// Packets that were delivered to hosts.
    pub delivered: u64,
    /// Packets to an address that no host has.
    pub unroutable: u64,
    /// Packets that were longer than [`MTU`].
    pub refused: u64,
    /// Packets from the hosts that are not IP.
    pub not_ip: u64,
    /// Packets that the receiving interface refused, because it was down.
    pub undeliverable: u64,
    /// Packets that the queue of each host's interface dropped before they entered the network,
    /// because the loop did not read them in time.
    pub lost_before_entry: Vec<u64>,
    /// How late the loop woke up, relative to the deadlines of its sleeps.
    pub wakeups: Lateness,
    /// How long the loop ran, at most until the end of the samples.
    pub duration: Duration,
}

impl Report {
    fn count_written(&mut self, packets: u64, taken: bool) {
        *if taken { &mut self.delivered } else { &mut self.undeliverable } += packets;
    }

    /// Whether the machine kept up: the 99th percentiles of the lateness of packets and of wake-ups
    /// are at most 1 ms, and no packet was lost before it entered. Otherwise delays and losses may
    /// come from the machine and not from the network.
    #[must_use]
    pub fn kept_up(&self) -> bool {
        self.kept_up_within(crate::lateness::MISSED)
    }

    /// As [`Self::kept_up`], with another bound than 1 ms.
    #[must_use]
    pub fn kept_up_within(&self, bound: Duration) -> bool {
        // Fewer than 100 values do not determine a 99th percentile.
        let in_time = |late: &Lateness| late.count() < 100 || late.quantile(0.99) <= bound;
        in_time(&self.lateness)
            && in_time(&self.wakeups)
            && self.lost_before_entry.iter().all(|lost| *lost == 0)
    }
}

/// Runs a network between the hosts of a testbed.
pub struct Emulator {
    network: Network,
    devices: Vec<Device>,
    buffers: Buffers,
    group: Group,
    waiter: Waiter,
    controls: Option<Controls>,
    clock: Clock,
    names: Vec<String>,
    counters: Vec<PathBuf>,
    report: Report,
}

impl Emulator {
    /// An emulator of `network` between the hosts of `testbed`. The testbed must have as many hosts
    /// as the network. `clock` gives the time of the network.
    ///
    /// # Errors
    /// If the testbed already has an emulator.
    pub fn new(
        network: Network,
        testbed: &mut Testbed,
        controls: Option<Controls>,
        clock: Clock,
    ) -> Result<Self, EmulatorError> {
        let devices = testbed.take_devices()?;
        let waiter = Waiter::new(&devices, controls.as_ref().map(Controls::wake_up))?;
        let report = Report {
            lateness: Lateness::default(),
            real_time: RealTime::Ordinary(SchedulingError::NotRequested),
            entered: 0,
            delivered: 0,
            unroutable: 0,
            refused: 0,
            not_ip: 0,
            undeliverable: 0,
            lost_before_entry: Vec::new(),
            wakeups: Lateness::default(),
            duration: Duration::ZERO,
        };
        let counters = testbed.hosts().iter().map(Host::counters).collect();
        let names = testbed.hosts().iter().map(|host| host.name().to_owned()).collect();
        let joins_udp = devices.first().is_some_and(Device::joins_udp);
        let (buffers, group) = (Buffers::new(BUFFER_SIZE), Group::new(joins_udp));
        Ok(Self {
            network,
            devices,
            buffers,
            group,
            waiter,
            controls,
            clock,
            names,
            counters,
            report,
        })
    }

    /// Runs until `stop` is set or a client requests the end. Takes a sample every `interval` until
    /// `end`. Requests real-time scheduling for the calling thread.
    ///
    /// # Errors
    /// If an interface fails.
    ///
    /// # Panics
    /// If `interval` is zero.
    pub fn run(
        &mut self,
        end: Time,
        interval: Duration,
        stop: &AtomicBool,
        observer: &mut impl Observer,
    ) -> Result<Report, EmulatorError> {
        assert!(interval > Duration::ZERO, "the sample interval must be greater than 0");
        self.report.real_time = real_time();
        let mut next_sample = Time::ZERO + interval;
        let mut ready = Vec::new();
        loop {
            let now = self.clock.now();
            while next_sample <= now {
                if next_sample <= end {
                    self.advance(next_sample, observer);
                    observer.sample(next_sample, &self.network);
                }
                next_sample += interval;
            }
            self.advance(now, observer);
            if stop.load(Ordering::Relaxed) {
                self.report.duration = now.min(end).saturating_since(Time::ZERO);
                let lost = self.counters.iter().map(|path| lost_before_entry(path));
                self.report.lost_before_entry = lost.collect::<Result<_, _>>()?;
                return Ok(self.report.clone());
            }
            let wake = self.network.next_wake().unwrap_or(Time::MAX);
            let due = wake.min(next_sample).min(now + MAX_SLEEP);
            self.waiter.wait(self.clock, due, &mut ready)?;
            if ready.is_empty() {
                self.report.wakeups.record(due, self.clock.now());
            }
            for source in &ready {
                match *source {
                    Ready::Device(host) => self.read_packets(host, observer)?,
                    Ready::Control => self.answer(stop, observer),
                }
            }
        }
    }

    fn advance(&mut self, now: Time, observer: &mut impl Observer) {
        let (network, mut egress) = self.parts(observer);
        network.advance(now, &mut egress);
        egress.write_group();
    }

    /// The network model, and the receiver of its events.
    fn parts<'a, O: Observer>(
        &'a mut self,
        observer: &'a mut O,
    ) -> (&'a mut Network, Egress<'a, O>) {
        let egress = Egress {
            devices: &self.devices,
            buffers: &mut self.buffers,
            group: &mut self.group,
            report: &mut self.report,
            clock: self.clock,
            observer,
        };
        (&mut self.network, egress)
    }

    /// Reads packets that a host has sent, at most one batch.
    fn read_packets(
        &mut self,
        index: usize,
        observer: &mut impl Observer,
    ) -> Result<(), EmulatorError> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the network has checked that the number of hosts fits"
        )]
        let host = HostId(index as u16);
        for _ in 0..BATCH {
            let (id, buffer) = self.buffers.take();
            let read = self.devices[index].read(buffer);
            let read =
                read.map_err(|error| EmulatorError::system(self.names[index].clone(), error))?;
            let Read::Packet(length) = read else {
                self.buffers.give_back(id);
                break;
            };
            self.send(host, id, length, observer);
        }
        let (_, mut egress) = self.parts(observer);
        egress.write_group();
        Ok(())
    }

    fn send(&mut self, host: HostId, id: u64, length: usize, observer: &mut impl Observer) {
        if length > MTU {
            self.buffers.give_back(id);
            self.report.refused += 1;
            observer.refused(host);
            return;
        }
        let now = self.clock.now();
        let bytes = self.buffers.fill(id, length);
        observer.packet(now, host, bytes);
        let Some(packet) = header::read(bytes, host) else {
            self.buffers.give_back(id);
            self.report.not_ip += 1;
            return;
        };
        self.report.entered += 1;
        let (network, mut egress) = self.parts(observer);
        network.send(now, Packet { id, sent: now, ..packet }, &mut egress);
        if egress.group.is_due(now) {
            egress.write_group();
        }
    }

    /// Answers the requests that wait.
    fn answer(&mut self, stop: &AtomicBool, observer: &mut impl Observer) {
        let requests: Vec<PendingRequest> = self.controls.iter().flat_map(Controls::take).collect();
        for PendingRequest { request, answer } in requests {
            let now = self.clock.now();
            let text = match request {
                Request::Set(place, _)
                    if self.network.access_kind(place.host) != AccessKind::Wired =>
                {
                    let name = &self.names[usize::from(place.host.0)];
                    let kind = self.network.access_kind(place.host);
                    format!(
                        "error: {name} is on {kind}, whose rate, delay and loss are those of the radio; set those of a wired host"
                    )
                }
                Request::Set(place, change) => {
                    let (network, mut egress) = self.parts(observer);
                    network.change(now, place, change, &mut egress);
                    "ok".to_owned()
                }
                Request::Establish(host, bearer) => {
                    let (network, mut egress) = self.parts(observer);
                    match network.establish_bearer(now, host, *bearer, &mut egress) {
                        Ok(number) => format!("bearer {number}\nok"),
                        Err(error) => format!("error: {error}"),
                    }
                }
                Request::Release(host, number) => {
                    let (network, mut egress) = self.parts(observer);
                    match network.release_bearer(now, host, number, &mut egress) {
                        Ok(()) => "ok".to_owned(),
                        Err(error) => format!("error: {error}"),
                    }
                }
                Request::Show => self.show(now),
                Request::Stop => {
                    stop.store(true, Ordering::Relaxed);
                    "ok".to_owned()
                }
            };
            // The client may have disconnected.
            let _ = answer.send(text);
        }
    }

    /// The state of all lines, one per line of text, and then `ok`.
    fn show(&self, now: Time) -> String {
        let mut text = format!("time {}\n", now.as_secs_f64());
        for (host, name) in (0..).map(HostId).zip(&self.names) {
            for direction in Direction::ALL {
                // Writing to a String does not fail.
                let _ = write!(text, "{name}.{direction}");
                self.network.show(net::LinkId { host, direction }, now, &mut |name, value| {
                    let _ = write!(text, " {name} {value}");
                });
                text.push('\n');
            }
        }
        text + "ok"
    }
}

/// Receives the events of the model: writes delivered packets to the interfaces and frees dropped
/// ones.
struct Egress<'a, O> {
    devices: &'a [Device],
    buffers: &'a mut Buffers,
    group: &'a mut Group,
    report: &'a mut Report,
    clock: Clock,
    observer: &'a mut O,
}

impl<O> Egress<'_, O> {
    /// Writes the segments that wait for more segments of their flow.
    fn write_group(&mut self) {
        let (devices, now) = (self.devices, self.clock.now());
        let mut done = false;
        let written =
            self.group.write(self.buffers, |host, parts| done = devices[host].write(parts).is_ok());
        let mut count = 0;
        for at in written {
            self.report.lateness.record(at, now);
            count += 1;
        }
        self.report.count_written(count, done);
    }
}

impl<O: Observer> Events for Egress<'_, O> {
    fn delivered(&mut self, at: Time, packet: Packet) {
        let host = packet.flow.dst;
        let bytes = self.buffers.get(packet.id);
        if packet.ecn == Ecn::Ce {
            header::mark_ce(bytes);
        }
        let now = self.clock.now();
        self.observer.packet(now, host, bytes);
        let (index, segment) = (usize::from(host.0), (packet.id, at));
        if self.group.join(now, index, segment, self.buffers) {
            return;
        }
        self.write_group();
        if self.group.begin(now, index, segment, self.buffers.get(packet.id)) {
            return;
        }
        // The lateness does not include the write, during which the stack of the receiving host
        // processes the packet.
        self.report.lateness.record(at, self.clock.now());
        let written = self.devices[index].write(&[IoSlice::new(self.buffers.raw(packet.id))]);
        self.report.count_written(1, written.is_ok());
        self.buffers.give_back(packet.id);
    }

    fn dropped(&mut self, _: Time, dropped: Dropped) {
        self.report.unroutable += u64::from(dropped.reason == DropReason::NoRoute);
        self.buffers.give_back(dropped.packet.id);
    }
}
