//! From `Generator` on: the expectations of libwebrtc's own tests
//! (`goog_cc/robust_throughput_estimator_unittest.cc`).

use super::*;

const SIZE: Bytes = Bytes::new(1000);

/// Packets of 1000 B, numbered from `from` to `to`, sent every `sent` ms and received every
/// `arrived` ms.
fn feed(robust: &mut RobustThroughput, from: u64, to: u64, sent: u64, arrived: u64) {
    for k in from..to {
        robust.on_packet(Time::from_millis(sent * k), Time::from_millis(arrived * k), SIZE);
    }
    robust.on_feedback_end();
}

fn estimator() -> RobustThroughput {
    RobustThroughput::new(&LibwebrtcConfig::default())
}

fn kbps(robust: &RobustThroughput) -> Option<u64> {
    robust.rate().map(|rate| rate.as_bps() / 1000)
}

#[test]
fn ten_packets_are_needed() {
    let mut robust = estimator();
    feed(&mut robust, 0, 9, 10, 10);
    assert_eq!(kbps(&robust), None);
    feed(&mut robust, 9, 10, 10, 10);
    assert_eq!(kbps(&robust), Some(800), "9 kB in 90 ms");
}

#[test]
fn the_lower_of_both_rates_counts() {
    let mut slow_path = estimator();
    feed(&mut slow_path, 0, 20, 10, 20);
    assert_eq!(kbps(&slow_path), Some(400));
    let mut slow_source = estimator();
    feed(&mut slow_source, 0, 20, 20, 10);
    assert_eq!(kbps(&slow_source), Some(400));
}

#[test]
fn one_delay_spike_does_not_count() {
    let mut robust = estimator();
    for k in 0..20 {
        let late = if k >= 10 { 300 } else { 0 };
        robust.on_packet(Time::from_millis(10 * k), Time::from_millis(10 * k + late), SIZE);
    }
    robust.on_feedback_end();
    assert_eq!(kbps(&robust), Some(800));
}

#[test]
fn packets_that_arrive_at_once_count_at_the_sending_rate() {
    let mut robust = estimator();
    for k in 0..20 {
        robust.on_packet(Time::from_millis(10 * k), Time::from_millis(500), SIZE);
    }
    robust.on_feedback_end();
    assert_eq!(kbps(&robust), Some(800));
}

#[test]
fn the_window_holds_a_second_and_then_follows() {
    let mut robust = estimator();
    feed(&mut robust, 0, 200, 10, 10);
    assert_eq!(robust.window.len(), 101);
    let mut many = estimator();
    feed(&mut many, 0, 2000, 1, 1);
    assert_eq!(many.window.len(), 500, "at most 500 packets");
    let mut few = estimator();
    feed(&mut few, 0, 40, 400, 400);
    assert_eq!(few.window.len(), 13, "at most 5 s, also with fewer than 20 packets");
}

#[test]
fn packets_are_sorted_by_arrival() {
    let (mut sorted, mut mixed) = (estimator(), estimator());
    feed(&mut sorted, 0, 20, 10, 10);
    for k in (0..20).map(|k| k ^ 1) {
        mixed.on_packet(Time::from_millis(10 * k), Time::from_millis(10 * k), SIZE);
    }
    mixed.on_feedback_end();
    assert_eq!(mixed.rate(), sorted.rate());
}

#[test]
fn a_packet_sent_long_ago_does_not_lower_the_sending_rate() {
    let mut robust = estimator();
    feed(&mut robust, 100, 300, 10, 10);
    let before = kbps(&robust);
    robust.on_packet(Time::ZERO, Time::from_millis(3000), SIZE);
    robust.on_feedback_end();
    assert_eq!((before, kbps(&robust)), (Some(800), Some(800)));
}

#[test]
fn the_window_is_cleared_when_the_clock_of_the_receiver_changes() {
    let mut robust = estimator();
    feed(&mut robust, 200, 300, 10, 10);
    robust.on_packet(Time::from_millis(3000), Time::from_millis(1000), SIZE);
    robust.on_feedback_end();
    assert_eq!(kbps(&robust), None);
}

/// Packets of 1000 B at given rates of departure and arrival.
struct Generator {
    robust: RobustThroughput,
    sent: Time,
    arrival: Time,
}

impl Generator {
    fn new() -> Self {
        Self::with_window(LibwebrtcConfig::default().throughput_window)
    }

    fn with_window(window: Duration) -> Self {
        let config = LibwebrtcConfig { throughput_window: window, ..LibwebrtcConfig::default() };
        let robust = RobustThroughput::new(&config);
        Self { robust, sent: Time::from_secs(100), arrival: Time::from_secs(10) }
    }

