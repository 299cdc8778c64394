use super::*;

const START: Bitrate = Bitrate::from_kbps(300);
const MAX_RATE: Bitrate = Bitrate::from_mbps(20);

fn started(start: Bitrate, max_rate: Bitrate) -> ProbeController {
    let config =
        LibwebrtcConfig { alr_interval: Duration::from_secs(5), ..LibwebrtcConfig::default() };
    let mut controller = ProbeController::new(&config);
    controller.set_rates(None, start, max_rate);
    controller
}

fn rates(controller: &mut ProbeController) -> Vec<u64> {
    controller
        .take_fresh()
        .into_iter()
        .flatten()
        .map(|cluster| cluster.rate.as_bps() / 1000)
        .collect()
}

/// A controller whose initial probes were sent at 0 s and have ended.
fn settled(kbps: u64) -> ProbeController {
    let mut controller = started(START, MAX_RATE);
    controller.take_fresh();
    let size = units::Bytes::new(1200);
    controller.on_sent(&SentPacket { sequence: 0, sent: Time::ZERO, size, probe: Some(1) });
    controller.process(Time::from_millis(1001));
    controller.set_estimate(Time::from_millis(1001), Bitrate::from_kbps(kbps), LimitCause::Delay);
    controller
}

#[test]
fn the_initial_probes_are_three_and_six_times_the_start_rate() {
    let mut controller = started(START, MAX_RATE);
    let first = controller.cluster().unwrap();
    assert_eq!((first.id, first.min_packets), (1, 5));
    assert_eq!(first.min_duration, Duration::from_millis(15));
    assert_eq!(rates(&mut controller), [900, 1800]);
    let mut capped = started(START, Bitrate::from_mbps(1));
    assert_eq!(rates(&mut capped), [900, 1000]);
    let mut high = started(Bitrate::from_mbps(2), MAX_RATE);
    assert_eq!(rates(&mut high), [6000, 12_000], "a maximum of the application");
    let mut free = started(Bitrate::from_mbps(2), Bitrate::MAX);
    assert_eq!(rates(&mut free), [5000, 5000], "no maximum of the application");
}

#[test]
fn further_probes_follow_while_the_estimate_exceeds_seven_tenths() {
    let mut controller = started(START, Bitrate::MAX);
    controller.take_fresh();
    controller.set_estimate(Time::from_millis(300), Bitrate::from_kbps(1260), LimitCause::Delay);
    assert_eq!(rates(&mut controller), [0; 0]);
    controller.set_estimate(Time::from_millis(400), Bitrate::from_kbps(1300), LimitCause::Delay);
    assert_eq!(rates(&mut controller), [2600]);
    controller.set_estimate(Time::from_millis(500), Bitrate::from_kbps(2600), LimitCause::Delay);
    assert_eq!(rates(&mut controller), [5000], "the last one, at the cap");
    controller.set_estimate(Time::from_millis(600), Bitrate::from_kbps(5000), LimitCause::Delay);
    assert_eq!(rates(&mut controller), [0; 0]);
}

#[test]
fn a_late_result_is_ignored() {
    let mut controller = settled(300);
    controller.set_estimate(Time::from_millis(1100), Bitrate::from_kbps(1800), LimitCause::Delay);
    assert_eq!(rates(&mut controller), [0; 0]);
}

#[test]
fn an_application_limited_region_is_probed_every_five_seconds() {
    let mut controller = settled(1000);
    controller.process(Time::from_secs(20));
    assert_eq!(rates(&mut controller), [0; 0]);
    controller.set_alr(Some(Time::from_secs(20)));
    controller.process(Time::from_millis(24_999));
    assert_eq!(rates(&mut controller), [0; 0]);
    controller.process(Time::from_secs(25));
    assert_eq!(rates(&mut controller), [2000]);
    controller.process(Time::from_millis(29_999));
    assert_eq!(rates(&mut controller), [0; 0]);
    controller.process(Time::from_secs(30));
    assert_eq!(rates(&mut controller), [2000]);
}

