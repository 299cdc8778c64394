//! The two ends of a call over simple networks, with a controller that does not adapt.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{call, dumbbell, last, late_rate, run, steady_voice, with_loss};
use units::{Bitrate, Duration, Time};

#[test]
fn a_fixed_rate_call_delivers_what_it_sends() {
    let recording = run(&dumbbell("fixed:1Mbit/s", Bitrate::from_mbps(4), 60));
    let rate = late_rate(&recording, "main.video", "bytesReceived");
    assert!((0.97e6..1.03e6).contains(&rate), "{rate}");
    assert_eq!(last(&recording, "main.video", "packetsLost"), 0.0);
    assert_eq!(last(&recording, "main.video", "freezeCount"), 0.0);
    let decoded = last(&recording, "main.video", "framesDecoded");
    assert!((1780.0..=1800.0).contains(&decoded), "{decoded} frames in 60 s at 30 fps");
}

#[test]
fn a_transport_estimate_covers_everything_that_the_call_sends() {
    let sent = |estimate| {
        let mut scenario = dumbbell("fixed:1Mbit/s", Bitrate::from_mbps(4), 30);
        scenario.calls[0].audio = Some(sim::codec::AudioConfig::opus());
        scenario.calls[0].video.as_mut().unwrap().estimate = estimate;
        let recording = run(&scenario);
        assert_eq!(last(&recording, "main.video", "availableOutgoingBitrate"), 1e6);
        let on_the_line = |stream| {
            let rate = |column| late_rate(&recording, stream, column);
            let headers = sim::wire::UDP_IPV4_OVERHEAD.get() as f64 * rate("packetsSent");
            rate("bytesSent") + rate("headerBytesSent") + headers
        };
        on_the_line("main.video") + on_the_line("main.audio")
    };
    let (all, video) = (sent(sim::Estimate::Transport), sent(sim::Estimate::Video));
    assert!((0.97e6..1.03e6).contains(&all), "{all}");
    assert!(video > 1.1e6, "audio and headers are added: {video}");
}

#[test]
fn a_transport_estimate_leaves_the_rest_to_the_encoder() {
    let target = |rate: &str| {
        let mut scenario = dumbbell(rate, Bitrate::from_mbps(4), 10);
        scenario.calls[0].video.as_mut().unwrap().estimate = sim::Estimate::Transport;
        last(&run(&scenario), "main.video", "targetBitrate")
    };
    assert_eq!(
        target("fixed:1Mbit/s"),
        1e6 - 102.0 * 8.0 * 52.0,
        "102 packets of at most 1228 bytes"
    );
    assert_eq!(target("fixed:3Mbit/s"), 2e6, "the encoder's maximum");
}

#[test]
fn a_transport_estimate_includes_audio_feedback() {
    let mut scenario = dumbbell("gcc:libwebrtc", Bitrate::from_mbps(4), 2);
    scenario.calls[0].audio = Some(sim::codec::AudioConfig::opus());
    let mut reported = |estimate| {
        scenario.calls[0].video.as_mut().unwrap().estimate = estimate;
        let mut count = Sequences::default();
        sim::run(&scenario, sim::Options { tap: Some(&mut count), ..Default::default() }).unwrap();
        (count.of_audio, count.of_video)
    };
    let ((none, _), (audio, video)) =
        (reported(sim::Estimate::Video), reported(sim::Estimate::Transport));
    assert_eq!(none, 0);
    assert!(audio >= 99 && video > 0, "{audio} packets of audio, {video} of video");
}

/// Counts packets with transport-wide sequence numbers.
#[derive(Default)]
struct Sequences {
    of_audio: u64,
    of_video: u64,
}

impl sim::Tap for Sequences {
    fn packet(&mut self, _: Time, host: net::HostId, _: &net::Packet, content: sim::Content<'_>) {
        let sim::Content::Rtp(rtp) = content else { return };
        if let (net::HostId(0), Some(_)) = (host, rtp.transport_sequence) {
            let audio = rtp.frame.count == 0;
            self.of_audio += u64::from(audio);
            self.of_video += u64::from(!audio);
        }
    }
}

