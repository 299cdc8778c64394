//! The expectations of libwebrtc's own tests (`goog_cc/delay_based_bwe_unittest.cc`,
//! `goog_cc/delay_based_bwe_unittest_helper.cc`): delay-based rate, acknowledged rate and probe
//! estimator together, on a link without propagation delay.
//!
//! libwebrtc's tests also let times wrap, because the abs-send-time extension has 24 bits. Here all
//! times have 64 bits of nanoseconds, which last 584 years: they cannot wrap. Their pauses of 35
//! and 640 s remain.

use super::super::probe_estimator::ProbeEstimator;
use super::super::robust_throughput::RobustThroughput;
use super::*;
use crate::ProbeCluster;
use units::Bytes;

/// Maximum size of a packet (`delay_based_bwe_unittest_helper.cc`).
const PACKET: u64 = 1200;
/// Without a start rate, the first estimate is the acknowledged rate after this time (libwebrtc
/// `remote_bitrate_estimator/aimd_rate_control.cc`: 5 s).
const FIRST_ESTIMATE: Duration = Duration::from_secs(5);
const MILLI: Duration = Duration::from_millis(1);

/// The stages and the newest rate.
struct Estimator {
    config: LibwebrtcConfig,
    delay: DelayBased,
    acknowledged: RobustThroughput,
    probes: ProbeEstimator,
    now: Time,
    sequence: u64,
    /// When the acknowledged rate was known first.
    known: Option<Time>,
    has_estimate: bool,
    rate: Option<Bitrate>,
    updated: bool,
}

impl Estimator {
    /// Without a start rate. Clusters 0 and 1 have 2 and 4 kB in 5 and 8 packets.
    fn new() -> Self {
        let config = LibwebrtcConfig::default();
        let delay = DelayBased::new(&config, config.min_rate, config.min_rate);
        let mut probes = ProbeEstimator::new(&config);
        for (id, min_packets, bytes) in [(0, 5, 2_000), (1, 8, 4_000)] {
            let min_duration = Duration::from_millis(10);
            let rate = Bytes::new(bytes).per(min_duration).unwrap();
            probes.expect(ProbeCluster { id, rate, min_duration, min_packets });
        }
        let acknowledged = RobustThroughput::new(&config);
        Self {
            config,
            delay,
            acknowledged,
            probes,
            now: Time::from_secs(100),
            sequence: 0,
            known: None,
            has_estimate: false,
            rate: None,
            updated: false,
        }
    }

    fn start_at(&mut self, start: Bitrate) {
        self.delay.aimd = Aimd::new(&self.config, start, self.config.min_rate);
        self.has_estimate = true;
    }

    fn packet(&mut self, sent: Time, bytes: u64, probe: Option<u32>) -> SentPacket {
        self.sequence += 1;
        SentPacket { sequence: self.sequence, sent, size: Bytes::new(bytes), probe }
    }

    /// One packet that arrived now, reported alone.
    fn arrive(&mut self, sent: Time, bytes: u64, probe: Option<u32>) {
        let packet = self.packet(sent, bytes, probe);
        self.report(&[(packet, self.now)]);
    }

    fn report(&mut self, arrived: &[(SentPacket, Time)]) {
        for (packet, arrival) in arrived {
            if let Some(id) = packet.probe {
                self.probes.on_packet(id, packet, *arrival);
            }
            self.acknowledged.on_packet(packet.sent, *arrival, packet.size);
        }
        self.acknowledged.on_feedback_end();
        let (acknowledged, probe) = (self.acknowledged.rate(), self.probes.take());
        self.first_estimate(acknowledged);
        let inputs = Inputs { acknowledged, probe, in_alr: false };
        let update = self.delay.on_feedback(whole_millis(self.now), arrived, &inputs);
        self.has_estimate |= update.probe;
        if let Some(rate) = update.rate.filter(|_| self.has_estimate) {
            (self.rate, self.updated) = (Some(rate), true);
        }
    }

    fn first_estimate(&mut self, acknowledged: Option<Bitrate>) {
        let Some(acknowledged) = acknowledged.filter(|_| !self.has_estimate) else { return };
        let known = *self.known.get_or_insert(self.now);
        if self.now.saturating_since(known) > FIRST_ESTIMATE {
            self.start_at(acknowledged);
        }
    }

    fn bps(&self) -> u64 {
        self.rate.map_or(0, Bitrate::as_bps)
    }
}

/// A source of frames and a link.
struct Link {
    estimator: Estimator,
    fps: u64,
    capacity: Bitrate,
    next_frame: Time,
    free: Time,
    /// Added to the receiver's clock, in seconds.
    offset: i64,
}

impl Link {
    fn new(fps: u64, capacity: Bitrate) -> Self {
        let estimator = Estimator::new();
        let free = estimator.now;
        Self { estimator, fps, capacity, next_frame: Time::ZERO, free, offset: 0 }
    }