#[test]
fn a_large_drop_in_an_application_limited_region_is_probed_once() {
    let recovered = |kbps: u64, alr: bool, seconds: u64| {
        let mut controller = settled(1000);
        controller.set_alr(alr.then_some(Time::from_secs(10)));
        controller.set_estimate(Time::from_secs(11), Bitrate::from_kbps(kbps), LimitCause::Delay);
        controller.on_recovered(Time::from_secs(11 + seconds));
        let first = rates(&mut controller);
        controller.on_recovered(Time::from_secs(12 + seconds));
        (first, rates(&mut controller))
    };
    assert_eq!(recovered(650, true, 1), (vec![850], vec![]));
    assert_eq!(recovered(670, true, 1), (vec![], vec![]), "no large drop");
    assert_eq!(recovered(650, false, 1), (vec![], vec![]), "the application was not limited");
    assert_eq!(recovered(650, true, 5), (vec![], vec![]), "too late");
}

#[test]
fn no_probes_while_loss_or_delay_limits() {
    for limit in [LimitCause::DelayChanges, LimitCause::RoundTripTime, LimitCause::Loss] {
        let mut controller = settled(1000);
        controller.set_alr(Some(Time::from_secs(2)));
        controller.set_estimate(Time::from_secs(3), Bitrate::from_mbps(1), limit);
        controller.process(Time::from_secs(30));
        assert_eq!(rates(&mut controller), [0; 0], "{limit:?}");
        controller.set_estimate(
            Time::from_secs(30),
            Bitrate::from_mbps(1),
            LimitCause::LossIncreasing,
        );
        controller.process(Time::from_secs(31));
        assert_eq!(rates(&mut controller), [1500]);
    }
}

/// The expectations of libwebrtc's own tests (`goog_cc/probe_controller_unittest.cc`): start rate
/// 300 bit/s, maximum 10 kbit/s.
mod expectations {
    use super::*;

    const START: u64 = 300;
    const MAX: u64 = 10_000;
    const BEGIN: Time = Time::from_secs(100);
    /// Longer than a probe waits for its result.
    const LATER: Time = Time::from_secs(105);
    const NONE: [u64; 0] = [];

    struct Probes(ProbeController);

    impl Probes {
        /// A controller with its initial probes.
        fn new(change: impl FnOnce(&mut LibwebrtcConfig)) -> Self {
            let mut config = LibwebrtcConfig::default();
            change(&mut config);
            let mut probes = Self(ProbeController::new(&config));
            assert_eq!(probes.bounds(BEGIN, MAX).len(), 2);
            probes
        }

        fn periodic() -> Self {
            Self::new(|config| config.alr_interval = Duration::from_secs(5))
        }

        /// A controller whose initial probes had no result for 5 s. The estimate was set before.
        fn expired(estimate: u64, change: impl FnOnce(&mut LibwebrtcConfig)) -> Self {
            let mut probes = Self::new(change);
            probes.estimate(BEGIN, estimate, LimitCause::Delay);
            assert_eq!(probes.process(LATER), NONE);
            probes
        }

        /// The rates of the new clusters, in bit/s.
        fn fresh(&mut self) -> Vec<u64> {
            let clusters = self.0.take_fresh().into_iter().flatten();
            clusters.map(|cluster| cluster.rate.as_bps()).collect()
        }

        fn bounds(&mut self, now: Time, max: u64) -> Vec<u64> {
            self.0.set_rates(Some(now), Bitrate::from_bps(START), Bitrate::from_bps(max));
            self.fresh()
        }

        fn estimate(&mut self, now: Time, bps: u64, limit: LimitCause) -> Vec<u64> {
            self.0.set_estimate(now, Bitrate::from_bps(bps), limit);
            self.fresh()
        }

        fn allocate(&mut self, now: Time, bps: u64) -> Vec<u64> {
            self.0.set_allocated(now, Bitrate::from_bps(bps));
            self.fresh()
        }

        fn process(&mut self, now: Time) -> Vec<u64> {
            self.0.process(now);
            self.fresh()
        }

        fn recover(&mut self, now: Time) -> Vec<u64> {
            self.0.on_recovered(now);
            self.fresh()
        }
    }

    #[test]
    fn a_change_of_the_allocated_maximum_is_probed_only_in_an_application_limited_region() {
        let mut probes = Probes::expired(MAX - 1, |_| {});
        probes.0.set_alr(Some(LATER));
        assert_eq!(
            probes.allocate(LATER, MAX + 1),
            [MAX, MAX],
            "two probes, not above the maximum"
        );
        probes.0.set_alr(None);
        assert_eq!(probes.allocate(LATER, MAX + 2), NONE);
    }

