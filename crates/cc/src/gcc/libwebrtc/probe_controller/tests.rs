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
