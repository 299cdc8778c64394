use super::*;

/// Over-use at twice the threshold.
const OVERUSE: Signal = Signal::Overuse { excess: 1.0 };

fn aimd(kbps: u64) -> Aimd {
    let config = LibwebrtcConfig::default();
    Aimd::new(&config, Bitrate::from_kbps(kbps), Bitrate::from_kbps(5))
}

/// Eleven updates, 100 ms apart, from second `from` to the next.
fn second(aimd: &mut Aimd, from: u64, signal: Signal, throughput_kbps: u64) {
    for k in 0..=10 {
        let now = Time::from_millis(1000 * from + 100 * k);
        aimd.update(now, signal, Some(Bitrate::from_kbps(throughput_kbps)), false);
    }
}

#[test]
fn far_from_capacity_the_rate_grows_by_eight_percent_per_second() {
    let mut aimd = aimd(1000);
    second(&mut aimd, 0, Signal::Normal, 1000);
    // The first update only enters the state, with the minimum step of 1 kbit/s.
    let rate = aimd.rate().as_bps();
    assert!((1_080_900..1_081_300).contains(&rate), "{rate}");
}

#[test]
fn near_capacity_the_rate_grows_by_one_packet_per_two_response_times() {
    let mut aimd = aimd(1500);
    aimd.on_rtt(Duration::from_millis(50));
    aimd.update(Time::ZERO, OVERUSE, Some(Bitrate::from_kbps(1500)), false);
    assert_eq!(aimd.rate(), Bitrate::from_kbps(1270));
    assert_eq!(aimd.capacity(), Some(Bitrate::from_kbps(1500)));
    second(&mut aimd, 1, Signal::Normal, 1500);
    // A frame of 1270000/30 bit is 5 packets of 8467 bit. One packet per 300 ms is 28.2 kbit/s, and
    // a little more because packets grow with the rate.
    let added = aimd.rate().as_bps() - 1_270_000;
    assert!((28_200..28_900).contains(&added), "{added}");
}

#[test]
fn at_low_rates_the_rate_grows_by_at_least_four_kilobits() {
    let mut aimd = aimd(50);
    aimd.on_rtt(Duration::from_millis(400));
    aimd.update(Time::ZERO, OVERUSE, Some(Bitrate::from_kbps(40)), false);
    // 0.85 × 40 − 5 = 29 kbit/s; a packet of 967 bit per second would be less than 4 kbit/s.
    assert_eq!(aimd.rate(), Bitrate::from_kbps(29));
    second(&mut aimd, 1, Signal::Normal, 40);
    // Ten steps of 400 bit/s, each rounded down.
    let rate = aimd.rate().as_bps();
    assert!((32_990..=33_000).contains(&rate), "{rate}");
}

#[test]
fn growth_ends_at_one_and_a_half_times_the_throughput_and_ten_kilobits() {
    let mut aimd = aimd(1000);
    for from in 0..20 {
        second(&mut aimd, from, Signal::Normal, 1000);
    }
    assert_eq!(aimd.rate(), Bitrate::from_kbps(1510));
    second(&mut aimd, 20, Signal::Normal, 100);
    assert_eq!(aimd.rate(), Bitrate::from_kbps(1510), "the limit does not lower the rate");
}

#[test]
fn in_an_application_limited_region_only_a_probe_raises_the_rate_if_so_set() {
    let mut grows = aimd(1000);
    let mut aimd = improved(1000, |config| config.increase_in_alr = false);
    for ms in (0..5000).step_by(100) {
        grows.update(Time::from_millis(ms), Signal::Normal, Some(Bitrate::from_kbps(900)), true);
    }
    assert_eq!(grows.rate(), Bitrate::from_kbps(1360), "1.5 × 900 + 10");
    for ms in (0..5000).step_by(100) {
        aimd.update(Time::from_millis(ms), Signal::Normal, Some(Bitrate::from_kbps(900)), true);
    }
    assert_eq!(aimd.rate(), Bitrate::from_kbps(1000));
    aimd.set_rate(Time::from_secs(5), Bitrate::from_kbps(2000));
    assert_eq!(aimd.rate(), Bitrate::from_kbps(2000));
}

#[test]
fn over_use_never_raises_the_rate_and_uses_the_link_capacity() {
    let mut aimd = aimd(1000);
    aimd.update(Time::ZERO, OVERUSE, Some(Bitrate::from_kbps(1000)), false);
    assert_eq!(aimd.rate(), Bitrate::from_kbps(845));
    // 0.85 × 1010 − 5 = 853.5 is above the rate: 0.85 × capacity is too.
    aimd.update(Time::from_secs(1), OVERUSE, Some(Bitrate::from_kbps(1010)), false);
    assert_eq!(aimd.rate(), Bitrate::from_kbps(845));
    aimd.set_rate(Time::from_secs(2), Bitrate::from_kbps(852));
    aimd.update(Time::from_secs(3), OVERUSE, Some(Bitrate::from_kbps(1010)), false);
    // Capacity 0.95 × 1000 + 0.05 × 1010 = 1000.5: 850.425.
    assert_eq!(aimd.rate(), Bitrate::from_bps(850_425));
}

#[test]
fn decreases_are_a_round_trip_time_apart() {
    let mut aimd = aimd(1000);
    aimd.on_rtt(Duration::from_millis(80));
    let throughput = Bitrate::from_kbps(600);
    assert!(aimd.may_decrease(Time::ZERO, throughput));
    aimd.update(Time::ZERO, OVERUSE, Some(throughput), false);
    assert!(!aimd.may_decrease(Time::from_millis(79), throughput));
    assert!(aimd.may_decrease(Time::from_millis(80), throughput));
    // The rate is 505 kbit/s now.
    assert!(aimd.may_decrease(Time::from_millis(1), Bitrate::from_kbps(252)));
    assert!(!aimd.may_decrease(Time::from_millis(1), Bitrate::from_kbps(253)));
    aimd.on_rtt(Duration::from_secs(1));
    assert!(aimd.may_decrease(Time::from_millis(200), throughput), "at least every 200 ms");
}

