//! A peer as data.

use crate::Estimator;
use cc::Controllers;
use rtc::interceptor::Gcc;
use sim::codec::{AudioConfig, EncoderConfig};
use std::net::SocketAddr;
use std::time::Instant;
use units::{Bitrate, Seed};

/// An end of a call.
pub struct PeerConfig {
    /// Where its socket is bound: the only candidate.
    pub address: SocketAddr,
    /// Which stack it is made of, and who decides its rate.
    pub stack: Stack,
    /// The video that this end sends; none if left out.
    pub video: Option<EncoderConfig>,
    /// The audio that it sends, if the other end takes any, beside the video and unpaced; none if
    /// left out. Received it is anyway.
    pub audio: Option<AudioConfig>,
    /// Of the frame sizes, the stream's numbers and the reports' times. The stacks have random
    /// numbers of their own besides.
    pub seed: Seed,
}

/// A WebRTC stack, and what estimates the bandwidth in it.
pub enum Stack {
    /// `rtc` under our controllers. `cc::build` makes both halves of a profile: what this end sends
    /// with, and how it answers to what it receives.
    Rtc(Controllers),
    /// `rtc` with its own `Gcc`.
    RtcGcc(Rates),
    /// `str0m` with its own estimator.
    Str0m(Rates),
}

/// What an estimator that is a stack's own is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Before any feedback.
    pub start: Bitrate,
    /// The least that is sent, whatever is estimated.
    pub min: Bitrate,
    /// The most.
    pub max: Bitrate,
}

impl Rates {
    /// `rtc`'s own estimator, whose time starts at `now`.
    pub(crate) fn gcc(self, now: Instant) -> Controllers {
        let [start, min, max] = [self.start, self.min, self.max].map(Bitrate::as_bps_f64);
        let sender = Box::new(Estimator::new(Gcc::new(start, min, max), now));
        Controllers { sender, receiver: None, transport_feedback: true }
    }
}