#[test]
fn round_trip_times_begin_at_the_propagation_delay() {
    let recording = run(&dumbbell("fixed:500kbit/s", Bitrate::from_mbps(4), 60));
    let points = recording.stream("main.video").unwrap().points("roundTripTime").unwrap();
    let min = points.iter().map(|&(_, rtt)| rtt).fold(f64::INFINITY, f64::min);
    assert!(points.len() >= 40, "about one per second: {}", points.len());
    assert!((0.050..0.0515).contains(&min), "{min}");
}

#[test]
fn an_overloaded_link_loses_and_queues() {
    let recording = run(&dumbbell("fixed:2Mbit/s", Bitrate::from_mbps(1), 30));
    assert!(last(&recording, "main.video", "packetsLost") > 100.0);
    let points = recording.stream("main.video").unwrap().points("roundTripTime").unwrap();
    let max = points.iter().map(|&(_, rtt)| rtt).fold(0.0, f64::max);
    assert!((0.35..0.45).contains(&max), "50 ms and a queue of 350 ms: {max}");
}

#[test]
fn retransmissions_repair_random_loss() {
    let lossy = run(&with_loss(dumbbell("fixed:1Mbit/s", Bitrate::from_mbps(4), 60), 2));
    let lost =
        last(&lossy, "main.video", "packetsLost") / last(&lossy, "main.video", "mediaPacketsSent");
    assert!((0.012..0.028).contains(&lost), "{lost}");
    let decoded = last(&lossy, "main.video", "framesDecoded");
    assert!(decoded >= 1750.0, "{decoded} of 1800 frames");
    let mut plain = with_loss(dumbbell("fixed:1Mbit/s", Bitrate::from_mbps(4), 60), 2);
    plain.calls[0].video.as_mut().unwrap().nack = false;
    let plain = run(&plain);
    assert!(
        last(&plain, "main.video", "framesDecoded") < 0.5 * decoded,
        "without retransmission, decoding stops"
    );
    assert!(last(&plain, "main.video", "pliCount") >= 3.0, "and key frames are requested");
}

#[test]
fn freezes_and_key_frame_requests_are_events() {
    let lossy = run(&with_loss(dumbbell("gcc:carlucci-2017", Bitrate::from_kbps(300), 60), 15));
    let count = |what: &str| lossy.events.iter().filter(|event| event.what == what).count() as f64;
    assert!(count("freeze") > 0.0 && count("keyFrameRequest") > 0.0, "{:?}", lossy.events.len());
    assert_eq!(count("freeze"), last(&lossy, "main.video", "freezeCount"));
    assert_eq!(count("keyFrameRequest"), last(&lossy, "main.video", "pliCount"));
    assert!(lossy.events.is_sorted_by_key(|event| event.at));
    let frozen =
        lossy.events.iter().filter(|event| event.what == "freeze").map(|event| event.value);
    assert!(
        (frozen.sum::<f64>() - last(&lossy, "main.video", "totalFreezesDuration")).abs() < 1e-6
    );
}

/// A call with voice only over `rate` with 25 ms. Returns the recording and the frame delays.
fn voice(
    audio: sim::codec::AudioConfig,
    rate: Bitrate,
    loss: u32,
) -> (sim::Recording, Vec<(Time, f64)>) {
    let mut scenario = with_loss(dumbbell("fixed:1Mbit/s", rate, 20), loss);
    (scenario.calls[0].video, scenario.calls[0].audio) = (None, Some(audio));
    let recording = run(&scenario);
    let delays = recording.stream("main.audio").unwrap().points("frameDelay").unwrap().to_vec();
    (recording, delays)
}

#[test]
fn the_delay_of_voice_is_that_of_the_path() {
    let (recording, delays) = voice(steady_voice(), Bitrate::from_kbps(800), 0);
    assert_eq!(delays.len() as f64, last(&recording, "main.audio", "packetsReceived"));
    // 213 bytes at 100 bytes per millisecond.
    for (index, delay) in delays.iter().enumerate() {
        assert_eq!(*delay, (Time::from_micros(20_000 * index as u64 + 27_130), 0.027_130));
    }
}

