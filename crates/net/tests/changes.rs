//! Changes of a line in use.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{Log, packet, run};
use net::{
    AccessConfig, Change, Direction, HostConfig, HostId, LineConfig, LinkId, LossConfig, Network,
    NetworkConfig, RateConfig, Schedule, Trace,
};
use std::sync::Arc;
use units::{Bitrate, Duration, Ratio, Seed, Time};

const UP: LinkId = LinkId { host: HostId(0), direction: Direction::Up };

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

fn constant(rate: Bitrate) -> RateConfig {
    RateConfig::Scheduled(Schedule::constant(rate))
}

/// Sends `count` packets of 1250 bytes at once on Alice's uplink, which starts with this rate, and
/// applies the changes. Returns the arrival times in ms.
fn arrivals(rate: RateConfig, count: u64, changes: Vec<(u64, Change)>) -> Vec<f64> {
    let up = LineConfig { rate, ..LineConfig::default() };
    let access = |up| AccessConfig::Wired { up, down: LineConfig::default() };
    let hosts = vec![
        HostConfig { name: "alice".into(), access: access(up) },
        HostConfig { name: "bob".into(), access: access(LineConfig::default()) },
    ];
    let mut network =
        Network::new(&NetworkConfig { hosts, ..Default::default() }, Seed(1)).unwrap();
    let mut log = Log::default();
    for id in 0..count {
        network.send(Time::ZERO, packet(id, 1250), &mut log);
    }
    for (at, change) in changes {
        network.change(ms(at), UP, change, &mut log);
        assert!(network.accounting().balances());
    }
    log.delivered.extend(run(&mut network, []).delivered);
    assert!(log.delivered.is_sorted_by_key(|(_, id)| *id), "in order");
    log.delivered.iter().map(|(at, _)| at.as_millis_f64()).collect()
}

#[test]
fn a_new_rate_applies_to_the_rest_of_the_packet_in_transmission() {
    let mbps = Bitrate::from_mbps;
    let changes = vec![(5, Change::Rate(constant(mbps(2))))];
    // A packet takes 10 ms at 1 Mbit/s: at 5 ms half of the first one is left.
    assert_eq!(arrivals(constant(mbps(1)), 3, changes), [7.5, 12.5, 17.5]);
    let stopped =
        vec![(5, Change::Rate(constant(Bitrate::ZERO))), (100, Change::Rate(constant(mbps(1))))];
    assert_eq!(arrivals(constant(mbps(1)), 2, stopped), [105.0, 115.0]);
}

#[test]
fn when_the_limit_is_removed_waiting_packets_leave_at_once_and_first() {
    let changes = vec![(25, Change::Rate(RateConfig::Unlimited))];
    assert_eq!(
        arrivals(constant(Bitrate::from_mbps(1)), 5, changes),
        [10.0, 20.0, 25.0, 25.0, 25.0]
    );
}

#[test]
fn packets_wait_once_an_unlimited_line_gets_a_rate() {
    let up = LineConfig::default();
    let changes = vec![(0, Change::Rate(constant(Bitrate::from_mbps(1))))];
    assert_eq!(arrivals(up.rate, 1, changes.clone()), [0.0], "it had passed before");
    let back = vec![
        (0, Change::Rate(RateConfig::Unlimited)),
        (0, Change::Rate(constant(Bitrate::from_mbps(1)))),
    ];
    assert_eq!(
        arrivals(constant(Bitrate::ZERO), 2, back),
        [0.0, 0.0],
        "both passed while there was no limit"
    );
}

#[test]
fn bits_sent_under_a_trace_count_after_a_change() {
    let trace = Arc::new(Trace::parse("0 1\n100 1\n").unwrap());
    let changes = vec![(5, Change::Rate(constant(Bitrate::from_mbps(2))))];
    assert_eq!(arrivals(RateConfig::Trace(trace), 1, changes), [7.5]);
}

#[test]
fn a_new_delay_and_loss_apply_to_later_packets() {
    let mbps = Bitrate::from_mbps;
    let changes = vec![(15, Change::Delay(Duration::from_millis(40)))];
    assert_eq!(arrivals(constant(mbps(1)), 2, changes), [10.0, 60.0]);
    let all = LossConfig::Bernoulli(Schedule::constant(Ratio::ONE));
    assert_eq!(
        arrivals(constant(mbps(1)), 2, vec![(1, Change::Loss(all))]),
        [10.0, 20.0],
        "they had come"
    );
}
