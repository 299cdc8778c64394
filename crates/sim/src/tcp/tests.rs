//! The two ends over a pipe that loses, reorders, marks and overflows: either every byte arrives
//! once, or the flow reports that it timed out.

use super::receiver::TcpReceiver;
use super::sender::{Connection, TcpSender};
use super::{
    MAX_SEGMENT, Phase, Segment, TcpConfig, TcpCongestionControl, TcpOutbox, TcpSource, TcpStack,
    TimerFrequency,
};
use net::{Dscp, Ecn, HostId};
use proptest::prelude::*;
use units::{Bitrate, Bytes, Duration, Seed, Stream, Time};

/// One direction: a short queue, a link, then a variable delay.
struct Pipe {
    random: Stream,
    loss: f64,
    marks: f64,
    rate: Bitrate,
    limit: usize,
    jitter: Duration,
    free_at: Time,
    /// When each waiting packet will have left the queue.
    waiting: Vec<Time>,
    under_way: Vec<(Time, Segment, Ecn)>,
    packets: u64,
}

impl Pipe {
    fn next(&self) -> Option<Time> {
        self.under_way.iter().map(|(at, ..)| *at).min()
    }

    fn pop(&mut self, now: Time) -> Option<(Segment, Ecn)> {
        let index = self.under_way.iter().position(|(at, ..)| *at <= now)?;
        let (_, segment, ecn) = self.under_way.remove(index);
        Some((segment, ecn))
    }
}

impl TcpOutbox for Pipe {
    fn segment(&mut self, now: Time, segment: Segment, ecn: Ecn) -> bool {
        self.packets += 1;
        self.waiting.retain(|left| *left > now);
        if self.waiting.len() >= self.limit || self.random.chance(self.loss) {
            return true;
        }
        let marked = ecn != Ecn::NotEct && self.random.chance(self.marks);
        self.free_at = self.free_at.max(now) + self.rate.time_to_send(segment.size()).unwrap();
        self.waiting.push(self.free_at);
        let jitter = Duration::from_secs_f64(self.random.uniform() * self.jitter.as_secs_f64());
        let at = self.free_at + Duration::from_millis(20) + jitter;
        self.under_way.push((at, segment, if marked { Ecn::Ce } else { ecn }));
        true
    }
}

struct World {
    sender: TcpSender,
    receiver: TcpReceiver,
    forward: Pipe,
    reverse: Pipe,
    now: Time,
}

fn flow(control: TcpCongestionControl, bytes: u64) -> TcpConfig {
    TcpConfig {
        name: "flow".to_owned(),
        from: HostId(0),
        to: HostId(1),
        start: Time::ZERO,
        stop: Time::MAX,
        application: TcpSource::Finite(Bytes::new(bytes)).into(),
        congestion_control: control,
        receive_window: Bytes::new(1 << 20),
        ecn: true,
        dscp: Dscp::DEFAULT,
        hz: TimerFrequency::default(),
    }
}

fn world(control: TcpCongestionControl, bytes: u64, seed: u64) -> World {
    let pipe = |name: &str| Pipe {
        random: Seed(seed).stream(name),
        loss: 0.0,
        marks: 0.0,
        rate: Bitrate::from_mbps(5),
        limit: 100,
        jitter: Duration::ZERO,
        free_at: Time::ZERO,
        waiting: Vec::new(),
        under_way: Vec::new(),
        packets: 0,
    };
    let config = flow(control, bytes);
    World {
        sender: TcpSender::new(
            &config,
            TcpStack {
                gso: seed.is_multiple_of(2),
                whole_segments: seed.is_multiple_of(3),
                ..TcpStack::default()
            },
            Seed(seed),
        ),
        receiver: TcpReceiver::new(&config),
        forward: pipe("forth"),
        reverse: pipe("back"),
        now: Time::ZERO,
    }
}

impl World {
    /// Runs until the flow has ended.
    fn run(&mut self) -> Connection {
        self.run_until(|_| false);
        self.sender.connection()
    }

    /// Runs until `enough` returns true or the flow has ended.
    fn run_until(&mut self, enough: impl Fn(&Self) -> bool) {
        while !enough(self)
            && !matches!(
                self.sender.connection(),
                Connection::Finished(_) | Connection::TimedOut(_)
            )
        {
            let ends = [self.sender.next_wake(self.now), self.receiver.next_wake()];
            let all = ends.into_iter().chain([self.forward.next(), self.reverse.next()]);
            let next = all.flatten().min().expect("a flow that has not ended waits for something");
            self.now = self.now.max(next);
            while let Some((segment, ecn)) = self.forward.pop(self.now) {
                self.receiver.on_segment(self.now, &segment, ecn, &mut self.reverse);
            }
            while let Some((segment, _)) = self.reverse.pop(self.now) {
                self.sender.on_segment(self.now, &segment, &mut self.forward);
            }
            self.sender.wake(self.now, &mut self.forward);
            self.receiver.wake(self.now, &mut self.reverse);
            assert!(self.sender.acknowledged() <= self.receiver.received());
        }
    }

