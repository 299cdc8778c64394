//! Expectations of libwebrtc's own tests (`goog_cc/send_side_bandwidth_estimation_unittest.cc`,
//! `goog_cc/goog_cc_network_control_unittest.cc`). Their loss of -1 packets cannot occur here: a
//! report counts lost packets without sign.

use super::*;
use crate::SentPacket;
use units::Bytes;

const RTT: Duration = Duration::from_millis(50);

/// An estimate between 100 kbit/s and 1.5 Mbit/s.
fn estimate(start_kbps: u64) -> SendSide {
    bounded(&LibwebrtcConfig::default(), start_kbps, 100, 1_500)
}

fn bounded(config: &LibwebrtcConfig, start_kbps: u64, min_kbps: u64, max_kbps: u64) -> SendSide {
    let mut estimate = SendSide::new(config);
    estimate.set_bounds(Bitrate::from_kbps(min_kbps), Bitrate::from_kbps(max_kbps));
    estimate.set_rate(Bitrate::from_kbps(start_kbps));
    estimate
}

fn kbps(estimate: &SendSide) -> u64 {
    estimate.target().as_bps() / 1000
}

/// Updates every 25 ms from one second to another.
fn update(estimate: &mut SendSide, from: u64, to: u64) {
    for k in 40 * from..40 * to {
        estimate.update(Time::from_millis(25 * k));
    }
}

#[test]
fn in_the_first_two_seconds_the_receivers_limit_sets_the_estimate_and_later_it_does_not() {
    let mut estimate = estimate(200);
    estimate.on_report(Time::ZERO, 0, 1);
    estimate.on_rtt(RTT);
    estimate.set_receiver_limit(Bitrate::from_mbps(1));
    estimate.update(Time::ZERO);
    assert_eq!(kbps(&estimate), 1_000);
    estimate.set_receiver_limit(Bitrate::from_kbps(1_500));
    estimate.update(Time::from_millis(2_001));
    assert_eq!(kbps(&estimate), 1_000);
}

#[test]
fn in_the_first_two_seconds_the_delay_based_rate_sets_the_estimate_and_later_it_does_not() {
    let raised = |second_ms: u64| {
        let mut estimate = estimate(200);
        estimate.on_report(Time::ZERO, 0, 1);
        estimate.on_rtt(RTT);
        estimate.set_delay_based(Bitrate::from_mbps(1));
        estimate.update(Time::ZERO);
        assert_eq!(kbps(&estimate), 1_000);
        estimate.set_delay_based(Bitrate::from_kbps(1_500));
        estimate.update(Time::from_millis(second_ms));
        kbps(&estimate)
    };
    assert_eq!(raised(2_001), 1_000);
    assert_eq!(raised(2_000), 1_000, "the phase is shorter than 2 s");
    assert_eq!(raised(1_999), 1_500);
}

#[test]
fn after_a_loss_the_delay_based_rate_does_not_raise_the_estimate_any_more() {
    let mut estimate = estimate(200);
    estimate.on_report(Time::ZERO, 1, 20);
    estimate.set_delay_based(Bitrate::from_mbps(1));
    estimate.update(Time::ZERO);
    assert_eq!((estimate.fraction_lost(), kbps(&estimate)), (12, 200), "5 %");
}

#[test]
fn a_lower_delay_based_rate_applies_at_once() {
    let mut estimate = estimate(1_000);
    estimate.set_delay_based(Bitrate::from_kbps(400));
    assert_eq!(kbps(&estimate), 400);
}

#[test]
fn without_loss_the_target_follows_the_results_of_probes() {
    let begin = Time::from_secs(123);
    let mut estimate = bounded(&LibwebrtcConfig::default(), 200, 100, 15_000);
    estimate.on_report(begin, 0, 1);
    for k in 0..5u64 {
        let now = begin + Duration::from_secs(k);
        let result = |sequence| {
            let packet = SentPacket { sequence, sent: now, size: Bytes::new(1000), probe: None };
            PacketResult { packet, arrival: Some(now), ecn: crate::Ecn::NotEct }
        };
        let results: Vec<_> = (100 * k..100 * (k + 1)).map(result).collect();
        let rate = Bitrate::from_kbps(200 << k);
        estimate.set_rate(rate);
        estimate.set_delay_based(rate);
        estimate.on_packets(now, &results, Some(rate.scale(0.5)), false);
        assert_eq!(estimate.target(), rate);
    }
}

#[test]
fn a_report_of_loss_lowers_the_estimate_once() {
    let mut estimate = estimate(1_000);
    assert_eq!((kbps(&estimate), estimate.fraction_lost()), (1_000, 0));
    assert_eq!(estimate.rtt(), Duration::ZERO);
    estimate.on_report(Time::from_secs(11), 50, 100);
    estimate.on_rtt(RTT);
    for second in [12, 13] {
        estimate.update(Time::from_secs(second));
        assert_eq!((kbps(&estimate), estimate.fraction_lost()), (750, 128), "1 - 128/512");
        assert_eq!(estimate.rtt(), RTT);
    }
}

#[test]
fn the_loss_of_fewer_than_twenty_packets_is_added_to_the_next_report() {
    let mut estimate = estimate(1_000);
    estimate.on_report(Time::from_secs(1), 10, 19);
    assert_eq!((kbps(&estimate), estimate.fraction_lost()), (1_000, 0));
    estimate.on_report(Time::from_secs(2), 0, 1);
    assert_eq!((kbps(&estimate), estimate.fraction_lost()), (750, 128));
}

