//! Expectations of libwebrtc's own tests of the whole controller
//! (`goog_cc/goog_cc_network_control_unittest.cc`). Their scenarios run here on the link of
//! `tests.rs`, which differs from theirs in delay, queue and source. Their tests of field trials
//! that this form does not have, of TCP and of audio are left out.

use super::sender::LibwebrtcSender;
use super::tests::{OPEN, Path, Run, config};
use super::{AcknowledgedEstimator, LibwebrtcConfig, SafeReset};
use crate::{ControllerConfig, Feedback, PacketResult, Sender, SentPacket};
use units::{Bitrate, Bytes, Duration, Time};

const START: u64 = 60;

/// A controller with a start rate of 60 kbit/s and no minimum.
fn sender(settings: &LibwebrtcConfig, max_kbps: u64) -> LibwebrtcSender {
    let rates = ControllerConfig {
        start_rate: Bitrate::from_kbps(START),
        min_rate: Bitrate::ZERO,
        max_rate: Bitrate::from_kbps(max_kbps),
        ..config()
    };
    LibwebrtcSender::new(settings, &rates)
}

/// Target and pacing rate in kbit/s.
fn rates(sender: &LibwebrtcSender) -> (u64, u64) {
    let decision = sender.decision();
    (decision.target_rate.as_bps() / 1000, decision.pacing_rate.as_bps() / 1000)
}

/// The rates of the requested clusters after the first `skip`, in kbit/s.
fn probes(sender: &LibwebrtcSender, skip: usize) -> Vec<u64> {
    sender.requested[skip..].iter().map(|cluster| cluster.rate.as_bps() / 1000).collect()
}

fn packet(sequence: u64, sent: Time) -> SentPacket {
    SentPacket { sequence, sent, size: Bytes::new(1000), probe: None }
}

#[test]
fn the_controller_starts_at_the_start_rate_with_pacing_of_two_and_a_half_and_two_probes() {
    let sender = sender(&LibwebrtcConfig::default(), 5 * START);
    assert_eq!(rates(&sender), (START, START * 5 / 2));
    assert_eq!(probes(&sender, 0), [3 * START, 5 * START], "the second at the maximum");
}

#[test]
fn target_and_pacing_follow_the_receivers_limit_at_the_start() {
    let mut sender = sender(&LibwebrtcConfig::default(), 5 * START);
    for (k, limit) in [2 * START, START].into_iter().enumerate() {
        let now = Time::from_millis(123 + 25 * k as u64);
        sender.on_feedback(now, Feedback::Remb { rate: Bitrate::from_kbps(limit) });
        sender.on_timeout(now + Duration::from_millis(25));
        assert_eq!(rates(&sender), (limit, limit * 5 / 2));
    }
}

#[test]
fn after_a_route_change_the_new_start_rate_applies_at_once_and_is_probed() {
    let mut sender = sender(&LibwebrtcConfig::default(), 20 * START);
    let now = Time::from_millis(3_123);
    sender.on_route_change(now, Bitrate::from_kbps(2 * START));
    assert_eq!(rates(&sender), (2 * START, 5 * START));
    assert_eq!(probes(&sender, 2), [6 * START, 12 * START]);
    sender.on_route_change(now, Bitrate::from_bps(1));
    assert_eq!(rates(&sender), (5, 12), "the minimum of all congestion control");
    assert_eq!(probes(&sender, 4).len(), 2);
}

#[test]
fn feedback_about_packets_of_the_route_before_does_not_count() {
    let mut sender = sender(&LibwebrtcConfig::default(), 20 * START);
    let sent = Time::from_secs(1);
    (0..4).for_each(|sequence| sender.on_sent(&packet(sequence, sent)));
    let now = Time::from_millis(1_100);
    sender.on_route_change(now, Bitrate::from_kbps(START));
    sender.on_sent(&packet(4, now));
    let mut report = |sequences: std::ops::Range<u64>| {
        let results: Vec<_> = sequences
            .map(|k| PacketResult {
                packet: packet(k, sent),
                arrival: Some(now),
                ecn: crate::Ecn::NotEct,
            })
            .collect();
        let now = now + Duration::from_millis(100);
        sender.on_feedback(now, Feedback::Packets { results: &results, rtt: None });
        (rates(&sender).1, sender.in_flight.bytes())
    };
    let paced = START * 5 / 2;
    assert_eq!(report(0..4), (paced, Bytes::new(1000)), "no feedback yet: still 2.5 ×");
    assert_eq!(report(3..5).1, Bytes::ZERO);
}

