//! TCP over simple networks: throughput, fairness, theory.

mod common;

use common::{last, line};
use net::{AccessConfig, HostConfig, HostId, LineConfig, LossConfig, NetworkConfig, Schedule};
use sim::tcp::{MAX_SEGMENT, Stack, TcpConfig, TcpCongestionControl, TcpSource};
use sim::{Recording, Scenario};
use units::{Bitrate, Bytes, Duration, Ratio, Seed, Time};

const CONTROLS: [TcpCongestionControl; 3] =
    [TcpCongestionControl::NewReno, TcpCongestionControl::Cubic, TcpCongestionControl::Bbr];

fn flow(name: &str, congestion_control: TcpCongestionControl) -> TcpConfig {
    TcpConfig {
        name: name.to_owned(),
        from: HostId(0),
        to: HostId(1),
        start: Time::ZERO,
        stop: Time::MAX,
        source: TcpSource::Endless,
        congestion_control,
        receive_window: Bytes::new(3 << 20),
        ecn: false,
        dscp: net::Dscp::DEFAULT,
    }
}

fn network(rate: Option<Bitrate>, rtt: Duration, queue: &str) -> NetworkConfig {
    let host = |name: &str, up| HostConfig {
        name: name.to_owned(),
        access: AccessConfig::Wired { up, down: LineConfig::default() },
    };
    NetworkConfig {
        hosts: vec![host("alice", line(rate, rtt / 2, queue)), host("bob", line(None, rtt / 2, queue))],
        core_delay: Schedule::constant(Duration::ZERO),
    }
}

fn scenario(network: NetworkConfig, seconds: u64, tcp: Vec<TcpConfig>) -> Scenario {
    Scenario {
        duration: Duration::from_secs(seconds),
        sample_interval: Duration::from_millis(500),
        seed: Seed(1),
        network,
        stacks: Vec::new(),
        calls: Vec::new(),
        tcp,
    }
}

/// Packets on the wire a second, after ten seconds, from a flow's bytes received; bit/s.
fn goodput(recording: &Recording, stream: &str, from: u64) -> f64 {
    let values = recording.stream(stream).unwrap().column("bytesReceived").unwrap();
    let start = 2 * from as usize - 1;
    let seconds = (values.len() - 1 - start) as f64 / 2.0;
    (values.last().unwrap() - values[start]) * 8.0 / seconds
}

#[test]
fn a_lone_flow_fills_its_bottleneck() {
    for control in CONTROLS {
        for mbps in [1, 2, 10] {
            for rtt in [50, 100] {
                let rate = Bitrate::from_mbps(mbps);
                let network = network(Some(rate), Duration::from_millis(rtt), "droptail limit 300ms");
                let recording = common::run(&scenario(network, 60, vec![flow("up", control)]));
                let wire = goodput(&recording, "up.tcp", 10) * 1500.0 / MAX_SEGMENT.get() as f64;
                let share = wire / rate.as_bps_f64();
                let show = |c| last(&recording, "up.tcp", c);
                eprintln!("{control} {mbps} Mbit/s {rtt} ms: {share:.3} rtx {} to {} rec {} cwnd {} undone {}", show("retransmittedPacketsSent"), show("timeouts"), show("recoveries"), show("congestionWindow")/1448.0, show("spuriousReductions"));
                assert!(share >= 0.94 && share <= 1.001, "{control} at {mbps} Mbit/s and {rtt} ms: {share}");
            }
        }
    }
}