#[test]
fn without_feedback_per_packet_reports_of_15_percent_loss_lower_the_estimate() {
    let mut estimate = bounded(&LibwebrtcConfig::default(), 1_000, 5, 1_000_000);
    let mut reported = |from: u64, lost| {
        for second in from..from + 20 {
            estimate.on_report(Time::from_secs(second), lost, 100);
            update(&mut estimate, second, second + 1);
        }
        kbps(&estimate)
    };
    let clean = reported(0, 0);
    assert!(clean >= 500, "{clean}");
    // 1 - 38/512 per second.
    let lossy = reported(20, 15);
    assert!(lossy < clean / 4, "{lossy} of {clean}");
}

#[test]
fn reports_of_up_to_two_percent_raise_the_estimate_and_of_up_to_ten_percent_hold_it() {
    let reported = |lost| {
        let mut estimate = estimate(500);
        estimate.on_report(Time::from_secs(1), lost, 100);
        kbps(&estimate)
    };
    assert_eq!(reported(0), 541, "1.08 × 500 + 1");
    assert_eq!(reported(2), 541);
    assert_eq!(reported(3), 500);
    assert_eq!(reported(10), 500);
    assert_eq!(reported(11), 472, "500 × (1 - 28/512)");
}

#[test]
fn the_rate_stays_within_its_bounds() {
    let mut low = estimate(200);
    for second in 1..10 {
        low.on_report(Time::from_secs(second), 100, 100);
    }
    assert_eq!(kbps(&low), 100, "the minimum");
    low.set_delay_based(Bitrate::from_kbps(20));
    low.set_receiver_limit(Bitrate::from_kbps(30));
    assert_eq!(kbps(&low), 100);
    let high = estimate(2_000);
    assert_eq!(kbps(&high), 1_500, "the maximum");
    let lowest = bounded(&LibwebrtcConfig::default(), 1, 0, 0);
    assert_eq!(kbps(&lowest), 5, "the minimum of all congestion control");
}

#[test]
fn setting_the_rate_overrides_the_delay_based_rate() {
    let mut estimate = bounded(&LibwebrtcConfig::default(), 300, 10, 10_000);
    estimate.set_delay_based(Bitrate::from_kbps(350));
    estimate.update(Time::ZERO);
    assert!((300..=350).contains(&kbps(&estimate)));
    estimate.set_rate(Bitrate::from_kbps(2_500));
    assert_eq!(kbps(&estimate), 2_500);
}

#[test]
fn the_target_is_the_estimate_again_when_the_receiver_lifts_its_limit() {
    let mut estimate = bounded(&LibwebrtcConfig::default(), 2_000, 10, 10_000);
    estimate.on_report(Time::ZERO, 0, 1);
    estimate.set_receiver_limit(Bitrate::from_kbps(250));
    update(&mut estimate, 3, 4);
    assert_eq!(kbps(&estimate), 250);
    estimate.set_receiver_limit(Bitrate::from_mbps(10));
    assert_eq!(kbps(&estimate), 2_000);
}

#[test]
fn a_round_trip_time_of_five_seconds_is_above_the_limit_and_of_one_second_is_not() {
    for (rtt, above) in [(5, true), (1, false)] {
        let mut estimate = estimate(300);
        estimate.on_feedback_rtt(Time::ZERO, Duration::from_secs(rtt));
        assert_eq!(estimate.is_rtt_above_limit(), above);
    }
    assert_eq!(LibwebrtcConfig::default().backoff_rtt, Duration::from_secs(3));
}

#[test]
fn above_the_limit_the_rate_falls_by_a_fifth_per_second_down_to_a_floor() {
    let config = LibwebrtcConfig {
        backoff_rtt: Duration::from_secs(2),
        backoff_floor: Bitrate::from_kbps(50),
        ..LibwebrtcConfig::default()
    };
    let mut estimate = bounded(&config, 1_000, 5, 10_000);
    estimate.on_feedback_rtt(Time::ZERO, Duration::from_millis(2_001));
    for (second, expected) in [(0, 800), (1, 640), (2, 512), (3, 409)] {
        update(&mut estimate, second, second + 1);
        assert_eq!(kbps(&estimate), expected, "after {second} s");
    }
    update(&mut estimate, 4, 30);
    assert_eq!(kbps(&estimate), 50);
}

#[test]
fn a_decrease_because_of_loss_delays_the_one_because_of_the_round_trip_time() {
    let mut estimate = estimate(1_000);
    estimate.on_report(Time::from_secs(10), 50, 100);
    estimate.on_feedback_rtt(Time::from_secs(10), Duration::from_secs(4));
    estimate.update(Time::from_millis(10_999));
    assert_eq!(kbps(&estimate), 750);
    estimate.update(Time::from_secs(11));
    assert_eq!(kbps(&estimate), 600);
}

#[test]
fn silence_lowers_the_rate_only_while_packets_are_sent() {
    let sent_until = |last: u64| {
        let mut estimate = bounded(&LibwebrtcConfig::default(), 1_000, 5, 10_000);
        estimate.on_feedback_rtt(Time::from_secs(1), RTT);
        (0..=last).for_each(|second| estimate.on_sent(Time::from_secs(second)));
        update(&mut estimate, 1, 5);
        kbps(&estimate)
    };
    assert_eq!(sent_until(1), 1_000, "the source has stopped");
    assert!(sent_until(4) < 1_000);
}
