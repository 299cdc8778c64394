//! Media sources: a video encoder after the statistical model of RFC 8593 § 5, frame sizes from a
//! file (its trace-driven model, § 6), and voices: Opus, or AMR, with or without talk-spurts.
//!
//! Data flow of a video frame, one file a stage:
//!
//! ```text
//! target ─▶ bitrate_adjuster (if there is one) ─▶ encoder (reaction lag, floor, ceiling) ─▶ rate_control (debt, dropped frames) ─▶ Frame
//!                                                   ▲ noise or sizes (CSV)    ▲ ladder (resolution by bits per pixel)
//! ```
//!
//! Where the model differs from RFC 8593:
//!
//! | RFC 8593 | here | why |
//! |---|---|---|
//! | every reaction to a new target is a transient that starts with a large frame | only key frames are, unless [`ModelParameters::transient_step`] says so | real-time encoders change their rate without a key frame (libwebrtc `libvpx_vp8_encoder.cc`, `SetRates`) |
//! | a request within τ_v of the last reaction is ignored | it is held until τ_v is over, the newest wins | an ignored last request would leave the encoder at the wrong rate for ever |
//! | the K_d − 1 frames after a large one share its excess equally | the excess is paid back exponentially, by the rate control that also averages the noise out | one rule for both; it is libvpx's (see `rate_control.rs`) |
//! | sizes are independent | they may be correlated from frame to frame | encoders' are; the marginal distribution stays Laplace |

mod audio;
mod bitrate_adjuster;
mod config;
mod encoder;
mod fitted;
mod ladder;
mod noise;
mod rate_control;
mod sizes;
mod spurts;
#[cfg(test)]
mod tests;

pub use audio::{AudioCodec, AudioConfig, AudioFrame, AudioSource};
pub use config::{Codec, EncoderConfig, ModelParameters, SourceSize};
pub use encoder::{Encoder, Frame};
pub use ladder::{LadderConfig, LadderSteps};
pub use sizes::{FrameSizes, SizesError};
pub use spurts::Spurts;
