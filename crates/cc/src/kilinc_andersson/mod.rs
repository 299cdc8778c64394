//! The congestion avoidance of Kilinc and Andersson ("A Congestion Avoidance Mechanism for WebRTC
//! Interactive Video Sessions in LTE Networks"). The receiver estimates one of two bandwidth states
//! from the delay of frames, and the rate of loss events. The sender computes an upper bound from
//! the loss event rate and moves along a ladder of six rates.
//!
//! Each stage of § 3.2 and § 3.3 is a file. The arrival-time model and its filter are those of GCC,
//! of which the paper is a variant:
//!
//! ```text
//! receiver   packets → gcc::arrival_group → gcc::arrival_filter → detector ─ state ──┐
//!               │         eqs. 3.5–3.6         eqs. 3.10–3.20       Fig. 3            │
//!               └───→ loss_detector → loss_history ─ p ──────────────────────────────┤ BandwidthState
//!                        eq. 3.21      eqs. 3.22–3.25                                 │
//! sender     decision ← ladder (Fig. 4) ← tfrc: T_TFRC (eq. 3.26) ◄──────────────────┘
//! ```
//!
//! `docs/algorithms/kilinc-andersson.md` has a table of the differences from the paper and of the
//! choices where the paper is silent.

mod config;
mod detector;
mod feedback;
mod ladder;
mod loss_detector;
mod loss_history;
mod packet_size;
mod receiver;
mod sender;
mod tfrc;

pub use config::{
    Average, Equation, FirstInterval, KilincAnderssonConfig, Levels, Unconfirmed, Weights,
};

use crate::Setting;
use crate::profile::{BuildError, ControllerConfig, Controllers, Profile};
use receiver::StateReceiver;
use sender::LadderSender;
use units::Duration;

/// Round-trip time before the first measurement (libwebrtc
/// `modules/remote_bitrate_estimator/aimd_rate_control.cc`).
const DEFAULT_RTT: Duration = Duration::from_millis(200);

pub(crate) fn profiles() -> Vec<Profile> {
    vec![Profile {
        name: "kilinc-andersson".to_owned(),
        summary: "Kilinc, Andersson: two bandwidth states at the receiver, TFRC and a ladder of \
                  rates at the sender",
        settings: KilincAnderssonConfig::published().settings(),
    }]
}

/// Builds the controller with the settings of `config`. `rest` is the part of the name after a
/// colon and must be empty.
pub(crate) fn build(rest: &str, config: &ControllerConfig) -> Result<Controllers, BuildError> {
    let own = constants(rest, config)?;
    Ok(Controllers {
        sender: Box::new(LadderSender::new(&own, (config.min_rate, config.max_rate))),
        receiver: Some(Box::new(StateReceiver::new(&own))),
        transport_feedback: false,
    })
}

/// Every setting with its value in `config`.
pub(crate) fn settings(rest: &str, config: &ControllerConfig) -> Result<Vec<Setting>, BuildError> {
    Ok(constants(rest, config)?.settings())
}

fn constants(rest: &str, config: &ControllerConfig) -> Result<KilincAnderssonConfig, BuildError> {
    if !rest.is_empty() {
        return Err(crate::profile::unknown(&config.profile));
    }
    let mut own = KilincAnderssonConfig::published();
    for (name, text) in &config.settings {
        own.set(name, text)?;
    }
    own.check()?;
    Ok(own)
}