#[test]
fn the_delay_of_voice_grows_with_the_queue() {
    let (_, delays) = voice(steady_voice(), Bitrate::from_kbps(64), 0);
    // 26.625 ms per packet, one packet every 20 ms.
    for (index, (_, delay)) in delays.iter().enumerate().take(40) {
        let expected = 0.025 + 0.026_625 + 0.006_625 * index as f64;
        assert!((delay - expected).abs() < 1e-12, "{index}: {delay}, expected {expected}");
    }
}

#[test]
fn every_received_audio_packet_has_a_delay() {
    for audio in [steady_voice(), sim::codec::AudioConfig::amr()] {
        let (recording, delays) = voice(audio, Bitrate::from_mbps(4), 10);
        assert!(last(&recording, "main.audio", "packetsLost") > 10.0);
        assert_eq!(delays.len() as f64, last(&recording, "main.audio", "packetsReceived"));
        assert!(delays.iter().all(|(_, delay)| (0.025..0.0255).contains(delay)), "{delays:?}");
    }
}

#[test]
fn both_directions_of_a_two_way_call_send() {
    let mut scenario = dumbbell("fixed:500kbit/s", Bitrate::from_mbps(4), 20);
    scenario.calls[0].two_way = true;
    scenario.calls[0].audio = Some(sim::codec::AudioConfig::opus());
    let recording = run(&scenario);
    for stream in ["main.video", "main.video.back"] {
        let rate = late_rate(&recording, stream, "bytesReceived");
        assert!((0.46e6..0.54e6).contains(&rate), "{stream}: {rate}");
    }
    for stream in ["main.audio", "main.audio.back"] {
        let rate = late_rate(&recording, stream, "bytesReceived");
        assert!((60e3..80e3).contains(&rate), "{stream}: {rate}");
    }
}

#[test]
fn a_call_is_active_only_between_start_and_stop() {
    let mut scenario = dumbbell("fixed:500kbit/s", Bitrate::from_mbps(4), 30);
    (scenario.calls[0].start, scenario.calls[0].stop) = (Time::from_secs(10), Time::from_secs(20));
    let recording = run(&scenario);
    let sent = recording.stream("main.video").unwrap().column("bytesSent").unwrap().to_vec();
    assert!(sent[..20].iter().all(|x| x.is_nan()), "no samples before 10 s");
    assert!(sent[20..40].iter().all(|x| x.is_finite()));
    assert!(sent[40..].iter().all(|x| x.is_nan()), "no samples after 20 s");
}

#[test]
fn the_same_seed_gives_the_same_records_and_another_does_not() {
    let mut scenario = with_loss(dumbbell("gcc:carlucci-2017", Bitrate::from_mbps(1), 30), 1);
    let first = format!("{:?}", run(&scenario));
    assert!(first == format!("{:?}", run(&scenario)));
    scenario.seed = units::Seed(2);
    assert!(first != format!("{:?}", run(&scenario)));
}

#[test]
fn random_elements_elsewhere_change_no_draw_of_a_call() {
    let alone = dumbbell("fixed:500kbit/s", Bitrate::from_mbps(4), 10);
    let mut beside = alone.clone();
    beside
        .network
        .hosts
        .extend(with_loss(dumbbell("fixed:1Mbit/s", Bitrate::from_mbps(4), 10), 5).network.hosts);
    for (host, name) in beside.network.hosts[2..].iter_mut().zip(["carol", "dave"]) {
        host.name = name.to_owned();
    }
    let mut other = call("other", "fixed:1Mbit/s");
    (other.from, other.to) = (net::HostId(2), net::HostId(3));
    beside.calls.push(other);
    let (alone, beside) = (run(&alone), run(&beside));
    assert_eq!(
        format!("{:?}", alone.stream("main.video")),
        format!("{:?}", beside.stream("main.video"))
    );
    assert!(last(&beside, "other.video", "packetsLost") > 0.0);
}

#[test]
fn a_cancelled_run_returns_an_error() {
    let cancel = std::sync::atomic::AtomicBool::new(true);
    let scenario = dumbbell("fixed:500kbit/s", Bitrate::from_mbps(4), 30);
    let result = sim::run(&scenario, sim::Options { cancel: Some(&cancel), ..Default::default() });
    assert_eq!(result.unwrap_err().to_string(), "cancelled");
}

