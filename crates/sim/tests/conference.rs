//! Calls through a forwarding unit, and a mesh of calls.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use cc::ControllerConfig;
use common::{call, dumbbell, last, late_rate, line, run, video};
use net::{AccessConfig, HostConfig, HostId, LineConfig, LossConfig, Schedule};
use sim::{CallConfig, Recording, Scenario, Sfu};
use units::{Bitrate, Duration, Ratio};

const UNIT: HostId = HostId(0);

/// The unit and `count` endpoints, each with 5 ms and 20 Mbit/s up and down.
fn endpoints(count: u16, calls: Vec<CallConfig>) -> Scenario {
    let access =
        || line(Some(Bitrate::from_mbps(20)), Duration::from_millis(5), "droptail limit 100p");
    let mut scenario = dumbbell("fixed:600kbit/s", Bitrate::from_mbps(1), 20);
    let host = |name: String| HostConfig {
        name,
        access: AccessConfig::Wired { up: access(), down: access() },
    };
    scenario.network.hosts = (0..=count).map(|index| host(format!("host{index}"))).collect();
    scenario.calls = calls;
    scenario
}

fn leg(name: &str, from: HostId, to: HostId, sfu: Option<Sfu>) -> CallConfig {
    let mut leg = CallConfig { from, to, sfu, ..call(name, "fixed:600kbit/s") };
    leg.audio = Some(sim::codec::AudioConfig::opus());
    leg
}

fn published(bitrate: Bitrate) -> Option<Sfu> {
    Some(Sfu::Publish { bitrate })
}

fn forwarded() -> Option<Sfu> {
    Some(Sfu::Forward { call: "up".into() })
}

/// One publisher and two subscribers.
fn room() -> Scenario {
    let up = leg("up", HostId(1), UNIT, published(Bitrate::from_mbps(2)));
    let down = |name, to| leg(name, UNIT, to, forwarded());
    endpoints(3, vec![up, down("one", HostId(2)), down("two", HostId(3))])
}

fn down(scenario: &mut Scenario, host: usize) -> &mut LineConfig {
    let AccessConfig::Wired { down, .. } = &mut scenario.network.hosts[host].access else {
        panic!("a wired access")
    };
    down
}

fn lossy(percent: u32) -> LossConfig {
    LossConfig::Bernoulli(Schedule::constant(Ratio::from_percent(percent)))
}

#[test]
fn published_packets_reach_every_subscriber_unaltered() {
    let recording = run(&room());
    for kind in ["video", "audio"] {
        let came = last(&recording, &format!("up.{kind}"), "packetsReceived");
        for name in ["one", "two"] {
            let stream = format!("{name}.{kind}");
            assert_eq!(last(&recording, &stream, "packetsSent"), came, "{stream}");
            let late = came - last(&recording, &stream, "packetsReceived");
            assert!((0.0..=40.0).contains(&late), "{stream}: {late} packets under way at the end");
        }
    }
    let bytes = |stream| last(&recording, stream, "bytesSent");
    assert_eq!(bytes("one.video"), last(&recording, "up.video", "bytesReceived"));
    assert_eq!(bytes("one.video"), bytes("two.video"));
    let fps = last(&recording, "one.video", "framesPerSecond");
    assert!((29.0..=31.0).contains(&fps), "{fps} frames per second");
    let rtt = last(&recording, "one.video", "roundTripTime");
    assert!((0.019..0.030).contains(&rtt), "only between unit and subscriber: {rtt} s");
    assert!(
        recording.stream("one.video").unwrap().column("targetBitrate").is_none(),
        "a forwarding unit has no encoder"
    );
}

#[test]
fn the_delay_of_voice_is_that_of_both_paths() {
    let mut scenario = room();
    for call in &mut scenario.calls {
        (call.video, call.audio) = (None, Some(common::steady_voice()));
    }
    let recording = run(&scenario);
    // Each path is an uplink and a downlink of 5 ms and 213 bytes at 20 Mbit/s; the second copy
    // waits for the first.
    let line = 5e-3 + 213.0 * 8.0 / 20e6;
    for (stream, expected) in
        [("up", 2.0 * line), ("one", 4.0 * line), ("two", 4.0 * line + 213.0 * 8.0 / 20e6)]
    {
        let stream = format!("{stream}.audio");
        let delays = recording.stream(&stream).unwrap().points("frameDelay").unwrap();
        assert!(delays.len() > 995, "{stream}: {}", delays.len());
        let exact = |&(_, delay): &(_, f64)| (delay - expected).abs() < 1e-12;
        assert!(delays.iter().all(exact), "{stream}: {delays:?}, expected {expected}");
    }
}

