//! CAKE as a whole: the shaper, the classes, the hosts.

use super::*;
use crate::packet::{DropReason, Ecn, Flow, HostId};
use crate::queue::QueueConfig;
use units::Seed;

const BULK: Dscp = Dscp(8);

fn cake(words: &str) -> Cake {
    match format!("cake {words}").parse() {
        Ok(QueueConfig::Cake(config)) => Cake::new(&config, Seed(1).stream("queue")),
        other => panic!("{other:?}"),
    }
}

fn packet(src: u16, src_port: u16, size: u64) -> Packet {
    let flow = Flow { src: HostId(src), dst: HostId(99), src_port, ..Flow::default() };
    Packet { size: Bytes::new(size), flow, ecn: Ecn::Ect0, ..Packet::default() }
}

fn class(dscp: Dscp, port: u16, size: u64) -> Packet {
    Packet { dscp, ..packet(1, port, size) }
}

/// Keeps 20 packets of each kind waiting for `seconds` and dequeues each when it is ready. Returns
/// the bytes of each kind that left, and the longest wait of each kind after the first second.
fn backlogged(queue: &mut Cake, kinds: &[Packet], seconds: u64) -> (Vec<u64>, Vec<Duration>) {
    let mut drops = Vec::new();
    let (mut sent, mut longest) = (vec![0; kinds.len()], vec![Duration::ZERO; kinds.len()]);
    let fill = |queue: &mut Cake, now, kind: usize, drops: &mut Vec<_>| {
        queue.enqueue(now, Packet { id: kind as u64, ..kinds[kind] }, drops);
    };
    for kind in (0..kinds.len()).flat_map(|kind| [kind; 20]) {
        fill(queue, Time::ZERO, kind, &mut drops);
    }
    let mut now = Time::ZERO;
    while let Some(at) = queue.next_ready(now).filter(|&at| at < Time::from_secs(seconds)) {
        now = at;
        let (packet, sojourn) = queue.dequeue(now, &mut drops).unwrap();
        let kind = usize::try_from(packet.id).unwrap();
        sent[kind] += packet.size.get();
        if now > Time::from_secs(1) {
            longest[kind] = longest[kind].max(sojourn);
        }
        fill(queue, now, kind, &mut drops);
        assert!(drops.is_empty(), "ECN-capable packets are not dropped");
    }
    (sent, longest)
}

#[test]
fn the_shaper_keeps_its_rate_exactly_and_gives_no_burst() {
    for (rate, words) in
        [(10_000_000, "10Mbit"), (1_234_567, "1234567bit"), (999_999_937, "999999937bit")]
    {
        let mut queue = cake(&format!("bandwidth {words} besteffort overhead 14"));
        let (sent, _) = backlogged(&mut queue, &[packet(1, 1, 1_000), packet(1, 2, 300)], 10);
        let wire = sent[0] / 1_000 * 1_014 + sent[1] / 300 * 314;
        // The count includes the packet in transmission at the end.
        let expected = rate * 10 / 8;
        assert!(
            wire >= expected && wire - expected <= 1_014 + expected / 1_000_000,
            "{wire} for {expected}"
        );
    }
    let mut queue = cake("bandwidth 8Mbit");
    let mut drops = Vec::new();
    for second in [0, 100] {
        let start = Time::from_secs(second);
        for _ in 0..3 {
            queue.enqueue(start, packet(1, 1, 1_000), &mut drops);
        }
        for ms in 0..3 {
            let at = start + Duration::from_millis(ms);
            assert_eq!(queue.next_ready(start), Some(at), "idle time earns no credit");
            assert!(queue.dequeue(at, &mut drops).is_some());
            assert!(queue.dequeue(at, &mut drops).is_none());
        }
        assert_eq!(queue.next_ready(start), None);
    }
}

#[test]
fn voice_keeps_its_delay_while_best_effort_is_backlogged() {
    let mut queue = cake("bandwidth 10Mbit");
    let mut drops = Vec::new();
    let mut longest = Duration::ZERO;
    let mut now = Time::ZERO;
    let mut voice_due = Time::ZERO;
    for _ in 0..50 {
        queue.enqueue(now, class(Dscp::DEFAULT, 1, 1_500), &mut drops);
    }
    while now < Time::from_secs(10) {
        let ready = queue.next_ready(now).unwrap();
        if voice_due <= ready {
            now = voice_due;
            // 80 kbit/s.
            queue.enqueue(now, class(Dscp::EF, 2, 200), &mut drops);
            voice_due += Duration::from_millis(20);
            continue;
        }
        now = ready;
        let (packet, sojourn) = queue.dequeue(now, &mut drops).unwrap();
        if packet.dscp == Dscp::EF {
            longest = longest.max(sojourn);
        } else {
            queue.enqueue(now, packet, &mut drops);
        }
    }
    assert!(longest <= Duration::from_micros(1_200), "at most one packet before it: {longest}");
}

