//! Congestion controllers for real-time media, sans-IO: feedback in, decisions out.
//!
//! A controller reads no clock, opens no socket and allocates nothing per packet: every time comes
//! in with the call, and the next wake-up goes out. [`build`] makes one from a
//! [`ControllerConfig`], which is data: a profile's name (`gcc:carlucci-2017`, or with an
//! improvement `gcc:carlucci-2017+short-hold`) and settings that differ from it.
//!
//! Two shapes, because the papers' Google Congestion Control has both: a [`Sender`] decides the
//! rate from feedback; a [`Receiver`] watches arrivals and sends back a rate (REMB,
//! draft-alvestrand-rmcat-remb-03), or how it sees the path.
//!
//! Sizes are RTP packets: header, extensions and payload, without UDP and IP, as in libwebrtc.

mod api;
mod registry;
mod setting;

pub mod fixed;
pub mod gcc;
pub mod kilinc_andersson;

pub use api::*;
pub use gcc::{Improvement, ImprovementError};
pub use registry::{
    BuildError, ControllerConfig, Controllers, Profile, build, improve, improvements, profiles,
    settings_of,
};
pub use setting::{Setting, SettingError};
