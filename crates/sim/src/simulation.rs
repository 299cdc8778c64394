//! The event loop. Virtual time jumps to the next event: first in the network, then at the ends in
//! the order of the calls, then at the sampler. This order is total, so a run is exactly
//! reproducible.

use crate::endpoint::End;
use crate::envelopes::{Envelope, Envelopes, Payload};
use crate::forwarding::Forwarding;
use crate::leg::Leg;
use crate::media::Outbox;
use crate::payload::{Rtcp, Rtp};
use crate::recording::{Recording, StreamKind};
use crate::relay;
use crate::sampler::Sampler;
use crate::scenario::Scenario;
use crate::session::Session;
use crate::tcp::{Segment, TcpFlow, TcpOutbox, TcpStack};
use crate::wakes::Wakes;
use crate::wire;
use net::{
    Admission, Direction, DropReason, Dropped, Dscp, Ecn, Flow, HostId, LinkId, Network, Packet,
    Protocol,
};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Bytes, Duration, Time};

/// A scenario cannot be run, or its run was cancelled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RunError {
    /// The network cannot be built.
    #[error(transparent)]
    Network(#[from] net::ConfigError),
    /// The controller of a call cannot be built.
    #[error("call '{call}': {error}")]
    Controller {
        /// The name of the call.
        call: String,
        /// The fault of its controller.
        error: cc::BuildError,
    },
    /// A call to or from a forwarding unit is two-way.
    #[error("call '{call}': a call to or from a forwarding unit must be one-way")]
    TwoWaySfu {
        /// The name of the call.
        call: String,
    },
    /// A call forwards the stream of a call that is not published to a forwarding unit.
    #[error("call '{call}': no call '{wanted}' is published to a forwarding unit")]
    NotPublished {
        /// The name of the forwarding call.
        call: String,
        /// The name of the call that it should forward.
        wanted: String,
    },
    /// [`Options::cancel`] was set.
    #[error("cancelled")]
    Cancelled,
}

/// The content of a packet.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// Media.
    Rtp(&'a Rtp),
    /// RTCP reports and feedback.
    Rtcp(&'a Rtcp),
    /// A TCP segment.
    Tcp(&'a Segment),
}

/// Observes every packet, like a capture on the hosts' interfaces.
pub trait Tap: Send {
    /// A packet passes the interface of `host`, outgoing or incoming.
    fn packet(&mut self, at: Time, host: HostId, packet: &Packet, content: Content<'_>);
}

impl<T: Tap + ?Sized> Tap for &mut T {
    fn packet(&mut self, at: Time, host: HostId, packet: &Packet, content: Content<'_>) {
        (**self).packet(at, host, packet, content);
    }
}

/// Makes the controllers of one direction of a call from its name (`main`, or `main.back` for the
/// direction from the callee) and its configuration, when the direction starts. `None`: those of
/// the profile in the configuration.
pub type MakeControllers =
    dyn Fn(&str, &cc::ControllerConfig) -> Option<cc::Controllers> + Send + Sync;

/// Options of a run.
#[derive(Default)]
pub struct Options<'a> {
    /// Observes the packets.
    pub tap: Option<&'a mut dyn Tap>,
    /// Set this flag to end the run early; it then returns [`RunError::Cancelled`].
    pub cancel: Option<&'a AtomicBool>,
    /// Makes controllers that are code of the caller and not profiles. Every call must still have a
    /// configuration that [`cc::check`] accepts.
    pub controllers: Option<Arc<MakeControllers>>,
}

/// Runs a scenario to its end.
///
/// # Errors
/// If the network or a controller cannot be built from the scenario, if a call through a forwarding
/// unit is invalid, or if the run was cancelled.
pub fn run(scenario: &Scenario, options: Options<'_>) -> Result<Recording, RunError> {
    let mut simulation = Simulation::new(scenario, options)?;
    simulation.advance(simulation.end + Duration::from_nanos(1))?;
    Ok(simulation.finish())
}

/// A simulation that the caller advances in steps of any length. The steps do not change its
/// result. [`run`] advances to the end in one step.
pub struct Simulation<'a> {
    /// The end of the scenario.
    end: Time,
    interval: Duration,
    next_sample: Time,
    wire: Wire<'a>,
    sessions: Vec<Session>,
    /// The wake-up times of the ends: sender and receiver of each session in turn.
    wakes: Wakes,
    /// For each session: the session of the reverse direction of its call.
    reverse_sessions: Vec<Option<usize>>,
    forwarding: Forwarding,
    lines: Vec<(HostId, Direction, Sampler)>,
    cancel: Option<&'a AtomicBool>,
}

/// The network, the packets under way in it, and the observer.
struct Wire<'a> {
    network: Network,
    envelopes: Envelopes,
    arrivals: Arrivals,
    tap: Option<Box<dyn Tap + 'a>>,
}

