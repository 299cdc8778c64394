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
    let mut log = beside_tcp();
    log.rtcp_received.last_mut().unwrap().at += Duration::from_secs(1 << 30);
    let error = replay(&log, &config("gcc:libwebrtc")).unwrap_err();
    assert_eq!(error, ReplayError::Times);
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

#[test]
fn a_capture_gives_the_times_at_which_packets_were_sent() {
    // Logged up to 0.9 ms early, and captured on a clock that is 100 s ahead.
    let (exact, mut log, mut capture) = (beside_tcp(), beside_tcp(), beside_tcp());
    for (index, packet) in log.sent.iter_mut().enumerate() {
        packet.at = packet.at.saturating_sub(Duration::from_micros(100 * (index as u64 % 10)));
    }
    for packet in &mut capture.sent {
        packet.at += Duration::from_secs(100);
    }
    let missing = capture.sent.remove(1000);
    let times = take_send_times(&mut log, &capture).unwrap();
    assert_eq!((times.found, times.packets), (exact.sent.len() - 1, exact.sent.len()));
    assert_eq!(times.median_delay.as_nanos() / 10_000, 40, "{times:?}");
    assert_eq!(times.p95_delay.as_nanos() / 10_000, 90, "{times:?}");
    for (packet, exact) in log.sent.iter().zip(&exact.sent) {
        let apart = packet.at.saturating_since(exact.at).max(exact.at.saturating_since(packet.at));
        let is_missing = packet.sequence == missing.sequence && packet.ssrc == missing.ssrc;
        assert!(is_missing || apart < Duration::from_micros(2), "{packet:?} {exact:?}");
    }
    capture.sent.truncate(0);
    let error = take_send_times(&mut log, &capture).unwrap_err();
    assert!(error.to_string().contains("none of the packets"), "{error}");
}
