//! Many hosts, and a loop that cannot keep up.

use crate::common::findings::{Findings, attempts};
use crate::common::rig::{NullObserver, Rig, line, pairs};
use crate::common::traffic::{Burst, Receiver, send, steady};
use crate::exclusive;
use emulator::Observer;
use net::{LineConfig, Network, Schedule};
use std::thread::sleep;
use units::{Bitrate, Duration, Time};

const PAIRS: usize = 32;
/// The time between two packets of one pair: 200 Mbit/s in total.
const EVERY: Duration = Duration::from_micros(1_600);
const SIZE: usize = 1_250;

/// Each pair sends 6.25 Mbit/s over a line of 10 Mbit/s.
#[test]
fn sixty_four_hosts_at_200_mbit_per_second() {
    let Some(_lock) = exclusive() else { return };
    let delay = Schedule::constant(Duration::from_millis(10));
    let lines = vec![LineConfig { delay, ..line(Bitrate::from_mbps(10)) }; PAIRS];
    attempts("64 hosts", || {
        let rig = Rig::start(&pairs(&lines), NullObserver);
        let senders: Vec<_> = (0..PAIRS).map(|pair| rig.sender(2 * pair, 2 * pair + 1)).collect();
        let receiver = Receiver::start((0..PAIRS).map(|pair| rig.receiver(2 * pair + 1)).collect());
        let plan = spread(&steady(EVERY, 1_250, SIZE));
        send(&senders, &plan);
        crate::common::rig::settle(100);
        let received = receiver.finish().len();
        let (report, _) = rig.finish();
        let lost: u64 = report.lost_before_entry.iter().sum();
        assert_eq!((received, lost), (plan.len(), 0), "nothing is lost");
        assert_eq!((report.entered, report.delivered), (received as u64, received as u64));
        let late = &report.lateness;
        assert_eq!(late.count(), received as u64, "every packet has a deadline");
        assert!(
            late.max() <= Duration::from_millis(1) || late.missed() > 0,
            "missed deadlines are counted"
        );
        let [half, p99] = [0.5, 0.99].map(|share| late.quantile(share));
        let mut findings = Findings::default();
        let line = format!(
            "late by {half} in the median, {p99} at p99, {} at most; {} missed",
            late.max(),
            late.missed()
        );
        findings.add(line, report.kept_up());
        findings
    });
}

/// The same plan for every socket. Eight sockets send at the same time, so each interval has four
/// such groups.
fn spread(plan: &[Burst]) -> Vec<Burst> {
    let part = |socket: usize| Duration::from_nanos(EVERY.as_nanos() / 4 * (socket as u64 / 8));
    let all = plan.iter().flat_map(|burst| {
        (0..PAIRS).map(move |socket| Burst { at: burst.at + part(socket), socket, ..*burst })
    });
    all.collect()
}

/// Stalls the loop for 20 ms at each sample.
struct Stalls;

impl Observer for Stalls {
    fn sample(&mut self, _: Time, _: &Network) {
        sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn missed_deadlines_are_counted() {
    let Some(_lock) = exclusive() else { return };
    let delay = Schedule::constant(Duration::from_millis(10));
    let rig = Rig::start(&pairs(&[LineConfig { delay, ..LineConfig::default() }]), Stalls);
    let (from, to) = (rig.sender(0, 1), rig.receiver(1));
    let receiver = Receiver::start(vec![to]);
    send(&[from], &steady(Duration::from_millis(1), 1_000, 200));
    crate::common::rig::settle(100);
    assert_eq!(receiver.finish().len(), 1_000, "late packets are not lost");
    let (report, _) = rig.finish();
    // The loop is stalled for a fifth of the time; the packets that are due then are late.
    let (missed, late) = (report.lateness.missed(), report.lateness.quantile(0.99));
    assert!((50..800).contains(&missed), "{missed} of 1000 missed");
    assert!(late >= Duration::from_millis(5) && !report.kept_up(), "{late} late at p99");
}