/// Packets that the network has returned and that are not yet processed.
#[derive(Default)]
struct Arrivals {
    queue: VecDeque<(Time, Arrival)>,
    /// Whether each host's uplink queue is on the host itself (TCP Small Queues apply).
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
    /// A simulation at time zero.
    ///
    /// # Errors
    /// As [`run`].
    pub fn new(scenario: &Scenario, options: Options<'a>) -> Result<Self, RunError> {
        let Options { tap, cancel, controllers } = options;
        let tap = tap.map(|tap| Box::new(tap) as Box<dyn Tap + 'a>);
        Self::build(scenario, tap, cancel, controllers.as_ref())
    }

    /// A simulation at time zero that owns its observer.
    ///
    /// # Errors
    /// As [`run`].
    pub fn observed(
        scenario: &Scenario,
        tap: Box<dyn Tap + 'a>,
        controllers: Option<&Arc<MakeControllers>>,
    ) -> Result<Self, RunError> {
        Self::build(scenario, Some(tap), None, controllers)
    }

    fn build(
        scenario: &Scenario,
        tap: Option<Box<dyn Tap + 'a>>,
        cancel: Option<&'a AtomicBool>,
        controllers: Option<&Arc<MakeControllers>>,
    ) -> Result<Self, RunError> {
        let end = Time::ZERO + scenario.duration;
        let network = Network::new(&scenario.network, scenario.seed)?;
        let sessions = sessions(scenario, end, controllers)?;
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
                    StreamKind::Line,
                    (Time::ZERO, end),
                );
                (HostId(id), direction, sampler)
            })
        });
        Ok(Self {
            end,
            interval: scenario.sample_interval,
            next_sample: Time::ZERO + scenario.sample_interval,
            wire: Wire { network, envelopes: Envelopes::default(), arrivals, tap },
            lines: lines.collect(),
            reverse_sessions: reverse_sessions(scenario, sessions.len()),
            forwarding: Forwarding::new(scenario, sessions.len())?,
            sessions,
            wakes,
            cancel,
        })
    }

    /// Handles all events before `until` that are not after the end of the scenario.
    ///
    /// # Errors
    /// [`RunError::Cancelled`] if the run was cancelled.
    pub fn advance(&mut self, until: Time) -> Result<(), RunError> {
        let until = until.min(self.end + Duration::from_nanos(1));
        loop {
            let network = self.wire.network.next_wake().unwrap_or(Time::MAX);
            let (index, wake) = self.wakes.earliest();
            let now = network.min(wake).min(self.next_sample);
            if now >= until {
                return Ok(());
            }
            if network == now {
                self.wire.network.advance(now, &mut self.wire.arrivals);
            } else if wake == now {
                self.wake(index, now);
            } else {
                self.sample(now);
                self.next_sample = now + self.interval;
                if self.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
                    return Err(RunError::Cancelled);
                }
            }
            self.deliver();
        }
    }

    /// Lets one end handle what is due.
    fn wake(&mut self, index: usize, now: Time) {
        let (session_index, end) =
            (index / 2, if index.is_multiple_of(2) { End::Sender } else { End::Receiver });
        let session = &mut self.sessions[session_index];
        session.wake(end, now, &mut self.wire.post(session_index, session, end.other()));
        self.wakes.set(index, session.next_wake(end, now));
        self.end_both_directions(session_index, now);
        debug_assert!(
            self.wakes.at(index) > now || end == End::Sender,
            "a woken receiver must next wake later"
        );
    }

    /// Processes what the network returned, including what the ends send as a result.
    fn deliver(&mut self) {
        while let Some((at, arrival)) = self.wire.arrivals.queue.pop_front() {
            match arrival {
                Arrival::Delivered(packet) => {
                    self.wire.tap(at, packet.flow.dst, &packet);
                    if self.relay(at, packet) {
                        continue;
                    }
                    if let Some(envelope) = &self.wire.envelopes.take(packet.id) {
                        self.receive(at, packet.ecn, envelope);
                    }
                }
                Arrival::Departed(packet) => self.departed(at, packet),
                Arrival::Told(envelope) => self.receive(at, Ecn::NotEct, &envelope),
                Arrival::Dropped(Dropped { packet, link, .. }) => {
                    if self.wire.arrivals.is_own_queue(link, &packet) {
                        self.departed(at, packet);
                    }
                    self.wire.envelopes.take(packet.id);
                }
            }
        }
    }

    /// If the packet has reached a relay, sends it on. Returns `false` if the packet has reached
    /// its destination.
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

    fn receive(&mut self, now: Time, ecn: Ecn, envelope: &Envelope) {
        let &Envelope { session: session_index, to: end, ref payload } = envelope;
        let session = &mut self.sessions[session_index];
        if now >= session.active().1 {
            return;
        }
        session.receive(
            end,
            now,
            payload,
            ecn,
            &mut self.wire.post(session_index, session, end.other()),
        );
        let index = 2 * session_index + usize::from(end == End::Receiver);
        self.wakes.set(index, session.next_wake(end, now));
        self.end_both_directions(session_index, now);
        if let Payload::Rtp(packet) = payload {
            self.forward(session_index, now, packet);
        }
        self.request_key_frame(session_index, now);
    }

    /// Forwards a published packet to all subscribers.
    fn forward(&mut self, from: usize, now: Time, packet: &Rtp) {
        for &session_index in &self.forwarding.onward[from] {
            let session = &mut self.sessions[session_index];
            session.forward(
                now,
                packet,
                from,
                &mut self.wire.post(session_index, session, End::Receiver),
            );
        }
    }

    /// Passes a request for a key frame on to the publisher.
    fn request_key_frame(&mut self, session_index: usize, now: Time) {
        let Some(source) = self.forwarding.source[session_index] else { return };
        if self.sessions[session_index].take_key_frame_request() {
            let publisher = &mut self.sessions[source];
            publisher
                .relay_key_frame_request(now, &mut self.wire.post(source, publisher, End::Sender));
        }
    }

    /// A call that has ended in one direction ends in both.
    #[inline]
    fn end_both_directions(&mut self, session_index: usize, now: Time) {
        let Some(reverse) = self.reverse_sessions[session_index] else { return };
        let Ok([Session::Call(leg), Session::Call(other)]) =
            self.sessions.get_disjoint_mut([session_index, reverse])
        else {
            return;
        };
        if leg.has_ended() {
            other.end_with(now, leg);
            for (end, index) in [(End::Sender, 2 * reverse), (End::Receiver, 2 * reverse + 1)] {
                self.wakes.set(index, self.sessions[reverse].next_wake(end, now));
            }
        }
    }

    /// A packet left its own host's queue, so its sender may send another.
    fn departed(&mut self, now: Time, packet: Packet) {
        let Some(session_index) =
            self.wire.envelopes.get(packet.id).map(|envelope| envelope.session)
        else {
            return;
        };
        let session = &mut self.sessions[session_index];
        if packet.flow != session.flow(End::Receiver) || now >= session.active().1 {
            return;
        }
        session.departed(
            now,
            packet.size,
            &mut self.wire.post(session_index, session, End::Receiver),
        );
        self.wakes.set(2 * session_index, session.next_wake(End::Sender, now));
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

    /// The video frames of a direction of a call that its receiver could decode so far, from the
    /// frame with this index on: (time, delay since capture in seconds, payload). `direction`
    /// counts the directions of all calls in the order of the scenario; a two-way call has two.
    pub fn decoded(
        &self,
        direction: usize,
        from: usize,
    ) -> impl Iterator<Item = (Time, f64, Bytes)> {
        let frames = self.sessions.get(direction).map(|session| session.decoded(from));
        frames.into_iter().flatten()
    }

    /// The 5-tuple of the packets of a direction when they leave the sender; `None` if there is no
    /// such direction.
    #[must_use]
    pub fn flow(&self, direction: usize) -> Option<Flow> {
        self.sessions.get(direction).map(|session| session.flow(End::Receiver))
    }

    /// The end of the scenario.
    #[must_use]
    pub fn end(&self) -> Time {
        self.end
    }

    /// The records so far: those of a run that ends with the newest sample. Copies all samples, so
    /// a program that shows a run while it goes calls this a few times per second.
    #[must_use]
    pub fn records(&self) -> Recording {
        let last = Time::from_nanos(self.next_sample.as_nanos() - self.interval.as_nanos());
        let mut events: Vec<_> = self.sessions.iter().flat_map(Session::events_so_far).collect();
        events.retain(|event| event.at <= last);
        events.sort_by_key(|event| event.at);
        let sessions = self.sessions.iter().flat_map(Session::records);
        let lines = self.lines.iter().map(|(_, _, sampler)| sampler.clone().finish(Vec::new()));
        Recording {
            interval: self.interval,
            duration: last.saturating_since(Time::ZERO),
            streams: sessions.chain(lines).collect(),
            events,
        }
    }

    /// The records of the run.
    #[must_use]
    pub fn finish(mut self) -> Recording {
        let mut events: Vec<_> = self.sessions.iter_mut().flat_map(Session::events).collect();
        events.sort_by_key(|event| event.at);
        let sessions = self.sessions.into_iter().flat_map(Session::finish);
        let lines = self.lines.into_iter().map(|(_, _, sampler)| sampler.finish(Vec::new()));
        Recording {
            interval: self.interval,
            duration: self.end.saturating_since(Time::ZERO),
            streams: sessions.chain(lines).collect(),
            events,
        }
    }
}

