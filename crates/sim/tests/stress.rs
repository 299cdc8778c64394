//! Reasons for the end of a call: silence, delay, and the circuit breakers of RFC 8083. Also the
//! DSCPs of its packets.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{dumbbell, run};
use net::{AccessConfig, Dscp, HostId, LineConfig, Packet, RateConfig, Schedule};
use sim::codec::AudioConfig;
use sim::{Content, Marks, Options, Recording, Scenario, Tap};
use units::{Bitrate, Duration, Time};

const RATE: Bitrate = Bitrate::from_mbps(1);

/// A call of 60 s whose uplink or downlink stops at 20 s.
fn interrupted(up: bool) -> Scenario {
    let mut scenario = dumbbell("gcc:libwebrtc", RATE, 60);
    let AccessConfig::Wired { up: line, down } = &mut scenario.network.hosts[0].access else {
        panic!("a wired access")
    };
    let line: &mut LineConfig = if up { line } else { down };
    let steps = vec![(Time::ZERO, RATE), (Time::from_secs(20), Bitrate::ZERO)];
    line.rate = RateConfig::Scheduled(Schedule::steps(steps).unwrap());
    scenario
}

/// The events that ended the call: (type, second, value).
fn ends(recording: &Recording) -> Vec<(&str, u64, f64)> {
    let events = recording
        .events
        .iter()
        .filter(|event| ["mediaTimeout", "circuitBreaker"].contains(&event.what));
    events.map(|event| (event.what, event.at.as_nanos() / 1_000_000_000, event.value)).collect()
}

/// The bytes sent until `second`.
fn sent(recording: &Recording, stream: &str, second: usize) -> f64 {
    recording.stream(stream).unwrap().column("bytesSent").unwrap()[2 * second - 1]
}

#[test]
fn silence_ends_a_call_with_a_media_time_out() {
    // The end that receives only reports also waits for the time between them.
    for (up, at) in [(true, 24..=25), (false, 25..=27)] {
        let mut scenario = interrupted(up);
        assert_eq!(ends(&run(&scenario)), []);
        scenario.calls[0].media_timeout = Some(Duration::from_secs(5));
        let recording = run(&scenario);
        // The end that receives nothing more: the last packets arrived at 20 s or before.
        let [(what, second, value)] = ends(&recording)[..] else {
            panic!("{:?}", ends(&recording))
        };
        assert!(what == "mediaTimeout" && value == 5.0 && at.contains(&second), "{second} {value}");
        assert_eq!(
            sent(&recording, "main.video", 59),
            sent(&recording, "main.video", 40),
            "nothing is sent after the end"
        );
    }
}

#[test]
fn a_round_trip_that_takes_too_long_ends_a_call() {
    let mut scenario = dumbbell("gcc:libwebrtc", RATE, 60);
    let steps = vec![
        (Time::ZERO, Duration::from_millis(10)),
        (Time::from_secs(20), Duration::from_secs(3)),
    ];
    scenario.network.core_delay = Schedule::steps(steps).unwrap();
    assert_eq!(ends(&run(&scenario)), []);
    scenario.calls[0].media_timeout = Some(Duration::from_secs(5));
    let recording = run(&scenario);
    let [(what, at, rtt)] = ends(&recording)[..] else { panic!("{:?}", ends(&recording)) };
    assert!(
        what == "mediaTimeout" && (26..30).contains(&at) && (6.0..7.5).contains(&rtt),
        "{what} {at} {rtt}"
    );
}

#[test]
fn circuit_breakers_stop_a_sender_whose_media_or_reports_do_not_arrive() {
    for (up, number, at) in [(true, 2.0, 22..=26), (false, 1.0, 33..=35)] {
        let mut scenario = interrupted(up);
        scenario.calls[0].video.as_mut().unwrap().circuit_breaker = true;
        let recording = run(&scenario);
        let [(what, second, value)] = ends(&recording)[..] else {
            panic!("{:?}", ends(&recording))
        };
        assert!(
            what == "circuitBreaker" && value == number && at.contains(&second),
            "{what} {second} {value}"
        );
        assert_eq!(sent(&recording, "main.video", 59), sent(&recording, "main.video", 40));
    }
}

#[test]
fn a_call_in_both_directions_ends_in_both() {
    let mut scenario = interrupted(true);
    scenario.calls[0].two_way = true;
    scenario.calls[0].media_timeout = Some(Duration::from_secs(5));
    let recording = run(&scenario);
    assert_eq!(ends(&recording).len(), 1, "{:?}", ends(&recording));
    for stream in ["main.video", "main.video.back"] {
        assert_eq!(sent(&recording, stream, 59), sent(&recording, stream, 40), "{stream}");
    }
}

#[test]
fn audio_and_video_have_their_own_dscp() {
    #[derive(Default)]
    struct Seen(Vec<(&'static str, Dscp)>);
    impl Tap for Seen {
        fn packet(&mut self, _: Time, host: HostId, packet: &Packet, content: Content<'_>) {
            let kind = match content {
                Content::Rtp(rtp) if rtp.payload_type == 111 => "audio",
                Content::Rtp(_) => "video",
                Content::Rtcp(_) => "rtcp",
                Content::Tcp(_) => "tcp",
            };
            if host == HostId(0) && !self.0.contains(&(kind, packet.dscp)) {
                self.0.push((kind, packet.dscp));
            }
        }
    }
    let mut scenario = dumbbell("gcc:libwebrtc", RATE, 5);
    scenario.calls[0].audio = Some(AudioConfig::opus());
    scenario.calls[0].dscp = Marks { audio: Dscp::EF, video: Dscp::AF41 };
    let mut seen = Seen::default();
    sim::run(&scenario, Options { tap: Some(&mut seen), ..Default::default() }).unwrap();
    seen.0.sort_unstable();
    assert_eq!(seen.0, [("audio", Dscp::EF), ("rtcp", Dscp::AF41), ("video", Dscp::AF41)]);
}
