use super::tree::Mode;
use super::*;
use crate::packet::{Dscp, Flow};
use units::Seed;

fn htb(script: &str) -> Htb {
    let QueueConfig::Htb(config) = script.parse().unwrap() else { panic!("no htb: {script}") };
    Htb::new(&config, &Streams::new(Seed(1), "queue"))
}

/// A script with these classes: DSCP 1 goes to 1:10, 2 to 1:20, 3 to 1:30; others bypass the
/// classes.
fn classes(lines: &[&str]) -> String {
    let mut script = "tc qdisc add dev x root handle 1: htb\n".to_owned();
    for line in lines {
        script += &format!("tc class add dev x {line}\n");
    }
    for (tos, class) in [("0x04", "10"), ("0x08", "20"), ("0x0c", "30")] {
        if lines.iter().any(|line| line.contains(&format!("classid 1:{class}"))) {
            script += &format!(
                "tc filter add dev x parent 1: prio 1 u32 match ip dsfield {tos} 0xfc flowid 1:{class}\n"
            );
        }
    }
    script
}

fn packet(dscp: u8, size: u64) -> Packet {
    Packet { size: Bytes::new(size), dscp: Dscp(dscp), flow: Flow::default(), ..Packet::default() }
}

/// The rate of each kind in kbit/s on a line of unlimited rate, when each offers `kbps` for 20 s in
/// packets of 1000 B; measured in the second half.
fn shares(script: &str, offered: &[(u8, u64)]) -> Vec<u64> {
    let mut queue = htb(script);
    let mut drops = Vec::new();
    let mut got = vec![0; offered.len()];
    let mut next: Vec<Time> = offered.iter().map(|_| Time::ZERO).collect();
    let (mut now, end) = (Time::ZERO, Time::from_secs(20));
    while now < end {
        for (at, &(dscp, kbps)) in next.iter_mut().zip(offered) {
            if *at <= now && kbps > 0 {
                queue.enqueue(now, packet(dscp, 1_000), &mut drops);
                *at += Duration::from_nanos(8_000_000_000 / kbps);
            }
        }
        while let Some((packet, _)) = queue.dequeue(now, &mut drops) {
            let kind = offered.iter().position(|&(dscp, _)| dscp == packet.dscp.0).unwrap();
            got[kind] += u64::from(now > Time::from_secs(10));
        }
        let arrival =
            next.iter().zip(offered).filter(|(_, (_, kbps))| *kbps > 0).map(|(&at, _)| at).min();
        now = queue.next_ready(now).into_iter().chain(arrival).min().unwrap_or(end);
    }
    got.iter().map(|packets| packets * 8 / 10).collect()
}

fn near(got: &[u64], want: &[u64]) {
    assert_eq!(got.len(), want.len());
    assert!(
        got.iter().zip(want).all(|(&got, &want)| got.abs_diff(want) <= want / 50 + 2),
        "{got:?} for {want:?}"
    );
}

const ROOT: &str = "parent 1: classid 1:1 htb rate 1mbit";

#[test]
fn classes_get_their_rates_and_share_the_rest_by_rate() {
    let two = classes(&[
        ROOT,
        "parent 1:1 classid 1:10 htb rate 300kbit ceil 1mbit",
        "parent 1:1 classid 1:20 htb rate 600kbit ceil 1mbit",
    ]);
    // Spare bandwidth is shared by quantum, hence by rate (Devera 2002 § 3): 300 and 600 kbit/s,
    // and 100 kbit/s in thirds. The quanta of 3750 and 7500 B are above the minimum.
    near(&shares(&two, &[(1, 2_000), (2, 2_000)]), &[333, 667]);
    near(&shares(&two, &[(1, 100), (2, 2_000)]), &[100, 900]);
    near(&shares(&two, &[(1, 2_000), (2, 0)]), &[1_000, 0]);
}

#[test]
fn spare_bandwidth_goes_to_the_lowest_prio_first() {
    let two = classes(&[
        ROOT,
        "parent 1:1 classid 1:10 htb rate 204kbit ceil 1mbit prio 0",
        "parent 1:1 classid 1:20 htb rate 8bit ceil 1mbit prio 1",
    ]);
    near(&shares(&two, &[(1, 700), (2, 2_000)]), &[700, 300]);
    near(&shares(&two, &[(1, 2_000), (2, 2_000)]), &[1_000, 0]);
    // Guaranteed rates come before borrowing, whatever the prio.
    let other = two
        .replace("204kbit", "654kbit")
        .replace("prio 0", "prio 9")
        .replace("prio 1\n", "prio 0\n")
        .replace("prio 9", "prio 1");
    let other = other.replace("prio 0 u32", "prio 1 u32");
    near(&shares(&other, &[(1, 2_000), (2, 2_000)]), &[654, 346]);
}

