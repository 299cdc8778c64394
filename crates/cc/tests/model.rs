//! A model test over every registered profile: for any input, rates stay within their bounds,
//! signals are finite or not a number, and timeouts lie in the future.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use cc::{
    ArrivedPacket, CustomFeedback, Ecn, Feedback, MediaFrame, PacketResult, ReceiverFeedback,
    SentPacket,
};
use common::config;
use proptest::prelude::*;
use units::{Bitrate, Bytes, Duration, Time};

#[derive(Clone, Debug)]
enum Step {
    Send { count: u8, size: u16, gap_us: u32, probe: bool },
    Arrive { delay_us: u32, lost: bool, ecn: Ecn },
    Report { lost: u8, rtt_ms: Option<u16> },
    Remb { kbps: u32 },
    Custom(CustomFeedback),
    Wait { ms: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1u8..30, 1u16..1500, 0u32..40_000, any::<bool>())
            .prop_map(|(count, size, gap_us, probe)| Step::Send { count, size, gap_us, probe }),
        6 => (0u32..900_000, prop::bool::weighted(0.1), ecn())
            .prop_map(|(delay_us, lost, ecn)| Step::Arrive { delay_us, lost, ecn }),
        2 => (any::<u8>(), prop::option::of(any::<u16>())).prop_map(|(lost, rtt_ms)| Step::Report { lost, rtt_ms }),
        1 => any::<u32>().prop_map(|kbps| Step::Remb { kbps }),
        1 => custom().prop_map(Step::Custom),
        1 => (0u32..20_000).prop_map(|ms| Step::Wait { ms }),
    ]
}

fn ecn() -> impl Strategy<Value = Ecn> {
    prop::sample::select(vec![Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce])
}

/// Any custom message: of a known controller (`BWST`, kilinc-andersson; `NADA`) or of an unknown
/// one, of any length.
fn custom() -> impl Strategy<Value = CustomFeedback> {
    let name = prop_oneof![3 => Just(*b"BWST"), 3 => Just(*b"NADA"), 1 => any::<[u8; 4]>()];
    let words = prop_oneof![
        3 => prop::collection::vec(any::<[u8; 4]>(), 2),
        1 => prop::collection::vec(any::<[u8; 4]>(), 0..=CustomFeedback::MAX_DATA / 4),
    ];
    (name, words)
        .prop_map(|(name, words)| CustomFeedback::from_slice(name, &words.concat()).unwrap())
}

/// The profile with the chosen improvements that apply to it, and a buffer hint.
fn improved(profile: &str, chosen: &[bool], buffer: &str) -> cc::ControllerConfig {
    let names = cc::improvements().iter().zip(chosen).filter(|(_, chosen)| **chosen);
    let improve = |profile: String, name| cc::improve(&profile, name).unwrap_or(profile);
    let name = names
        .fold(profile.to_owned(), |profile, (improvement, _)| improve(profile, improvement.name));
    let settings = if name.contains("+buffer-hint") {
        vec![("hint.buffer".into(), buffer.into())]
    } else {
        vec![]
    };
    cc::ControllerConfig { settings, ..config(&name) }
}

/// Rates are within the limits of the configuration, and no signal is infinite.
fn within_bounds(
    config: &cc::ControllerConfig,
    controllers: &cc::Controllers,
) -> Result<(), TestCaseError> {
    let decision = controllers.sender.decision();
    prop_assert!(
        decision.target_rate >= config.min_rate && decision.target_rate <= config.max_rate,
        "{decision:?}"
    );
    prop_assert!(decision.pacing_rate >= config.min_rate, "{decision:?}");
    let mut infinite = None;
    let mut look = |name, value: f64| {
        if value.is_infinite() {
            infinite = Some(name);
        }
    };
    controllers.sender.signals(&mut look);
    if let Some(receiver) = &controllers.receiver {
        receiver.signals(&mut look);
    }
    prop_assert_eq!(infinite, None);
    Ok(())
}

