//! The event loop: virtual time jumps to the next thing due, in the network first, then at the ends
//! in the order of the calls, then at the sampler. That order is total, so a run repeats exactly.

use crate::envelopes::{End, Envelope, Envelopes, Payload};
use crate::forwarding::Forwarding;
use crate::leg::Leg;
use crate::media::Outbox;
use crate::payload::{Rtcp, Rtp};
use crate::recording::{Kind, Recording};
use crate::relay;
use crate::sampler::Sampler;
use crate::scenario::Scenario;
use crate::session::Session;
use crate::tcp::{Segment, Stack, TcpFlow, TcpOutbox};
use crate::wakes::Wakes;
use crate::wire;
use net::{
    Admission, Direction, DropReason, Dropped, Dscp, Ecn, Flow, HostId, LinkId, Network, Packet,
    Protocol,
};
use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Bytes, Duration, Time};

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
    /// TCP.
    Tcp(&'a Segment),
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
    sessions: Vec<Session>,
    /// When the ends want to be woken: sender and receiver of each session in turn.
    wakes: Wakes,
    /// The other direction of each session's call.
    twins: Vec<Option<usize>>,
    forwarding: Forwarding,
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
    queue: VecDeque<(Time, Arrival)>,
    /// Which hosts' way up is a queue on the host itself.
    own_queues: Vec<bool>,
}

enum Arrival {
    Delivered(Packet),
    Dropped(Dropped),
    /// A TCP packet left the queue of its own host.
    Departed(Packet),
    /// RTCP that does not cross the network.
    Told(Box<Envelope>),
}

impl Arrivals {
    fn is_own_queue(&self, link: LinkId, packet: &Packet) -> bool {
        packet.flow.protocol == Protocol::Tcp
            && link.direction == Direction::Up
            && self.own_queues[usize::from(link.host.0)]
    }
}

impl net::Events for Arrivals {
    fn delivered(&mut self, at: Time, packet: Packet) {
        self.queue.push_back((at, Arrival::Delivered(packet)));
    }

    fn dropped(&mut self, at: Time, dropped: Dropped) {
        self.queue.push_back((at, Arrival::Dropped(dropped)));
    }

    fn departed(&mut self, at: Time, link: LinkId, packet: &Packet, _sojourn: Duration) {
        if self.is_own_queue(link, packet) {
            self.queue.push_back((at, Arrival::Departed(*packet)));
        }
    }
}