#[test]
fn voice_above_a_quarter_loses_its_priority() {
    let mut queue = cake("bandwidth 10Mbit");
    let (sent, waits) =
        backlogged(&mut queue, &[class(Dscp::DEFAULT, 1, 1_250), class(Dscp::EF, 2, 1_250)], 20);
    let share = sent[1] as f64 / (sent[0] + sent[1]) as f64;
    assert!((0.24..0.27).contains(&share), "{share}");
    assert!(waits[1] > waits[0], "{waits:?}");
}

#[test]
fn bulk_gets_a_sixteenth_and_the_whole_rate_when_alone() {
    let mut queue = cake("bandwidth 10Mbit");
    let (sent, _) =
        backlogged(&mut queue, &[class(Dscp::DEFAULT, 1, 1_250), class(BULK, 2, 1_250)], 20);
    let share = sent[1] as f64 / (sent[0] + sent[1]) as f64;
    assert!((0.0600..0.0675).contains(&share), "{share}");
    let (sent, _) = backlogged(&mut cake("bandwidth 10Mbit"), &[class(BULK, 2, 1_250)], 10);
    assert!((12_500_000..12_502_000).contains(&sent[0]), "{sent:?}");
}

#[test]
fn without_shaping_the_tins_are_served_as_16_to_1_to_4() {
    let mut queue = cake("unlimited");
    let mut drops = Vec::new();
    let kinds = [Dscp::DEFAULT, BULK, Dscp::EF].map(|dscp| class(dscp, 1, 1_000));
    let mut sent = [0u32; 3];
    for kind in kinds.into_iter().flat_map(|kind| [kind; 5]) {
        queue.enqueue(Time::ZERO, kind, &mut drops);
    }
    for _ in 0..21_000 {
        let (packet, _) = queue.dequeue(Time::ZERO, &mut drops).unwrap();
        sent[kinds.iter().position(|kind| kind.dscp == packet.dscp).unwrap()] += 1;
        queue.enqueue(Time::ZERO, packet, &mut drops);
    }
    assert!(sent[0].abs_diff(16_000) < 50 && sent[1].abs_diff(1_000) < 50, "{sent:?}");
}

/// The ratio of the throughput of host 1 with 8 flows to one host to that of host 2 with 1 flow to
/// host `other`, which may be the same.
fn shares(isolation: &str, other: u16) -> f64 {
    let mut queue = cake(&format!("bandwidth 50Mbit {isolation}"));
    let mut kinds: Vec<Packet> = (0..8).map(|port| packet(1, port, 1_200)).collect();
    let single = packet(2, 0, 1_200);
    kinds.push(Packet { flow: Flow { dst: HostId(other), ..single.flow }, ..single });
    let (sent, _) = backlogged(&mut queue, &kinds, 10);
    sent[..8].iter().sum::<u64>() as f64 / sent[8] as f64
}

#[test]
fn isolated_hosts_share_equally_whatever_their_number_of_flows() {
    for (isolation, other, expected) in [
        ("flows", 98, 8.0),
        ("dual-srchost", 98, 1.0),
        ("dual-srchost", 99, 1.0),
        ("dual-dsthost", 98, 1.0),
        ("dual-dsthost", 99, 8.0),
        ("triple-isolate", 98, 1.0),
        // The destination's 9 flows count for more than the source's 8.
        ("triple-isolate", 99, 8.0),
        ("srchost", 99, 1.0),
        ("hosts", 99, 1.0),
    ] {
        let ratio = shares(isolation, other);
        assert!((ratio / expected - 1.0).abs() < 0.03, "{isolation} to {other}: {ratio}");
    }
}

#[test]
fn a_sparse_flow_does_not_wait() {
    let mut queue = cake("bandwidth 10Mbit");
    let mut drops = Vec::new();
    for port in 0..10 {
        for _ in 0..10 {
            queue.enqueue(Time::ZERO, packet(1, port, 1_500), &mut drops);
        }
    }
    let mut now = Time::ZERO;
    for _ in 0..30 {
        now = queue.next_ready(now).unwrap();
        queue.dequeue(now, &mut drops);
    }
    queue.enqueue(now, packet(2, 77, 100), &mut drops);
    now = queue.next_ready(now).unwrap();
    assert_eq!(queue.dequeue(now, &mut drops).unwrap().0.flow.src_port, 77);
}

