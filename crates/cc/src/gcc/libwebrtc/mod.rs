//! Google Congestion Control as in libwebrtc of July 2026: it runs at the sender, on transport-wide
//! feedback.
//!
//! The stages in the order of the data flow. Each stage is a file:
//!
//! ```text
//! feedback ─┬─► inter_arrival → trendline → overuse → aimd ◄── link_capacity      } delay_based
//!           │     Δsent, Δarrival   trend     state     │ delay-based rate
//!           ├─► acknowledged_rate (robust_throughput) ──┤
//!           ├─► probe_estimator ────────────────────────┤ probe rate
//!           └─► loss_observations → loss_model → loss_based ──► min ──► target (REMB caps) → decision
//! sent ─────┬─► alr ──────────┐                                 ▲
//!           ├─► rtt_backoff ──┼─────────────────────────────────┘
//!           └─► probe_queue ◄─ probe_controller ◄── target
//! ```
//!
//! `docs/algorithms/gcc-libwebrtc.md` lists the differences from libwebrtc.

mod acknowledged_rate;
mod aimd;
mod alr;
mod bayesian_rate;
mod choices;
mod config;
mod config_check;
mod congestion_window;
mod defaults;
mod delay_based;
#[cfg(test)]
mod expectations;
mod in_flight;
mod inter_arrival;
mod link_capacity;
mod loss_based;
mod loss_model;
mod loss_observations;
mod overuse;
mod probe_controller;
mod probe_estimator;
mod robust_throughput;
mod rounding;
mod rtt_backoff;
mod send_side;
mod sender;
#[cfg(test)]
mod tests;
mod trendline;
#[cfg(test)]
mod vectors;

use crate::profile::{ControllerConfig, Controllers, Profile};
pub use choices::{AcknowledgedEstimator, SafeReset};
pub use config::LibwebrtcConfig;

#[cfg(test)]
use super::overuse_detector::Signal;
use sender::LibwebrtcSender;

/// The name of the newest version.
const NAME: &str = "libwebrtc";
/// The date of its revision: `libwebrtc@2026-07` is this version also when there is a newer one.
const REVISION: &str = "2026-07";

/// Whether `name` is a name of this version, with or without its revision.
pub(super) fn is_named(name: &str) -> bool {
    let (profile, revision) = name.split_once('@').unwrap_or((name, REVISION));
    (profile, revision) == (NAME, REVISION)
}

pub(crate) fn profile() -> Profile {
    Profile {
        name: "gcc:libwebrtc".to_owned(),
        summary: "libwebrtc of July 2026 (branch-heads/7871), equal to recordings of it; also gcc:libwebrtc@2026-07",
        settings: LibwebrtcConfig::default().settings(),
    }
}

/// Builds the controller with constants that were checked before.
pub(super) fn build(constants: &LibwebrtcConfig, config: &ControllerConfig) -> Controllers {
    let sender = Box::new(LibwebrtcSender::new(constants, config));
    Controllers { sender, receiver: None, transport_feedback: true }
}
