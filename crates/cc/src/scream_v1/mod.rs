//! Self-Clocked Rate Adaptation for Multimedia (SCReAM), RFC 8298: a congestion window that follows
//! the queue delay as in LEDBAT, and a rate of the encoder that follows the sender's queue.
//!
//! The stages are those of § 3 and Figure 1, each a file. The record of the packets in flight, the
//! base delay, the sender's queue and the compensation for competing flows are those of SCReAM v2
//! (`crate::scream_v2`), whose text takes them over:
//!
//! ```text
//! feedback → flight, queue_delay → queue_delay_trend → congestion_window ─ cwnd → send window,
//!   (network congestion control, § 4.1.2)                    │                    pacing (§ 4.1.2.5)
//! frames → media_queue ──────────────────────→ media_rate ◄──┘ fast increase, losses, marks
//!                              rates ─────────────→ │ (media rate control, § 4.1.3) → target
//! ```
//!
//! `docs/algorithms/scream-v1.md` has a table of the choices where the text is silent and of the
//! differences from the authors' later code.

mod config;
mod congestion_window;
mod media_rate;
mod queue_delay_trend;
mod rates;
mod sender;

pub use config::{EcnMode, ScreamV1Config};

use crate::Setting;
use crate::profile::{BuildError, ControllerConfig, Controllers, Profile};
use sender::ScreamV1Sender;

pub(crate) fn profiles() -> Vec<Profile> {
    vec![Profile {
        name: "scream-v1".to_owned(),
        summary: "SCReAM, RFC 8298: a congestion window by the queue delay, rate by the sender's \
                  queue",
        settings: ScreamV1Config::published().settings(),
    }]
}

/// Builds the controller with the settings of `config`. `rest` is the part of the name after the
/// family and must be empty.
pub(crate) fn build(rest: &str, config: &ControllerConfig) -> Result<Controllers, BuildError> {
    let own = constants(rest, config)?;
    Ok(Controllers {
        sender: Box::new(ScreamV1Sender::new(&own, config)),
        receiver: None,
        transport_feedback: true,
    })
}

/// Every setting with its value in `config`.
pub(crate) fn settings(rest: &str, config: &ControllerConfig) -> Result<Vec<Setting>, BuildError> {
    Ok(constants(rest, config)?.settings())
}

fn constants(rest: &str, config: &ControllerConfig) -> Result<ScreamV1Config, BuildError> {
    if !rest.is_empty() {
        return Err(crate::profile::unknown(&config.profile));
    }
    let mut own = ScreamV1Config::published();
    for (name, text) in &config.settings {
        own.set(name, text)?;
    }
    own.check()?;
    Ok(own)
}
