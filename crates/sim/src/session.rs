//! What two hosts have with each other: a direction of a call, or a TCP flow. Each has a sending
//! and a receiving end.

use crate::envelopes::{End, Payload};
use crate::leg::Leg;
use crate::media::Outbox;
use crate::payload::Rtp;
use crate::recording::{Event, StreamRecord};
use crate::tcp::{TcpFlow, TcpOutbox};
use net::{Dscp, Ecn, Flow};
use units::{Bytes, Time};

/// One of the things that go on in a run.
pub(crate) enum Session {
    /// A direction of a call.
    Call(Box<Leg>),
    /// A TCP flow.
    Tcp(Box<TcpFlow>),
}

impl Session {
    /// From when until when it takes place.
    pub(crate) fn active(&self) -> (Time, Time) {
        match self {
            Self::Call(leg) => leg.active,
            Self::Tcp(flow) => flow.active,
        }
    }

    /// The 5-tuple of packets to the given end, as they leave the other.
    pub(crate) fn flow(&self, to: End) -> Flow {
        match self {
            Self::Call(leg) => leg.flow(to),
            Self::Tcp(flow) => flow.flow(to),
        }
    }

    /// Whether RTCP to this end arrives at once, beside the network.
    pub(crate) fn is_told_at_once(&self, end: End) -> bool {
        match self {
            Self::Call(leg) => leg.is_told_at_once(end),
            Self::Tcp(_) => false,
        }
    }

    /// How a relay, if this packet on its way to `to` is there, sends it on.
    pub(crate) fn onward(&self, to: End, arrived: Flow) -> Option<Flow> {
        match self {
            Self::Call(leg) => leg.onward(to, arrived),
            Self::Tcp(_) => None,
        }
    }

    /// The mark on packets that do not say their own.
    pub(crate) fn dscp(&self) -> Dscp {
        match self {
            Self::Call(leg) => leg.dscp.video,
            Self::Tcp(flow) => flow.dscp,
        }
    }

    /// When an end next wants to be woken; never outside the session.
    pub(crate) fn next_wake(&self, end: End, now: Time) -> Time {
        match self {
            Self::Call(leg) => leg.next_wake(end),
            Self::Tcp(flow) => flow.next_wake(end, now),
        }
    }

    /// Lets an end do what is due; `out` leads to the other end.
    pub(crate) fn wake(&mut self, end: End, now: Time, out: &mut (impl Outbox + TcpOutbox)) {
        match (self, end) {
            (Self::Call(leg), end) => leg.wake(end, now, out),
            (Self::Tcp(flow), End::Sender) => flow.sender.wake(now, out),
            (Self::Tcp(flow), End::Receiver) => flow.receiver.wake(now, out),
        }
    }

    /// A packet reached an end.
    pub(crate) fn receive(
        &mut self,
        end: End,
        now: Time,
        payload: Payload,
        ecn: Ecn,
        out: &mut (impl Outbox + TcpOutbox),
    ) {
        match (self, end, payload) {
            (Self::Call(leg), End::Receiver, Payload::Rtp(packet)) => leg.on_rtp(now, &packet, out),
            (Self::Call(leg), end, Payload::Rtcp(packet)) => leg.on_rtcp(end, now, &packet, out),
            (Self::Tcp(flow), End::Receiver, Payload::Tcp(segment)) => {
                flow.receiver.on_segment(now, &segment, ecn, out);
            }
            (Self::Tcp(flow), End::Sender, Payload::Tcp(segment)) => {
                flow.sender.on_segment(now, &segment, out);
            }
            (Self::Call(_), ..) | (Self::Tcp(_), ..) => {
                debug_assert!(false, "a packet of another kind");
            }
        }
    }

    /// Passes on what the session at the place `from` received, if it is a forwarding unit's and
    /// goes on.
    pub(crate) fn forward(&mut self, now: Time, packet: &Rtp, from: usize, out: &mut impl Outbox) {
        if let Self::Call(leg) = self {
            leg.forward(now, packet, from, out);
        }
    }

    /// Whether a receiver of what is forwarded has asked for a key frame.
    pub(crate) fn take_key_frame_request(&mut self) -> bool {
        match self {
            Self::Call(leg) => leg.take_key_frame_request(),
            Self::Tcp(_) => false,
        }
    }

    /// Asks the publisher for a key frame.
    pub(crate) fn relay_key_frame_request(&mut self, now: Time, out: &mut impl Outbox) {
        if let Self::Call(leg) = self {
            leg.relay_key_frame_request(now, out);
        }
    }

    /// A packet of the sender left its host's own queue.
    pub(crate) fn departed(&mut self, now: Time, size: Bytes, out: &mut impl TcpOutbox) {
        if let Self::Tcp(flow) = self {
            flow.sender.on_departed(now, size, out);
        }
    }

    pub(crate) fn sample(&mut self, now: Time) {
        match self {
            Self::Call(leg) => leg.sample(now),
            Self::Tcp(flow) => flow.sample(now),
        }
    }

    pub(crate) fn events(&mut self) -> Vec<Event> {
        match self {
            Self::Call(leg) => leg.events(),
            Self::Tcp(flow) => flow.events(),
        }
    }

    pub(crate) fn finish(self) -> Vec<StreamRecord> {
        match self {
            Self::Call(leg) => leg.finish().collect(),
            Self::Tcp(flow) => vec![flow.finish()],
        }
    }
}
