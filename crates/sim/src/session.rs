//! A session between two hosts: one direction of a call, or a TCP flow. Each has a sending and a
//! receiving end.

use crate::endpoint::End;
use crate::envelopes::Payload;
use crate::leg::Leg;
use crate::media::Outbox;
use crate::payload::Rtp;
use crate::recording::{Event, StreamRecord};
use crate::tcp::{TcpFlow, TcpOutbox};
use net::{Dscp, Ecn, Flow};
use units::{Bytes, Time};

/// A session of the run.
pub(crate) enum Session {
    /// One direction of a call.
    Call(Box<Leg>),
    /// A TCP flow.
    Tcp(Box<TcpFlow>),
}

impl Session {
    /// The start and end of the session.
    pub(crate) fn active(&self) -> (Time, Time) {
        match self {
            Self::Call(leg) => leg.active,
            Self::Tcp(flow) => flow.active,
        }
    }

    /// The 5-tuple of packets to `to` when they leave the other end.
    pub(crate) fn flow(&self, to: End) -> Flow {
        match self {
            Self::Call(leg) => leg.flow(to),
            Self::Tcp(flow) => flow.flow(to),
        }
    }

    /// Whether RTCP to `end` arrives at once, without crossing the network.
    pub(crate) fn has_ideal_feedback(&self, end: End) -> bool {
        match self {
            Self::Call(leg) => leg.has_ideal_feedback(end),
            Self::Tcp(_) => false,
        }
    }

    /// The 5-tuple with which a relay sends on a packet to `to`; `None` if the packet is not at a
    /// relay.
    pub(crate) fn onward(&self, to: End, arrived: Flow) -> Option<Flow> {
        match self {
            Self::Call(leg) => leg.onward(to, arrived),
            Self::Tcp(_) => None,
        }
    }

    /// The DSCP of packets that do not specify their own.
    pub(crate) fn dscp(&self) -> Dscp {
        match self {
            Self::Call(leg) => leg.dscp.video,
            Self::Tcp(flow) => flow.dscp,
        }
    }

    /// When `end` next needs a call of `wake`; never outside the session.
    pub(crate) fn next_wake(&self, end: End, now: Time) -> Time {
        match self {
            Self::Call(leg) => leg.next_wake(end),
            Self::Tcp(flow) => flow.next_wake(end, now),
        }
    }

    /// Lets `end` handle what is due; `out` sends to the other end.
    pub(crate) fn wake(&mut self, end: End, now: Time, out: &mut (impl Outbox + TcpOutbox)) {
        match (self, end) {
            (Self::Call(leg), end) => leg.wake(end, now, out),
            (Self::Tcp(flow), End::Sender) => flow.sender.wake(now, out),
            (Self::Tcp(flow), End::Receiver) => flow.receiver.wake(now, out),
        }
    }

    /// A packet reached `end`.
    pub(crate) fn receive(
        &mut self,
        end: End,
        now: Time,
        payload: &Payload,
        ecn: Ecn,
        out: &mut (impl Outbox + TcpOutbox),
    ) {
        match (self, end, payload) {
            (Self::Call(leg), End::Receiver, Payload::Rtp(packet)) => {
                leg.on_rtp(now, &Rtp { ecn, ..packet.clone() }, out);
            }
            (Self::Call(leg), end, Payload::Rtcp(packet)) => leg.on_rtcp(end, now, packet, out),
            (Self::Tcp(flow), End::Receiver, Payload::Tcp(segment)) => {
                flow.receiver.on_segment(now, segment, ecn, out);
            }
            (Self::Tcp(flow), End::Sender, Payload::Tcp(segment)) => {
                flow.sender.on_segment(now, segment, out);
            }
            (Self::Call(_), ..) | (Self::Tcp(_), ..) => {
                debug_assert!(false, "the payload does not match the session");
            }
        }
    }

    /// Forwards a packet that session `from` received, if this session is a forwarding unit's.
    pub(crate) fn forward(&mut self, now: Time, packet: &Rtp, from: usize, out: &mut impl Outbox) {
        if let Self::Call(leg) = self {
            leg.forward(now, packet, from, out);
        }
    }

    /// Whether the receiver of the forwarded stream has requested a key frame since the last call.
    pub(crate) fn take_key_frame_request(&mut self) -> bool {
        match self {
            Self::Call(leg) => leg.take_key_frame_request(),
            Self::Tcp(_) => false,
        }
    }

    /// Requests a key frame from the publisher.
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

    /// The video frames that the receiver of a call could decode, from this index on.
    pub(crate) fn decoded(&self, from: usize) -> impl Iterator<Item = (Time, f64, Bytes)> {
        let leg = if let Self::Call(leg) = self { Some(leg) } else { None };
        leg.into_iter().flat_map(move |leg| leg.decoded(from))
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

    /// The events so far.
    pub(crate) fn events_so_far(&self) -> Vec<Event> {
        match self {
            Self::Call(leg) => leg.events_so_far(),
            Self::Tcp(flow) => flow.events(),
        }
    }

    /// The records so far.
    pub(crate) fn records(&self) -> Vec<StreamRecord> {
        match self {
            Self::Call(leg) => leg.records().collect(),
            Self::Tcp(flow) => vec![flow.record()],
        }
    }

    pub(crate) fn finish(self) -> Vec<StreamRecord> {
        match self {
            Self::Call(leg) => leg.finish().collect(),
            Self::Tcp(flow) => vec![flow.finish()],
        }
    }
}
