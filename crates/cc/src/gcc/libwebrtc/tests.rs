//! Behaviour over a minimal bottleneck: a source that sends at the target rate, a pacer with
//! probes, a droptail queue, and feedback every 100 ms.

use super::sender::LibwebrtcSender;
use super::{LibwebrtcConfig, profile};
use crate::{Allocation, ControllerConfig, Feedback, PacketResult, Sender, SentPacket};
use std::collections::{BTreeMap, VecDeque};
use units::{Bitrate, Bytes, Duration, Seed, Stream, Time};

const PACKET: Bytes = Bytes::new(1200);
const ONE_WAY: Duration = Duration::from_millis(25);
const TICK: Duration = Duration::from_millis(1);
const QUEUE: Duration = Duration::from_millis(300);

/// The properties of the path at a time.
#[derive(Clone, Copy)]
pub(super) struct Path {
    pub(super) rate: fn(Time) -> Bitrate,
    /// Packet loss in percent.
    pub(super) percent: fn(Time) -> u64,
    /// Maximum rate of the source.
    pub(super) ceiling: fn(Time) -> Bitrate,
}

pub(super) const OPEN: Path =
    Path { rate: |_| Bitrate::from_mbps(20), percent: |_| 0, ceiling: |_| Bitrate::from_mbps(100) };

pub(super) fn config() -> ControllerConfig {
    ControllerConfig {
        profile: "gcc:libwebrtc".to_owned(),
        settings: Vec::new(),
        start_rate: Bitrate::from_kbps(300),
        min_rate: Bitrate::from_kbps(30),
        max_rate: Bitrate::from_mbps(20),
    }
}

pub(super) struct Run {
    pub(super) sender: LibwebrtcSender,
    path: Path,
    pub(super) now: Time,
    sequence: u64,
    backlog: Bytes,
    /// When the pacer is free again.
    pacer: Time,
    /// When the link is free again.
    link: Time,
    probe: (u32, Bytes, u32),
    in_flight: VecDeque<(Time, PacketResult)>,
    reports: VecDeque<(Time, Vec<PacketResult>)>,
    waits: Vec<Duration>,
    losses: Stream,
}

impl Run {
    pub(super) fn new(path: Path) -> Self {
        Self {
            sender: LibwebrtcSender::new(&LibwebrtcConfig::default(), &config()),
            path,
            now: Time::ZERO,
            sequence: 0,
            backlog: Bytes::ZERO,
            pacer: Time::ZERO,
            link: Time::ZERO,
            probe: (0, Bytes::ZERO, 0),
            in_flight: VecDeque::new(),
            reports: VecDeque::new(),
            waits: Vec::new(),
            losses: "1".parse::<Seed>().unwrap().stream("losses"),
        }
    }

    pub(super) fn until(self, secs: u64) -> Self {
        self.until_millis(1000 * secs)
    }

    pub(super) fn until_millis(mut self, millis: u64) -> Self {
        while self.now < Time::from_millis(millis) {
            self.tick();
        }
        self
    }

    fn tick(&mut self) {
        self.now += TICK;
        let decision = self.sender.decision();
        let media = decision.target_rate.min((self.path.ceiling)(self.now));
        self.backlog += media.bytes_in(TICK);
        match decision.probe {
            Some(cluster) if cluster.id > self.probe.0 => {
                while self.pacer <= self.now && cluster.id > self.probe.0 {
                    self.send(cluster.rate, Some(cluster.id));
                    self.probe.1 += PACKET;
                    self.probe.2 += 1;
                    let least = cluster.rate.bytes_in(cluster.min_duration);
                    if self.probe.1 >= least && self.probe.2 >= cluster.min_packets {
                        self.probe = (cluster.id, Bytes::ZERO, 0);
                    }
                }
            }
            _ => {
                while self.pacer <= self.now && self.backlog >= PACKET {
                    self.send(decision.pacing_rate, None);
                }
            }
        }
        self.feed_back();
    }

    fn send(&mut self, pace: Bitrate, probe: Option<u32>) {
        self.backlog = self.backlog.saturating_sub(PACKET);
        let sent = self.pacer.max(self.now.saturating_sub(TICK));
        self.pacer = sent + pace.time_to_send(PACKET).unwrap();
        self.sequence += 1;
        let packet = SentPacket { sequence: self.sequence, sent, size: PACKET, probe };
        self.sender.on_sent(&packet);
        let begin = self.link.max(sent);
        let wait = begin.saturating_since(sent);
        self.waits.push(wait);
        let lost = self.losses.below(100) < (self.path.percent)(self.now) || wait > QUEUE;
        if !lost {
            self.link = begin + (self.path.rate)(self.now).time_to_send(PACKET).unwrap();
        }
        let arrival = self.link.max(begin) + ONE_WAY;
        self.in_flight.push_back((
            arrival,
            PacketResult { packet, arrival: (!lost).then_some(arrival), ecn: crate::Ecn::NotEct },
        ));
    }

