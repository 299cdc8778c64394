//! The simulator: media senders and receivers with codecs, pacers and RTCP, and TCP flows, in
//! virtual time over the network of `net`, controlled by the controllers of `cc`. Deterministic:
//! the same [`Scenario`] gives the same [`Recording`], byte for byte, on every machine.
//!
//! [`run`] takes a scenario and returns its records. One simulation runs on one thread.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod codec;
pub mod payload;
pub mod recording;
pub mod relay;
pub mod tcp;
pub mod wire;

mod endpoint;
mod ends;
mod envelopes;
mod forwarding;
mod leg;
mod media;
mod sampler;
mod scenario;
mod sending;
mod session;
mod simulation;
mod wakes;

pub use media::{
    Backlog, Grant, Grouping, NackList, Pacer, ProtectionShare, Reception, ReportTimer,
};
pub use recording::Recording;
pub use sampler::Sampler;
pub use scenario::{CallConfig, Estimate, Fec, Marks, Scenario, Sfu, VideoConfig};
pub use simulation::{Content, MakeControllers, Options, RunError, Simulation, Tap, run};
