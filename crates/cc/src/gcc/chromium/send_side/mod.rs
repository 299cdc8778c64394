//! `gcc:chrome-72`: the estimate at the sender, on transport-wide feedback.
//!
//! ```text
//! feedback ─┬─► groups → trend → detector → aimd        } delay_based
//!           ├─► acknowledged ────────────────┤
//!           └─► probe_results ───────────────┴─► loss ──► min ──► target → decision
//! sent ─────┬─► alr ─────────────────┐            ▲
//!           └─► probes ◄─────────────┴── target   receiver report
//! ```
//!
//! `groups`, `detector`, `max_rate` and `loss` are the stages of the folder above.

mod acknowledged;
mod aimd;
mod alr;
mod config;
mod config_check;
mod delay_based;
mod probe_results;
mod probes;
mod sender;
mod trend;

use crate::profile::{ControllerConfig, Controllers, Profile};
pub use config::SendSideConfig;
use sender::SendSide;

pub(in crate::gcc) fn profile() -> Profile {
    Profile {
        name: "gcc:chrome-72".to_owned(),
        summary: "Chrome 72, as run for Guerrero Viveros 2019: trendline and probing at the sender \
                  (libwebrtc 35f1e8568a, November 2018)",
        settings: SendSideConfig::default().settings(),
    }
}

/// Builds the controller with constants that were checked before.
pub(in crate::gcc) fn build(constants: &SendSideConfig, config: &ControllerConfig) -> Controllers {
    let sender = Box::new(SendSide::new(constants, config));
    Controllers { sender, receiver: None, transport_feedback: true }
}
