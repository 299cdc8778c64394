//! The sending end of one direction of a call: an endpoint or a forwarding unit.

use crate::media::{EndReason, Forwarder, MediaSender, Outbox, Reported, Show, Sources};
use crate::payload::{Rtcp, Rtp};
use units::{Duration, Time};

/// A sending end.
pub(crate) enum SendingEnd {
    /// An endpoint with its own source.
    Endpoint(Box<MediaSender>),
    /// A forwarding unit.
    Sfu(Box<Forwarder>),
}

impl SendingEnd {
    /// Handles everything that is due.
    pub(crate) fn wake(&mut self, now: Time, out: &mut impl Outbox) {
        match self {
            Self::Endpoint(sender) => sender.wake(now, out),
            Self::Sfu(forwarder) => forwarder.wake(now, out),
        }
    }

    pub(crate) fn next_wake(&self) -> Option<Time> {
        match self {
            Self::Endpoint(sender) => sender.next_wake(),
            Self::Sfu(forwarder) => forwarder.next_wake(),
        }
    }

    /// A compound RTCP packet from the receiver arrived.
    pub(crate) fn on_rtcp(&mut self, now: Time, packet: &Rtcp, out: &mut impl Outbox) {
        match self {
            Self::Endpoint(sender) => sender.on_rtcp(now, packet),
            Self::Sfu(forwarder) => forwarder.on_rtcp(now, packet, out),
        }
    }

    /// Forwards a packet that session `from` received.
    pub(crate) fn forward(&mut self, now: Time, packet: &Rtp, from: usize, out: &mut impl Outbox) {
        if let Self::Sfu(forwarder) = self {
            forwarder.forward(now, packet, &Sources::of_session(from), out);
        }
    }

    /// Whether the receiver of the forwarded stream has requested a key frame since the last call.
    pub(crate) fn take_key_frame_request(&mut self) -> bool {
        match self {
            Self::Endpoint(_) => false,
            Self::Sfu(forwarder) => forwarder.take_key_frame_request(),
        }
    }

    pub(crate) fn hang_up(&mut self, now: Time) {
        match self {
            Self::Endpoint(sender) => sender.hang_up(now),
            Self::Sfu(forwarder) => forwarder.hang_up(now),
        }
    }

    pub(crate) fn ended(&self) -> Option<(Time, EndReason)> {
        match self {
            Self::Endpoint(sender) => sender.ended(),
            Self::Sfu(forwarder) => forwarder.ended(),
        }
    }

    pub(crate) fn show_video(&mut self, since_last: Duration, show: &mut Show<'_>) {
        match self {
            Self::Endpoint(sender) => sender.show_video(since_last, show),
            Self::Sfu(forwarder) => forwarder.show_video(show),
        }
    }

    pub(crate) fn show_audio(&self, show: &mut Show<'_>) {
        match self {
            Self::Endpoint(sender) => sender.show_audio(show),
            Self::Sfu(forwarder) => forwarder.show_audio(show),
        }
    }

    /// The contents of the receiver reports so far; `None` without video.
    pub(crate) fn reported(&self) -> Option<&Reported> {
        match self {
            Self::Endpoint(sender) => sender.reported(),
            Self::Sfu(forwarder) => Some(forwarder.reported()),
        }
    }
}