    /// A frame at `rate`. Returns whether the rate was lowered.
    fn frame(&mut self, rate: u64, first: &mut bool) -> bool {
        let begin = self.estimator.now;
        let bits = (rate + self.fps / 2) / self.fps;
        let count = ((bits + 4 * PACKET) / (8 * PACKET)).max(1);
        let size = (bits + 4 * count) / (8 * count);
        self.next_frame = begin + Duration::from_micros((1_000_000 + self.fps / 2) / self.fps);
        let arrived: Vec<_> = (0..count).map(|_| self.transmit(begin, size)).collect();
        self.estimator.now = self.free;
        self.estimator.updated = false;
        self.estimator.report(&arrived);
        self.estimator.now = self.next_frame.max(begin);
        let updated = self.estimator.updated;
        let lowered = updated && !*first && self.estimator.bps() < rate;
        *first &= !updated;
        lowered
    }

    fn transmit(&mut self, begin: Time, size: u64) -> (SentPacket, Time) {
        let kbps = self.capacity.as_bps() / 1000;
        let span = Duration::from_micros((8 * 1000 * size + kbps / 2) / kbps);
        self.free = self.free.max(begin) + span;
        let offset = Duration::from_secs(self.offset.unsigned_abs());
        let arrival =
            if self.offset < 0 { self.free.saturating_sub(offset) } else { self.free + offset };
        (self.estimator.packet(begin, size, None), arrival)
    }
}

/// The time from a drop of the capacity from 1 Mbit/s to 500 kbit/s until the rate is at most that,
/// in ms. The receiver's clock is stepped at the drop.
fn drop_time(step: i64) -> u64 {
    let mut link = Link::new(30, Bitrate::from_mbps(1));
    let (mut rate, mut lowered, mut first) = (900_000, false, true);
    for _ in 0..300 {
        let over = link.frame(rate, &mut first);
        if link.estimator.updated {
            rate = link.estimator.bps();
        }
        assert!(!over || (800_000..1_100_000).contains(&rate), "{rate}");
        lowered |= over;
        if lowered && rate > 1_000_000 {
            break;
        }
    }
    assert!(lowered && rate.abs_diff(1_000_000) < 180_000, "{rate}");
    link.offset = step;
    link.capacity = Bitrate::from_kbps(500);
    let begin = link.estimator.now;
    let mut dropped = None;
    for _ in 0..100 {
        link.frame(rate, &mut first);
        rate = link.estimator.bps();
        if rate <= 500_000 {
            dropped.get_or_insert(link.estimator.now);
        }
    }
    dropped.unwrap().saturating_since(begin).as_millis()
}

#[test]
fn the_rate_falls_to_half_the_capacity_within_half_a_second() {
    let took = drop_time(0);
    assert!(took.abs_diff(500) <= 33, "{took}");
}

#[test]
fn a_step_of_the_receivers_clock_delays_the_fall_by_less_than_half_a_second() {
    let forward = drop_time(30);
    assert!(forward.abs_diff(867) <= 33, "{forward}");
    let backward = drop_time(-30);
    assert!(backward.abs_diff(933) <= 33, "{backward}");
}

/// 253 packets of 1200 B, one every 20 ms; the first five are a probe.
fn begun() -> (Estimator, Time) {
    let mut estimator = Estimator::new();
    let (min_duration, min_packets) = (Duration::from_millis(10), 5);
    let rate = Bytes::new(5_000).per(min_duration).unwrap();
    estimator.probes.expect(ProbeCluster { id: 0, rate, min_duration, min_packets });
    let mut sent = Time::ZERO;
    for k in 0..253 {
        estimator.arrive(sent, PACKET, (k < 5).then_some(0));
        assert!(k != 1 || !estimator.updated, "no estimate after two packets");
        estimator.now += MILLI * 20;
        sent += MILLI * 20;
    }
    (estimator, sent)
}

#[test]
fn after_five_seconds_the_rate_is_one_and_a_half_times_the_rate_of_the_stream() {
    let (estimator, _) = begun();
    assert!(estimator.updated);
    assert!(estimator.bps().abs_diff(730_000) <= 50_000, "{}", estimator.bps());
}

#[test]
fn reordered_packets_do_not_change_the_rate() {
    let (mut estimator, mut sent) = begun();
    for _ in 0..10 {
        estimator.now += MILLI * 40;
        sent += MILLI * 40;
        estimator.arrive(sent, 1000, None);
        estimator.arrive(sent.saturating_sub(MILLI * 20), 1000, None);
    }
    assert!(estimator.bps().abs_diff(730_000) <= 50_000, "{}", estimator.bps());
}

#[test]
fn the_rate_increases_from_30_to_500_kbps_in_617_frames() {
    let mut link = Link::new(30, Bitrate::from_mbps(1));
    let (mut rate, mut frames, mut first) = (30_000, 0, true);
    while rate < 500_000 && frames < 2_000 {
        assert!(!link.frame(rate, &mut first), "the rate was lowered");
        rate = if link.estimator.updated { link.estimator.bps() } else { rate };
        frames += 1;
    }
    assert_eq!(frames, 617);
}

