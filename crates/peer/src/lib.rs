//! A WebRTC peer without a browser, on one of two published stacks: `rtc` with the controllers of
//! `cc` or with its own estimator, or `str0m` with its own estimator.
//!
//! - [`Peer`] is one endpoint of a call, sans-IO, with one stream of video and one of audio in each
//!   direction. Video frames are valid VP8 without a picture, with the sizes that an encoder would
//!   produce ([`Vp8Frames`]). [`Stack`] selects the stack. [`run`] runs a peer over a socket with
//!   tokio.
//!
//! The other items are useful to any program that is built on `rtc`:
//!
//! - [`Controller`] makes a `cc::Sender` a `rtc_interceptor::BandwidthEstimator`. [`Reports`]
//!   passes it what that trait leaves out (receiver reports, REMB, the time at which each packet
//!   leaves) and sends sender reports. [`MediaSender`] paces packets, sends probe clusters and
//!   answers NACK. [`MediaReceiver`] sends reports, requests lost packets, and runs the receiver
//!   half of a controller, a `cc::Receiver` that answers with REMB.
//! - [`Estimator`] is the inverse: it makes an estimator of `rtc` a `cc::Sender`.
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
//! # #[expect(clippy::disallowed_methods, reason = "an application reads the clock")]
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
//! // The encoder must follow `controller`; the pacer in the registry does so itself.
//! assert_eq!(controller.decision().target_rate, Bitrate::from_kbps(300));
//! # let _ = registry;
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod assembly;
mod audio;
mod audio_reports;
mod clock;
mod config;
mod controller;
mod counters;
mod descriptor;
mod drive;
mod endpoint;
mod error;
mod estimator;
mod frames;
mod interceptor;
mod ntp;
mod packets;
mod peer;
mod receiver;
mod reports;
mod rtc_audio;
mod rtc_endpoint;
mod rtc_engine;
mod sender;
mod stats;
mod str0m_endpoint;
mod video;
mod video_only;
mod vp8;

pub use clock::Clock;
pub use config::{PeerConfig, Rates, Stack};
pub use controller::Controller;
pub use drive::run;
pub use error::Error;
pub use estimator::Estimator;
pub use interceptor::{HandlerInterceptor, OutputQueues, PacketHandler};
pub use peer::{Peer, Signal};
pub use receiver::MediaReceiver;
pub use reports::Reports;
pub use rtc::peer_connection::state::RTCPeerConnectionState;
pub use sender::MediaSender;
pub use vp8::Vp8Frames;
