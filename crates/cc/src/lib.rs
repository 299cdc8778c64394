//! Congestion controllers for real-time media, sans-IO: they take feedback and return decisions.
//!
//! A controller reads no clock, opens no socket and allocates nothing per packet. The caller passes
//! the time with every call and asks for the next timeout. [`build`] makes a controller from a
//! [`ControllerConfig`]: the name of a profile (`gcc:carlucci-2017`, or with an improvement
//! `gcc:carlucci-2017+short-hold`) and the settings that differ from the profile.
//!
//! A controller has one or two halves. A [`Sender`] decides the rate from feedback. A [`Receiver`]
//! observes arrivals and sends back a rate (REMB, draft-alvestrand-rmcat-remb-03) or a message of
//! its own ([`CustomFeedback`]).
//!
//! Sizes are those of RTP packets: header, extensions and payload, without UDP and IP, as in
//! libwebrtc.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod api;
mod probe_queue;
mod profile;
mod ranges;
mod registry;
mod setting;

pub mod external;
pub mod fixed;
pub mod gcc;
pub mod kilinc_andersson;
pub mod nada;
pub mod scream_v1;
pub mod scream_v2;

pub use api::*;
pub use gcc::Improvement;
pub use probe_queue::ProbeQueue;
pub use profile::{BuildError, ControllerConfig, Controllers, ImprovementError, Profile};
pub use registry::{build, check, improve, improvements, profiles, settings_of};
pub use setting::{Setting, SettingError};