impl<'a> Simulation<'a> {
    fn new(scenario: &Scenario, options: Options<'a>) -> Result<Self, RunError> {
        let end = Time::ZERO + scenario.duration;
        let network = Network::new(&scenario.network, scenario.seed)
            .map_err(|error| RunError(error.to_string()))?;
        let sessions = sessions(scenario, end)?;
        let first = |session: &Session| {
            [End::Sender, End::Receiver].map(|end| session.next_wake(end, Time::ZERO))
        };
        let wakes = Wakes::new(&sessions.iter().flat_map(first).collect::<Vec<_>>());
        let own_queues = scenario.network.hosts.iter().zip(0..).map(|(host, id)| {
            scenario.stack(HostId(id)).tsq && host.access.is_limited(Direction::Up)
        });
        let arrivals = Arrivals { own_queues: own_queues.collect(), ..Arrivals::default() };
        let hosts = scenario.network.hosts.iter().zip(0..);
        let lines = hosts.flat_map(|(host, id)| {
            Direction::ALL.map(|direction| {
                let sampler = Sampler::new(
                    format!("{}.{direction}", host.name),
                    Kind::Line,
                    (Time::ZERO, end),
                );
                (HostId(id), direction, sampler)
            })
        });
        Ok(Self {
            wire: Wire { network, envelopes: Envelopes::default(), arrivals, tap: options.tap },
            lines: lines.collect(),
            twins: twins(scenario, sessions.len()),
            forwarding: Forwarding::new(scenario, sessions.len())?,
            sessions,
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
            let (index, wake) = self.wakes.earliest();
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
        let (place, end) =
            (index / 2, if index.is_multiple_of(2) { End::Sender } else { End::Receiver });
        let session = &mut self.sessions[place];
        session.wake(end, now, &mut self.wire.post(place, session, end.other()));
        self.wakes.set(index, session.next_wake(end, now));
        self.hang_up_together(place, now);
        debug_assert!(
            self.wakes.at(index) > now || end == End::Sender,
            "an end that was woken looks ahead"
        );
    }

    /// Hands on what the network gave back, and what that in turn made the ends send.
    fn deliver(&mut self) {
        while let Some((at, arrival)) = self.wire.arrivals.queue.pop_front() {
            match arrival {
                Arrival::Delivered(packet) => {
                    self.wire.tap(at, packet.flow.dst, &packet);
                    if self.relay(at, packet) {
                        continue;
                    }
                    if let Some(envelope) = self.wire.envelopes.take(packet.id) {
                        self.receive(at, packet.ecn, envelope);
                    }
                }
                Arrival::Departed(packet) => self.departed(at, packet),
                Arrival::Told(envelope) => self.receive(at, Ecn::NotEct, *envelope),
                Arrival::Dropped(Dropped { packet, link, .. }) => {
                    if self.wire.arrivals.is_own_queue(link, &packet) {
                        self.departed(at, packet);
                    }
                    self.wire.envelopes.take(packet.id);
                }
            }
        }
    }

    /// A relay that the packet has reached sends it on; `false` where it has reached its end.
    fn relay(&mut self, now: Time, packet: Packet) -> bool {
        let Some(envelope) = self.wire.envelopes.get(packet.id) else { return false };
        let Some(onward) = self.sessions[envelope.session].onward(envelope.to, packet.flow) else {
            return false;
        };
        let content = packet.size.saturating_sub(relay::framing(packet.flow));
        let packet =
            Packet { flow: onward, size: content + relay::framing(onward), sent: now, ..packet };
        self.wire.network.send(now, packet, &mut self.wire.arrivals);
        self.wire.tap(now, onward.src, &packet);
        true
    }

    fn receive(&mut self, now: Time, ecn: Ecn, envelope: Envelope) {
        let Envelope { session: place, to: end, payload } = envelope;
        let session = &mut self.sessions[place];
        if now >= session.active().1 {
            return;
        }
        let onward = match &payload {
            Payload::Rtp(packet) if !self.forwarding.onward[place].is_empty() => Some(*packet),
            _ => None,
        };
        session.receive(end, now, payload, ecn, &mut self.wire.post(place, session, end.other()));
        let index = 2 * place + usize::from(end == End::Receiver);
        self.wakes.set(index, session.next_wake(end, now));
        self.hang_up_together(place, now);
        if let Some(packet) = onward {
            self.forward(place, now, &packet);
        }
        self.ask_publisher(place, now);
    }

    /// Passes on what was published.
    fn forward(&mut self, from: usize, now: Time, packet: &Rtp) {
        for &place in &self.forwarding.onward[from] {
            let session = &mut self.sessions[place];
            session.forward(now, packet, from, &mut self.wire.post(place, session, End::Receiver));
        }
    }

    /// Passes a request for a key frame on to who publishes.
    fn ask_publisher(&mut self, place: usize, now: Time) {
        let Some(source) = self.forwarding.source[place] else { return };
        if self.sessions[place].take_key_frame_request() {
            let publisher = &mut self.sessions[source];
            publisher
                .relay_key_frame_request(now, &mut self.wire.post(source, publisher, End::Sender));
        }
    }

    /// A call that is given up in one direction is over in both.
    fn hang_up_together(&mut self, place: usize, now: Time) {
        let Some(twin) = self.twins[place] else { return };
        let Ok([Session::Call(leg), Session::Call(other)]) =
            self.sessions.get_disjoint_mut([place, twin])
        else {
            return;
        };
        if leg.has_ended() {
            other.follow(now, leg);
            for (end, index) in [(End::Sender, 2 * twin), (End::Receiver, 2 * twin + 1)] {
                self.wakes.set(index, self.sessions[twin].next_wake(end, now));
            }
        }
    }

    /// A packet left its own host's queue: its sender may send another.
    fn departed(&mut self, now: Time, packet: Packet) {
        let Some(place) = self.wire.envelopes.get(packet.id).map(|envelope| envelope.session)
        else {
            return;
        };
        let session = &mut self.sessions[place];
        if packet.flow != session.flow(End::Receiver) || now >= session.active().1 {
            return;
        }
        session.departed(now, packet.size, &mut self.wire.post(place, session, End::Receiver));
        self.wakes.set(2 * place, session.next_wake(End::Sender, now));
    }

    fn sample(&mut self, now: Time) {
        for session in &mut self.sessions {
            session.sample(now);
        }
        for (host, direction, sampler) in &mut self.lines {
            let link = LinkId { host: *host, direction: *direction };
            sampler.sample(now, |show| self.wire.network.show(link, now, show));
        }
    }

    fn finish(mut self, scenario: &Scenario) -> Recording {
        let mut events: Vec<_> = self.sessions.iter_mut().flat_map(Session::events).collect();
        events.sort_by_key(|event| event.at);
        let sessions = self.sessions.into_iter().flat_map(Session::finish);
        let lines = self.lines.into_iter().map(|(_, _, sampler)| sampler.finish(Vec::new()));
        Recording {
            interval: scenario.sample_interval,
            duration: scenario.duration,
            streams: sessions.chain(lines).collect(),
            events,
        }
    }
}

/// Whether a host's way up is a queue on the host itself.
fn has_own_queue(scenario: &Scenario, host: HostId) -> bool {
    let access = scenario.network.hosts.get(usize::from(host.0)).map(|host| &host.access);
    scenario.stack(host).tsq && access.is_some_and(|access| access.is_limited(Direction::Up))
}

/// The sessions of a scenario: the legs of the calls, then the TCP flows.
fn sessions(scenario: &Scenario, end: Time) -> Result<Vec<Session>, RunError> {
    let mut sessions = Vec::new();
    for call in &scenario.calls {
        for back in [false, true].into_iter().take(if call.two_way { 2 } else { 1 }) {
            let leg = Leg::new(sessions.len(), call, back, end, scenario.seed)?;
            sessions.push(Session::Call(Box::new(leg)));
        }
    }
    for (index, config) in scenario.tcp.iter().enumerate() {
        let stack =
            Stack { tsq: has_own_queue(scenario, config.from), ..scenario.stack(config.from) };
        let flow = TcpFlow::new(index, config, stack, end, scenario.seed);
        sessions.push(Session::Tcp(Box::new(flow)));
    }
    Ok(sessions)
}

/// The place of the other direction of each session's call; in the order of [`sessions`].
fn twins(scenario: &Scenario, count: usize) -> Vec<Option<usize>> {
    let mut twins = Vec::with_capacity(count);
    for call in &scenario.calls {
        let place = twins.len();
        if call.two_way {
            twins.extend([Some(place + 1), Some(place)]);
        } else {
            twins.push(None);
        }
    }
    twins.resize(count, None);
    twins
}

impl<'b> Wire<'b> {
    /// The way into the network for one end of a session.
    fn post(&mut self, place: usize, session: &Session, to: End) -> Post<'_, 'b> {
        let at_once = session.is_told_at_once(to);
        Post {
            flow: session.flow(to),
            dscp: session.dscp(),
            wire: self,
            session: place,
            to,
            at_once,
        }
    }

    /// Shows a packet to who watches.
    fn tap(&mut self, at: Time, host: HostId, packet: &Packet) {
        let Some(tap) = &mut self.tap else { return };
        let Some(envelope) = self.envelopes.get(packet.id) else { return };
        let content = match &envelope.payload {
            Payload::Rtp(rtp) => Content::Rtp(rtp),
            Payload::Rtcp(rtcp) => Content::Rtcp(rtcp),
            Payload::Tcp(segment) => Content::Tcp(segment),
        };
        tap.packet(at, host, packet, content);
    }
}

/// An end's way into the network.
struct Post<'a, 'b> {
    wire: &'a mut Wire<'b>,
    flow: Flow,
    dscp: Dscp,
    session: usize,
    to: End,
    /// RTCP goes past the network.
    at_once: bool,
}

impl Post<'_, '_> {
    /// Returns whether the host's own queue took the packet in.
    fn send(&mut self, now: Time, payload: Payload, size: Bytes, dscp: Dscp, ecn: Ecn) -> bool {
        let (wire, flow) = (&mut *self.wire, self.flow);
        let id = wire.envelopes.insert(Envelope { session: self.session, to: self.to, payload });
        let packet = Packet { id, size, flow, dscp, ecn, sent: now, ..Packet::default() };
        let admission = wire.network.send(now, packet, &mut wire.arrivals);
        if admission == Admission::Dropped(DropReason::QueueFull)
            && wire.arrivals.is_own_queue(LinkId::of(&packet, Direction::Up), &packet)
        {
            // The handle of the drop that the network reported is stale from here on.
            wire.envelopes.take(id);
            return false;
        }
        wire.tap(now, flow.src, &packet);
        true
    }
}

impl Outbox for Post<'_, '_> {
    fn rtp(&mut self, now: Time, packet: Rtp, dscp: Dscp) {
        let size = wire::rtp_size(&packet) + wire::UDP_IPV4_OVERHEAD + relay::framing(self.flow);
        self.send(now, Payload::Rtp(packet), size, dscp, Ecn::NotEct);
    }

    fn rtcp(&mut self, now: Time, packet: Rtcp) {
        if self.at_once {
            let payload = Payload::Rtcp(Box::new(packet));
            let envelope = Envelope { session: self.session, to: self.to, payload };
            self.wire.arrivals.queue.push_back((now, Arrival::Told(Box::new(envelope))));
            return;
        }
        let size = wire::rtcp_size(&packet) + wire::UDP_IPV4_OVERHEAD + relay::framing(self.flow);
        self.send(now, Payload::Rtcp(Box::new(packet)), size, self.dscp, Ecn::NotEct);
    }
}

impl TcpOutbox for Post<'_, '_> {
    fn segment(&mut self, now: Time, segment: Segment, ecn: Ecn) -> bool {
        self.send(now, Payload::Tcp(segment), segment.size(), self.dscp, ecn)
    }
}
