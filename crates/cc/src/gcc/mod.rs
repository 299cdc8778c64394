//! Google Congestion Control in its published forms.
//!
//! The data flow follows Carlucci et al. 2017, Fig. 1. Each stage is a file:
//!
//! ```text
//! receiver   packets → arrival_group → arrival_filter → overuse_detector → rate_control → REMB
//!                        d_m, ΔL          m, 1/C           γ, signal          A_r          │
//!                                                             receive_rate: R              │
//! sender     decision ← min(A_r, A_s) ← loss_controller ← receiver report ◄────────────────┘
//! ```
//!
//! `delay_controller` contains the stages of the receiver's row. With `side = sender` it runs at
//! the sender on transport-wide feedback. `probing` is the ramp-up at the start of a call.
//! `improvements` lists the improvements that the papers propose; `hold`, `acceleration`,
//! `dynamic_alpha` and `buffer_hint` are stages that only improvements use.
//!
//! Differences from the sources, and choices where a source is silent:
//!
//! | source | rule in the source | Weir |
//! |---|---|---|
//! | Carlucci 2017 | no over-use time and no minimum noise variance | the values of draft-02, which has the same authors and is cited by the paper |
//! | Carlucci 2017 | no γ(0) and no pacing factor | the values of the measured browser: 12.5/60 ≈ 0.2 ms (as Jansen 2016), and 2.5 |
//! | Carlucci 2017, eq. 13 | A_r grows by Ā, the ratio of half a packet and the round-trip time, at each frame | half a packet per round-trip time, in proportion to the elapsed time. Growth per frame would be 3 Mbit/s per second |
//! | Carlucci 2017, eq. 14 | A_s is updated at each feedback message | A_s decreases at each message and increases at most once per second: a message that was sent early because A_r decreased must not increase A_s |
//! | Carlucci 2017 § III-A | A_r is bounded by 1.5 R | growth stops at 1.5 R, but A_r is not lowered to it, so that a pausing source keeps A_r (as libwebrtc) |
//! | eq. 13, Decrease | A_r = α R | min(A_r, α R) |
//! | Jansen 2016, eq. 5-1 | A_r grows by 1.05 at each update | ×1.05 per second, as § 8-2-1 explains |
//! | Jansen 2016 § 8-1-2 | a ramp-up function | probe clusters with libwebrtc's constants |
//! | draft-02 § 5.4 | m compared with a threshold of 6 to 600 ms | scaled m is compared, because libwebrtc set these bounds for scaled m; m itself stays below them until the queue is full |
//! | draft-02 § 6 | the minimum of A_r and A_s, taken at the end | A_s is capped by A_r, as in libwebrtc and Jansen 2016, eq. 5-12; otherwise A_s grows without bound |
//! | draft-02 § 5.5, Guerrero Viveros § 2.2.2 | standard deviation of R at decrease | with the bounds of libwebrtc's `link_capacity_estimator.cc` |

mod acceleration;
pub(crate) mod arrival_filter;
pub(crate) mod arrival_group;
mod buffer_hint;
mod chromium;
mod config;
mod config_check;
mod constants;
mod convergence;
mod delay_controller;
mod dynamic_alpha;
mod hold;
mod improvements;
mod libwebrtc;
mod loss_controller;
mod overuse_detector;
mod probing;
mod published;
mod rate_control;
pub(crate) mod receive_rate;
mod receiver;
mod sender;
pub(crate) mod words;

pub use buffer_hint::BufferHint;
pub use chromium::{ChromiumConfig, SendSideConfig};
pub use config::{Compare, Filter, GccConfig, Grouping, Increase, Probing, Side, Threshold};
pub(crate) use constants::{improve, settings};
pub(crate) use improvements::{ALL as IMPROVEMENTS, named as improvement};
pub use improvements::{Changes, Improvement};
pub use libwebrtc::{AcknowledgedEstimator, LibwebrtcConfig, SafeReset};

use crate::profile::{BuildError, ControllerConfig, Controllers, Profile};
use constants::Constants;
use receiver::GccReceiver;
use sender::GccSender;

pub(crate) fn profiles() -> Vec<Profile> {
    let published = GccConfig::PROFILES.iter().map(|published| Profile {
        name: format!("gcc:{}", published.name),
        summary: published.summary,
        settings: (published.config)().settings(),
    });
    published.chain(chromium::profiles()).chain([libwebrtc::profile()]).collect()
}

/// Builds the profile named `rest` with the settings of `config`.
pub(crate) fn build(rest: &str, config: &ControllerConfig) -> Result<Controllers, BuildError> {
    let gcc = match Constants::of(rest)?.with(&config.settings)? {
        Constants::Published(gcc) => gcc,
        Constants::AsRun(constants) => return Ok(chromium::build(&constants, config)),
        Constants::SendSide(constants) => {
            return Ok(chromium::build_send_side(&constants, config));
        }
        Constants::Libwebrtc(constants) => return Ok(libwebrtc::build(&constants, config)),
    };
    let bounds = (config.min_rate, config.max_rate);
    let at_receiver = gcc.side == Side::Receiver;
    Ok(Controllers {
        sender: Box::new(GccSender::new(&gcc, config.start_rate, bounds)),
        receiver: at_receiver
            .then(|| Box::new(GccReceiver::new(&gcc, config.start_rate, bounds)) as _),
        transport_feedback: !at_receiver,
    })
}