/// A packet of 1000 B every 50 ms, reported when it arrives; the delay grows by `step` ms per
/// packet. Returns the target after 6 s.
fn transmit(sender: &mut LibwebrtcSender, from: u64, step: u64) -> Bitrate {
    for k in 0..120 {
        let sent = Time::from_millis(123 + 6_000 * from + 50 * k);
        let packet = packet(120 * from + k, sent);
        let arrival = sent + Duration::from_millis(step * k);
        sender.on_sent(&packet);
        let results = [PacketResult { packet, arrival: Some(arrival), ecn: crate::Ecn::NotEct }];
        sender.on_feedback(arrival, Feedback::Packets { results: &results, rtt: None });
        sender.on_timeout(sent + Duration::from_millis(50));
    }
    sender.decision().target_rate
}

#[test]
fn a_growing_delay_lowers_the_target() {
    let mut sender = sender(&LibwebrtcConfig::default(), 5 * START);
    let before = transmit(&mut sender, 0, 0);
    let after = transmit(&mut sender, 1, 50);
    assert!(after < before, "{after} {before}");
}

#[test]
fn the_round_trip_time_of_feedback_excludes_the_waiting_time_at_the_receiver() {
    let sent = Time::from_millis(123);
    let one_way = Duration::from_millis(10);
    // The packets arrive 50 ms apart; the feedback leaves with the last.
    let results: Vec<_> = (0..3)
        .map(|k| {
            let arrival = sent + one_way + Duration::from_millis(50 * k);
            PacketResult {
                packet: packet(k, sent),
                arrival: Some(arrival),
                ecn: crate::Ecn::NotEct,
            }
        })
        .collect();
    let is_above = |limit_millis| {
        let backoff_rtt = Duration::from_millis(limit_millis);
        let config = LibwebrtcConfig { backoff_rtt, ..LibwebrtcConfig::default() };
        let mut sender = sender(&config, 5 * START);
        let now = sent + one_way + Duration::from_millis(100) + one_way;
        sender.on_feedback(now, Feedback::Packets { results: &results, rtt: None });
        sender.send_side.is_rtt_above_limit()
    };
    assert_eq!((is_above(19), is_above(20)), (true, false), "20 ms");
}

#[test]
fn the_target_follows_the_capacity_of_the_link() {
    let rate = |now| match now {
        now if now < Time::from_secs(25) => Bitrate::from_kbps(500),
        now if now < Time::from_secs(45) => Bitrate::from_kbps(800),
        _ => Bitrate::from_kbps(100),
    };
    let ceiling = |_| Bitrate::from_kbps(1_500);
    let run = Run::new(Path { rate, ceiling, ..OPEN }).until(25);
    assert!(run.kbps().abs_diff(450) <= 100, "{}", run.kbps());
    let run = run.until(45);
    assert!(run.kbps().abs_diff(750) <= 150, "{}", run.kbps());
    let run = run.until(95);
    assert!(run.kbps().abs_diff(90) <= 25, "{}", run.kbps());
}

#[test]
fn the_target_rises_fast_when_the_receiver_lifts_its_limit() {
    // A source at the target rate would fill the link when the limit is lifted, because the pacer
    // sends 10 % faster.
    let ceiling = |_| Bitrate::from_kbps(1_700);
    let mut run = Run::new(Path { rate: |_| Bitrate::from_mbps(2), ceiling, ..OPEN });
    let rates = ControllerConfig { start_rate: Bitrate::from_mbps(1), ..config() };
    run.sender = LibwebrtcSender::new(&LibwebrtcConfig::default(), &rates);
    run = run.until(10);
    assert!(run.kbps() > 1_500, "{}", run.kbps());
    run.sender.on_feedback(run.now, Feedback::Remb { rate: Bitrate::from_kbps(250) });
    run = run.until(11);
    assert_eq!(run.kbps(), 250);
    run.sender.on_feedback(run.now, Feedback::Remb { rate: Bitrate::from_mbps(10) });
    run = run.until(21);
    assert!(run.kbps() > 1_500, "{}", run.kbps());
}

#[test]
fn ten_percent_loss_leaves_more_than_100_kbps() {
    let ceiling = |_| Bitrate::from_kbps(1_500);
    let path = Path { rate: |_| Bitrate::from_mbps(2), percent: |_| 10, ceiling };
    let kbps = Run::new(path).until(120).kbps();
    assert!(kbps > 100, "{kbps}");
}