#[test]
fn the_steps_of_a_simulation_do_not_change_its_result() {
    let scenario = with_loss(dumbbell("gcc:libwebrtc", Bitrate::from_mbps(1), 20), 2);
    let mut stepped = sim::Simulation::new(&scenario, sim::Options::default()).unwrap();
    for step in 1..=400 {
        stepped.advance(Time::ZERO + Duration::from_millis(60) * step).unwrap();
    }
    // As text, because not-a-number differs from itself.
    assert_eq!(format!("{:?}", stepped.finish()), format!("{:?}", run(&scenario)));
}

#[test]
fn decoded_frames_have_their_delay_and_the_payload_that_arrived() {
    let scenario = dumbbell("fixed:1Mbit/s", Bitrate::from_mbps(4), 10);
    let recording = run(&scenario);
    let mut simulation = sim::Simulation::new(&scenario, sim::Options::default()).unwrap();
    simulation.advance(Time::from_secs(10)).unwrap();
    let frames: Vec<_> = simulation.decoded(0, 0).collect();
    let delays: Vec<_> = frames.iter().map(|&(at, delay, _)| (at, delay)).collect();
    let recorded = recording.stream("main.video").unwrap().points("frameDelay").unwrap();
    assert_eq!(delays, recorded[..delays.len()]);
    assert!(recorded.len() - delays.len() <= 1, "all but a frame at the end");
    let payload: u64 = frames.iter().map(|(_, _, payload)| payload.get()).sum();
    let received = last(&recording, "main.video", "bytesReceived");
    assert!((received - 10_000.0..=received).contains(&(payload as f64)), "{payload}");
    assert_eq!(simulation.decoded(0, frames.len()).count(), 0);
    assert_eq!(simulation.decoded(1, 0).count(), 0, "there is one direction");
}

#[test]
fn a_controller_of_the_caller_replaces_a_profile() {
    let scenario = dumbbell("gcc:libwebrtc", Bitrate::from_mbps(4), 20);
    let make = |name: &str, config: &cc::ControllerConfig| {
        assert_eq!(name, "main");
        let profile = "fixed:500kbit/s".to_owned();
        cc::build(&cc::ControllerConfig { profile, ..config.clone() }).ok()
    };
    let controllers: std::sync::Arc<sim::MakeControllers> = std::sync::Arc::new(make);
    let options = sim::Options { controllers: Some(controllers), ..Default::default() };
    let own = sim::run(&scenario, options).unwrap();
    let profile = run(&dumbbell("fixed:500kbit/s", Bitrate::from_mbps(4), 20));
    assert_eq!(format!("{own:?}"), format!("{profile:?}"));
}

/// A call with `delay` each way and random loss, with or without FEC.
fn protected(fec: sim::Fec, delay: Duration, percent: u32) -> sim::Scenario {
    let mut scenario = with_loss(dumbbell("fixed:1Mbit/s", Bitrate::from_mbps(4), 120), percent);
    for host in &mut scenario.network.hosts {
        let net::AccessConfig::Wired { up, .. } = &mut host.access else {
            panic!("a wired access")
        };
        up.delay = net::Schedule::constant(delay);
    }
    scenario.calls[0].video.as_mut().unwrap().fec = fec;
    scenario
}

fn frame_delay_p95(recording: &sim::Recording) -> f64 {
    let points = recording.stream("main.video").unwrap().points("frameDelay").unwrap();
    let mut delays: Vec<f64> = points.iter().map(|&(_, delay)| delay).collect();
    delays.sort_by(f64::total_cmp);
    delays[delays.len() * 95 / 100]
}