    #[test]
    fn a_probe_of_the_allocated_maximum_is_at_most_twice_the_estimate() {
        let mut probes = Probes::expired(START, |_| {});
        probes.0.set_alr(Some(LATER));
        assert_eq!(probes.allocate(LATER, MAX), [2 * START]);
        let further = probes.estimate(LATER, START * 3 / 2, LimitCause::Delay);
        assert_eq!(further, [3 * START], "the probe succeeded, so probing continues");
    }

    #[test]
    fn the_second_probe_is_at_twice_the_allocated_maximum_or_at_twice_the_estimate() {
        let allocated = |bps| {
            let mut probes = Probes::expired(2000, |_| {});
            probes.0.set_alr(Some(LATER));
            (probes.allocate(LATER, bps), probes.0.state)
        };
        assert_eq!(allocated(2000), (vec![], ProbeState::Complete), "not above the estimate");
        // Only probes that the estimate limits are followed by others.
        let waits = |bps| ProbeState::Waiting(Bitrate::from_bps(bps));
        assert_eq!(allocated(3000), (vec![3000, 4000], waits(2800)));
        assert_eq!(allocated(4000), (vec![4000], waits(2800)), "the second is not above the first");
        assert_eq!(allocated(4001), (vec![4000], waits(2800)));
    }

    #[test]
    fn probes_of_the_allocated_maximum_and_their_factors_can_be_set() {
        let mut off = Probes::expired(MAX - 1, |config| config.allocation_first = 0.0);
        off.0.set_alr(Some(LATER));
        assert_eq!(off.allocate(LATER, MAX + 1), NONE);
        let mut twice = Probes::expired(START, |config| {
            config.allocation_first = 2.0;
            config.allocation_second = 0.0;
            config.allocation_limit = 1000.0;
        });
        twice.bounds(LATER, 5_000_000);
        twice.estimate(LATER, 1250, LimitCause::Delay);
        twice.0.set_alr(Some(LATER));
        assert_eq!(twice.allocate(LATER, 200_000), [400_000]);
        let mut free = Probes::expired(START, |config| config.allocation_limit = 0.0);
        free.0.set_alr(Some(LATER));
        assert_eq!(free.allocate(LATER, 4_000), [4_000, 8_000], "no limit by the estimate");
    }

    #[test]
    fn probes_are_capped_at_twice_the_allocated_maximum() {
        let mut probes = Probes::periodic();
        let (estimate, allocated) = (3000, 2900);
        probes.estimate(BEGIN, estimate, LimitCause::Delay);
        probes.process(BEGIN + Duration::from_secs(2));
        probes.0.set_alr(Some(BEGIN));
        assert_eq!(probes.allocate(BEGIN, allocated), NONE, "below the estimate");
        assert_eq!(probes.process(LATER), [2 * allocated]);
        assert_eq!(probes.allocate(LATER, 0), NONE, "no allocated maximum");
        assert_eq!(probes.process(Time::from_secs(110)), [2 * estimate]);
    }

    #[test]
    fn with_a_low_allocated_maximum_a_further_probe_is_at_twice_that_maximum() {
        let mut probes = Probes::new(|_| {});
        assert_eq!(probes.allocate(BEGIN, START), NONE);
        assert_eq!(probes.estimate(BEGIN, 1800, LimitCause::Delay), [2 * START]);
    }

    #[test]
    fn the_allocated_maximum_is_kept_when_the_route_changes() {
        let mut probes = Probes::new(|_| {});
        probes.allocate(BEGIN, START / 4);
        probes.0.reset(BEGIN);
        assert_eq!(probes.bounds(BEGIN, MAX)[0], START / 4 * 2);
    }

    #[test]
    fn after_a_route_change_periodic_probes_begin_with_the_start_rate() {
        let mut probes = Probes::periodic();
        probes.0.set_alr(Some(BEGIN));
        probes.0.reset(BEGIN);
        assert_eq!(probes.process(Time::from_secs(110)), NONE, "there is no start rate yet");
        assert_eq!(probes.bounds(Time::from_secs(110), MAX).len(), 2);
        assert_eq!(probes.process(Time::from_secs(120)), [2 * START]);
    }