#[test]
fn no_class_exceeds_its_ceil_and_unclassified_packets_are_not_limited() {
    let two = classes(&[
        ROOT,
        "parent 1:1 classid 1:10 htb rate 100kbit ceil 250kbit",
        "parent 1:1 classid 1:20 htb rate 100kbit",
    ]);
    near(&shares(&two, &[(1, 2_000), (2, 2_000), (9, 4_000)]), &[250, 100, 4_000]);
}

#[test]
fn a_branch_lends_to_its_own_classes_first() {
    // The tree of Devera 2002 § 4: a branch of two, and a class beside it.
    let tree = classes(&[
        ROOT,
        "parent 1:1 classid 1:2 htb rate 400kbit ceil 1mbit",
        "parent 1:2 classid 1:10 htb rate 300kbit ceil 1mbit quantum 1500",
        "parent 1:2 classid 1:20 htb rate 100kbit ceil 1mbit quantum 1500",
        "parent 1:1 classid 1:30 htb rate 600kbit ceil 1mbit quantum 1500",
    ]);
    near(&shares(&tree, &[(1, 0), (2, 2_000), (3, 2_000)]), &[0, 400, 600]);
    near(&shares(&tree, &[(1, 2_000), (2, 2_000), (3, 100)]), &[550, 350, 100]);
    near(&shares(&tree, &[(1, 50), (2, 2_000), (3, 2_000)]), &[50, 350, 600]);
}

#[test]
fn a_class_is_green_then_yellow_then_red() {
    let root = format!("{ROOT} burst 9000 cburst 9000");
    let mut queue = htb(&classes(&[
        &root,
        "parent 1:1 classid 1:10 htb rate 100kbit ceil 200kbit burst 2000 cburst 4000",
    ]));
    let mut drops = Vec::new();
    for _ in 0..9 {
        queue.enqueue(Time::ZERO, packet(1, 1_000), &mut drops);
    }
    let mut sent = |ms| {
        let now = Time::from_millis(ms);
        std::iter::from_fn(|| queue.dequeue(now, &mut drops).map(|_| queue.tree.mode(1)))
            .collect::<Vec<_>>()
    };
    use Mode::{CanSend, CantSend, MayBorrow};
    // The burst covers two packets, the third makes a debt. The ceil's burst covers a fourth and a
    // fifth, which are borrowed.
    assert_eq!(sent(0), [CanSend, CanSend, MayBorrow, MayBorrow, CantSend]);
    assert_eq!(sent(39), []);
    // A debt of 1000 B at 200 kbit/s lasts 40 ms. At its own rate it has earned 500 B by then: it
    // still borrows.
    assert_eq!(sent(40), [CantSend]);
}

#[test]
fn leaves_hold_any_discipline_and_every_packet_is_accounted_for() {
    let script = classes(&[
        ROOT,
        "parent 1:1 classid 1:10 htb rate 500kbit ceil 1mbit",
        "parent 1:1 classid 1:20 htb rate 500kbit ceil 1mbit",
    ]) + "tc qdisc add dev x parent 1:10 codel target 1ms interval 5ms\ntc qdisc add dev x parent 1:20 handle 2: tbf rate 100kbit burst 2000 limit 9000\n";
    let (mut queue, mut drops, mut left) = (htb(&script), Vec::new(), 0);
    let mut now = Time::ZERO;
    for number in 0..2_000 {
        queue.enqueue(now, packet(1 + (number % 2) as u8, 1_000), &mut drops);
        let next = now + Duration::from_millis(4);
        while let Some(at) = queue.next_ready(now).filter(|&at| at < next) {
            now = at;
            left += usize::from(queue.dequeue(now, &mut drops).is_some());
        }
        now = next;
    }
    assert_eq!(left + drops.len() + queue.packets(), 2_000);
    assert!(drops.len() > 500, "{}", drops.len());
    while let Some(at) = queue.next_ready(now) {
        now = at;
        left += usize::from(queue.dequeue(now, &mut drops).is_some());
    }
    assert_eq!((left + drops.len(), queue.packets(), queue.bytes()), (2_000, 0, Bytes::ZERO));
}
