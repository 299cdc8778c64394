//! Network-Assisted Dynamic Adaptation (NADA), RFC 8698. Delay, loss and marking form one
//! congestion signal; the sender moves its rate in proportion to the distance of the signal from
//! the value that it should have at that rate.
//!
//! Each stage is a file. The estimation runs at the receiver (§ 4.2) or, from feedback per packet,
//! at the sender (§ 6.4):
//!
//! ```text
//! receiver   packets → observation_window ─ d_queue, p_loss, p_mark, r_recv → congestion_signal
//! or sender     │         § 5.1                                                  eqs. 1, 2
//!               └───→ loss_intervals ─ loss_int ──────────────────────────────→      │
//!                       RFC 5348 § 5.4                     rmode, x_curr, r_recv     │ feedback
//! sender     decision ← rate_shaping ← reference_rate ◄─────────────────────────────┘
//!                        eqs. 11, 12      eqs. 3–9
//! ```
//!
//! `docs/algorithms/nada.md` has a table of the differences between the text and the authors' code,
//! and of the choices where the text is silent.

mod config;
mod congestion_signal;
mod estimator;
mod feedback;
mod loss_intervals;
mod observation_window;
mod rate_shaping;
mod receiver;
mod reference_rate;
mod sender;

pub use config::{NadaConfig, Side};

use crate::Setting;
use crate::profile::{BuildError, ControllerConfig, Controllers, Profile};
use receiver::NadaReceiver;
use sender::NadaSender;

/// The name of the profile with the rules of the authors' code.
const CODE: &str = "ns3-rmcat";

pub(crate) fn profiles() -> Vec<Profile> {
    vec![
        Profile {
            name: "nada".to_owned(),
            summary: "NADA, RFC 8698: one congestion signal from delay, loss and marking",
            settings: NadaConfig::published().settings(),
        },
        Profile {
            name: format!("nada@{CODE}"),
            summary: "NADA by the rules of the authors' code of 2020 (cisco/ns3-rmcat), at the \
                      sender",
            settings: NadaConfig::code().settings(),
        },
    ]
}

/// Builds the controller with the settings of `config`. `rest` is the part of the name after the
/// family.
pub(crate) fn build(rest: &str, config: &ControllerConfig) -> Result<Controllers, BuildError> {
    let own = constants(rest, config)?;
    let receiver = match own.side {
        Side::Receiver => Some(Box::new(NadaReceiver::new(&own)) as Box<dyn crate::Receiver>),
        Side::Sender => None,
    };
    Ok(Controllers {
        transport_feedback: receiver.is_none(),
        receiver,
        sender: Box::new(NadaSender::new(&own, config)),
    })
}

/// Every setting with its value in `config`.
pub(crate) fn settings(rest: &str, config: &ControllerConfig) -> Result<Vec<Setting>, BuildError> {
    Ok(constants(rest, config)?.settings())
}

fn constants(rest: &str, config: &ControllerConfig) -> Result<NadaConfig, BuildError> {
    let mut own = match rest.strip_prefix('@') {
        None if rest.is_empty() => NadaConfig::published(),
        Some(CODE) => NadaConfig::code(),
        _ => return Err(crate::profile::unknown(&config.profile)),
    };
    for (name, text) in &config.settings {
        own.set(name, text)?;
    }
    own.check()?;
    Ok(own)
}