    fn feed_back(&mut self) {
        if self.now.as_millis().is_multiple_of(100) {
            let mut results = Vec::new();
            while self.in_flight.front().is_some_and(|(arrival, _)| *arrival <= self.now) {
                results.extend(self.in_flight.pop_front().map(|(_, result)| result));
            }
            self.reports.push_back((self.now + ONE_WAY, results));
        }
        while self.reports.front().is_some_and(|(at, _)| *at <= self.now) {
            let (_, results) = self.reports.pop_front().unwrap();
            let newest =
                results.iter().rev().find_map(|result| Some((result.packet.sent, result.arrival?)));
            let rtt = newest.map(|(sent, arrival)| arrival.saturating_since(sent) + ONE_WAY);
            self.sender.on_feedback(self.now, Feedback::Packets { results: &results, rtt });
        }
        if self.now.as_millis().is_multiple_of(1000) {
            let lost = (self.path.percent)(self.now) as f64 / 100.0;
            let report = Feedback::Report { fraction_lost: lost, expected: 100, rtt: None };
            self.sender.on_feedback(self.now, report);
        }
        if self.sender.next_timeout().is_some_and(|at| at <= self.now) {
            self.sender.on_timeout(self.now);
        }
    }

    pub(super) fn kbps(&self) -> u64 {
        self.sender.decision().target_rate.as_bps() / 1000
    }

    /// Mean target in kbit/s and mean queuing delay in ms until `secs` seconds.
    fn mean_until(&mut self, secs: u64) -> (u64, f64) {
        self.waits.clear();
        let (mut sum, mut ticks) = (0, 0);
        while self.now < Time::from_secs(secs) {
            self.tick();
            sum += self.kbps();
            ticks += 1;
        }
        let waits: f64 = self.waits.iter().map(|wait| wait.as_millis_f64()).sum();
        (sum / ticks, waits / self.waits.len() as f64)
    }

    fn signal(&self, name: &str) -> f64 {
        let mut signals = BTreeMap::new();
        self.sender.signals(&mut |name, value| {
            signals.insert(name, value);
        });
        signals[name]
    }
}

#[test]
fn the_rate_fills_a_link_of_one_megabit_with_a_small_queue() {
    let mut run = Run::new(Path { rate: |_| Bitrate::from_mbps(1), ..OPEN }).until(15);
    let (kbps, wait) = run.mean_until(60);
    assert!((700..=1000).contains(&kbps), "{kbps}");
    assert!((0.1..60.0).contains(&wait), "{wait}");
    assert!(run.signal("overuse_count") >= 1.0);
}

#[test]
fn the_rate_decreases_within_two_seconds_when_the_capacity_halves() {
    let halves =
        |now| if now < Time::from_secs(30) { Bitrate::from_mbps(2) } else { Bitrate::from_mbps(1) };
    let mut run = Run::new(Path { rate: halves, ..OPEN }).until(30);
    let before = run.kbps();
    assert!((1300..=2300).contains(&before), "{before}");
    run = run.until(32);
    let after = run.kbps();
    assert!((400..=1000).contains(&after), "{after}");
    let (kbps, wait) = run.mean_until(60);
    assert!((600..=1000).contains(&kbps) && wait < 100.0, "{kbps} {wait}");
}

#[test]
fn the_rate_increases_when_the_capacity_returns() {
    let dips = |now| {
        let dip = now >= Time::from_secs(20) && now < Time::from_secs(40);
        if dip { Bitrate::from_kbps(500) } else { Bitrate::from_mbps(2) }
    };
    let run = Run::new(Path { rate: dips, ..OPEN }).until(40);
    assert!((250..=600).contains(&run.kbps()), "{}", run.kbps());
    let kbps = run.until(70).kbps();
    assert!((1200..=2300).contains(&kbps), "{kbps}");
}

#[test]
fn initial_probing_finds_an_open_link_within_three_seconds() {
    let run = Run::new(OPEN).until(3);
    let kbps = run.kbps();
    // Probes go up to the maximum of the application, 20 Mbit/s.
    assert!((10_000..=20_000).contains(&kbps), "{kbps}");
    assert!(run.signal("probe_rate") > 2e6);
}

