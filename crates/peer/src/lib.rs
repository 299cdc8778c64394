//! A WebRTC peer without a browser, on one of two published stacks: `rtc`, where the controllers of
//! `cc` or `rtc`'s own steer what is sent, or `str0m` with its own estimator.
//!
//! - [`Peer`] is a sans-IO call of one stream of video and one of audio each way, the video of
//!   frames that are no picture but are of the size that an encoder would give them, and valid VP8
//!   ([`Vp8Frames`]); [`Stack`] says on what. [`run`] drives it with tokio over a socket.
//!
//! The others are of use to any program that is built on `rtc`:
//!
//! - [`Controller`] puts a `cc::Sender` behind `rtc_interceptor::BandwidthEstimator`. [`Reports`]
//!   hands it what that trait leaves out (receiver reports, REMB, packets at the instant at which
//!   they leave) and sends sender reports; [`MediaSender`] paces by it, with probe clusters, and
//!   answers NACK; [`MediaReceiver`] reports, asks for lost packets, and is the other half, a
//!   `cc::Receiver` that answers with REMB.
//! - [`Estimator`] is the way back: an estimator made for `rtc` as a `cc::Sender`.
//!
//! ```text
//!            Encoder (sim) ─▶ Vp8Frames ─▶ packetizer ─▶ MediaSender ─▶ TWCC numbers ─▶ Reports ─▶ history ─▶ wire
//!   target_rate ▲                                          ▲ pacing_rate, probe         │ on_sent  │
//!               └──────────────────────── Controller (cc::Sender) ◀── RR, REMB ─────────┘          │
//!                                               ▲────────────────────── BandwidthEstimator::on_reports ◀────┘
//! ```
//!
//! With `rtc` alone:
//!
//! ```
//! use cc::ControllerConfig;
//! use peer::Controller;
//! use rtc::interceptor::Registry;
//! use rtc::peer_connection::configuration::interceptor_registry::{CongestionFeedback, configure_congestion_control};
//! use rtc::peer_connection::configuration::media_engine::MediaEngine;
//! use std::time::Instant;
//! use units::Bitrate;
//!
//! # #[expect(clippy::disallowed_methods, reason = "an application has a clock")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let config = ControllerConfig {
//!     profile: "gcc:libwebrtc".to_owned(),
//!     settings: Vec::new(),
//!     start_rate: Bitrate::from_kbps(300),
//!     min_rate: Bitrate::from_kbps(30),
//!     max_rate: Bitrate::from_mbps(5),
//! };
//! let controller = Controller::new(cc::build(&config)?.sender, Instant::now());
//! let mut media = MediaEngine::default();
//! let registry =
//!     configure_congestion_control(Registry::new(), controller.clone(), CongestionFeedback::Twcc, &mut media)?;
//! // The encoder follows `controller`; the pacer, within the registry, does so by itself.
//! assert_eq!(controller.decision().target_rate, Bitrate::from_kbps(300));
//! # let _ = registry;
//! # Ok(())
//! # }
//! ```

mod assembly;
mod audio;
mod audio_reports;
mod clock;
mod config;
mod controller;
mod counted;
mod descriptor;
mod drive;
mod error;
mod estimator;
mod frames;
mod ntp;
mod packets;
mod peer;
mod receiver;
mod reports;
mod rtc_audio;
mod rtc_end;
mod rtc_engine;
mod sender;
mod stage;
mod stats;
mod str0m_end;
mod video;
mod video_alone;
mod vp8;

pub use clock::Clock;
pub use config::{PeerConfig, Rates, Stack};
pub use controller::Controller;
pub use drive::run;
pub use error::Error;
pub use estimator::Estimator;
pub use peer::{Peer, Signal};
pub use receiver::MediaReceiver;
pub use reports::Reports;
pub use rtc::peer_connection::state::RTCPeerConnectionState;
pub use sender::MediaSender;
pub use stage::{Out, Stage, Staged};
pub use vp8::Vp8Frames;