    #[test]
    fn a_higher_maximum_is_probed_also_at_the_maximum() {
        for estimate in [START, MAX] {
            let mut probes = Probes::expired(START, |_| {});
            probes.estimate(LATER, estimate, LimitCause::Delay);
            assert_eq!(probes.bounds(LATER, MAX + 100), [MAX + 100]);
        }
    }

    #[test]
    fn the_factors_of_the_initial_probes_can_be_set() {
        let initial = |first, second| {
            let config = LibwebrtcConfig {
                probe_first: first,
                probe_second: second,
                ..LibwebrtcConfig::default()
            };
            Probes(ProbeController::new(&config)).bounds(BEGIN, MAX)
        };
        assert_eq!(initial(2.0, 3.0), [2 * START, 3 * START]);
        assert_eq!(initial(2.0, 0.0), [2 * START]);
    }

    #[test]
    fn a_further_probe_follows_above_1260_bits_per_second_and_within_the_time_limit() {
        let mut probes = Probes::new(|_| {});
        assert_eq!(probes.estimate(BEGIN, 1000, LimitCause::Delay), NONE);
        assert_eq!(probes.estimate(BEGIN, 1800, LimitCause::Delay), [3600]);
        let mut late = Probes::expired(START, |_| {});
        assert_eq!(late.estimate(LATER, 1800, LimitCause::Delay), NONE);
    }

    #[test]
    fn a_drop_to_half_is_probed_at_85_percent_while_or_shortly_after_the_region() {
        let recovered = |alr: Option<Time>, ended: Option<Time>, after: Duration| {
            let mut probes = Probes::expired(500, |_| {});
            probes.0.set_alr(alr);
            probes.estimate(LATER, 250, LimitCause::Delay);
            ended.into_iter().for_each(|at| probes.0.on_alr_ended(at));
            probes.recover(LATER + after)
        };
        let millis = Duration::from_millis;
        assert_eq!(recovered(Some(BEGIN), None, Duration::ZERO), [425]);
        assert_eq!(recovered(None, Some(LATER), millis(2999)), [425]);
        assert_eq!(recovered(None, Some(LATER), millis(3001)), NONE, "the region ended long ago");
        assert_eq!(recovered(Some(BEGIN), None, millis(5001)), NONE, "the drop was long ago");
    }

    #[test]
    fn while_loss_limits_the_estimate_periodic_probes_are_smaller_or_none() {
        let later = |secs| LATER + Duration::from_secs(secs);
        let mut probes = Probes::periodic();
        probes.estimate(BEGIN, 500, LimitCause::Delay);
        probes.0.set_alr(Some(BEGIN));
        assert_eq!(probes.process(LATER), [1000]);
        probes.estimate(LATER, 500, LimitCause::LossIncreasing);
        assert_eq!(probes.process(later(6)), [750]);
        probes.estimate(later(6), 750, LimitCause::Delay);
        assert_eq!(probes.process(later(12)), [1500]);
        for limit in [LimitCause::Loss, LimitCause::DelayChanges, LimitCause::RoundTripTime] {
            probes.estimate(later(12), START, limit);
            assert_eq!(probes.process(later(20)), NONE, "{limit:?}");
        }
    }

    #[test]
    fn while_the_estimate_increases_after_loss_there_are_no_probes_outside_the_region() {
        let mut probes = Probes::periodic();
        probes.estimate(BEGIN, START, LimitCause::LossIncreasing);
        assert_eq!(probes.process(LATER), NONE);
        assert_eq!(probes.process(Time::from_secs(111)), NONE);
    }

    #[test]
    fn a_further_probe_at_the_maximum_is_the_last() {
        let mbps = 1_000_000;
        let mut probes = Probes(ProbeController::new(&LibwebrtcConfig::default()));
        probes.0.set_rates(Some(BEGIN), Bitrate::from_mbps(10), Bitrate::from_mbps(100));
        assert_eq!(probes.fresh(), [30 * mbps, 60 * mbps]);
        assert_eq!(probes.estimate(BEGIN, 60 * mbps, LimitCause::Delay), [100 * mbps]);
        assert_eq!(probes.estimate(BEGIN, 100 * mbps, LimitCause::Delay), NONE);
    }
}