#[test]
fn a_flow_above_its_share_is_marked_or_dropped_and_one_below_is_not() {
    for ecn in [Ecn::Ect0, Ecn::NotEct] {
        let mut queue = cake("bandwidth 10Mbit");
        let mut drops = Vec::new();
        let mut signals = [0, 0];
        let mut greedy_due = Time::ZERO;
        let mut modest_due = Time::ZERO;
        let mut now = Time::ZERO;
        while now < Time::from_secs(5) {
            let ready = queue.next_ready(now).unwrap_or(Time::MAX);
            now = ready.min(greedy_due).min(modest_due);
            if now == greedy_due {
                // 12 Mbit/s.
                queue.enqueue(now, Packet { ecn, ..packet(1, 1, 1_500) }, &mut drops);
                greedy_due += Duration::from_millis(1);
            } else if now == modest_due {
                // 2 Mbit/s.
                queue.enqueue(now, Packet { ecn, ..packet(2, 2, 1_250) }, &mut drops);
                modest_due += Duration::from_millis(5);
            } else if let Some((packet, _)) = queue.dequeue(now, &mut drops)
                && packet.ecn == Ecn::Ce
            {
                signals[usize::from(packet.flow.src.0) - 1] += 1;
            }
        }
        assert_eq!(drops.is_empty(), ecn == Ecn::Ect0);
        assert!(
            drops.iter().all(|(packet, why)| packet.flow.src.0 == 1 && *why == DropReason::Aqm)
        );
        assert_eq!(signals[1], 0);
        assert!(signals[0] + drops.len() > 50, "{signals:?}");
    }
}

#[test]
fn a_full_memory_drops_from_the_longest_queue_and_every_packet_is_accounted_for() {
    let mut queue = cake("unlimited memlimit 20000");
    let mut drops = Vec::new();
    for id in 0..100 {
        let from = if id % 4 == 0 { packet(2, 2, 500) } else { packet(1, 1, 1_000) };
        queue.enqueue(Time::from_millis(id), Packet { id, ..from }, &mut drops);
        assert!(queue.bytes() <= Bytes::new(20_000));
    }
    assert!(drops.iter().all(|&(_, why)| why == DropReason::QueueFull));
    assert!(drops.iter().filter(|(packet, _)| packet.flow.src.0 == 1).count() > 55);
    let mut ids: Vec<u64> = drops.iter().map(|(packet, _)| packet.id).collect();
    drops.clear();
    while let Some((packet, _)) = queue.dequeue(Time::from_millis(100), &mut drops) {
        ids.push(packet.id);
    }
    ids.extend(drops.iter().map(|(packet, _)| packet.id));
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..100));
    assert_eq!((queue.packets(), queue.bytes(), queue.oldest()), (0, Bytes::ZERO, None));
}

#[test]
fn washing_clears_the_code_point_and_keeps_the_class() {
    let mut queue = cake("unlimited wash");
    queue.enqueue(Time::ZERO, class(Dscp::EF, 1, 100), &mut Vec::new());
    assert_eq!(queue.tins[2].packets, 1);
    let (packet, _) = queue.dequeue(Time::ZERO, &mut Vec::new()).unwrap();
    assert_eq!(packet.dscp, Dscp::DEFAULT);
}

/// There are more flows and hosts than queues, so that some collide.
#[test]
fn every_packet_leaves_once() {
    for words in [
        "bandwidth 20Mbit memlimit 900kB",
        "unlimited dual-srchost",
        "bandwidth 1Gbit diffserv4 hosts",
    ] {
        let mut queue = cake(words);
        let mut random = Seed(7).stream("test");
        let mut draw = |bound: u64| u16::try_from(random.below(bound)).unwrap();
        let (mut drops, mut left) = (Vec::new(), Vec::new());
        let mut now = Time::ZERO;
        for id in 0..30_000 {
            now += Duration::from_micros(draw(300).into());
            let flow = Flow {
                src: HostId(draw(40)),
                dst: HostId(draw(2_000)),
                src_port: draw(50),
                ..Flow::default()
            };
            let dscp = Dscp(u8::try_from(draw(64)).unwrap());
            let ecn = if draw(2) == 0 { Ecn::Ect0 } else { Ecn::NotEct };
            let size = Bytes::new(draw(1_501).into());
            queue.enqueue(
                now,
                Packet { id, flow, dscp, ecn, size, ..Packet::default() },
                &mut drops,
            );
            while left.len() + drops.len() + 3_000 < usize::try_from(id).unwrap()
                && let Some((packet, _)) = queue.dequeue(now, &mut drops)
            {
                left.push(packet.id);
            }
        }
        while let Some(at) = queue.next_ready(now) {
            now = at;
            left.extend(queue.dequeue(now, &mut drops).map(|(packet, _)| packet.id));
        }
        left.extend(drops.iter().map(|(packet, _)| packet.id));
        left.sort_unstable();
        assert!(left.into_iter().eq(0..30_000), "{words}");
        assert_eq!((queue.packets(), queue.bytes(), queue.oldest()), (0, Bytes::ZERO, None));
    }
}
