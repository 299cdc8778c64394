use super::*;
use crate::event_log::read;

/// A call of a minute across 1 Mbit/s to which a TCP flow comes after 20 s, by Chromium 156
/// (`weir measure chromium/replay --cell 'network=TCP beside' --event-log logs`).
const BESIDE_TCP: &[u8] = include_bytes!("../event_log/fixtures/beside-tcp.rtclog");

fn beside_tcp() -> EventLog {
    read(BESIDE_TCP).unwrap()
}

fn config(profile: &str) -> ControllerConfig {
    controller(profile, &[]).unwrap()
}

#[test]
fn the_replayed_controller_does_what_the_recorded_one_did() {
    let replay = replay(&beside_tcp(), &config("gcc:libwebrtc")).unwrap();
    let agreement = Agreement::of(&replay);
    let at_least = |share: Share, least: f64| {
        let share = share.share().unwrap();
        assert!(share >= least, "{share}");
    };
    at_least(agreement.state, 0.95);
    at_least(agreement.state_at_updates, 0.95);
    at_least(agreement.estimate_at_updates, 0.9);
    assert!(replay.steps.is_sorted_by_key(|step| step.at) && replay.undecodable == 0);
    assert!(replay.steps.iter().any(|step| step.replayed.state == Some(DetectorState::Overusing)));
    assert!(replay.steps.iter().all(|step| step.signals.len() == replay.signals.len()));
    let (recorded, replayed): (Vec<_>, Vec<_>) = replay
        .steps
        .iter()
        .filter_map(|step| step.recorded.estimate.zip(step.replayed.estimate))
        .unzip();
    assert_eq!(recorded[1], replayed[1], "the second probe, to the bit");
}

#[test]
fn another_controller_differs_and_the_first_divergence_is_named() {
    let replay = replay(&beside_tcp(), &config("gcc:chrome-72")).unwrap();
    let agreement = Agreement::of(&replay);
    assert!(agreement.first_divergence.is_some());
}

#[test]
fn logs_and_controllers_that_cannot_be_replayed_are_refused() {
    let at_receiver = replay(&beside_tcp(), &config("gcc:carlucci-2017")).unwrap_err();
    assert!(at_receiver.to_string().contains("decides at the receiver"), "{at_receiver}");
    let mut log = beside_tcp();
    log.sent.clear();
    let error = replay(&log, &config("gcc:libwebrtc")).unwrap_err();
    assert_eq!(error, ReplayError::NoTransportSequence);
    let unknown = replay(&beside_tcp(), &config("gcc:none")).unwrap_err();
    assert!(matches!(unknown, ReplayError::Controller(_)));
}

#[test]
fn rates_are_settings_of_a_replay() {
    let set = [("start_rate", "1Mbit/s"), ("trend.window", "40")];
    let set = set.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let config = controller("gcc:libwebrtc", &set).unwrap();
    assert_eq!(config.start_rate, Bitrate::from_mbps(1));
    assert_eq!(config.settings, set[1..]);
    let wrong = [("min_rate".to_owned(), "slow".to_owned())];
    let error = controller("gcc:libwebrtc", &wrong).unwrap_err().to_string();
    assert!(error.contains("min_rate") && error.contains("1Mbit/s"), "{error}");
}