#[test]
fn initial_probing_stays_below_a_narrow_link() {
    let mut run = Run::new(Path { rate: |_| Bitrate::from_kbps(500), ..OPEN });
    let highest = (0..5000).map(|_| {
        run.tick();
        run.kbps()
    });
    let highest = highest.max().unwrap();
    assert!((350..=700).contains(&highest), "{highest}");
}

#[test]
fn the_estimate_of_an_application_limited_sender_stays_bounded() {
    let limited = Path { ceiling: |_| Bitrate::from_kbps(200), ..OPEN };
    let run = Run::new(limited).until(60);
    assert_eq!(run.signal("in_alr"), 1.0);
    let kbps = run.kbps();
    // Probes raise the estimate to their maximum; packets between the probes do not raise it
    // further.
    assert!((1_000..=20_000).contains(&kbps), "{kbps}");
    let mut without = LibwebrtcConfig { probe_first: 0.0, ..LibwebrtcConfig::default() };
    without.alr_interval = Duration::ZERO;
    let mut run = Run::new(limited);
    run.sender = LibwebrtcSender::new(&without, &config());
    let kbps = run.until(60).kbps();
    // 1.5 × the acknowledged rate + 10 kbit/s.
    assert!((300..=345).contains(&kbps), "{kbps}");
}

#[test]
fn fifteen_percent_loss_lowers_the_rate_and_three_percent_does_not() {
    let lossy = |percent| Path { percent, rate: |_| Bitrate::from_mbps(3), ..OPEN };
    let loss_from = |run: Run| (run.until(40)).mean_until(60).0;
    let clean = loss_from(Run::new(lossy(|_| 0)));
    let three = loss_from(Run::new(lossy(|now| if now < Time::from_secs(15) { 0 } else { 3 })));
    let fifteen = loss_from(Run::new(lossy(|now| if now < Time::from_secs(15) { 0 } else { 15 })));
    assert!((2_000..=3_000).contains(&clean), "{clean}");
    assert!(three * 10 > clean * 6 && three <= 3_000, "{three} of {clean}");
    assert!((100..=1_100).contains(&fifteen), "{fifteen}");
}

#[test]
fn the_rate_recovers_after_loss() {
    let percent = |now| if now > Time::from_secs(15) && now < Time::from_secs(30) { 15 } else { 0 };
    let run = Run::new(Path { percent, rate: |_| Bitrate::from_mbps(3), ..OPEN }).until(30);
    let lossy = run.kbps();
    let after = run.until(60).kbps();
    assert!((100..=1_200).contains(&lossy), "{lossy}");
    assert!((1_800..=3_300).contains(&after), "{after}");
}

#[test]
fn missing_feedback_lowers_the_rate() {
    let mut run = Run::new(Path { rate: |_| Bitrate::from_mbps(2), ..OPEN }).until(20);
    let before = run.kbps();
    for k in 0..10_000u64 {
        let now = Time::from_secs(20) + TICK * k;
        let packet = SentPacket { sequence: 1_000_000 + k, sent: now, size: PACKET, probe: None };
        run.sender.on_sent(&packet);
        if run.sender.next_timeout().is_some_and(|at| at <= now) {
            run.sender.on_timeout(now);
        }
    }
    // From 3 s on, × 0.8 per second: 0.8^7 or 0.8^8.
    let share = run.kbps() as f64 / before as f64;
    assert!((0.16..=0.22).contains(&share), "{share}");
}

#[test]
fn remb_limits_the_estimate_until_it_is_lifted() {
    let mut run = Run::new(OPEN).until(5);
    let free = run.kbps();
    let cap = Bitrate::from_kbps(400);
    run.sender.on_feedback(run.now, Feedback::Remb { rate: cap });
    run.sender.on_timeout(run.now);
    assert_eq!(run.sender.decision().target_rate, cap);
    assert_eq!(run.sender.decision().pacing_rate, Bitrate::from_kbps(440), "1.1 ×");
    run.sender.on_feedback(run.now, Feedback::Remb { rate: Bitrate::ZERO });
    run.sender.on_timeout(run.now);
    assert!(run.kbps() >= cap.as_bps() / 1000 && run.kbps() <= free);
}

