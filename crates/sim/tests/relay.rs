//! A call whose media passes a relay.

mod common;

use common::{dumbbell, late_rate, run, with_loss};
use proptest::prelude::*;
use sim::Recording;
use units::{Bitrate, Time};

/// What passes the interfaces of a relayed call's hosts.
#[derive(Default)]
struct Passed(Vec<(net::HostId, net::Packet)>);

impl sim::Tap for Passed {
    fn packet(&mut self, _: Time, host: net::HostId, packet: &net::Packet, _: sim::Content<'_>) {
        self.0.push((host, *packet));
    }
}

#[test]
fn a_relayed_call_passes_its_relay_and_keeps_its_marks() {
    let (alice, bob, turn) = (net::HostId(0), net::HostId(1), net::HostId(2));
    let mut scenario = dumbbell("gcc:libwebrtc", Bitrate::from_mbps(1), 20);
    let mut relay = scenario.network.hosts[1].clone();
    relay.name = "turn".into();
    scenario.network.hosts.push(relay);
    let direct = run(&scenario);
    scenario.calls[0].two_way = true;
    scenario.calls[0].relay = Some(turn);
    scenario.calls[0].dscp = sim::Marks { audio: net::Dscp::EF, video: net::Dscp::AF41 };
    let mut passed = Passed::default();
    let relayed =
        sim::run(&scenario, sim::Options { tap: Some(&mut passed), cancel: None }).unwrap();
    let size = |id, from, to| {
        let on = |flow: net::Flow| (flow.src, flow.dst) == (from, to);
        passed
            .0
            .iter()
            .find(|(_, packet)| packet.id == id && on(packet.flow))
            .map(|(_, packet)| packet.size)
    };
    for (host, packet) in &passed.0 {
        assert_eq!(packet.dscp, net::Dscp::AF41);
        assert!(
            [packet.flow.src, packet.flow.dst].contains(&turn),
            "{:?} is between the ends",
            packet.flow
        );
        assert!([packet.flow.src, packet.flow.dst].contains(host));
    }
    // A packet's number is used again, so only the first of all is compared.
    let first = passed.0[0].1.id;
    assert_eq!(size(first, alice, turn).unwrap().get(), size(first, turn, bob).unwrap().get() + 4);
    // The relay's own way up is 25 ms: a round trip longer by as much each way. The rates hardly
    // know.
    let rtt = |recording: &Recording| {
        let points = &recording.stream("main.video").unwrap().points;
        let rtts = &points.iter().find(|points| points.name == "roundTripTime").unwrap().values;
        rtts.iter().map(|(_, rtt)| *rtt).fold(f64::INFINITY, f64::min)
    };
    let more = rtt(&relayed) - rtt(&direct);
    assert!((0.049..0.056).contains(&more), "{more}");
    let (plain, through) = (
        late_rate(&direct, "main.video", "bytesReceived"),
        late_rate(&relayed, "main.video", "bytesReceived"),
    );
    assert!((through / plain - 1.0).abs() < 0.25, "{through} through the relay, {plain} directly");
    assert!(late_rate(&relayed, "main.video.back", "bytesReceived") > 100e3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the line and the call are like, a relay sends on all that reaches it and nothing
    /// else, at once, with the same marks, 4 bytes longer to the caller and 4 shorter from it.
    #[test]
    fn a_relay_sends_on_all_that_reaches_it(
        kbps in 50u64..5_000,
        loss in 0u32..30,
        two_way in any::<bool>(),
        seed in any::<u64>(),
        profile in prop::sample::select(vec!["gcc:libwebrtc", "gcc:carlucci-2017", "fixed:300kbit/s"]),
    ) {
        let (alice, turn) = (net::HostId(0), net::HostId(2));
        let mut scenario = with_loss(dumbbell(profile, Bitrate::from_kbps(kbps), 4), loss);
        let mut relay = scenario.network.hosts[1].clone();
        relay.name = "turn".into();
        scenario.network.hosts.push(relay);
        scenario.seed = units::Seed(seed);
        scenario.calls[0].two_way = two_way;
        scenario.calls[0].relay = Some(turn);
        let mut passed = Passed::default();
        sim::run(&scenario, sim::Options { tap: Some(&mut passed), cancel: None }).unwrap();
        let at_relay: Vec<_> = passed.0.iter().filter(|(host, _)| *host == turn).map(|(_, packet)| packet).collect();
        prop_assert!(at_relay.len() > 20 && at_relay.len() % 2 == 0);
        for pair in at_relay.chunks(2) {
            let [came, went] = [pair[0], pair[1]];
            prop_assert_eq!((came.flow.dst, went.flow.src, came.id), (turn, turn, went.id));
            prop_assert_eq!((came.dscp, came.ecn), (went.dscp, went.ecn));
            let (to_peer, from_peer) = (came.flow.src == alice, went.flow.dst == alice);
            prop_assert!(to_peer != from_peer);
            let difference = came.size.get() as i64 - went.size.get() as i64;
            prop_assert_eq!(difference, if to_peer { 4 } else { -4 });
        }
    }
}
