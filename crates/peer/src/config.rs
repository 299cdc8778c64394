//! The configuration of a peer.

use crate::Estimator;
use cc::Controllers;
use rtc::interceptor::Gcc;
use sim::codec::{AudioConfig, EncoderConfig};
use std::net::SocketAddr;
use std::time::Instant;
use units::{Bitrate, Seed};

/// The configuration of one endpoint of a call.
pub struct PeerConfig {
    /// The address to which its socket is bound: the only ICE candidate.
    pub address: SocketAddr,
    /// The WebRTC stack, and the controller of the rate.
    pub stack: Stack,
    /// The video that this endpoint sends; `None` sends no video.
    pub video: Option<EncoderConfig>,
    /// The audio that this endpoint sends if the remote endpoint accepts audio, unpaced; `None`
    /// sends no audio. Audio is received in any case.
    pub audio: Option<AudioConfig>,
    /// The seed of the frame sizes, of sequence numbers and SSRCs, and of the times of reports. The
    /// stacks also use random numbers that it does not determine.
    pub seed: Seed,
}

/// A WebRTC stack and its bandwidth estimator.
pub enum Stack {
    /// `rtc` with controllers of `cc`. `cc::build` makes both halves of a profile: the sender, and
    /// the receiver that answers what this endpoint receives.
    Rtc(Controllers),
    /// `rtc` with its own `Gcc`.
    RtcGcc(Rates),
    /// `str0m` with its own estimator.
    Str0m(Rates),
}

/// The rates that configure the estimator of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// The rate before any feedback.
    pub start: Bitrate,
    /// The lowest rate, whatever the estimate is.
    pub min: Bitrate,
    /// The highest rate, whatever the estimate is.
    pub max: Bitrate,
}

impl Rates {
    /// The estimator of `rtc` as a controller, whose time starts at `now`.
    pub(crate) fn gcc(self, now: Instant) -> Controllers {
        let [start, min, max] = [self.start, self.min, self.max].map(Bitrate::as_bps_f64);
        let sender = Box::new(Estimator::new(Gcc::new(start, min, max), now));
        Controllers { sender, receiver: None, transport_feedback: true }
    }
}
