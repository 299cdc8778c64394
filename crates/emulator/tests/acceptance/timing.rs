//! Delay, rate and packet spacing.

use crate::common::findings::{Findings, attempts};
use crate::common::rig::{NullObserver, Rig, SEED, delayed, line, pairs};
use crate::common::stats::{median, p99, slope};
use crate::common::traffic::{Arrival, Burst, delays, steady, through};
use crate::exclusive;
use net::LineConfig;
use units::{Bitrate, Bytes, Duration};

/// The largest deviation in the median and at the 99th percentile, µs. The lateness of the
/// machine's own timers, measured in the same attempt, is added to the second bound: a virtual
/// machine that loses its processors now and then cannot do better.
pub(crate) const MAX_MEDIAN: f64 = 30.0;
pub(crate) const MAX_P99: f64 = 80.0;

/// The second pair has 25 ms each way, the first pair none.
#[test]
fn the_delay_is_the_configured_one() {
    let Some(_lock) = exclusive() else { return };
    let rig = Rig::start(
        &pairs(&[LineConfig::default(), delayed(Duration::from_millis(25))]),
        NullObserver,
    );
    let hosts = [[0, 1], [2, 3], [3, 2]];
    let ends = hosts.map(|[from, to]| (rig.sender(from, to), rig.receiver(to)));
    attempts("delay", || {
        let [none, there, back] = [0, 1, 2].map(|way: usize| {
            let (from, to) = &ends[way];
            let packets = if way == 1 { 3_000 } else { 1_000 };
            let mut plan = steady(Duration::from_millis(1), packets, 200);
            // Random jitter, so that packets do not enter exactly when others are delivered.
            let mut stream = SEED.stream("delay");
            plan.iter_mut().for_each(|burst| burst.at += Duration::from_micros(stream.below(900)));
            let (sent, arrivals) = through(from, to, &plan, 60);
            assert_eq!(arrivals.len(), packets, "nothing is lost");
            delays(&sent, &arrivals)
        });
        let mut findings = Findings::default();
        let base = median(&none);
        let machine = p99(&none) - base;
        for (way, delays) in [("there", there), ("back", back)] {
            let added: Vec<f64> = delays.iter().map(|delay| delay - base - 25_000.0).collect();
            let off: Vec<f64> = added.iter().map(|added| added.abs()).collect();
            let (half, p99) = (median(&added), p99(&off));
            let line = format!(
                "{way}: off by {half:+.1} µs in the median, {p99:.1} at p99; without a delay {base:.1} in the median and {machine:.1} more at p99"
            );
            findings.add(line, half.abs() <= MAX_MEDIAN && p99 <= MAX_P99 + machine);
        }
        findings
    });
}

const RATES: [u64; 4] = [250, 1_000, 10_000, 100_000];
/// The size of an IP packet, bytes.
const SIZE: usize = 1_250;

/// Sends a tenth more than the rate of the line; the rate of arrivals must be the rate of the line.
#[test]
fn the_rate_is_the_configured_one() {
    let Some(_lock) = exclusive() else { return };
    let lines = RATES.map(|kbps| line(Bitrate::from_kbps(kbps)));
    let rig = Rig::start(&pairs(&lines), NullObserver);
    for (pair, kbps) in RATES.into_iter().enumerate() {
        let (from, to) = (rig.sender(2 * pair, 2 * pair + 1), rig.receiver(2 * pair + 1));
        let each = Bitrate::from_kbps(kbps).time_to_send(Bytes::new(SIZE as u64)).unwrap();
        // Bursts of one millisecond, if that is more than one packet.
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

/// The mean time between arrivals, ns, from a least-squares line.
fn spacing(arrivals: &[Arrival]) -> f64 {
    let first = arrivals[0].at;
    let points =
        arrivals.iter().enumerate().map(|(nth, arrival)| (nth as f64, (arrival.at - first) as f64));
    slope(&points.collect::<Vec<_>>())
}

/// Packets that are sent back to back leave at the spacing of the rate, including the first ones. A
/// token bucket would forward them at once.
#[test]
fn a_burst_leaves_at_the_rate() {
    let Some(_lock) = exclusive() else { return };
    const PROBES: usize = 11;
    let cases = [(1, 250), (10, 1_250)];
    let lines = cases.map(|(mbps, _)| line(Bitrate::from_mbps(mbps)));
    let rig = Rig::start(&pairs(&lines), NullObserver);
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
