use super::*;

/// Over-use at twice the threshold.
const OVERUSE: Signal = Signal::Overuse { excess: 1.0 };

fn control(config: &GccConfig) -> RateControl {
    let bounds = (Bitrate::from_kbps(10), Bitrate::from_mbps(100));
    RateControl::new(config, Bitrate::from_kbps(1000), bounds)
}

/// Runs one second of frames with a signal and a received rate.
fn second(control: &mut RateControl, from: u64, signal: Signal, received_kbps: u64) {
    for frame in 0..=30 {
        let now = Time::from_secs(from) + Duration::from_nanos(1_000_000_000 / 30 * frame);
        control.update(now, signal, Some(Bitrate::from_kbps(received_kbps)));
    }
}

#[test]
fn the_transitions_are_those_of_figure_4() {
    use {RateControlState as T, Signal as S};
    for (from, signal, to) in [
        (T::Increase, OVERUSE, T::Decrease),
        (T::Hold, OVERUSE, T::Decrease),
        (T::Decrease, OVERUSE, T::Decrease),
        (T::Increase, S::Underuse, T::Hold),
        (T::Hold, S::Underuse, T::Hold),
        (T::Decrease, S::Underuse, T::Hold),
        (T::Increase, S::Normal, T::Increase),
        (T::Hold, S::Normal, T::Increase),
        (T::Decrease, S::Normal, T::Hold),
    ] {
        assert_eq!(from.after(signal), to, "{from:?} {signal:?}");
    }
}

#[test]
fn the_additive_rule_adds_half_a_packet_per_response_time() {
    let mut control = control(&GccConfig::carlucci_2017());
    control.on_rtt(Duration::from_millis(50));
    second(&mut control, 0, Signal::Normal, 1000);
    // 4800 bit every 50 ms are 96 kbit/s per second.
    let rate = control.rate().as_bps();
    assert!((1_095_900..1_096_100).contains(&rate), "{rate}");
}

#[test]
fn the_multiplicative_rule_is_a_factor_per_second() {
    let mut control = control(&GccConfig::jansen_2016());
    second(&mut control, 0, Signal::Normal, 1000);
    let rate = control.rate().as_bps();
    assert!((1_049_900..1_050_100).contains(&rate), "{rate}");
}

#[test]
fn the_increase_is_multiplicative_far_from_convergence_and_additive_near_it() {
    let mut control = control(&GccConfig::draft_02());
    control.on_rtt(Duration::from_millis(50));
    second(&mut control, 0, Signal::Normal, 1000);
    assert!((1_079_800..1_080_200).contains(&control.rate().as_bps()), "{}", control.rate());
    second(&mut control, 1, OVERUSE, 1000);
    assert_eq!(control.rate(), Bitrate::from_kbps(850));
    control.update(Time::from_millis(2001), Signal::Normal, Some(Bitrate::from_kbps(1000)));
    let before = control.rate().as_bps();
    second(&mut control, 2, Signal::Normal, 1000);
    // 4800 bit every 150 ms are 32 kbit/s per second.
    let added = control.rate().as_bps() - before;
    assert!((31_500..32_500).contains(&added), "{added}");
    second(&mut control, 3, Signal::Normal, 2000);
    let added = control.rate().as_bps() as f64 / (before + added) as f64;
    assert!((1.078..1.082).contains(&added), "a received rate far above: {added}");
}

#[test]
fn growth_stops_at_one_and_a_half_times_the_received_rate() {
    let mut control = control(&GccConfig::jansen_2016());
    for from in 0..20 {
        second(&mut control, from, Signal::Normal, 800);
    }
    assert_eq!(control.rate(), Bitrate::from_kbps(1200));
    second(&mut control, 20, Signal::Normal, 100);
    assert_eq!(control.rate(), Bitrate::from_kbps(1200), "the cap does not lower the rate");
}

#[test]
fn hold_becomes_increase_after_its_maximum_time() {
    let short = GccConfig { hold_longest: Duration::from_millis(500), ..GccConfig::jansen_2016() };
    let mut control = control(&short);
    let mut states = Vec::new();
    for (ms, signal) in [
        (0, OVERUSE),
        (100, Signal::Underuse),
        (599, Signal::Underuse),
        (600, Signal::Underuse),
        (700, Signal::Underuse),
        (800, OVERUSE),
        (900, Signal::Underuse),
        (1000, Signal::Normal),
    ] {
        control.update(Time::from_millis(ms), signal, Some(Bitrate::from_kbps(1000)));
        states.push(control.state());
    }
    use RateControlState::{Decrease, Hold, Increase};
    let expected = [Decrease, Hold, Hold, Increase, Increase, Decrease, Hold, Increase];
    assert_eq!(states, expected);
}

#[test]
fn the_rate_increases_in_hold_by_a_fraction_of_the_step() {
    let growing = GccConfig { hold_increase: 0.25, acceleration: 1.0, ..GccConfig::jansen_2016() };
    let mut control = control(&growing);
    for from in 0..2 {
        second(&mut control, from, Signal::Underuse, 1000);
    }
    // A quarter of 4.9 % per second, without acceleration.
    let rate = control.rate().as_bps();
    assert!((1_024_400..1_024_900).contains(&rate), "{rate}");
    let mut constant = self::control(&GccConfig::jansen_2016());
    second(&mut constant, 0, Signal::Underuse, 1000);
    assert_eq!(constant.rate(), Bitrate::from_kbps(1000));
}

#[test]
fn only_the_multiplicative_increase_accelerates() {
    let fast = GccConfig { acceleration: 1.0, ..GccConfig::draft_02() };
    let mut control = control(&fast);
    let mut grown = |signal, from, received| {
        let before = control.rate().as_bps_f64();
        second(&mut control, from, signal, received);
        control.rate().as_bps_f64() / before
    };
    // The integral of 1 + t from 0 to 1 is 1.5: 1.08^1.5, and 1.08^2.5 in the next second.
    assert!((1.121..1.126).contains(&grown(Signal::Normal, 0, 9000)));
    assert!((1.210..1.216).contains(&grown(Signal::Normal, 1, 9000)));
    let doubling = (2..10).map(|from| grown(Signal::Normal, from, 90_000)).last().unwrap();
    assert!((1.99..=2.000_1).contains(&doubling), "{doubling}");
    grown(OVERUSE, 10, 1000);
    let near = grown(Signal::Normal, 11, 1000);
    assert!(near < 1.05, "additive near convergence: {near}");
    let far = grown(Signal::Normal, 12, 2000);
    assert!((1.115..1.126).contains(&far), "the acceleration starts again: {far}");
}

#[test]
fn the_decrease_depends_on_the_excess_if_alpha_is_dynamic() {
    let dynamic = GccConfig { decrease_dynamic: true, ..GccConfig::jansen_2016() };
    for (excess, kbps) in [(0.0, 950), (1.0, 850), (7.0, 700)] {
        let mut control = control(&dynamic);
        control.update(Time::ZERO, Signal::Overuse { excess }, Some(Bitrate::from_kbps(1000)));
        assert_eq!(control.rate(), Bitrate::from_kbps(kbps));
    }
}

#[test]
fn a_probe_raises_the_rate_and_never_lowers_it() {
    let mut control = control(&GccConfig::jansen_2016());
    assert!(control.on_probe(Bitrate::from_mbps(2)));
    assert!(!control.on_probe(Bitrate::from_mbps(1)));
    assert_eq!(control.rate(), Bitrate::from_mbps(2));
}
