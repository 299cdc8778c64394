//! The receiver's RTCP crosses the network, or arrives at once (ideal feedback).

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{dumbbell, last, late_rate, run};
use net::{AccessConfig, LossConfig, Schedule};
use sim::{Recording, Scenario};
use units::{Bitrate, Ratio, Seed, Time};

const CONTROLLER: &str = "kilinc-andersson";

/// A call over a bottleneck.
fn bottleneck(ideal_feedback: bool, kbps: u64, seconds: u64) -> Scenario {
    let mut scenario = dumbbell(CONTROLLER, Bitrate::from_kbps(kbps), seconds);
    scenario.calls[0].video.as_mut().unwrap().ideal_feedback = ideal_feedback;
    scenario
}

/// Drops everything that the callee sends.
fn without_reverse_path(mut scenario: Scenario) -> Scenario {
    let AccessConfig::Wired { up, .. } = &mut scenario.network.hosts[1].access else {
        panic!("a wired access")
    };
    up.loss = LossConfig::Bernoulli(Schedule::constant(Ratio::ONE));
    scenario
}

fn levels(recording: &Recording) -> &[f64] {
    recording.stream("main.video").unwrap().column("level").unwrap()
}

/// Counts the RTCP packets of the callee on its own interface.
#[derive(Default)]
struct CalleeRtcp(u64);

impl sim::Tap for CalleeRtcp {
    fn packet(
        &mut self,
        _: Time,
        host: net::HostId,
        packet: &net::Packet,
        content: sim::Content<'_>,
    ) {
        let from_callee =
            packet.flow.src == net::HostId(1) && matches!(content, sim::Content::Rtcp(_));
        self.0 += u64::from(host == net::HostId(1) && from_callee);
    }
}

#[test]
fn with_ideal_feedback_a_call_adapts_without_rtcp_in_the_network() {
    let mut rtcp = CalleeRtcp::default();
    let scenario = bottleneck(true, 600, 120);
    let recording =
        sim::run(&scenario, sim::Options { tap: Some(&mut rtcp), ..Default::default() }).unwrap();
    assert_eq!(rtcp.0, 0);
    let rate = late_rate(&recording, "main.video", "bytesReceived");
    assert!((0.3e6..0.6e6).contains(&rate), "{rate} of 600 kbit/s");
    let levels = levels(&recording);
    assert!(levels.contains(&5.0), "the rate rises to 800 kbit/s, more than the link's");
    assert!(
        levels.windows(2).filter(|pair| pair[1] < pair[0]).count() > 2,
        "and falls again: {levels:?}"
    );
    let rtt = last(&recording, "main.video", "roundTripTime");
    assert!((0.025..0.4).contains(&rtt), "only the delay to the receiver: {rtt}");
}

#[test]
fn without_ideal_feedback_rtcp_crosses_the_network() {
    let mut rtcp = CalleeRtcp::default();
    let scenario = bottleneck(false, 600, 120);
    let recording =
        sim::run(&scenario, sim::Options { tap: Some(&mut rtcp), ..Default::default() }).unwrap();
    assert!(rtcp.0 >= 120, "at least one message per second: {}", rtcp.0);
    assert!(last(&recording, "main.video", "roundTripTime") > 0.05);
}

#[test]
fn a_run_with_ideal_feedback_is_reproducible() {
    let columns = |seed| {
        let scenario = Scenario { seed: Seed(seed), ..bottleneck(true, 600, 20) };
        format!("{:?}", run(&scenario).streams)
    };
    assert_eq!(columns(1), columns(1));
    assert_ne!(columns(1), columns(2));
}

#[test]
fn without_feedback_the_bound_is_halved_until_the_lowest_level() {
    let lost = run(&without_reverse_path(bottleneck(false, 4_000, 30)));
    assert!(levels(&lost).iter().all(|&level| level == 1.0), "no feedback arrives");
    let bounds = lost.stream("main.video").unwrap().column("T_TFRC").unwrap();
    let finite: Vec<f64> = bounds.iter().copied().filter(|bound| bound.is_finite()).collect();
    // The bound is in whole bit/s.
    let halved = |pair: &[f64]| pair[1] == pair[0] || (pair[1] - pair[0] / 2.0).abs() < 1.0;
    assert!(finite.windows(2).all(halved), "{finite:?}");
    assert!(finite.first() == Some(&200e3) && *finite.last().unwrap() < 1e3, "{finite:?}");
    let ideal = run(&without_reverse_path(bottleneck(true, 4_000, 30)));
    assert_eq!(levels(&ideal).last(), Some(&6.0), "ideal feedback does not use the dropped path");
}
