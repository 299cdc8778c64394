//! Google Congestion Control in its published forms.
//!
//! The data flow is that of Carlucci et al. 2017, Fig. 1; each stage is a file:
//!
//! ```text
//! receiver   packets → arrival_group → arrival_filter → overuse_detector → rate_control → REMB
//!                        d_m, ΔL          m, 1/C           γ, signal          A_r          │
//!                                                             receive_rate: R              │
//! sender     decision ← min(A_r, A_s) ← loss_controller ← receiver report ◄────────────────┘
//! ```
//!
//! `delay_controller` is the receiver's row; with `side = sender` it runs at the sender, fed by
//! transport-wide feedback. `probing` is the ramp-up at the start.
//!
//! Where the implementation differs from its sources, or fills in what they leave out:
//!
//! | source | what it says | here |
//! |---|---|---|
//! | Carlucci 2017 | nothing on the over-use time and the least noise variance | the values of draft-02, by the same authors, which the paper cites |
//! | Carlucci 2017 | nothing on γ(0) and pacing | those of the browser measured: 12.5/60 ≈ 0.2 ms (as Jansen 2016), and 2.5 |
//! | Carlucci 2017, eq. 13 | A_r grows by Ā, the ratio of half a packet and the round-trip time, at each frame | a rate of increase: half a packet each round-trip time, in proportion to the time elapsed. Per frame it would be 3 Mbit/s a second |
//! | Carlucci 2017, eq. 14 | at each feedback message | falls at each, rises at most once a second: messages that a fall of A_r sends early are no reason to rise |
//! | Carlucci 2017 § III-A | A_r is bounded by 1.5 R | growth stops there; a source that pauses does not pull A_r down (as libwebrtc) |
//! | eq. 13, Decrease | A_r = α R | never above the present A_r |
//! | Jansen 2016, eq. 5-1 | A_r grows by 1.05 at each update | ×1.05 a second, as § 8-2-1 explains |
//! | Jansen 2016 § 8-1-2 | a ramp-up function | probe clusters with libwebrtc's constants |
//! | draft-02 § 5.4 | m compared with a threshold of 6 to 600 ms | scaled m, after which libwebrtc set these bounds; m itself stays below them until the queue is full |
//! | draft-02 § 6 | the least of A_r and A_s, at the end | A_s capped by A_r, as in libwebrtc and Jansen 2016, eq. 5-12: it would grow without bound |
//! | draft-02 § 5.5, Guerrero Viveros § 2.2.2 | standard deviation of R at decrease | with the bounds of libwebrtc's `link_capacity_estimator.cc` |

pub(crate) mod arrival_filter;
pub(crate) mod arrival_group;
mod config;
mod delay_controller;
mod libwebrtc;
mod loss_controller;
mod overuse_detector;
mod probing;
mod rate_control;
pub(crate) mod receive_rate;
mod receiver;
mod sender;
pub(crate) mod words;

pub use config::{Compare, Filter, GccConfig, Grouping, Increase, Probing, Side, Threshold};
pub use libwebrtc::LibwebrtcConfig;

use crate::registry::{BuildError, ControllerConfig, Controllers, Profile};
use receiver::GccReceiver;
use sender::GccSender;

/// The profiles of the family.
pub(crate) fn profiles() -> Vec<Profile> {
    let published = GccConfig::PROFILES.iter().map(|published| Profile {
        name: format!("gcc:{}", published.name),
        summary: published.summary,
        settings: (published.config)().settings(),
    });
    published.chain([libwebrtc::profile()]).collect()
}

/// Builds the profile called `rest`, with the settings of `config`.
pub(crate) fn build(rest: &str, config: &ControllerConfig) -> Result<Controllers, BuildError> {
    if rest == "libwebrtc" {
        return libwebrtc::build(config);
    }
    let published = GccConfig::PROFILES.iter().find(|published| published.name == rest);
    let mut gcc =
        published.map(|published| (published.config)()).ok_or_else(|| crate::registry::unknown(config))?;
    for (name, text) in &config.settings {
        gcc.set(name, text)?;
    }
    gcc.check()?;
    let bounds = (config.min_rate, config.max_rate);
    let at_receiver = gcc.side == Side::Receiver;
    Ok(Controllers {
        sender: Box::new(GccSender::new(&gcc, config.start_rate, bounds)),
        receiver: at_receiver.then(|| Box::new(GccReceiver::new(&gcc, config.start_rate, bounds)) as _),
        transport_feedback: !at_receiver,
    })
}

impl GccConfig {
    /// What single values cannot show.
    fn check(&self) -> Result<(), BuildError> {
        let finite = [
            ("filter.q_capacity", self.q_capacity),
            ("filter.q_gradient", self.q_gradient),
            ("filter.min_noise", self.min_noise),
            ("filter.outlier", self.outlier),
            ("threshold.initial", self.initial_threshold),
            ("threshold.k_up", self.k_up),
            ("threshold.k_down", self.k_down),
            ("threshold.skip", self.skip),
            ("threshold.min", self.min_threshold),
            ("threshold.max", self.max_threshold),
            ("increase.factor", self.factor),
            ("rate_cap", self.rate_cap),
            ("loss.increase", self.loss_increase),
            ("pacing.factor", self.pacing_factor),
        ];
        for (name, value) in finite {
            if !value.is_finite() || value < 0.0 {
                return Err(BuildError::Invalid(format!(
                    "setting {name} = {value}: it must be a number not below 0"
                )));
            }
        }
        for (name, value) in [
            ("filter.beta", self.beta),
            ("decrease", self.decrease),
            ("remb.fall", self.remb_fall),
            ("loss.high", self.loss_high),
            ("loss.low", self.loss_low),
            ("loss.decrease", self.loss_decrease),
        ] {
            if !(0.0..=1.0).contains(&value) {
                return Err(BuildError::Invalid(format!(
                    "setting {name} = {value}: it must lie within 0 and 1"
                )));
            }
        }
        if self.beta_groups > arrival_filter::MOST_GROUPS {
            return Err(BuildError::Invalid(format!(
                "setting filter.beta_groups = {}: it must be at most {}",
                self.beta_groups,
                arrival_filter::MOST_GROUPS
            )));
        }
        if self.rate_window == units::Duration::ZERO {
            return Err(BuildError::Invalid("setting rate_window = 0ms: it must be longer".to_owned()));
        }
        if self.side == Side::Sender && self.grouping == Grouping::Frame {
            let reason = "side = sender needs grouping = burst: transport-wide feedback knows no frames";
            return Err(BuildError::Invalid(reason.to_owned()));
        }
        Ok(())
    }
}
