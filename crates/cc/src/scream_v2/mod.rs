//! SCReAM v2 (draft-ietf-ccwg-rfc8298bis-screamv2, before it
//! draft-johansson-ccwg-rfc8298bis-screamv2): a reference window from losses, marks and delay, from
//! which the rate of the encoder is computed.
//!
//! The stages are those of the draft's Figure 1, each a file:
//!
//! ```text
//! feedback → flight → queue_delay, rtt, l4s_alpha, competing_flows → reference_window
//!   (network congestion control)                                        │ ref_wnd
//! frames → media_queue → frame_size ──┐                                 ├──→ media_rate ─→ target
//!                                     └────────→ transmission ◄─────────┘
//!                                                 │ send window, pacing rate
//! ```
//!
//! `docs/algorithms/scream-v2.md` has a table of the differences between the draft and the authors'
//! code.

pub(crate) mod competing_flows;
mod config;
pub(crate) mod flight;
mod frame_size;
mod l4s_alpha;
pub(crate) mod media_queue;
mod media_rate;
pub(crate) mod ntp;
pub(crate) mod queue_delay;
mod rates;
mod reference_window;
pub(crate) mod rtt;
mod sender;
mod transmission;

pub use config::{DelayReaction, EcnMode, Inflection, LossDetection, RttFilter, ScreamV2Config};

use crate::Setting;
use crate::profile::{BuildError, ControllerConfig, Controllers, Profile};
use sender::ScreamV2Sender;

/// The name of the profile with the rules of the authors' code.
const CODE: &str = "ericsson";

pub(crate) fn profiles() -> Vec<Profile> {
    vec![
        Profile {
            name: "scream-v2".to_owned(),
            summary: "SCReAM v2 by the draft of autumn 2025: a reference window, L4S, delay",
            settings: ScreamV2Config::draft().settings(),
        },
        Profile {
            name: format!("scream-v2@{CODE}"),
            summary: "SCReAM v2 by the rules of the authors' code of July 2026 \
                      (EricssonResearch/scream)",
            settings: ScreamV2Config::code().settings(),
        },
    ]
}

/// Builds the controller with the settings of `config`. `rest` is the part of the name after the
/// family.
pub(crate) fn build(rest: &str, config: &ControllerConfig) -> Result<Controllers, BuildError> {
    let own = constants(rest, config)?;
    Ok(Controllers {
        sender: Box::new(ScreamV2Sender::new(&own, config)),
        receiver: None,
        transport_feedback: true,
    })
}

/// Every setting with its value in `config`.
pub(crate) fn settings(rest: &str, config: &ControllerConfig) -> Result<Vec<Setting>, BuildError> {
    Ok(constants(rest, config)?.settings())
}

fn constants(rest: &str, config: &ControllerConfig) -> Result<ScreamV2Config, BuildError> {
    let mut own = match rest.strip_prefix('@') {
        None if rest.is_empty() => ScreamV2Config::draft(),
        Some(CODE) => ScreamV2Config::code(),
        _ => return Err(crate::profile::unknown(&config.profile)),
    };
    for (name, text) in &config.settings {
        own.set(name, text)?;
    }
    own.check()?;
    Ok(own)
}