#[test]
fn parity_shortens_frame_delay_with_a_long_round_trip() {
    let far = Duration::from_millis(100);
    let plain = run(&protected(sim::Fec::Off, far, 5));
    let hybrid = run(&protected(sim::Fec::Hybrid, far, 5));
    let (with, without) = (frame_delay_p95(&hybrid), frame_delay_p95(&plain));
    assert!(with < 0.8 * without, "{with} s with parity, {without} s without");
    let shown = |column: &str| last(&hybrid, "main.video", column);
    let share = shown("fecPacketsSent") / shown("mediaPacketsSent");
    assert!(
        (0.15..0.4).contains(&share),
        "one parity packet per four or five media packets: {share}"
    );
    let lost = 1.0 - shown("fecPacketsReceived") / shown("fecPacketsSent");
    assert!((0.03..0.07).contains(&lost), "5 % of the parity is also lost: {lost}");
    let recovered = shown("fecPacketsRecovered") / shown("packetsLost");
    assert!(
        (0.5..1.0).contains(&recovered),
        "most losses are restored, but RTCP counts them as lost: {recovered}"
    );
    assert!(
        shown("fecPacketsRecovered") + shown("fecPacketsDiscarded") <= shown("fecPacketsReceived")
    );
    assert!(plain.stream("main.video").unwrap().column("fecPacketsSent").is_none());
}

#[test]
fn parity_is_not_sent_without_loss_or_with_a_short_round_trip() {
    let (near, far) = (Duration::from_millis(5), Duration::from_millis(100));
    for scenario in [protected(sim::Fec::Hybrid, near, 5), protected(sim::Fec::Hybrid, far, 0)] {
        assert_eq!(last(&run(&scenario), "main.video", "fecPacketsSent"), 0.0);
    }
}

#[test]
fn parity_reduces_the_encoders_rate() {
    let far = Duration::from_millis(100);
    let rate = |fec| late_rate(&run(&protected(fec, far, 5)), "main.video", "bytesSent");
    let (hybrid, plain) = (rate(sim::Fec::Hybrid), rate(sim::Fec::Off));
    assert!((hybrid / plain - 1.0).abs() < 0.05, "{hybrid} with parity, {plain} without");
}

/// Checks that parity packets have at most the maximum packet size, and that every byte is
/// recorded.
#[derive(Default)]
struct Sizes {
    largest: u64,
    parity: u64,
}

impl sim::Tap for Sizes {
    fn packet(
        &mut self,
        _: Time,
        host: net::HostId,
        packet: &net::Packet,
        content: sim::Content<'_>,
    ) {
        let sim::Content::Rtp(rtp) = content else { return };
        let size = sim::wire::rtp_size(rtp);
        assert_eq!(packet.size, size + sim::wire::UDP_IPV4_OVERHEAD);
        if let (net::HostId(0), Some(_)) = (host, &rtp.fec) {
            assert_eq!(rtp.ssrc & 0xf, 4, "parity has its own SSRC");
            self.largest = self.largest.max(size.get());
            self.parity += rtp.payload.get();
        }
    }
}

#[test]
fn parity_packets_have_at_most_the_maximum_size() {
    let mut sizes = Sizes::default();
    let scenario = protected(sim::Fec::Hybrid, Duration::from_millis(100), 5);
    let recording =
        sim::run(&scenario, sim::Options { tap: Some(&mut sizes), ..Default::default() }).unwrap();
    assert!((1150..=1200).contains(&sizes.largest), "{}", sizes.largest);
    assert_eq!(sizes.parity as f64, last(&recording, "main.video", "fecBytesSent"));
}

#[test]
fn a_voice_only_call_with_pauses_loses_nothing() {
    let mut scenario = dumbbell("fixed:1Mbit/s", Bitrate::from_mbps(1), 120);
    scenario.calls[0].video = None;
    scenario.calls[0].audio = Some(sim::codec::AudioConfig::amr());
    scenario.calls[0].two_way = true;
    let recording = run(&scenario);
    assert!(recording.stream("main.video").is_none());
    for stream in ["main.audio", "main.audio.back"] {
        let [sent, received, lost, jitter] =
            ["packetsSent", "packetsReceived", "packetsLost", "jitter"]
                .map(|column| last(&recording, stream, column));
        // 6000 without pauses; in pauses one eighth as many.
        assert!((1_500.0..5_000.0).contains(&sent), "{sent} packets of {stream}");
        assert!(
            sent - received <= 3.0 && lost == 0.0 && jitter < 1e-3,
            "{received} of {sent}, {lost}, {jitter}"
        );
    }
}
