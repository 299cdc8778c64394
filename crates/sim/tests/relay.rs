//! A call whose media passes a relay.

mod common;

use common::{dumbbell, late_rate, run, with_loss};
use proptest::prelude::*;
use sim::Recording;
use units::{Bitrate, Time};

/// The packets at the interfaces of a relayed call's hosts.
#[derive(Default)]
struct Passed(Vec<(net::HostId, net::Packet)>);

impl sim::Tap for Passed {
    fn packet(&mut self, _: Time, host: net::HostId, packet: &net::Packet, _: sim::Content<'_>) {
        self.0.push((host, *packet));
    }
}

#[test]
fn a_relayed_call_passes_its_relay_and_keeps_its_dscp() {
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
        sim::run(&scenario, sim::Options { tap: Some(&mut passed), ..Default::default() }).unwrap();
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
            "{:?} bypasses the relay",
            packet.flow
        );
        assert!([packet.flow.src, packet.flow.dst].contains(host));
    }
    // Packet numbers are reused, so only the first packet is compared.
    let first = passed.0[0].1.id;
    assert_eq!(size(first, alice, turn).unwrap().get(), size(first, turn, bob).unwrap().get() + 4);
    // The relay's uplink has 25 ms, which makes the round-trip time 50 ms longer. It hardly affects
    // the rates.
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

    /// For every link and call, a relay forwards every packet that reaches it and nothing else. It
    /// forwards at once and with the same marks; packets from the relay to the caller are 4 bytes
    /// longer, and those from the caller lose 4 bytes.
    #[test]
    fn a_relay_forwards_every_packet_that_reaches_it(
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
        sim::run(&scenario, sim::Options { tap: Some(&mut passed), ..Default::default() }).unwrap();
        let at_relay: Vec<_> = passed.0.iter().filter(|(host, _)| *host == turn).map(|(_, packet)| packet).collect();
        prop_assert!(at_relay.len() > 20 && at_relay.len() % 2 == 0);
        for pair in at_relay.chunks(2) {
            let [received, sent] = [pair[0], pair[1]];
            prop_assert_eq!((received.flow.dst, sent.flow.src, received.id), (turn, turn, sent.id));
            prop_assert_eq!((received.dscp, received.ecn), (sent.dscp, sent.ecn));
            let (to_peer, from_peer) = (received.flow.src == alice, sent.flow.dst == alice);
            prop_assert!(to_peer != from_peer);
            let difference = received.size.get() as i64 - sent.size.get() as i64;
            prop_assert_eq!(difference, if to_peer { 4 } else { -4 });
        }
    }
}