#[test]
fn the_pacing_factor_falls_with_the_first_feedback() {
    let mut sender = LibwebrtcSender::new(&LibwebrtcConfig::default(), &config());
    assert_eq!(sender.decision().pacing_rate, Bitrate::from_kbps(750), "2.5 × 300");
    let size = Bytes::new(1200);
    let packet = SentPacket { sequence: 0, sent: Time::from_secs(1), size, probe: None };
    sender.on_sent(&packet);
    let results =
        [PacketResult { packet, arrival: Some(Time::from_millis(1025)), ecn: crate::Ecn::NotEct }];
    let now = Time::from_millis(1050);
    sender.on_feedback(now, Feedback::Packets { results: &results, rtt: None });
    let decision = sender.decision();
    assert_eq!(decision.target_rate, Bitrate::from_kbps(301));
    assert_eq!(decision.pacing_rate, Bitrate::from_bps(331_200), "1.1 ×, whole bytes in 40 ms");
}

#[test]
fn the_allocated_minimum_bounds_the_estimate() {
    let mut run = Run::new(OPEN).until(5);
    let min_rate = Bitrate::from_kbps(200);
    let max_rate = Bitrate::from_mbps(2);
    run.sender.on_allocation(run.now, Allocation { min_rate, max_rate });
    run.sender.on_feedback(run.now, Feedback::Remb { rate: Bitrate::from_kbps(50) });
    run.sender.on_timeout(run.now);
    assert_eq!(run.sender.decision().target_rate, min_rate);
}

#[test]
fn a_route_change_starts_again() {
    let start = Bitrate::from_kbps(300);
    let mut run = Run::new(OPEN).until(5);
    let before = run.sender.decision().probe.unwrap().id;
    run.sender.on_route_change(run.now, start);
    assert_eq!(run.sender.decision().target_rate, start);
    // The initial probes are requested again.
    let newest = run.sender.requested.iter().rev().take(2);
    let rates: Vec<_> = newest.map(|cluster| cluster.rate.as_bps() / 1000).collect();
    assert_eq!(rates, [1800, 900]);
    assert!(run.sender.requested.last().unwrap().id > before);
}

#[test]
fn the_name_has_the_date_of_the_revision() {
    let named = |profile: &str| {
        crate::settings_of(&ControllerConfig { profile: profile.to_owned(), ..config() })
    };
    assert_eq!(named("gcc:libwebrtc@2026-07"), named("gcc:libwebrtc"));
    assert!(named("gcc:draft-02@2026-07").is_err());
    assert!(named("gcc:libwebrtc@2020-01").is_err());
    let improved = crate::improve("gcc:libwebrtc@2026-07", "short-hold").unwrap();
    assert_ne!(named(&improved), named("gcc:libwebrtc@2026-07"));
}

#[test]
fn settings_are_read_and_checked() {
    let built = |name: &str, value: &str| {
        let settings = vec![(name.to_owned(), value.to_owned())];
        crate::build(&ControllerConfig { settings, ..config() })
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(built("threshold.k_down", "0.00018"), None);
    assert_eq!(built("probe.first", "0"), None);
    let error = |name, value| built(name, value).unwrap();
    assert!(error("k_down", "1").starts_with("no setting 'k_down'; there are group.length,"));
    assert_eq!(error("aimd.decrease", "2"), "setting aimd.decrease = 2: must be between 0 and 1");
    assert_eq!(error("trend.window", "1"), "setting trend.window = 1: must be between 2 and 200");
    assert!(error("loss.rampup", "NaN").ends_with("must be a number of at least 1"));
    assert!(error("alr.window", "0s").ends_with("must be greater than 0"));
    assert!(error("threshold.min", "601").ends_with("must not be greater than threshold.max"));
    for setting in profile().settings {
        assert_eq!(built(setting.name, &setting.value), None, "{}", setting.name);
        // The source is a file of libwebrtc or a section of a paper.
        let sources = [".cc`", ".h`", " § "];
        assert!(
            sources.iter().any(|source| setting.doc.contains(source)),
            "{} has no source",
            setting.name
        );
    }
}

#[test]
fn the_page_lists_every_setting_with_its_value() {
    let page = include_str!("../../../../../docs/algorithms/gcc-libwebrtc.md");
    let settings = profile().settings;
    for setting in &settings {
        let row = format!("| `{}` | {} |", setting.name, setting.value);
        assert!(page.contains(&row), "no row '{row}'");
    }
    assert_eq!(page.matches("\n| `").count(), settings.len() + signals().len());
    for name in signals() {
        assert!(page.contains(&format!("\n| `{name}` |")), "no signal {name}");
    }
}

fn signals() -> Vec<&'static str> {
    let mut names = Vec::new();
    Run::new(OPEN).sender.signals(&mut |name, _| names.push(name));
    names
}
