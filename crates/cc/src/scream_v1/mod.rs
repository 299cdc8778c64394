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
//! The folder `code` has the rules of the authors' code of 2024, which departs from the text in most
//! of them. `docs/algorithms/scream-v1.md` has a table of the differences and of the choices where
//! the text is silent.

mod code;
mod config;
mod congestion_window;
mod media_rate;
mod queue_delay_trend;
mod rates;
mod sender;

pub use code::ScreamV1CodeConfig;
pub use config::{EcnMode, ScreamV1Config};

use crate::Setting;
use crate::profile::{BuildError, ControllerConfig, Controllers, Profile};
use code::CodeSender;
use sender::ScreamV1Sender;

/// The name of the profile with the rules of the authors' code.
const CODE: &str = "ericsson";

/// The constants of a profile.
enum Constants {
    Text(ScreamV1Config),
    Code(ScreamV1CodeConfig),
}

pub(crate) fn profiles() -> Vec<Profile> {
    vec![
        Profile {
            name: "scream-v1".to_owned(),
            summary: "SCReAM, RFC 8298: a congestion window by the queue delay, rate by the \
                      sender's queue",
            settings: ScreamV1Config::published().settings(),
        },
        Profile {
            name: format!("scream-v1@{CODE}"),
            summary: "SCReAM by the rules of the authors' code of May 2024 \
                      (EricssonResearch/scream)",
            settings: ScreamV1CodeConfig::published().settings(),
        },
    ]
}

/// Builds the controller with the settings of `config`. `rest` is the part of the name after the
/// family.
pub(crate) fn build(rest: &str, config: &ControllerConfig) -> Result<Controllers, BuildError> {
    let sender: Box<dyn crate::Sender> = match constants(rest, config)? {
        Constants::Text(own) => Box::new(ScreamV1Sender::new(&own, config)),
        Constants::Code(own) => Box::new(CodeSender::new(&own, config)),
    };
    Ok(Controllers { sender, receiver: None, transport_feedback: true })
}

/// Every setting with its value in `config`.
pub(crate) fn settings(rest: &str, config: &ControllerConfig) -> Result<Vec<Setting>, BuildError> {
    Ok(match constants(rest, config)? {
        Constants::Text(own) => own.settings(),
        Constants::Code(own) => own.settings(),
    })
}

fn constants(rest: &str, config: &ControllerConfig) -> Result<Constants, BuildError> {
    match rest.strip_prefix('@') {
        None if rest.is_empty() => {
            let mut own = ScreamV1Config::published();
            for (name, text) in &config.settings {
                own.set(name, text)?;
            }
            own.check()?;
            Ok(Constants::Text(own))
        }
        Some(CODE) => {
            let mut own = ScreamV1CodeConfig::published();
            for (name, text) in &config.settings {
                own.set(name, text)?;
            }
            own.check()?;
            Ok(Constants::Code(own))
        }
        _ => Err(crate::profile::unknown(&config.profile)),
    }
}