#[test]
fn under_use_holds_the_rate() {
    let mut aimd = aimd(1000);
    second(&mut aimd, 0, Signal::Underuse, 1000);
    assert_eq!((aimd.rate(), aimd.state()), (Bitrate::from_kbps(1000), AimdState::Hold));
}

fn improved(kbps: u64, change: impl Fn(&mut LibwebrtcConfig)) -> Aimd {
    let mut config = LibwebrtcConfig::default();
    change(&mut config);
    Aimd::new(&config, Bitrate::from_kbps(kbps), Bitrate::from_kbps(5))
}

#[test]
fn hold_becomes_increase_after_its_maximum_time() {
    let mut aimd = improved(1000, |config| config.hold_longest = Duration::from_millis(500));
    let mut states = Vec::new();
    for (ms, signal) in [
        (0, OVERUSE),
        (100, Signal::Underuse),
        (500, Signal::Underuse),
        (600, Signal::Underuse),
        (700, Signal::Underuse),
        (800, OVERUSE),
        (900, Signal::Underuse),
    ] {
        aimd.update(Time::from_millis(ms), signal, Some(Bitrate::from_kbps(1000)), false);
        states.push(aimd.state());
    }
    use AimdState::{Decrease, Hold, Increase};
    assert_eq!(states, [Decrease, Hold, Hold, Increase, Increase, Decrease, Hold]);
}

#[test]
fn the_rate_increases_in_hold_by_a_fraction_of_the_step() {
    let mut aimd = improved(1000, |config| config.hold_increase = 0.25);
    second(&mut aimd, 0, Signal::Underuse, 1000);
    assert_eq!(aimd.state(), AimdState::Hold);
    // A quarter of 8 %. Entering the state adds a quarter of the minimum step.
    let rate = aimd.rate().as_bps();
    assert!((1_019_000..1_020_500).contains(&rate), "{rate}");
}

#[test]
fn only_the_multiplicative_increase_accelerates() {
    let mut aimd = improved(1000, |config| config.acceleration = 1.0);
    let mut grown = |from, signal| {
        let before = aimd.rate().as_bps_f64();
        second(&mut aimd, from, signal, 90_000);
        aimd.rate().as_bps_f64() / before
    };
    // Steps of 0.1 s at the exponents 1.1, 1.2, … 2: 1.08^1.55, and the minimum step.
    let first = grown(0, Signal::Normal);
    assert!((1.125..1.129).contains(&first), "{first}");
    let doubling = (1..10).map(|from| grown(from, Signal::Normal)).last().unwrap();
    assert!((1.99..=2.000_1).contains(&doubling), "{doubling}");
    grown(10, Signal::Underuse);
    let again = grown(11, Signal::Normal);
    assert!((1.12..1.129).contains(&again), "the acceleration starts again: {again}");
}

#[test]
fn the_decrease_depends_on_the_excess_if_alpha_is_dynamic() {
    for (excess, kbps) in [(0.0, 945), (1.0, 845), (7.0, 695)] {
        let mut aimd = improved(1000, |config| config.decrease_dynamic = true);
        let signal = Signal::Overuse { excess };
        aimd.update(Time::ZERO, signal, Some(Bitrate::from_kbps(1000)), false);
        assert_eq!(aimd.rate(), Bitrate::from_kbps(kbps));
    }
}

/// Expectations of libwebrtc's own tests
/// (`remote_bitrate_estimator/aimd_rate_control_unittest.cc`).
mod expectations {
    use super::*;

    /// Updates every 100 ms for 20 s.
    fn steady(aimd: &mut Aimd, throughput: Option<Bitrate>) {
        for k in 0..200 {
            aimd.update(Time::from_millis(123_456 + 100 * k), Signal::Normal, throughput, false);
        }
    }

    #[test]
    fn the_additive_increase_is_a_packet_per_two_response_times_and_at_least_four_kilobits() {
        assert_eq!(aimd(30).additive_slope(), Bitrate::from_kbps(4));
        assert_eq!(aimd(90).additive_slope(), Bitrate::from_kbps(5), "375 B in 600 ms");
        let mut near = aimd(60);
        near.on_rtt(Duration::from_millis(100));
        assert_eq!(near.additive_slope(), Bitrate::from_kbps(5), "250 B in 400 ms");
        let mut reduced = aimd(300);
        reduced.update(Time::ZERO, OVERUSE, Some(Bitrate::from_kbps(300)), false);
        let slope = reduced.additive_slope().as_bps();
        assert!(slope.abs_diff(14_000) <= 1_000, "{slope}");
    }

    #[test]
    fn the_throughput_limits_the_increase_but_does_not_lower_the_rate() {
        for kbps in [10, 100] {
            let throughput = Bitrate::from_kbps(kbps);
            let mut aimd = aimd(kbps);
            steady(&mut aimd, Some(throughput));
            let limit = throughput.scale(1.5) + Bitrate::from_kbps(10);
            assert_eq!(aimd.rate(), limit);
            steady(&mut aimd, Some(throughput.scale(0.5)));
            assert_eq!(aimd.rate(), limit);
        }
    }

    #[test]
    fn the_last_throughput_limits_the_increase_while_none_is_known() {
        let mut aimd = aimd(123);
        steady(&mut aimd, None);
        assert_eq!(aimd.rate(), Bitrate::from_bps(123_000 * 3 / 2 + 10_000));
    }
}
