//! The sending end of a direction of a call, whichever it is.

use crate::media::{Ending, Forwarder, MediaSender, Outbox, Reported, Show, Sources};
use crate::payload::{Rtcp, Rtp};
use units::{Duration, Time};

/// A sending end.
pub(crate) enum Sending {
    /// A party's, with a source of its own.
    Party(Box<MediaSender>),
    /// A forwarding unit's.
    Unit(Box<Forwarder>),
}

impl Sending {
    /// Does what is due.
    pub(crate) fn wake(&mut self, now: Time, out: &mut impl Outbox) {
        match self {
            Self::Party(sender) => sender.wake(now, out),
            Self::Unit(forwarder) => forwarder.wake(now, out),
        }
    }

    pub(crate) fn next_wake(&self) -> Option<Time> {
        match self {
            Self::Party(sender) => sender.next_wake(),
            Self::Unit(forwarder) => forwarder.next_wake(),
        }
    }

    /// A compound RTCP packet of the receiver arrived.
    pub(crate) fn on_rtcp(&mut self, now: Time, packet: &Rtcp, out: &mut impl Outbox) {
        match self {
            Self::Party(sender) => sender.on_rtcp(now, packet),
            Self::Unit(forwarder) => forwarder.on_rtcp(now, packet, out),
        }
    }

    /// Passes on what the leg at the place `from` received.
    pub(crate) fn forward(&mut self, now: Time, packet: &Rtp, from: usize, out: &mut impl Outbox) {
        if let Self::Unit(forwarder) = self {
            forwarder.forward(now, packet, &Sources::of_place(from), out);
        }
    }

    /// Whether a receiver of what is forwarded has asked for a key frame since this was called
    /// last.
    pub(crate) fn take_key_frame_request(&mut self) -> bool {
        match self {
            Self::Party(_) => false,
            Self::Unit(forwarder) => forwarder.take_key_frame_request(),
        }
    }

    pub(crate) fn hang_up(&mut self, now: Time) {
        match self {
            Self::Party(sender) => sender.hang_up(now),
            Self::Unit(forwarder) => forwarder.hang_up(now),
        }
    }

    pub(crate) fn ended(&self) -> Option<(Time, Ending)> {
        match self {
            Self::Party(sender) => sender.ended(),
            Self::Unit(forwarder) => forwarder.ended(),
        }
    }

    pub(crate) fn show_video(&mut self, since_last: Duration, show: &mut Show<'_>) {
        match self {
            Self::Party(sender) => sender.show_video(since_last, show),
            Self::Unit(forwarder) => forwarder.show_video(show),
        }
    }

    pub(crate) fn show_audio(&self, show: &mut Show<'_>) {
        match self {
            Self::Party(sender) => sender.show_audio(show),
            Self::Unit(forwarder) => forwarder.show_audio(show),
        }
    }

    pub(crate) fn take_reported(&mut self) -> Reported {
        match self {
            Self::Party(sender) => sender.take_reported().unwrap_or_default(),
            Self::Unit(forwarder) => forwarder.take_reported(),
        }
    }
}