fn check(config: &cc::ControllerConfig, steps: &[Step]) -> Result<(), TestCaseError> {
    let mut controllers = cc::build(config).unwrap();
    let (mut now, mut sequence) = (Time::from_secs(1), 0);
    let mut in_flight: Vec<SentPacket> = Vec::new();
    for step in steps {
        match *step {
            Step::Send { count, size, gap_us, probe } => {
                let bytes = Bytes::new(u64::from(count) * u64::from(size));
                let frame = MediaFrame { size: bytes, queued: bytes * u64::from(1 + count % 3) };
                controllers.sender.on_frame(now, &frame);
                for _ in 0..count {
                    now += Duration::from_micros(u64::from(gap_us) / u64::from(count));
                    let probe = controllers
                        .sender
                        .decision()
                        .probe
                        .filter(|_| probe)
                        .map(|cluster| cluster.id);
                    let packet = SentPacket {
                        sequence,
                        sent: now,
                        size: Bytes::new(u64::from(size)),
                        probe,
                    };
                    controllers.sender.on_sent(&packet);
                    in_flight.push(packet);
                    sequence += 1;
                }
            }
            Step::Arrive { delay_us, lost, ecn } => {
                let mut arrival = now;
                let mut results = Vec::new();
                for packet in in_flight.drain(..) {
                    arrival += Duration::from_micros(u64::from(delay_us) / 20);
                    let came = (!lost || packet.sequence % 3 > 0).then_some(arrival);
                    results.push(PacketResult { packet, arrival: came, ecn });
                    if let (Some(receiver), Some(arrival)) = (&mut controllers.receiver, came) {
                        let SentPacket { sequence, sent, size, probe } = packet;
                        let rtp_timestamp = sent.as_nanos() / 33_000_000;
                        let packet = ArrivedPacket {
                            sequence,
                            sent,
                            arrival,
                            size,
                            rtp_timestamp,
                            probe,
                            ecn,
                        };
                        receiver.on_packet(&packet, None);
                        receiver.poll(arrival);
                    }
                }
                now = now.max(arrival);
                controllers
                    .sender
                    .on_feedback(now, Feedback::Packets { results: &results, rtt: None });
            }
            Step::Report { lost, rtt_ms } => {
                let rtt = rtt_ms.map(|ms| Duration::from_millis(u64::from(ms)));
                let report =
                    Feedback::Report { fraction_lost: f64::from(lost) / 256.0, expected: 100, rtt };
                controllers.sender.on_feedback(now, report);
            }
            Step::Remb { kbps } => {
                controllers
                    .sender
                    .on_feedback(now, Feedback::Remb { rate: Bitrate::from_kbps(u64::from(kbps)) });
            }
            Step::Custom(message) => controllers.sender.on_feedback(now, Feedback::Custom(message)),
            Step::Wait { ms } => now += Duration::from_millis(u64::from(ms)),
        }
        if let Some(receiver) = &mut controllers.receiver {
            receiver.on_timeout(now);
            prop_assert!(
                receiver.next_timeout().is_none_or(|at| at > now),
                "a receiver's timeout lies in the future"
            );
            if let Some(ReceiverFeedback::Remb(rate)) = receiver.poll(now) {
                prop_assert!(rate >= config.min_rate && rate <= config.max_rate, "REMB {rate}");
            }
        }
        controllers.sender.on_timeout(now);
        prop_assert!(
            controllers.sender.next_timeout().is_none_or(|at| at > now),
            "a sender's timeout lies in the future"
        );
        within_bounds(config, &controllers)?;
    }
    Ok(())
}

/// What is wrong with a feedback message.
#[derive(Clone, Copy, Debug)]
enum Fault {
    None,
    /// Some of the packets are missing, and are never reported.
    Gap,
    /// The message comes twice.
    Repeat,
    /// Some packets are reported again with the next message.
    Overlap,
    /// The newest packet is first.
    Reverse,
    /// The clock of the receiver jumps by this many milliseconds.
    Jump(i32),
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        2 => Just(Fault::None),
        1 => Just(Fault::Gap),
        1 => Just(Fault::Repeat),
        1 => Just(Fault::Overlap),
        1 => Just(Fault::Reverse),
        1 => (-4_000_000i32..4_000_000).prop_map(Fault::Jump),
    ]
}

/// The ECN fields that arrive: with every packet marked, or bleached from a message on.
#[derive(Clone, Copy, Debug)]
enum Marks {
    Every,
    BleachedFrom(usize),
}