    /// The next `count` packets, sent and received at rates in kbit/s.
    fn packets(&mut self, count: usize, sent: u64, received: u64) -> Vec<(Time, Time)> {
        let interval = |kbps| Bitrate::from_kbps(kbps).time_to_send(SIZE).unwrap();
        let next = || {
            let departure = self.sent;
            self.sent += interval(sent);
            self.arrival += interval(received);
            (departure, self.arrival)
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    /// One feedback message. Returns the rate in kbit/s.
    fn report(&mut self, packets: &[(Time, Time)]) -> Option<u64> {
        for &(sent, arrival) in packets {
            self.robust.on_packet(sent, arrival, SIZE);
        }
        self.robust.on_feedback_end();
        kbps(&self.robust)
    }

    fn next(&mut self, count: usize, sent: u64, received: u64) -> Option<u64> {
        let packets = self.packets(count, sent, received);
        self.report(&packets)
    }
}

/// Whether the rate is within 5 % of the expected one.
fn is_near(rate: Option<u64>, expected: u64) -> bool {
    rate.is_some_and(|rate| rate.abs_diff(expected) * 20 <= expected)
}

#[test]
fn the_robust_estimator_is_the_default_and_can_be_turned_off() {
    use super::super::acknowledged_rate::AcknowledgedRate;
    use super::super::choices::AcknowledgedEstimator;
    let mut config = LibwebrtcConfig::default();
    assert!(matches!(AcknowledgedRate::new(&config), AcknowledgedRate::Robust(_)));
    config.acknowledged_estimator = AcknowledgedEstimator::Bayesian;
    assert!(matches!(AcknowledgedRate::new(&config), AcknowledgedRate::Bayesian(_)));
}

#[test]
fn the_first_rate_stays_while_the_stream_is_stable() {
    let mut stream = Generator::new();
    assert_eq!(stream.next(9, 800, 800), None);
    assert_eq!(stream.next(1, 800, 800), Some(800));
    assert_eq!(stream.next(15, 800, 800), Some(800));
}

#[test]
fn the_rate_follows_the_stream_within_a_second() {
    let mut stream = Generator::new();
    for k in 0..10 {
        assert_eq!(stream.next(10, 800, 800), Some(800), "{k}");
    }
    let rising: Vec<_> = (0..20).map(|_| stream.next(10, 1600, 1600).unwrap()).collect();
    assert!(rising.iter().all(|rate| (800..=1600).contains(rate)), "{rising:?}");
    for k in 0..20 {
        assert_eq!(stream.next(10, 1600, 1600), Some(1600), "{k}");
    }
    let falling: Vec<_> = (0..5).map(|_| stream.next(10, 400, 400).unwrap()).collect();
    assert!(falling.iter().all(|rate| (400..=1600).contains(rate)), "{falling:?}");
    for k in 0..5 {
        assert_eq!(stream.next(10, 400, 400), Some(400), "{k}");
    }
}

#[test]
fn the_rate_of_arrival_is_an_upper_bound_and_so_is_the_rate_of_departure() {
    assert!(is_near(Generator::new().next(20, 800, 200), 200));
    assert!(is_near(Generator::new().next(20, 400, 800), 400));
}

#[test]
fn a_delay_spike_of_250_ms_does_not_change_the_rate() {
    let mut stream = Generator::with_window(Duration::from_millis(500));
    assert_eq!(stream.next(20, 800, 800), Some(800));
    stream.arrival += Duration::from_millis(250);
    // The packets of the spike arrive within 50 ms.
    for k in 0..30 {
        assert!(is_near(stream.next(1, 800, 4800), 800), "{k}");
    }
    // After the packets before the gap have left the window, the rate of arrival is high, and the
    // rate of departure limits.
    for k in 0..20 {
        assert!(is_near(stream.next(5, 800, 800), 800), "{k}");
    }
}

#[test]
fn with_every_second_packet_lost_the_rate_is_half_the_rate_of_departure() {
    let mut stream = Generator::new();
    let received: Vec<_> = stream.packets(20, 800, 800).into_iter().step_by(2).collect();
    assert!(is_near(stream.report(&received), 400));
}

#[test]
fn late_feedback_lowers_the_rate_only_until_it_arrives() {
    let mut stream = Generator::new();
    assert_eq!(stream.next(20, 800, 800), Some(800));
    let late = stream.packets(10, 800, 800);
    let without = stream.next(10, 800, 800).unwrap();
    assert!(without < 800, "{without}");
    assert_eq!(stream.report(&late), Some(800));
    for k in 0..10 {
        assert_eq!(stream.next(15, 800, 800), Some(800), "{k}");
    }
}

#[test]
fn a_packet_that_is_a_second_late_does_not_change_the_rate() {
    let mut stream = Generator::with_window(Duration::from_millis(500));
    let late = stream.packets(1, 800, 800)[0];
    for k in 0..10 {
        assert_eq!(stream.next(10, 800, 800), Some(800), "{k}");
    }
    let arrival = stream.arrival;
    assert!(is_near(stream.report(&[(late.0, arrival)]), 800));
    for k in 0..10 {
        assert!(is_near(stream.next(10, 800, 800), 800), "{k}");
    }
}

#[test]
fn after_a_backward_step_of_the_receivers_clock_only_new_packets_count() {
    let mut stream = Generator::new();
    assert_eq!(stream.next(20, 800, 800), Some(800));
    stream.arrival = stream.arrival.saturating_sub(Duration::from_secs(2));
    assert_eq!(stream.next(20, 1600, 1600), Some(1600));
}

#[test]
fn after_a_pause_of_a_minute_there_is_no_rate_until_ten_packets_arrived() {
    let mut stream = Generator::new();
    assert!(is_near(stream.next(20, 800, 800), 800));
    stream.sent += Duration::from_secs(60);
    stream.arrival += Duration::from_secs(60);
    assert_eq!(stream.next(5, 800, 800), None);
    for k in 0..4 {
        assert_eq!(stream.next(5, 800, 800), Some(800), "{k}");
    }
}
