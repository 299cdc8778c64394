//! The loop: reads packets from the interfaces, gives them to the model, writes what the model
//! gives back, and sleeps.

use crate::buffers::Buffers;
use crate::clock::Clock;
use crate::control::{Asked, Controls, Request};
use crate::device::{Device, MTU, Read};
use crate::error::EmulatorError;
use crate::gather::Group;
use crate::header;
use crate::lateness::Lateness;
use crate::scheduling::{RealTime, real_time};
use crate::testbed::{Host, Testbed, lost_before_entry};
use crate::waiter::{Ready, Waiter};
use net::{AccessKind, Direction, DropReason, Dropped, Ecn, Events, HostId, Network, Packet};
use std::fmt::Write as _;
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Duration, Time};

/// Packets taken from an interface before the others have their turn.
const BATCH: usize = 64;
/// How long the loop sleeps at most, so that it sees that it is to stop.
const NAP: Duration = Duration::from_millis(100);
/// A byte more than may come, so that a longer packet shows.
const BUFFER: usize = MTU + 1;

/// Told of what happens, in the loop's thread: what it does there makes the loop late.
pub trait Observer {
    /// It is time for a sample of the network.
    fn sample(&mut self, at: Time, network: &Network);
    /// A packet passed a host's interface, out of the host or into it.
    fn packet(&mut self, at: Time, host: HostId, bytes: &[u8]) {
        let _ = (at, host, bytes);
    }
    /// A host sent a packet that is longer than its interface's MTU may be; it goes nowhere.
    fn refused(&mut self, host: HostId) {
        let _ = host;
    }
}

/// How the loop did.
#[derive(Clone, Debug)]
pub struct Report {
    /// How late packets were, against when the model gave them out.
    pub lateness: Lateness,
    /// How the loop was scheduled.
    pub real_time: RealTime,
    /// Packets that came from the hosts.
    pub entered: u64,
    /// Packets that the hosts were given.
    pub delivered: u64,
    /// Packets to no host of the experiment.
    pub unroutable: u64,
    /// Packets that were over the MTU.
    pub refused: u64,
    /// What came and was not IP.
    pub not_ip: u64,
    /// Packets that a host's interface did not take: it was down.
    pub undeliverable: u64,
    /// Packets that each host's interface lost before the network saw them: the loop did not come
    /// to take them.
    pub lost_before_entry: Vec<u64>,
    /// How late the loop woke up when it wanted to at a time.
    pub wakeups: Lateness,
    /// How long it ran, samples until the end.
    pub duration: Duration,
}

impl Report {
    fn count_written(&mut self, packets: u64, taken: bool) {
        *if taken { &mut self.delivered } else { &mut self.undeliverable } += packets;
    }

    /// Whether the machine kept up: packets and wake-ups were late by at most 1 ms at the 99th
    /// percentile, and no packet was lost before it entered. What an overloaded machine shows is
    /// not the network's.
    #[must_use]
    pub fn kept_up(&self) -> bool {
        self.kept_up_within(crate::lateness::MISSED)
    }