/// Whether the host's uplink queue is on the host itself.
fn has_own_queue(scenario: &Scenario, host: HostId) -> bool {
    let access = scenario.network.hosts.get(usize::from(host.0)).map(|host| &host.access);
    scenario.stack(host).tsq && access.is_some_and(|access| access.is_limited(Direction::Up))
}

/// The sessions of a scenario: the legs of the calls, then the TCP flows.
fn sessions(
    scenario: &Scenario,
    end: Time,
    controllers: Option<&Arc<MakeControllers>>,
) -> Result<Vec<Session>, RunError> {
    let mut sessions = Vec::new();
    for call in &scenario.calls {
        for is_reverse in [false, true].into_iter().take(if call.two_way { 2 } else { 1 }) {
            let make = controllers.cloned();
            let leg = Leg::new(sessions.len(), call, is_reverse, (end, scenario.seed), make)?;
            sessions.push(Session::Call(Box::new(leg)));
        }
    }
    for (index, config) in scenario.tcp.iter().enumerate() {
        let stack =
            TcpStack { tsq: has_own_queue(scenario, config.from), ..scenario.stack(config.from) };
        let flow = TcpFlow::new(index, config, stack, end, scenario.seed);
        sessions.push(Session::Tcp(Box::new(flow)));
    }
    Ok(sessions)
}