/// Ten packets of 1000 bytes per message, 5 ms apart, over a path of 25 ms; each message has a
/// fault.
fn endure(
    config: &cc::ControllerConfig,
    faults: &[Fault],
    marks: Marks,
) -> Result<(), TestCaseError> {
    let mut controllers = cc::build(config).unwrap();
    let (mut now, mut sequence, mut clock) = (Time::from_secs(5_000), 0, 0i64);
    let mut kept: Vec<PacketResult> = Vec::new();
    for (index, fault) in faults.iter().enumerate() {
        let mut results = std::mem::take(&mut kept);
        let ecn = match marks {
            Marks::Every => Ecn::Ce,
            Marks::BleachedFrom(message) if index >= message => Ecn::NotEct,
            Marks::BleachedFrom(_) => Ecn::Ect1,
        };
        if let Fault::Jump(ms) = fault {
            clock += i64::from(*ms) * 1_000_000;
        }
        for _ in 0..10 {
            let size = Bytes::new(1_000);
            controllers.sender.on_frame(now, &MediaFrame { size, queued: size });
            let packet = SentPacket { sequence, sent: now, size, probe: None };
            controllers.sender.on_sent(&packet);
            let arrival = (now + Duration::from_millis(25)).as_nanos();
            let arrival = Time::from_nanos(arrival.saturating_add_signed(clock));
            let lost = matches!(fault, Fault::Gap) && sequence % 3 == 0;
            if !lost {
                results.push(PacketResult { packet, arrival: Some(arrival), ecn });
            }
            (sequence, now) = (sequence + 1, now + Duration::from_millis(5));
        }
        match fault {
            Fault::Reverse => results.reverse(),
            Fault::Overlap => kept.extend(results.iter().skip(results.len() / 2)),
            _ => {}
        }
        let times = if matches!(fault, Fault::Repeat) { 2 } else { 1 };
        for _ in 0..times {
            let packets = Feedback::Packets { results: &results, rtt: None };
            controllers.sender.on_feedback(now + Duration::from_millis(25), packets);
        }
        controllers.sender.on_timeout(now + Duration::from_millis(25));
        within_bounds(config, &controllers)?;
    }
    Ok(())
}

proptest! {
    /// RFC 8888 permits repeats and overlaps; a path may reorder messages, lose them, mark every
    /// packet, or bleach ECN.
    #[test]
    fn no_feedback_drives_a_rate_out_of_its_bounds(
        faults in prop::collection::vec(fault(), 1..60),
        marks in prop_oneof![Just(Marks::Every), (0usize..60).prop_map(Marks::BleachedFrom)],
    ) {
        for profile in cc::profiles() {
            // Some controllers use ECT(0) only, and some no ECN.
            let with = |ecn: &str| cc::ControllerConfig {
                settings: vec![("ecn".to_owned(), ecn.to_owned())],
                ..config(&profile.name)
            };
            let config = ["ect1", "ect0"].map(with).into_iter().find(|one| cc::build(one).is_ok());
            let config = config.unwrap_or_else(|| common::config(&profile.name));
            endure(&config, &faults, marks)?;
        }
    }

    #[test]
    fn every_profile_stays_within_its_bounds(steps in prop::collection::vec(step(), 1..120)) {
        for profile in cc::profiles() {
            check(&config(&profile.name), &steps)?;
        }
    }

    #[test]
    fn every_profile_with_improvements_stays_within_its_bounds(
        steps in prop::collection::vec(step(), 1..120),
        chosen in prop::collection::vec(any::<bool>(), cc::improvements().len()),
        buffer in prop::sample::select(vec!["none", "path", "1B", "16kB", "1GB"]),
    ) {
        for profile in cc::profiles() {
            check(&improved(&profile.name, &chosen, buffer), &steps)?;
        }
    }
}

#[test]
fn unknown_names_and_bad_values_are_refused_with_a_suggestion() {
    let error = |profile: &str, settings: &[(&str, &str)]| {
        let settings =
            settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
        cc::build(&cc::ControllerConfig { settings, ..config(profile) })
            .err()
            .map(|error| error.to_string())
    };
    let unknown = error("gcc:nothing", &[]).unwrap();
    assert!(
        unknown.starts_with("no controller 'gcc:nothing'; there are gcc:carlucci-2017,"),
        "{unknown}"
    );
    let setting = error("gcc:carlucci-2017", &[("gain", "1")]).unwrap();
    assert!(setting.starts_with("no setting 'gain'; there are "), "{setting}");
    let value = error("gcc:carlucci-2017", &[("threshold", "wobbly")]).unwrap();
    assert_eq!(value, "setting threshold = 'wobbly': use one of adaptive, static");
    assert!(error("gcc:carlucci-2017", &[("decrease", "2")]).unwrap().contains("between 0 and 1"));
    assert!(
        error("gcc:carlucci-2017", &[("side", "sender")]).unwrap().contains("grouping = burst")
    );
    assert!(error("fixed:fast", &[]).unwrap().contains("'fast' is not a rate"));
    assert_eq!(
        error("gcc:carlucci-2017", &[("threshold", "static"), ("threshold.initial", "5.13")]),
        None
    );
}

#[test]
fn every_setting_reads_back() {
    for profile in cc::profiles() {
        let settings =
            profile.settings.iter().map(|setting| (setting.name.to_owned(), setting.value.clone()));
        let again = cc::ControllerConfig { settings: settings.collect(), ..config(&profile.name) };
        assert!(cc::build(&again).is_ok(), "{}", profile.name);
        assert!(
            profile.settings.iter().all(|setting| setting.doc.len() > 20),
            "every setting has a doc comment"
        );
    }
}
