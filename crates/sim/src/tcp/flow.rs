//! A TCP flow in the simulation: its two ends, its samples, and its addresses.

use super::config::{TcpApplication, TcpConfig, TcpSource, TcpStack};
use super::receiver::TcpReceiver;
use super::sender::{Connection, TcpSender};
use crate::endpoint::End;
use crate::recording::{Event, Points, StreamKind, StreamRecord};
use crate::sampler::Sampler;
use net::{Dscp, Flow, HostId, Protocol};
use units::{Seed, Time};

/// iperf3's server port.
const SERVER_PORT: u16 = 5201;
/// The first of the dynamic ports (RFC 6335 § 6).
const FIRST_CLIENT_PORT: u16 = 49_152;

/// One direction of a TCP connection.
pub(crate) struct TcpFlow {
    pub(crate) sender: TcpSender,
    pub(crate) receiver: TcpReceiver,
    pub(crate) active: (Time, Time),
    pub(crate) dscp: Dscp,
    hosts: (HostId, HostId),
    port: u16,
    application: TcpApplication,
    sampler: Sampler,
}

impl TcpFlow {
    /// `index` is the flow's position among the run's flows.
    pub(crate) fn new(
        index: usize,
        config: &TcpConfig,
        stack: TcpStack,
        end: Time,
        seed: Seed,
    ) -> Self {
        let name = format!("{}.tcp", config.name);
        let active = (config.start, config.stop.min(end));
        Self {
            sender: TcpSender::new(config, stack, seed),
            receiver: TcpReceiver::new(config),
            active,
            dscp: config.dscp,
            hosts: (config.from, config.to),
            port: FIRST_CLIENT_PORT.wrapping_add(u16::try_from(index).unwrap_or(u16::MAX)),
            application: config.application,
            sampler: Sampler::new(name, StreamKind::Tcp, active),
        }
    }

    /// The 5-tuple of packets to `to`.
    pub(crate) fn flow(&self, to: End) -> Flow {
        let (src, dst, src_port, dst_port) = match to {
            End::Receiver => (self.hosts.0, self.hosts.1, self.port, SERVER_PORT),
            End::Sender => (self.hosts.1, self.hosts.0, SERVER_PORT, self.port),
        };
        Flow { src, dst, src_port, dst_port, protocol: Protocol::Tcp }
    }

    /// When `end` next needs a call of `wake`; never outside the flow's active time.
    pub(crate) fn next_wake(&self, end: End, now: Time) -> Time {
        let wake = match end {
            End::Sender => self.sender.next_wake(now),
            End::Receiver => self.receiver.next_wake(),
        };
        wake.filter(|at| *at < self.active.1).map_or(Time::MAX, |at| at.max(self.active.0))
    }

    pub(crate) fn sample(&mut self, now: Time) {
        let (sender, receiver) = (&self.sender, &self.receiver);
        self.sampler.sample(now, |show| {
            sender.show(show);
            receiver.show(show);
        });
        if matches!(self.sender.connection(), Connection::Finished(_) | Connection::TimedOut(_)) {
            self.sampler.close(now);
        }
    }

    /// How the flow ended: `completed` with the seconds since its start, `timedOut` with the bytes
    /// that are acknowledged, or `incomplete` with the acknowledged bytes of a finite flow that was
    /// cut off.
    pub(crate) fn events(&self) -> Vec<Event> {
        let acknowledged = self.sender.acknowledged() as f64;
        let (at, what, value) = match (self.sender.connection(), self.application) {
            (Connection::Finished(at), _) => {
                (at, "completed", at.saturating_since(self.active.0).as_secs_f64())
            }
            (Connection::TimedOut(at), _) => (at, "timedOut", acknowledged),
            (_, TcpApplication::Stream(TcpSource::Finite(_))) => {
                (self.active.1, "incomplete", acknowledged)
            }
            _ => return Vec::new(),
        };
        vec![Event { at, stream: self.sampler.name().to_owned(), what, value }]
    }

    /// Ends the flow and returns its record.
    pub(crate) fn finish(self) -> StreamRecord {
        let points = self.points();
        self.sampler.finish(points)
    }

    /// The record of the flow so far.
    pub(crate) fn record(&self) -> StreamRecord {
        self.sampler.clone().finish(self.points())
    }

    fn points(&self) -> Vec<Points> {
        let points = |name, values: &[(Time, f64)]| Points { name, values: values.to_vec() };
        let mut all = vec![points("roundTripTime", self.sender.round_trips())];
        all.extend(self.sender.pages().map(|values| points("pageLoadTime", values)));
        all
    }
}