/// For each session, the index of the reverse direction of its call; in the order of [`sessions`].
fn reverse_sessions(scenario: &Scenario, count: usize) -> Vec<Option<usize>> {
    let mut reverse_sessions = Vec::with_capacity(count);
    for call in &scenario.calls {
        let session_index = reverse_sessions.len();
        if call.two_way {
            reverse_sessions.extend([Some(session_index + 1), Some(session_index)]);
        } else {
            reverse_sessions.push(None);
        }
    }
    reverse_sessions.resize(count, None);
    reverse_sessions
}

impl<'b> Wire<'b> {
    /// The outbox of one end of a session; it sends to `to`.
    fn post(&mut self, session_index: usize, session: &Session, to: End) -> Post<'_, 'b> {
        let ideal_feedback = session.has_ideal_feedback(to);
        Post {
            flow: session.flow(to),
            dscp: session.dscp(),
            wire: self,
            session: session_index,
            to,
            ideal_feedback,
        }
    }

    /// Passes a packet to the observer.
    #[inline]
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

/// The outbox of one end of a session.
struct Post<'a, 'b> {
    wire: &'a mut Wire<'b>,
    flow: Flow,
    dscp: Dscp,
    session: usize,
    to: End,
    /// RTCP does not cross the network.
    ideal_feedback: bool,
}

impl Post<'_, '_> {
    /// Sends a packet. Returns whether the host's own queue accepted it.
    #[inline]
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
    fn rtp(&mut self, now: Time, packet: &Rtp, dscp: Dscp) {
        let size = wire::rtp_size(packet) + wire::UDP_IPV4_OVERHEAD + relay::framing(self.flow);
        self.send(now, Payload::Rtp(packet.clone()), size, dscp, packet.ecn);
    }

    fn rtcp(&mut self, now: Time, packet: Rtcp) {
        if self.ideal_feedback {
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
