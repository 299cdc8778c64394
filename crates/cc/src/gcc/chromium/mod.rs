//! Google Congestion Control as browsers ran it from 2014 to 2016: libwebrtc with REMB.
//!
//! The stages in the order of the data flow. Each stage is a file:
//!
//! ```text
//! receiver  packets ─┬─► groups → kalman → detector → aimd ◄─► max_rate
//!                    │    deltas     m      T, γ, state │ estimate
//!                    ├─► incoming_rate ─────────────────┤          └─► remb ─┐
//!                    └─► probe_clusters ────────────────┘                    │
//! sender    decision ◄─ loss ◄─ receiver report, REMB ◄──────────────────────┘
//!                       start_probes
//! ```
//!
//! `profiles` has the versions, `config` the rules that differ between them.
//! `docs/algorithms/gcc-as-run.md` describes the profiles and how they were compared with the
//! original programs.

mod aimd;
mod config;
mod config_check;
mod detector;
mod groups;
mod incoming_rate;
mod kalman;
mod loss;
mod max_rate;
mod probe_clusters;
mod profiles;
mod receiver;
mod remb;
mod send_side;
mod sender;
mod start_probes;
#[cfg(test)]
mod tests;
mod words;

use crate::profile::{ControllerConfig, Controllers, Profile};
pub use config::ChromiumConfig;
use receiver::ChromiumReceiver;
pub use send_side::SendSideConfig;
pub(super) use send_side::build as build_send_side;
use sender::ChromiumSender;

/// The profiles of this folder.
pub(super) fn profiles() -> impl Iterator<Item = Profile> {
    let with_remb = ChromiumConfig::PROFILES.iter().map(|version| Profile {
        name: format!("gcc:{}", version.name),
        summary: version.summary,
        settings: (version.config)().settings(),
    });
    with_remb.chain([send_side::profile()])
}

/// Builds the controller with constants that were checked before.
pub(super) fn build(constants: &ChromiumConfig, config: &ControllerConfig) -> Controllers {
    let bounds = (config.min_rate, config.max_rate);
    Controllers {
        sender: Box::new(ChromiumSender::new(constants, config)),
        receiver: Some(Box::new(ChromiumReceiver::new(constants, bounds))),
        transport_feedback: false,
    }
}