    /// The sender's value of the column `wanted`.
    fn shown(&self, wanted: &str) -> f64 {
        shown(&self.sender, wanted)
    }
}

/// The sender's value of the column `wanted`.
fn shown(sender: &TcpSender, wanted: &str) -> f64 {
    let mut found = f64::NAN;
    sender.show(&mut |name, value| {
        if name == wanted {
            found = value;
        }
    });
    found
}

fn controls() -> impl Strategy<Value = TcpCongestionControl> {
    prop::sample::select(TcpCongestionControl::ALL.map(|(_, control)| control).to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn every_byte_arrives_once(control in controls(), seed in 0u64..1_000_000, bytes in 1u64..400_000,
                               loss in 0.0..0.3f64, reverse_loss in 0.0..0.3f64, jitter in 0u64..60,
                               limit in 1usize..40, marks in 0.0..0.2f64) {
        let mut world = world(control, bytes, seed);
        (world.forward.loss, world.reverse.loss) = (loss, reverse_loss);
        (world.forward.limit, world.forward.marks) = (limit, marks);
        (world.forward.jitter, world.reverse.jitter) = (Duration::from_millis(jitter), Duration::from_millis(jitter));
        match world.run() {
            Connection::Finished(_) => {
                prop_assert_eq!(world.sender.acknowledged(), bytes);
                prop_assert_eq!(world.receiver.received(), bytes);
            }
            Connection::TimedOut(_) => prop_assert!(loss + reverse_loss > 0.1, "given up at a loss of {}", loss),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

#[test]
fn a_flow_over_a_dead_link_times_out() {
    for control in TcpCongestionControl::ALL.map(|(_, control)| control) {
        let mut opening = world(control, 100_000, 1);
        opening.forward.loss = 1.0;
        let Connection::TimedOut(at) = opening.run() else { panic!("{control} opened") };
        // Linux: 1 + 2 + … + 64 s for six retries, each rounded up by the timer wheel: 127 s become
        // 32,768 jiffies.
        assert_eq!((at, opening.forward.packets), (Time::from_millis(131_072), 7));
        let mut dies = world(control, 10_000_000, 1);
        dies.run_until(|world| world.receiver.received() >= 1_000_000);
        dies.forward.loss = 1.0;
        let Connection::TimedOut(at) = dies.run() else { panic!("{control} went on") };
        // 924.6 s if the time-out starts at 200 ms (Linux, Documentation/networking/ip-sysctl,
        // tcp_retries2); here it starts a little higher.
        assert!(
            at > Time::from_secs(924) && at < Time::from_secs(1_200),
            "{control} gave up at {at}"
        );
    }
}

#[test]
fn marks_reduce_the_window_without_loss() {
    let mut marked = world(TcpCongestionControl::Cubic, 4_000_000, 1);
    marked.forward.marks = 0.01;
    assert!(matches!(marked.run(), Connection::Finished(_)));
    let (echoes, retransmitted) =
        (marked.shown("ecnEchoes"), marked.shown("retransmittedPacketsSent"));
    assert!(echoes > 0.0 && retransmitted == 0.0, "{echoes} {retransmitted}");
    let mut plain = world(TcpCongestionControl::Cubic, 4_000_000, 1);
    plain.run();
    assert!(marked.now > plain.now, "marks cost time: {} against {}", marked.now, plain.now);
}

/// Prague sends ECT(1) whatever the flow says of ECN, and each mark is counted (AccECN).
#[test]
fn prague_counts_marks_and_needs_no_loss() {
    let mut flow = world(TcpCongestionControl::Prague, 4_000_000, 1);
    flow.forward.marks = 0.1;
    assert!(matches!(flow.run(), Connection::Finished(_)));
    assert_eq!(flow.shown("retransmittedPacketsSent"), 0.0);
    let echoes = flow.shown("ecnEchoes");
    assert!((200.0..360.0).contains(&echoes), "{echoes} marks of 2763 segments");
    // 2 (1/p − 1) segments per 40 ms; the round-trip time is a little longer with the queue.
    let rate = 4_000_000.0 * 8.0 / flow.now.as_secs_f64();
    assert!((3.5e6..5.5e6).contains(&rate), "{rate}");
}

#[test]
fn one_mark_reduces_once() {
    for control in [TcpCongestionControl::NewReno, TcpCongestionControl::Cubic] {
        for acknowledged in (300_000..340_000).step_by(1_448) {
            let mut world = world(control, 4_000_000, 1);
            world.run_until(|world| world.sender.acknowledged() >= acknowledged);
            let before = world.shown("congestionWindow");
            world.forward.marks = 1.0;
            let sent = world.forward.packets;
            world.run_until(|world| world.forward.packets > sent);
            world.forward.marks = 0.0;
            world.run_until(|world| world.sender.acknowledged() >= acknowledged + 500_000);
            let after = world.shown("slowStartThreshold");
            let share = if control == TcpCongestionControl::Cubic { 0.7 } else { 0.5 };
            assert!(after >= 0.95 * share * before, "{control}: {before} became {after}");
        }
    }
}

#[test]
fn reordering_costs_little_once_it_is_known() {
    let mut world = world(TcpCongestionControl::Cubic, 4_000_000, 1);
    world.forward.jitter = Duration::from_millis(4);
    assert!(matches!(world.run(), Connection::Finished(_)));
    let retransmitted = world.shown("retransmittedPacketsSent");
    assert!(
        retransmitted < 0.01 * world.forward.packets as f64,
        "{retransmitted} of {}",
        world.forward.packets
    );
}

/// Accepts every segment and forgets it.
struct Void;

impl TcpOutbox for Void {
    fn segment(&mut self, _: Time, _: Segment, _: Ecn) -> bool {
        true
    }
}

/// A sender whose connection took 100 ms to open, and whose first ten segments have left.
fn opened(hz: TimerFrequency) -> TcpSender {
    opened_with(&TcpConfig { hz, ..flow(TcpCongestionControl::NewReno, 1_000_000) })
}

fn opened_with(config: &TcpConfig) -> TcpSender {
    opened_on(config, TcpStack::default(), &mut Void)
}

fn opened_on(config: &TcpConfig, stack: TcpStack, out: &mut impl TcpOutbox) -> TcpSender {
    let mut sender = TcpSender::new(config, stack, Seed(1));
    sender.wake(Time::ZERO, out);
    let answer = Segment {
        phase: Phase::SynAck,
        window: config.receive_window,
        echo: Some(Time::ZERO),
        ..Segment::default()
    };
    sender.on_segment(Time::from_millis(100), &answer, out);
    sender
}

/// Records every segment.
#[derive(Default)]
struct Wire(Vec<Segment>);

impl TcpOutbox for Wire {
    fn segment(&mut self, _: Time, segment: Segment, _: Ecn) -> bool {
        self.0.push(segment);
        true
    }
}

const BURSTS: TcpStack = TcpStack { tsq: false, gso: true, whole_segments: true };

/// Linux `__tcp_transmit_skb`: the last segment of a burst has PSH; a single segment has not.
#[test]
fn bursts_end_with_psh() {
    let config = TcpConfig { ecn: false, ..flow(TcpCongestionControl::NewReno, 1_000_000) };
    let mut wire = Wire::default();
    let mut sender = opened_on(&config, BURSTS, &mut wire);
    let pushed = |wire: &Wire| -> Vec<bool> {
        wire.0.iter().filter(|segment| segment.payload > Bytes::ZERO).map(|s| s.push).collect()
    };
    assert_eq!(pushed(&wire), [false, true].repeat(5), "the initial window");
    let report = sack(1, 2, Time::from_millis(100));
    sender.on_segment(Time::from_millis(203), &report, &mut wire);
    assert_eq!(pushed(&wire)[10..], [false]);
}

/// Acknowledges nothing new, and the segments from number `from` up to number `up_to` selectively.
fn sack(from: u64, up_to: u64, echo: Time) -> Segment {
    let segment = MAX_SEGMENT.get();
    Segment {
        window: Bytes::new(1 << 20),
        echo: Some(echo),
        sack: [Some((from * segment, up_to * segment)), None, None],
        ..Segment::default()
    }
}

/// Linux 6.18 `tcp_tso_should_defer`: after a transmission within the last millisecond, a single
/// segment waits for a second one if the next acknowledgement is due.
#[test]
fn a_single_segment_waits_only_for_an_acknowledgement_that_is_due() {
    let sent = |first_us: u64, second_us: u64| {
        let config = flow(TcpCongestionControl::NewReno, 1_000_000);
        let mut sender = opened_on(&config, BURSTS, &mut Void);
        for (at, up_to) in [(first_us, 2), (second_us, 3)] {
            let now = Time::ZERO + Duration::from_micros(at);
            sender.on_segment(now, &sack(1, up_to, Time::from_millis(100)), &mut Void);
        }
        shown(&sender, "packetsSent")
    };
    assert_eq!(sent(203_000, 203_500), 11.0, "the first segment's acknowledgement is overdue");
    assert_eq!(sent(203_000, 204_500), 12.0, "nothing has left within the last millisecond");
    assert_eq!(sent(150_000, 150_500), 12.0, "no acknowledgement is due for 38 ms");
}

/// Linux 6.7 and later, `tcp_measure_rcv_mss`: a segment with PSH is acknowledged when the
/// application has read it.
#[test]
fn a_segment_with_psh_is_acknowledged_at_once() {
    let mut receiver = TcpReceiver::new(&flow(TcpCongestionControl::NewReno, 1_000_000));
    let mut wire = Wire::default();
    let mut arrive = |index: u64, push: bool| {
        let sequence = index * MAX_SEGMENT.get();
        let segment = Segment { sequence, payload: MAX_SEGMENT, push, ..Segment::default() };
        receiver.on_segment(Time::from_millis(index), &segment, Ecn::NotEct, &mut wire);
        wire.0.len()
    };
    // The first sixteen are acknowledged one by one.
    assert_eq!((0..16).map(|index| arrive(index, false)).max(), Some(16));
    assert_eq!([arrive(16, false), arrive(17, false)], [16, 17], "with the second segment");
    assert_eq!([arrive(18, true), arrive(19, false)], [18, 18], "at once, then delayed");
}

/// Linux `tcp_schedule_loss_probe`: two round trips and 2 ms, in jiffies, and the jiffy that has
/// begun. At 1000 Hz the delay of 202 jiffies is in the second level of the wheel.
#[test]
fn the_probe_timer_expires_as_in_linux() {
    for (hz, expiry) in [(TimerFrequency::Hz250, 308), (TimerFrequency::Hz1000, 304)] {
        let sender = opened(hz);
        let wake = sender.next_wake(Time::from_millis(100));
        assert_eq!(wake, Some(Time::from_millis(expiry)), "{hz:?}");
    }
}

/// Linux `tcp_rack_mark_lost`: the rest of the reordering window and 2 ms, in jiffies, and the
/// jiffy that has begun. Here the second segment is reported 103 ms after both left, and a quarter
/// of the minimum round-trip time remains.
#[test]
fn the_reordering_timer_expires_as_in_linux() {
    for (hz, expiry) in [(TimerFrequency::Hz250, 232), (TimerFrequency::Hz1000, 231)] {
        let mut sender = opened(hz);
        let now = Time::from_millis(203);
        let segment = MAX_SEGMENT.get();
        let report = Segment {
            window: Bytes::new(1 << 20),
            echo: Some(Time::from_millis(100)),
            sack: [Some((segment, 2 * segment)), None, None],
            ..Segment::default()
        };
        sender.on_segment(now, &report, &mut Void);
        assert_eq!(sender.next_wake(now), Some(Time::from_millis(expiry)), "{hz:?}");
        sender.wake(Time::from_millis(expiry - 1), &mut Void);
        assert_eq!(shown(&sender, "retransmittedPacketsSent"), 0.0);
        sender.wake(Time::from_millis(expiry), &mut Void);
        assert_eq!(shown(&sender, "retransmittedPacketsSent"), 1.0);
    }
}

/// Linux `bbr_init`: the handshake gives the first pacing rate. `tcp_update_skb_after_send`: the
/// first ten segments leave at once, then a segment leaves per interval of that rate; the one after
/// the tenth comes late, so that the next interval is halved.
#[test]
fn bbr_paces_from_the_eleventh_segment_at_the_rate_of_the_handshake() {
    let mut sender = opened_with(&flow(TcpCongestionControl::Bbr, 1_000_000));
    let pacing = shown(&sender, "pacingRate");
    // 2 / ln 2 · 99 % · 10 segments per round trip.
    let expected = 2.885 * 0.99 * 10.0 * MAX_SEGMENT.bits() as f64 / 0.1;
    assert!((pacing - expected).abs() < 1.0, "{pacing} bit/s, not {expected}");
    assert_eq!(shown(&sender, "packetsSent"), 10.0);
    let now = Time::from_millis(212);
    let acknowledgment = Segment {
        acknowledgment: 4 * MAX_SEGMENT.get(),
        window: Bytes::new(1 << 20),
        echo: Some(Time::from_millis(100)),
        ..Segment::default()
    };
    sender.on_segment(now, &acknowledgment, &mut Void);
    assert_eq!(shown(&sender, "packetsSent"), 11.0);
    let interval = Duration::from_secs_f64(MAX_SEGMENT.bits() as f64 / pacing);
    let wake = sender.next_wake(now).unwrap();
    assert_eq!(wake.saturating_since(now).as_micros(), (interval / 2).as_micros());
    sender.wake(wake, &mut Void);
    assert_eq!(shown(&sender, "packetsSent"), 12.0);
    let next = sender.next_wake(wake).unwrap();
    assert_eq!(next.saturating_since(wake).as_micros(), interval.as_micros());
}
