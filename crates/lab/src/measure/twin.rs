//! What is simulated to be held beside a measured run: the same cell, with today's browser as the simulator knows it.

use crate::experiment::Cell;
use cc::ControllerConfig;
use sim::codec::{EncoderConfig, LadderSteps, SourceSize};
use sim::{Fec, Recording, Scenario, VideoConfig};
use std::sync::atomic::AtomicBool;
use units::{Bitrate, Seed};

/// The controller of today's Chromium.
pub const CONTROLLER: &str = "gcc:libwebrtc";
/// libwebrtc `call/rtp_transport_controller_send.cc`, `kDefaultStartBitrate`; `goog_cc/send_side_bandwidth_estimation.cc`,
/// `kCongestionControllerMinBitrate` and `kDefaultMaxBitrate`. A page that sets nothing gets them.
const START_RATE: Bitrate = Bitrate::from_kbps(300);
const MIN_RATE: Bitrate = Bitrate::from_kbps(5);
const MAX_RATE: Bitrate = Bitrate::from_mbps(1_000);

/// The cell's scenario with every call as today's Chromium makes it: its controller with no setting of the file, the source that the browsers send,
/// parity when packets are lost, the picture in the steps of today's libwebrtc.
#[must_use]
pub fn scenario(cell: &Cell, seed: Seed) -> Scenario {
    let mut scenario = cell.scenario(seed);
    for video in scenario.calls.iter_mut().filter_map(|call| call.video.as_mut()) {
        let source = cell.measure().source(video.encoder.source);
        *video = today(video, source);
    }
    scenario
}

fn today(video: &VideoConfig, source: SourceSize) -> VideoConfig {
    let mut encoder = EncoderConfig { source, ..video.encoder.clone() };
    if encoder.ladder.enabled {
        encoder.ladder.steps = LadderSteps::Alternating;
    }
    VideoConfig {
        encoder,
        controller: ControllerConfig {
            profile: CONTROLLER.to_owned(),
            settings: Vec::new(),
            start_rate: START_RATE,
            min_rate: MIN_RATE,
            max_rate: MAX_RATE,
        },
        fec: Fec::Hybrid,
        ..video.clone()
    }
}

/// Simulates it.
///
/// # Errors
/// When it is refused, or was cancelled.
pub fn simulate(cell: &Cell, seed: Seed, cancel: &AtomicBool) -> Result<Recording, String> {
    let options = sim::Options { cancel: Some(cancel), ..sim::Options::default() };
    sim::run(&scenario(cell, seed), options).map_err(|error| error.to_string())
}