/// The target in kbit/s when the link has paused for 3 s.
fn paused(drop_frames: bool) -> u64 {
    let settings = LibwebrtcConfig {
        window_queue: Duration::from_millis(800),
        window_drop_frames: drop_frames,
        ..LibwebrtcConfig::default()
    };
    let rate = |now: Time| {
        let open = now < Time::from_secs(10);
        if open { Bitrate::from_mbps(1) } else { Bitrate::from_bps(100) }
    };
    let mut run = Run::new(Path { rate, ..OPEN });
    run.sender = LibwebrtcSender::new(&settings, &config());
    run.until(13).kbps()
}

#[test]
fn a_full_congestion_window_reduces_the_target_unless_it_drops_frames() {
    assert!(paused(false) < 40, "{}", paused(false));
    assert!(paused(true) > 300, "{}", paused(true));
}

/// A run whose route changes at `change` ms, with a start rate of 300 kbit/s.
fn change_route(safe_reset: SafeReset, rate: fn(Time) -> Bitrate, change: u64) -> Run {
    let settings = LibwebrtcConfig { safe_reset, ..LibwebrtcConfig::default() };
    let mut run = Run::new(Path { rate, ..OPEN });
    run.sender = LibwebrtcSender::new(&settings, &config());
    let mut run = run.until_millis(change);
    run.sender.on_route_change(run.now, Bitrate::from_kbps(300));
    run
}

#[test]
fn a_safe_reset_keeps_a_low_estimate() {
    let run = change_route(SafeReset::Estimate, |_| Bitrate::from_kbps(200), 2_000);
    assert!(run.kbps().abs_diff(200) <= 50, "{}", run.kbps());
    let run = run.until_millis(2_100);
    assert!(run.kbps().abs_diff(200) <= 50, "{}", run.kbps());
}

#[test]
fn a_safe_reset_cuts_a_high_estimate_to_the_start_rate() {
    for safe_reset in [SafeReset::Estimate, SafeReset::Acknowledged, SafeReset::Off] {
        let run = change_route(safe_reset, |_| Bitrate::from_mbps(1), 2_000).until_millis(2_050);
        assert!(run.kbps().abs_diff(300) <= 30, "{safe_reset}: {}", run.kbps());
    }
}

#[test]
fn a_safe_reset_to_the_acknowledged_rate_finds_a_faster_route_by_probes() {
    let rate = |now| {
        if now < Time::from_secs(2) { Bitrate::from_kbps(200) } else { Bitrate::from_kbps(800) }
    };
    let run = change_route(SafeReset::Acknowledged, rate, 2_000).until_millis(2_050);
    assert!(run.kbps().abs_diff(200) <= 50, "{}", run.kbps());
    let run = run.until_millis(3_050);
    assert!(run.kbps() > 500, "{}", run.kbps());
}

#[test]
fn a_safe_reset_starts_at_the_lower_of_the_start_rate_and_the_known_rate() {
    let started = |safe_reset, acknowledged_estimator, packets| {
        let config =
            LibwebrtcConfig { safe_reset, acknowledged_estimator, ..LibwebrtcConfig::default() };
        let mut sender = sender(&config, 100 * START);
        for k in 0..packets {
            let sent = Time::from_millis(1_000 + 20 * k);
            let packet = packet(k, sent);
            sender.on_sent(&packet);
            let results = [PacketResult { packet, arrival: Some(sent), ecn: crate::Ecn::NotEct }];
            sender.on_feedback(sent, Feedback::Packets { results: &results, rtt: None });
        }
        sender.on_route_change(Time::from_millis(1_300), Bitrate::from_mbps(2));
        rates(&sender).0
    };
    let robust = AcknowledgedEstimator::Robust;
    assert_eq!(started(SafeReset::Off, robust, 13), 2_000);
    let estimate = started(SafeReset::Estimate, robust, 13);
    assert!((START..2 * START).contains(&estimate), "{estimate}");
    assert_eq!(started(SafeReset::Acknowledged, robust, 13), 400, "12 kB in 240 ms");
    assert_eq!(started(SafeReset::Acknowledged, robust, 9), 2_000, "unknown");
    // The first window of this estimator is not complete; its 13 kB in 240 ms count.
    let bayesian = AcknowledgedEstimator::Bayesian;
    assert_eq!(started(SafeReset::Acknowledged, bayesian, 13), 433);
}