#[test]
fn the_unit_retransmits_losses_on_the_subscribers_path() {
    let mut scenario = room();
    down(&mut scenario, 2).loss = lossy(5);
    let recording = run(&scenario);
    let again = |stream| last(&recording, stream, "retransmittedPacketsSent");
    assert!(again("one.video") > 20.0, "{} retransmissions", again("one.video"));
    assert_eq!((again("up.video"), again("two.video")), (0.0, 0.0), "no other sender retransmits");
    let frames = |stream| last(&recording, stream, "framesDecoded");
    assert!(frames("one.video") > 0.95 * frames("two.video"), "{} frames", frames("one.video"));
}

#[test]
fn the_publishers_retransmissions_are_forwarded_once_under_the_original_number() {
    let mut scenario = room();
    down(&mut scenario, 0).loss = lossy(5);
    let recording = run(&scenario);
    let sent_again = last(&recording, "up.video", "retransmittedPacketsReceived");
    assert!(sent_again > 20.0, "{sent_again}");
    assert!(last(&recording, "one.video", "framesDecoded") > 560.0);
    let all = last(&recording, "up.video", "mediaPacketsSent");
    let forwarded_packets = last(&recording, "one.video", "mediaPacketsSent");
    // A packet that arrives late and as a retransmission is forwarded once.
    assert!(
        forwarded_packets <= all && forwarded_packets > 0.99 * all,
        "{forwarded_packets} of {all}"
    );
}

#[test]
fn a_request_for_a_key_frame_goes_to_the_publisher() {
    let mut scenario = room();
    // The unit keeps packets for 300 ms: after one second without NACK, a subscriber needs a key
    // frame.
    for call in &mut scenario.calls {
        call.video = call.video.take().map(|video| sim::VideoConfig { nack: false, ..video });
    }
    down(&mut scenario, 2).loss = lossy(2);
    let recording = run(&scenario);
    let requests = last(&recording, "one.video", "pliCount");
    assert!(requests >= 1.0, "{requests}");
    assert!(last(&recording, "up.video", "pliCount") >= 1.0, "the unit passes the request on");
    assert!(last(&recording, "up.video", "keyFramesEncoded") > 1.0);
    assert_eq!(last(&recording, "two.video", "pliCount"), 0.0);
}

#[test]
fn a_subscriber_with_a_low_rate_does_not_slow_the_publisher() {
    let mut scenario = room();
    scenario.calls.iter_mut().for_each(|call| {
        let video = video("gcc:carlucci-2017");
        let controller =
            ControllerConfig { start_rate: Bitrate::from_kbps(300), ..video.controller };
        call.video = Some(sim::VideoConfig { controller, ..video });
    });
    *down(&mut scenario, 2) =
        line(Some(Bitrate::from_kbps(500)), Duration::from_millis(5), "droptail limit 50p");
    scenario.duration = Duration::from_secs(120);
    let recording = run(&scenario);
    let rate = |stream, column| late_rate(&recording, stream, column);
    assert!(rate("up.video", "bytesSent") > 1_300e3, "{}", rate("up.video", "bytesSent"));
    assert!(rate("one.video", "bytesReceived") < 500e3);
    assert!(rate("two.video", "bytesReceived") > 1_300e3);
}

#[test]
fn the_publisher_follows_the_rooms_bitrate() {
    let mut scenario = room();
    scenario.calls[0] = leg("up", HostId(1), UNIT, published(Bitrate::from_kbps(400)));
    scenario.calls[0].video = Some(video("gcc:carlucci-2017"));
    let recording = run(&scenario);
    let rate = late_rate(&recording, "up.video", "bytesSent");
    assert!((300e3..=420e3).contains(&rate), "{rate} bit/s");
    assert_eq!(last(&recording, "up.video", "roomBitrate"), 400e3);
}

#[test]
fn a_stream_that_is_not_published_cannot_be_forwarded() {
    let mut scenario = room();
    scenario.calls.remove(0);
    let error = sim::run(&scenario, sim::Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "call 'one': no call 'up' is published to a forwarding unit");
    let mut scenario = room();
    scenario.calls[0].two_way = true;
    let error = sim::run(&scenario, sim::Options::default()).unwrap_err();
    assert_eq!(error.to_string(), "call 'up': a call to or from a forwarding unit must be one-way");
}

/// The total sending rate of these streams in the second half of the run, in bit/s.
fn total(recording: &Recording, streams: &[&str]) -> f64 {
    streams.iter().map(|stream| late_rate(recording, stream, "bytesSent")).sum()
}

#[test]
fn in_a_mesh_of_three_each_sends_twice() {
    let pair =
        |name, from, to| CallConfig { two_way: true, ..leg(name, HostId(from), HostId(to), None) };
    let mesh = vec![pair("ab", 1, 2), pair("ac", 1, 3), pair("bc", 2, 3)];
    let recording = run(&endpoints(3, mesh));
    let each = [
        ["ab.video", "ac.video"],
        ["ab.video.back", "bc.video"],
        ["ac.video.back", "bc.video.back"],
    ];
    for streams in each {
        let sent = total(&recording, &streams);
        assert!((1_100e3..=1_300e3).contains(&sent), "{streams:?}: {sent}");
    }
}
