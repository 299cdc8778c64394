//! The event loop: virtual time jumps to the next thing due, in the network first, then at the ends in
//! the order of the calls, then at the sampler. That order is total, so a run repeats exactly.

use crate::envelopes::{End, Envelope, Envelopes, Payload};
use crate::leg::Leg;
use crate::media::Outbox;
use crate::payload::{Rtcp, Rtp};
use crate::recording::{Kind, Recording};
use crate::sampler::Sampler;
use crate::scenario::Scenario;
use crate::wire;
use net::{Direction, Dropped, Dscp, Ecn, Flow, HostId, Network, Packet};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use units::Time;

/// Why a scenario cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError(pub String);

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RunError {}

/// What a packet carries.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// Media.
    Rtp(&'a Rtp),
    /// Reports and feedback.
    Rtcp(&'a Rtcp),
}

/// Sees every packet, as a capture on the hosts' interfaces would.
pub trait Tap {
    /// A packet passes `host`'s interface, on its way out or in.
    fn packet(&mut self, at: Time, host: HostId, packet: &Packet, content: Content<'_>);
}

/// What a run may be given besides its scenario.
#[derive(Default)]
pub struct Options<'a> {
    /// Sees the packets.
    pub tap: Option<&'a mut dyn Tap>,
    /// Set from outside to end the run early; it then returns [`RunError`].
    pub cancel: Option<&'a AtomicBool>,
}

/// Runs a scenario to its end.
///
/// # Errors
/// When the network or a controller cannot be built from it, or the run was cancelled.
pub fn run(scenario: &Scenario, options: Options<'_>) -> Result<Recording, RunError> {
    Simulation::new(scenario, options)?.run(scenario)
}

struct Simulation<'a> {
    wire: Wire<'a>,
    legs: Vec<Leg>,
    /// When the ends want to be woken: sender and receiver of each leg in turn.
    wakes: Vec<Time>,
    lines: Vec<(HostId, Direction, Sampler)>,
    cancel: Option<&'a AtomicBool>,
}

/// The network, what is under way in it, and who watches.
struct Wire<'a> {
    network: Network,
    envelopes: Envelopes,
    arrivals: Arrivals,
    tap: Option<&'a mut dyn Tap>,
}

/// What the network gave back, not yet handed on.
#[derive(Default)]
struct Arrivals {
    delivered: Vec<(Time, Packet)>,
    dropped: Vec<u64>,
}

impl net::Events for Arrivals {
    fn delivered(&mut self, at: Time, packet: Packet) {
        self.delivered.push((at, packet));
    }

    fn dropped(&mut self, _at: Time, dropped: Dropped) {
        self.dropped.push(dropped.packet.id);
    }
}

impl<'a> Simulation<'a> {
    fn new(scenario: &Scenario, options: Options<'a>) -> Result<Self, RunError> {
        let end = Time::ZERO + scenario.duration;
        let network =
            Network::new(&scenario.network, scenario.seed).map_err(|error| RunError(error.to_string()))?;
        let mut legs = Vec::new();
        for call in &scenario.calls {
            for back in [false, true].into_iter().take(if call.two_way { 2 } else { 1 }) {
                legs.push(Leg::new(legs.len(), call, back, end, scenario.seed)?);
            }
        }
        let wakes =
            legs.iter().flat_map(|leg| [leg.next_wake(End::Sender), leg.next_wake(End::Receiver)]).collect();
        let hosts = scenario.network.hosts.iter().zip(0..);
        let lines = hosts.flat_map(|(host, id)| {
            [(Direction::Up, "up"), (Direction::Down, "down")].map(|(direction, word)| {
                let sampler = Sampler::new(format!("{}.{word}", host.name), Kind::Line, (Time::ZERO, end));
                (HostId(id), direction, sampler)
            })
        });
        Ok(Self {
            wire: Wire {
                network,
                envelopes: Envelopes::default(),
                arrivals: Arrivals::default(),
                tap: options.tap,
            },
            lines: lines.collect(),
            legs,
            wakes,
            cancel: options.cancel,
        })
    }

