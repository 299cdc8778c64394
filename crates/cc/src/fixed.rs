//! A constant rate that ignores feedback: `fixed:1Mbit/s`. It serves as a baseline and to load a
//! network.

use crate::profile::{BuildError, ControllerConfig, Controllers, Profile};
use crate::{Decision, Feedback, Sender, SentPacket, SettingError, SignalSink};
use units::{Bitrate, Time};

/// Pacing rate as a multiple of the target, so that the pacer's queue drains (libwebrtc
/// `goog_cc_network_control.cc`: 2.5).
const PACING: f64 = 2.5;

struct Fixed(Bitrate);

impl Sender for Fixed {
    fn on_sent(&mut self, _packet: &SentPacket) {}

    fn on_feedback(&mut self, _now: Time, _feedback: Feedback<'_>) {}

    fn on_timeout(&mut self, _now: Time) {}

    fn next_timeout(&self) -> Option<Time> {
        None
    }

    fn decision(&self) -> Decision {
        Decision { target_rate: self.0, pacing_rate: self.0.scale(PACING), probe: None }
    }

    fn signals(&self, _sink: &mut SignalSink<'_>) {}
}

pub(crate) fn profiles() -> Vec<Profile> {
    let summary = "a constant rate that ignores feedback, within min_rate and max_rate";
    vec![Profile { name: "fixed:1Mbit/s".to_owned(), summary, settings: Vec::new() }]
}

pub(crate) fn build(rest: &str, config: &ControllerConfig) -> Result<Controllers, BuildError> {
    if let Some((name, _)) = config.settings.first() {
        return Err(SettingError::Unknown(name.clone(), Vec::new()).into());
    }
    let rate: Bitrate = rest
        .parse()
        .map_err(|error| BuildError::Invalid(format!("controller 'fixed:{rest}': {error}")))?;
    let rate = rate.max(config.min_rate).min(config.max_rate);
    Ok(Controllers { sender: Box::new(Fixed(rate)), receiver: None, transport_feedback: false })
}
