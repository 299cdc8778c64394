//! Media sources: a video encoder that follows the statistical model of RFC 8593 § 5, frame sizes
//! from a file (the trace-driven model of RFC 8593 § 6), and voice (Opus or AMR) with or without
//! talk-spurts.
//!
//! Data flow of a video frame, one file per stage:
//!
//! ```text
//! target ─▶ bitrate_adjuster (optional)
//!                │ requested rate
//!                ▼
//!            encoder ◀─ noise or sizes (CSV), ladder (resolution by bits per pixel)
//!                │     reaction lag, minimum and maximum rate
//!                ▼
//!            rate_control (debt, dropped frames) ─▶ Frame
//! ```
//!
//! Differences from RFC 8593:
//!
//! | RFC 8593 | here | why |
//! |---|---|---|
//! | every reaction to a new target is a transient that starts with a large frame | only key frames are large, unless [`ModelParameters::transient_step`] is set | real-time encoders change their rate without a key frame (libwebrtc `libvpx_vp8_encoder.cc`, `SetRates`) |
//! | a request within τ_v of the last reaction is ignored | the newest request is applied when τ_v is over | if the last request were ignored, the encoder would keep a wrong rate indefinitely |
//! | the K_d − 1 frames after a large one share its excess equally | the excess is compensated exponentially, by the rate control that also averages out the noise | one rule for both; it is libvpx's (see `rate_control.rs`) |
//! | sizes are independent | sizes may be correlated from frame to frame | those of real encoders are; the marginal distribution remains Laplace |

mod audio;
mod bitrate_adjuster;
mod config;
mod encoder;
mod fitted;
mod frame_drop;
mod ladder;
mod noise;
mod rate_control;
mod sizes;
mod spurts;
#[cfg(test)]
mod tests;

pub use audio::{AudioCodec, AudioConfig, AudioFrame, AudioSource};
pub use config::{Codec, EncoderConfig, ModelParameters, SourceSize, UnknownCodec};
pub use encoder::{Encoder, Frame};
pub use ladder::{LadderConfig, LadderSteps};
pub use sizes::{FrameSizes, SizesError};
pub use spurts::Spurts;
