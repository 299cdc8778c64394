//! Delay, rate and the spacing of packets.

use crate::common::findings::{Findings, attempts};
use crate::common::rig::{Blind, Rig, SEED, delayed, line, pairs};
use crate::common::stats::{median, p99, slope};
use crate::common::traffic::{Arrival, Burst, delays, steady, through};
use crate::turn;
use net::LineConfig;
use units::{Bitrate, Bytes, Duration};

/// What a packet may be off by in the median and in 99 of 100, µs. To the second comes what the
/// machine itself is late by, measured in the same attempt: a virtual machine whose processors are
/// taken away now and then has no better.
pub(crate) const HALF: f64 = 30.0;
pub(crate) const MOST: f64 = 80.0;

/// 25 ms are set each way of the second pair, and nothing of the first.
#[test]
fn the_delay_is_what_is_set() {
    let Some(_turn) = turn() else { return };
    let rig =
        Rig::start(&pairs(&[LineConfig::default(), delayed(Duration::from_millis(25))]), Blind);
    let hosts = [[0, 1], [2, 3], [3, 2]];
    let ends = hosts.map(|[from, to]| (rig.sender(from, to), rig.receiver(to)));
    attempts("delay", || {
        let [none, there, back] = [0, 1, 2].map(|way: usize| {
            let (from, to) = &ends[way];
            let packets = if way == 1 { 3_000 } else { 1_000 };
            let mut plan = steady(Duration::from_millis(1), packets, 200);
            // So that packets do not come just when others are given out.
            let mut stream = SEED.stream("delay");
            plan.iter_mut().for_each(|burst| burst.at += Duration::from_micros(stream.below(900)));
            let (sent, arrivals) = through(from, to, &plan, 60);
            assert_eq!(arrivals.len(), packets, "nothing is lost");
            delays(&sent, &arrivals)
        });
        let mut findings = Findings::default();
        let least = median(&none);
        let machine = p99(&none) - least;
        for (way, delays) in [("there", there), ("back", back)] {
            let added: Vec<f64> = delays.iter().map(|delay| delay - least - 25_000.0).collect();
            let off: Vec<f64> = added.iter().map(|added| added.abs()).collect();
            let (half, most) = (median(&added), p99(&off));
            let line = format!(
                "{way}: {half:+.1} µs in the median, {most:.1} at p99; {least:.1} and {machine:.1} more without"
            );
            findings.add(line, half.abs() <= HALF && most <= MOST + machine);
        }
        findings
    });
}

const RATES: [u64; 4] = [250, 1_000, 10_000, 100_000];
/// Of an IP packet, bytes.
const SIZE: usize = 1_250;

/// A tenth more than the line takes is sent; what it lets through is the rate.
#[test]
fn the_rate_is_what_is_set() {
    let Some(_turn) = turn() else { return };
    let lines = RATES.map(|kbps| line(Bitrate::from_kbps(kbps)));
    let rig = Rig::start(&pairs(&lines), Blind);
    for (pair, kbps) in RATES.into_iter().enumerate() {
        let (from, to) = (rig.sender(2 * pair, 2 * pair + 1), rig.receiver(2 * pair + 1));
        let each = Bitrate::from_kbps(kbps).time_to_send(Bytes::new(SIZE as u64)).unwrap();
        // A millisecond's at a time, where there are several.
        let at_once = usize::try_from(1_000_000 / each.as_nanos()).unwrap().max(1);
        let every = Duration::from_nanos(each.as_nanos() * at_once as u64 * 10 / 11);
        let mut plan =
            steady(every, usize::try_from(1_200_000_000 / every.as_nanos()).unwrap(), SIZE);
        plan.iter_mut().for_each(|burst| burst.packets = at_once);
        attempts(&format!("{kbps} kbit/s"), || {
            let (_, arrivals) = through(&from, &to, &plan, 250);
            assert_eq!(arrivals.len(), plan.len() * at_once, "nothing is lost");
            let off = 100.0 * (each.as_nanos() as f64 / spacing(&arrivals) - 1.0);
            let mut findings = Findings::default();
            findings.add(format!("{off:+.4} % off"), off.abs() <= 0.5);
            findings
        });
    }
}

/// Between arrivals, ns, by the line through all.
fn spacing(arrivals: &[Arrival]) -> f64 {
    let first = arrivals[0].at;
    let points =
        arrivals.iter().enumerate().map(|(nth, arrival)| (nth as f64, (arrival.at - first) as f64));
    slope(&points.collect::<Vec<_>>())
}

/// Packets back to back leave as far apart as the rate has them, the first of them too: a token
/// bucket would let them pass.
#[test]
fn a_burst_leaves_at_the_rate() {
    let Some(_turn) = turn() else { return };
    const PROBES: usize = 11;
    let cases = [(1, 250), (10, 1_250)];
    let lines = cases.map(|(mbps, _)| line(Bitrate::from_mbps(mbps)));
    let rig = Rig::start(&pairs(&lines), Blind);
    for (pair, (mbps, size)) in cases.into_iter().enumerate() {
        let (from, to) = (rig.sender(2 * pair, 2 * pair + 1), rig.receiver(2 * pair + 1));
        let each = Bitrate::from_mbps(mbps).time_to_send(Bytes::new(size as u64)).unwrap();
        for packets in [5, 20, 50] {
            let every = each * packets as u64 + Duration::from_millis(5);
            let plan: Vec<Burst> = (0..PROBES as u64)
                .map(|nth| Burst { at: every * nth, socket: 0, packets, size })
                .collect();
            attempts(&format!("{packets} at {mbps} Mbit/s"), || {
                let (_, arrivals) =
                    through(&from, &to, &plan, 50 + (each * packets as u64).as_millis());
                assert_eq!(arrivals.len(), PROBES * packets, "nothing is lost");
                let lasts = |probe: &[Arrival]| (probe[packets - 1].at - probe[0].at) as f64;
                let lasts: Vec<f64> = arrivals.chunks(packets).map(lasts).collect();
                let share =
                    100.0 * median(&lasts) / (each.as_nanos() * (packets as u64 - 1)) as f64;
                let mut findings = Findings::default();
                findings.add(format!("{share:.2} % of the time"), (share - 100.0).abs() <= 2.0);
                findings
            });
        }
    }
}