#[test]
fn packets_sent_a_millisecond_apart_are_one_group_and_over_use_is_found() {
    let mut estimator = Estimator::new();
    let mut sent = Time::ZERO;
    for _ in 0..=300 {
        estimator.arrive(sent, 1000, None);
        estimator.now += MILLI * 20;
        sent += MILLI * 20;
    }
    assert!(estimator.bps() >= 400_000, "{}", estimator.bps());
    // Batches are sent every 20 ms and arrive every 25 ms.
    for _ in 0..100 {
        for _ in 0..15 {
            estimator.arrive(sent, 100, None);
            estimator.now += MILLI;
            sent += MILLI;
        }
        estimator.now += MILLI * 10;
        sent += MILLI * 5;
    }
    assert!((1..400_000).contains(&estimator.bps()), "{}", estimator.bps());
}

#[test]
fn after_a_pause_over_use_is_found_again() {
    for pause in [35, 640] {
        let mut estimator = Estimator::new();
        let mut sent = Time::ZERO;
        for _ in 0..3000 {
            estimator.arrive(sent, 1000, None);
            estimator.now += MILLI * 10;
            sent += MILLI * 10;
        }
        let before = estimator.bps();
        estimator.now += Duration::from_secs(pause);
        sent += Duration::from_secs(pause);
        for _ in 0..24 {
            estimator.arrive(sent, 1000, None);
            estimator.now += MILLI * 20;
            sent += MILLI * 10;
        }
        assert!(estimator.bps() < before, "{} of {before} after {pause} s", estimator.bps());
    }
}

#[test]
fn initial_over_use_lowers_the_rate_below_the_capacity() {
    let mut link = Link::new(90, Bitrate::from_kbps(200));
    link.estimator.start_at(Bitrate::from_kbps(300));
    let (mut rate, mut first) = (300_000, true);
    let lowered = (0..40).any(|_| {
        let over = link.frame(rate, &mut first);
        rate = if link.estimator.updated { link.estimator.bps() } else { rate };
        over
    });
    assert!(lowered && rate <= 200_000 && rate > 160_000, "{rate}");
}

#[test]
fn times_finer_than_a_millisecond_cause_no_over_use() {
    let mut estimator = Estimator::new();
    let micros = Duration::from_micros;
    let mut before = 0;
    for _ in 0..1000 {
        estimator.now += micros(500);
        estimator.arrive(estimator.now.saturating_sub(micros(500)), 1000, None);
        estimator.now += micros(9_500);
        estimator.arrive(estimator.now.saturating_sub(micros(250)), 1000, None);
        estimator.now += micros(10_000);
        assert!(before <= estimator.bps(), "{before}, then {}", estimator.bps());
        before = estimator.bps();
    }
    assert!(before > 0);
}

/// Probe packets of 1000 B: count, cluster, and the intervals at both ends in ms.
fn probe(estimator: &mut Estimator, count: u64, id: u32, sent: u64, arrived: u64) {
    let begin = estimator.now;
    for k in 1..=count {
        estimator.now += MILLI * arrived;
        estimator.arrive(begin + MILLI * (sent * k), 1000, Some(id));
    }
}

#[test]
fn probes_set_the_rate() {
    let mut estimator = Estimator::new();
    probe(&mut estimator, 5, 0, 10, 10);
    assert!(estimator.updated, "800 kbit/s");
    probe(&mut estimator, 8, 1, 5, 5);
    assert!(estimator.bps() > 1_500_000, "{} of 1.6 Mbit/s", estimator.bps());
}

#[test]
fn packets_between_those_of_a_probe_do_not_disturb_it() {
    let mut estimator = Estimator::new();
    for _ in 0..5 {
        estimator.now += MILLI * 5;
        let sent = estimator.now;
        estimator.arrive(sent, 1000, Some(0));
        estimator.now += MILLI * 5;
        let packet = estimator.packet(sent, 100, None);
        estimator.report(&[(packet, sent)]);
    }
    assert!(estimator.bps() > 800_000, "{}", estimator.bps());
}

#[test]
fn a_probe_that_arrives_much_faster_than_it_was_sent_is_ignored() {
    let mut estimator = Estimator::new();
    probe(&mut estimator, 5, 0, 10, 1);
    assert!(!estimator.updated);
}

#[test]
fn a_probe_that_arrives_more_slowly_counts_with_95_percent() {
    for (sent, arrived, expected) in [(5, 7, 1_140_000), (1, 2, 4_000_000)] {
        let mut estimator = Estimator::new();
        probe(&mut estimator, 8, 1, sent, arrived);
        let expected = expected * 95 / 100;
        assert!(estimator.bps().abs_diff(expected) <= 10_000, "{}", estimator.bps());
    }
}
