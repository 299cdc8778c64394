//! The former transcription of libwebrtc's Google Congestion Control: it runs at the sender, on
//! transport-wide feedback. [`libwebrtc`](super::libwebrtc) is proven against recordings and will
//! replace it.
//!
//! The stages in the order of the data flow. Each stage is a file:
//!
//! ```text
//! feedback ─┬─► inter_arrival → trendline → overuse → aimd ◄── link_capacity      } delay_based
//!           │     Δsent, Δarrival   trend     state     │ delay-based rate
//!           ├─► acknowledged_rate ──────────────────────┤
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
mod config;
mod config_check;
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
mod rtt_backoff;
mod sender;
#[cfg(test)]
mod tests;
mod trendline;

use crate::profile::{ControllerConfig, Controllers, Profile};
pub use config::LibwebrtcConfig;

use sender::LibwebrtcSender;

pub(crate) fn profile() -> Profile {
    Profile {
        name: "gcc:libwebrtc".to_owned(),
        summary: "the rules of libwebrtc, transcribed: trendline, loss-based v2, probing, at the sender",
        settings: LibwebrtcConfig::default().settings(),
    }
}

/// Builds the controller with constants that were checked before.
pub(super) fn build(constants: &LibwebrtcConfig, config: &ControllerConfig) -> Controllers {
    let sender = Box::new(LibwebrtcSender::new(constants, config));
    Controllers { sender, receiver: None, transport_feedback: true }
}
