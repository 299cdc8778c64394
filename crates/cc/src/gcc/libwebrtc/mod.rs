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
//! `docs/algorithms/gcc-libwebrtc@2026-07.md` lists the differences from libwebrtc.

mod acknowledged_rate;
mod aimd;
mod alr;
mod bayesian_rate;
mod config;
mod config_check;
mod congestion_window;
mod defaults;
mod delay_based;
mod inter_arrival;
mod link_capacity;
mod loss_based;
mod loss_model;
mod loss_observations;
mod overuse;
mod probe_controller;
mod probe_estimator;
mod probe_queue;
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
pub use acknowledged_rate::AcknowledgedEstimator;
pub use config::LibwebrtcConfig;

#[cfg(test)]
use super::overuse_detector::Signal;
use sender::LibwebrtcSender;

pub(crate) fn profile() -> Profile {
    Profile {
        name: "gcc:libwebrtc@2026-07".to_owned(),
        summary: "libwebrtc of July 2026, equal to recordings of it; sim and peer do not pass all it takes yet",
        settings: LibwebrtcConfig::default().settings(),
    }
}

/// Builds the controller with constants that were checked before.
pub(super) fn build(constants: &LibwebrtcConfig, config: &ControllerConfig) -> Controllers {
    let sender = Box::new(LibwebrtcSender::new(constants, config));
    Controllers { sender, receiver: None, transport_feedback: true }
}
