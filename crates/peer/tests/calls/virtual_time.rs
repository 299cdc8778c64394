//! Complete calls in virtual time.

use crate::support::Call;
use peer::RTCPeerConnectionState::Connected;
use units::{Bitrate, Time};

const MEGABIT: Bitrate = Bitrate::from_mbps(1);

fn mean(rates: &[(f64, f64)], which: impl Fn(&(f64, f64)) -> f64) -> f64 {
    rates.iter().map(which).sum::<f64>() / rates.len() as f64
}

#[test]
fn two_peers_connect_and_a_fixed_rate_is_followed() {
    let mut call = Call::new("fixed:600kbit/s", MEGABIT);
    call.run_until(Time::from_secs(3));
    assert!(call.peers.iter().all(|peer| peer.state() == Connected));
    let rates = call.seconds(10);
    let (received, target) = (mean(&rates, |rate| rate.0), mean(&rates, |rate| rate.1));
    assert!((received / target - 1.0).abs() < 0.08, "{received} of {target} bit/s");
}

#[test]
fn a_controller_at_the_sender_finds_the_rate_of_the_line() {
    let mut call = Call::new("gcc:libwebrtc", MEGABIT);
    call.run_until(Time::from_secs(20));
    let rates = call.seconds(20);
    let received = mean(&rates, |rate| rate.0);
    assert!((600e3..1e6).contains(&received), "{received} bit/s of 1 Mbit/s: {rates:?}");
    assert!(
        (received / mean(&rates, |rate| rate.1) - 1.0).abs() < 0.1,
        "the target is followed: {rates:?}"
    );
}

#[test]
fn a_controller_at_the_receiver_finds_the_rate_of_the_line_by_remb() {
    let mut call = Call::new("gcc:carlucci-2017", MEGABIT);
    call.run_until(Time::from_secs(20));
    let rates = call.seconds(20);
    let received = mean(&rates, |rate| rate.0);
    assert!((600e3..1e6).contains(&received), "{received} bit/s of 1 Mbit/s: {rates:?}");
    let mut remb = f64::NAN;
    call.peers[0].controller().unwrap().signals(&mut |name, value| {
        if name == "remb" {
            remb = value;
        }
    });
    assert!(remb.is_finite(), "the receiver's estimate has arrived");
}

#[test]
fn a_receiver_sends_the_bandwidth_state_in_an_app_packet() {
    let mut call = Call::new("kilinc-andersson", MEGABIT);
    call.run_until(Time::from_secs(20));
    let mut level = f64::NAN;
    call.peers[0].controller().unwrap().signals(&mut |name, value| {
        if name == "level" {
            level = value;
        }
    });
    // Without a message in that time, the level would be 1.
    assert!(level >= 4.0, "level {level}; level 5 is 800 kbit/s");
}

#[test]
fn statistics_describe_the_call() {
    let mut call = Call::new("gcc:libwebrtc", MEGABIT);
    call.run_until(Time::from_secs(10));
    let outbound = call.stats(0, "outbound-rtp");
    let remote = call.stats(0, "remote-inbound-rtp");
    let pair = call.stats(0, "candidate-pair");
    let inbound = call.stats(1, "inbound-rtp");
    assert!(outbound["framesSent"].as_u64().unwrap() > 200, "{outbound}");
    assert!(outbound["targetBitrate"].as_u64().unwrap() >= 50_000, "{outbound}");
    let sent = outbound["packetsSent"].as_u64().unwrap();
    let received = inbound["packetsReceived"].as_u64().unwrap();
    assert!(sent >= received && sent - received < 60, "{sent} sent, {received} received");
    let rtt = remote["roundTripTime"].as_f64().unwrap();
    assert!((0.05..0.5).contains(&rtt), "twice 25 ms plus queuing: {rtt} s");
    assert_eq!(pair["state"], "succeeded");
    assert!(pair["availableOutgoingBitrate"].as_u64().unwrap() >= 50_000, "{pair}");
    assert!(inbound["jitter"].as_f64().unwrap() < 0.2, "seconds: {inbound}");
}

#[test]
fn the_estimator_of_rtc_controls_a_call() {
    let mut call = Call::new("rtc", MEGABIT);
    call.run_until(Time::from_secs(5));
    let rates = call.seconds(9);
    let (received, target) = (mean(&rates, |rate| rate.0), mean(&rates, |rate| rate.1));
    assert!((received / target - 1.0).abs() < 0.1, "the target is followed: {rates:?}");
    assert!(
        rates.iter().all(|rate| rate.1 < 1e6) && rates[8].1 > 800e3,
        "8 % per second from 300 kbit/s: {rates:?}"
    );
}

#[test]
fn the_estimator_of_str0m_controls_a_call() {
    let mut call = Call::new("str0m", MEGABIT);
    call.run_until(Time::from_secs(10));
    let rates = call.seconds(20);
    let received = mean(&rates, |rate| rate.0);
    assert!((500e3..1e6).contains(&received), "{received} bit/s of 1 Mbit/s: {rates:?}");
}

/// Checks the statistics that a report on a call needs, at both endpoints of any two stacks.
#[test]
fn any_two_stacks_call_each_other_and_report_the_same_statistics() {
    for names in [
        ["gcc:libwebrtc", "str0m"],
        ["str0m", "gcc:libwebrtc"],
        ["rtc", "gcc:libwebrtc"],
        ["str0m"; 2],
    ] {
        let mut call = Call::between(names, [true; 2], Bitrate::from_mbps(5));
        call.run_until(Time::from_secs(10));
        for end in 0..2 {
            let outbound = call.stats(end, "outbound-rtp");
            let inbound = call.stats(1 - end, "inbound-rtp");
            let remote = call.stats(end, "remote-inbound-rtp");
            let pair = call.stats(end, "candidate-pair");
            let of = |object: &serde_json::Value, name: &str| {
                object[name]
                    .as_f64()
                    .unwrap_or_else(|| panic!("{name} at {end} of {names:?}: {object:#}"))
            };
            for name in
                ["packetsSent", "bytesSent", "headerBytesSent", "framesEncoded", "keyFramesEncoded"]
            {
                assert!(of(&outbound, name) > 0.0, "{name} at {end} of {names:?}: {outbound:#}");
            }
            assert!(
                (of(&outbound, "framesPerSecond") - 30.0).abs() <= 2.0,
                "{names:?}: {outbound:#}"
            );
            let encoded = of(&outbound, "framesEncoded");
            let decoded = of(&inbound, "framesDecoded");
            assert!(
                encoded - decoded < 30.0 && decoded > 200.0,
                "{decoded} of {encoded} frames: {names:?}"
            );
            assert!(of(&inbound, "bytesReceived") / of(&outbound, "bytesSent") > 0.9, "{names:?}");
            assert_eq!(inbound["frameHeight"], outbound["frameHeight"], "{names:?}");
            assert!(
                of(&inbound, "jitter") < 0.2 && of(&inbound, "freezeCount") < 10.0,
                "{inbound:#}"
            );
            assert!((0.05..0.5).contains(&of(&remote, "roundTripTime")), "{names:?}: {remote:#}");
            assert!(
                of(&remote, "roundTripTimeMeasurements") > 4.0,
                "{end} of {names:?}: {remote:#}"
            );
            assert!(of(&remote, "fractionLost") < 0.5, "{end} of {names:?}: {remote:#}");
            assert!(of(&pair, "availableOutgoingBitrate") >= 50e3, "{names:?}: {pair:#}");
            assert_eq!(call.stats(end, "transport")["selectedCandidatePairId"], pair["id"]);
        }
    }
}
