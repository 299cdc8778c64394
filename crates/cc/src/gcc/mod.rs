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
//! transport-wide feedback. `probing` is the ramp-up at the start. The papers' ideas for
//! improvement are `improvements`; the stages that are for them alone are `hold`, `acceleration`,
//! `dynamic_alpha` and `buffer_hint`.
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

mod acceleration;
pub(crate) mod arrival_filter;
pub(crate) mod arrival_group;
mod buffer_hint;
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
pub use config::{Compare, Filter, GccConfig, Grouping, Increase, Probing, Side, Threshold};
pub(crate) use constants::{improve, settings};
pub(crate) use improvements::{ALL as IMPROVEMENTS, named as improvement};
pub use improvements::{Changes, Improvement, ImprovementError};
pub use libwebrtc::LibwebrtcConfig;

use crate::registry::{BuildError, ControllerConfig, Controllers, Profile};
use constants::Constants;
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
    let gcc = match Constants::of(rest)?.with(&config.settings)? {
        Constants::Published(gcc) => gcc,
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