    fn run(mut self, scenario: &Scenario) -> Result<Recording, RunError> {
        let end = Time::ZERO + scenario.duration;
        let interval = scenario.sample_interval;
        let mut next_sample = Time::ZERO + interval;
        loop {
            let network = self.wire.network.next_wake().unwrap_or(Time::MAX);
            let (index, wake) = earliest(&self.wakes);
            let now = network.min(wake).min(next_sample);
            if now > end {
                return Ok(self.finish(scenario));
            }
            if network == now {
                self.wire.network.advance(now, &mut self.wire.arrivals);
            } else if wake == now {
                self.wake(index, now);
            } else {
                self.sample(now);
                next_sample = now + interval;
                if self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                    return Err(RunError("cancelled".into()));
                }
            }
            self.deliver();
        }
    }

    /// Lets one end do what is due.
    fn wake(&mut self, index: usize, now: Time) {
        let (leg_index, end) = (index / 2, if index.is_multiple_of(2) { End::Sender } else { End::Receiver });
        let leg = &mut self.legs[leg_index];
        match end {
            End::Sender => {
                leg.sender.wake(now, &mut self.wire.post(leg_index, leg.flow(End::Receiver), End::Receiver));
            }
            End::Receiver => {
                leg.receiver.wake(now, &mut self.wire.post(leg_index, leg.flow(End::Sender), End::Sender));
            }
        }
        self.wakes[index] = leg.next_wake(end);
        debug_assert!(self.wakes[index] > now || end == End::Sender, "an end that was woken looks ahead");
    }

    /// Hands on what the network gave back, and what that in turn made the ends send.
    fn deliver(&mut self) {
        for handle in self.wire.arrivals.dropped.drain(..) {
            self.wire.envelopes.take(handle);
        }
        let mut next = 0;
        while let Some(&(at, packet)) = self.wire.arrivals.delivered.get(next) {
            next += 1;
            self.wire.tap(at, packet.flow.dst, &packet);
            if let Some(envelope) = self.wire.envelopes.take(packet.id) {
                self.receive(at, envelope);
            }
        }
        self.wire.arrivals.delivered.clear();
    }

    fn receive(&mut self, now: Time, envelope: Envelope) {
        let leg = &mut self.legs[envelope.leg];
        if now >= leg.active.1 {
            return;
        }
        let place = 2 * envelope.leg;
        match (envelope.to, envelope.payload) {
            (End::Receiver, Payload::Rtp(packet)) => {
                let flow = leg.flow(End::Sender);
                leg.receiver.on_rtp(now, &packet, &mut self.wire.post(envelope.leg, flow, End::Sender));
                self.wakes[place + 1] = leg.next_wake(End::Receiver);
            }
            (End::Receiver, Payload::Rtcp(packet)) => leg.receiver.on_rtcp(now, &packet),
            (End::Sender, Payload::Rtcp(packet)) => {
                leg.sender.on_rtcp(now, &packet);
                self.wakes[place] = leg.next_wake(End::Sender);
            }
            (End::Sender, Payload::Rtp(_)) => debug_assert!(false, "media goes to the receiver"),
        }
    }

    fn sample(&mut self, now: Time) {
        for leg in &mut self.legs {
            leg.sample(now);
        }
        for (host, direction, sampler) in &mut self.lines {
            let line = self.wire.network.line(*host, *direction);
            sampler.sample(now, |show| line.show(now, show));
        }
    }

    fn finish(self, scenario: &Scenario) -> Recording {
        let mut events: Vec<_> = self.legs.iter().flat_map(Leg::events).collect();
        events.sort_by_key(|event| event.at);
        let calls = self.legs.into_iter().flat_map(Leg::finish);
        let lines = self.lines.into_iter().map(|(_, _, sampler)| sampler.finish(Vec::new()));
        Recording {
            interval: scenario.sample_interval,
            duration: scenario.duration,
            streams: calls.chain(lines).collect(),
            events,
        }
    }
}

/// The first of the earliest wakes. A linear scan: there are two a leg, and few legs.
fn earliest(wakes: &[Time]) -> (usize, Time) {
    let mut best = (0, Time::MAX);
    for (index, &wake) in wakes.iter().enumerate() {
        if wake < best.1 {
            best = (index, wake);
        }
    }
    best
}

impl<'b> Wire<'b> {
    /// The way into the network for one end of a leg.
    fn post(&mut self, leg: usize, flow: Flow, to: End) -> Post<'_, 'b> {
        Post { wire: self, flow, leg, to }
    }

    fn send(&mut self, now: Time, envelope: Envelope, flow: Flow, dscp: Dscp, udp_payload: units::Bytes) {
        let id = self.envelopes.insert(envelope);
        let size = udp_payload + wire::UDP_IPV4_OVERHEAD;
        let packet = Packet { id, size, flow, dscp, ecn: Ecn::NotEct, sent: now };
        self.tap(now, flow.src, &packet);
        self.network.send(now, packet, &mut self.arrivals);
    }

    /// Shows a packet to who watches.
    fn tap(&mut self, at: Time, host: HostId, packet: &Packet) {
        let Some(tap) = &mut self.tap else { return };
        let Some(envelope) = self.envelopes.get(packet.id) else { return };
        let content = match &envelope.payload {
            Payload::Rtp(rtp) => Content::Rtp(rtp),
            Payload::Rtcp(rtcp) => Content::Rtcp(rtcp),
        };
        tap.packet(at, host, packet, content);
    }
}

/// An end's way into the network.
struct Post<'a, 'b> {
    wire: &'a mut Wire<'b>,
    flow: Flow,
    leg: usize,
    to: End,
}

impl Outbox for Post<'_, '_> {
    fn rtp(&mut self, now: Time, packet: Rtp, dscp: Dscp) {
        let size = wire::rtp_size(&packet);
        let envelope = Envelope { leg: self.leg, to: self.to, payload: Payload::Rtp(packet) };
        self.wire.send(now, envelope, self.flow, dscp, size);
    }

    fn rtcp(&mut self, now: Time, packet: Rtcp) {
        let size = wire::rtcp_size(&packet);
        let envelope = Envelope { leg: self.leg, to: self.to, payload: Payload::Rtcp(Box::new(packet)) };
        self.wire.send(now, envelope, self.flow, Dscp::DEFAULT, size);
    }
}
