//! A rate that listens to nothing: `fixed:1Mbit/s`. The yardstick, and the way to load a network.

use crate::registry::{BuildError, ControllerConfig, Controllers, Profile};
use crate::{Decision, Feedback, Sender, SentPacket, SettingError, SignalSink};
use units::{Bitrate, Time};

/// How much faster than the target packets leave, so that the queue of the pacer drains
/// (libwebrtc `goog_cc_network_control.cc` paces at 2.5 times the estimate).
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
    let summary = "a rate that listens to nothing, within the controller's bounds";
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