    /// The same with another bound than 1 ms.
    #[must_use]
    pub fn kept_up_within(&self, bound: Duration) -> bool {
        // Of fewer than a hundred, one says nothing about one in a hundred.
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
    /// A network between the hosts of `testbed`, which must be as many as the network has, with
    /// time counted by `clock`.
    ///
    /// # Errors
    /// When the testbed already has an emulator.
    pub fn new(
        network: Network,
        testbed: &mut Testbed,
        controls: Option<Controls>,
        clock: Clock,
    ) -> Result<Self, EmulatorError> {
        let devices = testbed.take_devices()?;
        let waiter = Waiter::new(&devices, controls.as_ref().map(Controls::bell))?;
        let report = Report {
            lateness: Lateness::default(),
            real_time: RealTime::Ordinary("not asked for".into()),
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
        let (buffers, group) = (Buffers::new(BUFFER), Group::new(joins_udp));
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

    /// Runs until `stop` is set or a request says so, with a sample every `interval` until `end`.
    /// The calling thread gets real-time scheduling where that is allowed.
    ///
    /// # Errors
    /// When an interface fails.
    ///
    /// # Panics
    /// When `interval` is zero.
    pub fn run(
        &mut self,
        end: Time,
        interval: Duration,
        stop: &AtomicBool,
        observer: &mut impl Observer,
    ) -> Result<Report, EmulatorError> {
        assert!(interval > Duration::ZERO, "samples without end");
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
            let due = wake.min(next_sample).min(now + NAP);
            self.waiter.wait(self.clock, due, &mut ready)?;
            if ready.is_empty() {
                self.report.wakeups.record(due, self.clock.now());
            }
            for what in &ready {
                match *what {
                    Ready::Device(host) => self.take_in(host, observer)?,
                    Ready::Control => self.answer(stop, observer),
                }
            }
        }
    }

    fn advance(&mut self, now: Time, observer: &mut impl Observer) {
        let (network, mut edge) = self.parts(observer);
        network.advance(now, &mut edge);
        edge.write_group();
    }

    /// The model, and what it talks to.
    fn parts<'a, O: Observer>(&'a mut self, observer: &'a mut O) -> (&'a mut Network, Edge<'a, O>) {
        let edge = Edge {
            devices: &self.devices,
            buffers: &mut self.buffers,
            group: &mut self.group,
            report: &mut self.report,
            clock: self.clock,
            observer,
        };
        (&mut self.network, edge)
    }

    /// Takes what a host has sent, a batch at most.
    fn take_in(&mut self, index: usize, observer: &mut impl Observer) -> Result<(), EmulatorError> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the network has checked how many hosts there are"
        )]
        let host = HostId(index as u16);
        for _ in 0..BATCH {
            let (id, buffer) = self.buffers.take();
            let read = self.devices[index].read(buffer);
            let read = read.map_err(|error| EmulatorError::of(&self.names[index], error))?;
            let Read::Packet(length) = read else {
                self.buffers.give_back(id);
                break;
            };
            self.send(host, id, length, observer);
        }
        let (_, mut edge) = self.parts(observer);
        edge.write_group();
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
        let (network, mut edge) = self.parts(observer);
        network.send(now, Packet { id, sent: now, ..packet }, &mut edge);
        if edge.group.is_due(now) {
            edge.write_group();
        }
    }

    /// Does what was asked.
    fn answer(&mut self, stop: &AtomicBool, observer: &mut impl Observer) {
        let asked: Vec<Asked> = self.controls.iter().flat_map(Controls::take).collect();
        for Asked { request, answer } in asked {
            let now = self.clock.now();
            let said = match request {
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
                    let (network, mut edge) = self.parts(observer);
                    network.change(now, place, change, &mut edge);
                    "ok".to_owned()
                }
                Request::Show => self.show(now),
                Request::Stop => {
                    stop.store(true, Ordering::Relaxed);
                    "ok".to_owned()
                }
            };
            // Who asked may have gone.
            let _ = answer.send(said);
        }
    }

    /// The lines, one below the other, and then `ok`.
    fn show(&self, now: Time) -> String {
        let mut text = format!("time {}\n", now.as_secs_f64());
        for (host, name) in (0..).map(HostId).zip(&self.names) {
            for direction in Direction::ALL {
                // Writing to a String does not fail.
                let _ = write!(text, "{name}.{direction}");
                self.network.show(net::LinkId { host, direction }, now, &mut |what, value| {
                    let _ = write!(text, " {what} {value}");
                });
                text.push('\n');
            }
        }
        text + "ok"
    }
}

/// Where the model's packets leave it.
struct Edge<'a, O> {
    devices: &'a [Device],
    buffers: &'a mut Buffers,
    group: &'a mut Group,
    report: &'a mut Report,
    clock: Clock,
    observer: &'a mut O,
}

impl<O> Edge<'_, O> {
    /// Writes the segments that wait for others.
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

impl<O: Observer> Events for Edge<'_, O> {
    fn delivered(&mut self, at: Time, packet: Packet) {
        let host = packet.flow.dst;
        let bytes = self.buffers.get(packet.id);
        if packet.ecn == Ecn::Ce {
            header::mark_ce(bytes);
        }
        let now = self.clock.now();
        self.observer.packet(now, host, bytes);
        let (place, segment) = (usize::from(host.0), (packet.id, at));
        if self.group.join(now, place, segment, self.buffers) {
            return;
        }
        self.write_group();
        if self.group.begin(now, place, segment, self.buffers.get(packet.id)) {
            return;
        }
        // The write itself, in which the host's stack takes the packet in, comes after.
        self.report.lateness.record(at, self.clock.now());
        let written = self.devices[place].write(&[IoSlice::new(self.buffers.raw(packet.id))]);
        self.report.count_written(1, written.is_ok());
        self.buffers.give_back(packet.id);
    }

    fn dropped(&mut self, _: Time, dropped: Dropped) {
        self.report.unroutable += u64::from(dropped.reason == DropReason::NoRoute);
        self.buffers.give_back(dropped.packet.id);
    }
}
