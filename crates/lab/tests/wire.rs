//! What the simulation counts is what the wire would carry, and captures can be read.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use pcap_file::pcapng::{Block, PcapNgReader};
use proptest::prelude::*;
use sim::payload::{FecGroup, FramePart, ReportBlock, Rtcp, Rtp, SenderReport, TransportFeedback};
use sim::wire::{rtcp_size, rtp_size};
use std::io::Write;
use std::process::Command;
use store::export::pcapng::Capture;
use store::export::wire::{decode_rtcp, encode_rtcp, encode_rtp};
use units::{Bitrate, Bytes, Duration, Time};

fn time() -> impl Strategy<Value = Time> {
    (0u64..4_000_000_000_000).prop_map(Time::from_nanos)
}

prop_compose! {
    /// What one mask can tell.
    fn group()(first in 0u64..1 << 40, step in 1u64..=48)(
        first in Just(first), step in Just(step), count in 1..=(48 - 1) / step + 1,
    ) -> FecGroup {
        group_of(first, step, count)
    }
}

fn group_of(first: u64, step: u64, count: u64) -> FecGroup {
    FecGroup { first, step, parts: (0..count).map(|_| FramePart::default()).collect() }
}

prop_compose! {
    fn rtp()(
        sequence in any::<u64>(),
        payload in 0u64..1400,
        transport_sequence in proptest::option::of(any::<u64>()),
        retransmission_of in proptest::option::of(any::<u64>()),
        fec in proptest::option::of(group()),
        sent in time(),
        marker in any::<bool>(),
    ) -> Rtp {
        Rtp {
            ssrc: 0x1000,
            payload_type: 100,
            sequence,
            rtp_timestamp: sequence.wrapping_mul(3000),
            marker,
            payload: Bytes::new(payload),
            transport_sequence,
            sent,
            retransmission_of,
            probe: None,
            padding: false,
            fec,
            ecn: net::Ecn::NotEct,
            frame: FramePart::default(),
        }
    }
}

prop_compose! {
    fn block()(
        fraction_lost in any::<u8>(),
        cumulative_lost in -1000i64..100_000,
        highest_sequence in any::<u64>(),
        jitter in 0u64..100_000,
        last_sender_report in proptest::option::of(time()),
        delay in 0u64..10_000_000_000,
    ) -> ReportBlock {
        let delay_since_last = Duration::from_nanos(delay);
        let (ssrc, expected) = (0x1000, 0);
        ReportBlock { ssrc, fraction_lost, cumulative_lost, highest_sequence, jitter, last_sender_report, delay_since_last, expected }
    }
}

fn feedback() -> impl Strategy<Value = TransportFeedback> {
    let gaps = prop::collection::vec(proptest::option::weighted(0.9, 0u64..200_000_000), 0..60);
    let message = (any::<u64>(), any::<u8>(), time(), gaps, any::<bool>());
    message.prop_map(|(base_sequence, count, first, gaps, has_ecn)| {
        let mut at = first;
        let arrivals = gaps.into_iter().map(|gap| {
            at += Duration::from_nanos(gap?);
            Some(at)
        });
        let mut arrivals: Vec<Option<Time>> = arrivals.collect();
        // A feedback packet reports up to the newest packet that came.
        while arrivals.last().is_some_and(Option::is_none) {
            arrivals.pop();
        }
        let ecn = if has_ecn { vec![net::Ecn::Ce; arrivals.len()] } else { Vec::new() };
        TransportFeedback { base_sequence, count, arrivals, ecn, reported: at }
    })
}

prop_compose! {
    fn rtcp()(
        sender_report in proptest::option::of((time(), any::<u64>())),
        report in proptest::option::of(block()),
        reference_time in proptest::option::of(time()),
        dlrr in proptest::option::of((time(), 0u64..5_000_000_000)),
        remb in proptest::option::of(1_000u64..10_000_000_000),
        custom in proptest::option::of((any::<[u8; 4]>(), prop::collection::vec(any::<[u8; 4]>(), 0..=8))),
        mut nack in prop::collection::vec(0u64..10_000, 0..60),
        pli in any::<bool>(),
        bye in any::<bool>(),
        transport in feedback(),
    ) -> Rtcp {
        nack.sort_unstable();
        nack.dedup();
        let sender_report = sender_report.map(|(sent, packets)| {
            SenderReport { sent, rtp_timestamp: packets, packets, bytes: Bytes::new(packets) }
        });
        let dlrr = dlrr.map(|(at, delay)| (at, Duration::from_nanos(delay)));
        let remb = remb.map(Bitrate::from_bps);
        let custom = custom.map(|(name, words)| {
            cc::CustomFeedback::from_slice(name, &words.concat()).unwrap()
        });
        Rtcp { ssrc: 0x1003, sender_report, report, reference_time, dlrr, remb, custom, media_ssrc: 0x1000, nack, pli, transport, bye }
    }
}

proptest! {
    #[test]
    fn rtp_sizes_are_those_of_the_wire(packet in rtp()) {
        prop_assert_eq!(encode_rtp(&packet).unwrap().len() as u64, rtp_size(&packet).get());
    }

    #[test]
    fn rtcp_sizes_are_those_of_the_wire_and_it_reads_back(packet in rtcp()) {
        let bytes = encode_rtcp(&packet).unwrap();
        prop_assert_eq!(bytes.len() as u64, rtcp_size(&packet).get());
        if !bytes.is_empty() {
            let again = decode_rtcp(&bytes).unwrap();
            prop_assert_eq!(rtc_rtcp::packet::marshal(&again).unwrap(), bytes);
        }
    }
}

/// Short calls and an upload with loss, so that every kind of RTCP and of TCP segment is in it.
const CALL: &str = r#"
title = "A call for a capture"
duration = "8s"
[host.alice]
up = { rate = "1Mbit/s", delay = "25ms", loss = "3%", queue = "droptail limit 300ms" }
[host.bob]
up = { delay = "25ms" }
[call.remb]
from = "alice"
to = "bob"
controller = "gcc:jansen-2016"
fec = "hybrid"
[call.transport]
from = "alice"
to = "bob"
controller = "gcc:draft-02"
settings = { side = "sender" }
[call.state]
from = "alice"
to = "bob"
controller = "kilinc-andersson"
[tcp.upload]
from = "alice"
to = "bob"
bytes = "100kB"
ecn = true
"#;

fn capture(text: &str) -> Vec<u8> {
    let experiment = experiment::Experiment::parse(text, "capture.toml").unwrap();
    let scenario = experiment.cells()[0].scenario(units::Seed(1));
    let names: Vec<String> = scenario.network.hosts.iter().map(|host| host.name.clone()).collect();
    let mut capture = Capture::new(Vec::new(), &names).unwrap();
    sim::run(&scenario, sim::Options { tap: Some(&mut capture), ..Default::default() }).unwrap();
    capture.finish().unwrap()
}

#[test]
fn a_parity_packet_says_whom_it_protects() {
    let header = |step, count| {
        let group = group_of(0x1_0203, step, count);
        let packet = Rtp {
            ssrc: 0x1004,
            payload_type: 117,
            sequence: 0,
            rtp_timestamp: 0,
            marker: false,
            payload: Bytes::new(0x456),
            transport_sequence: None,
            sent: Time::ZERO,
            retransmission_of: None,
            probe: None,
            padding: false,
            fec: Some(group),
            ecn: net::Ecn::NotEct,
            frame: FramePart::default(),
        };
        encode_rtp(&packet).unwrap()[12..].to_vec()
    };
    let short = header(5, 4);
    assert_eq!(short[..14], [0, 0, 2, 3, 0, 0, 0, 0, 0, 0, 4, 0x56, 0b1000_0100, 0b0010_0001]);
    let long = header(16, 3);
    assert_eq!(long[..14], [0x40, 0, 2, 3, 0, 0, 0, 0, 0, 0, 4, 0x56, 0x80, 0]);
    assert_eq!(long[14..18], [0x80, 0, 0x80, 0]);
    assert_eq!((short.len(), long.len()), (14 + 0x456, 18 + 0x456));
}

#[test]
fn a_capture_holds_every_packet_at_both_ends() {
    let bytes = capture(CALL);
    let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
    let mut packets = [0, 0];
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.unwrap() {
            packets[packet.interface_id as usize] += 1;
        }
    }
    assert!(packets[0] > 400, "{packets:?}");
    assert!(
        packets[1] > packets[0] * 9 / 10 && packets[1] <= packets[0],
        "3 % are lost on the way: {packets:?}"
    );
}

#[test]
fn a_relayed_call_is_in_channel_data_between_the_caller_and_its_relay() {
    let text = CALL
        .replace("[call.remb]", "[host.turn]\n[call.remb]")
        .replace("to = \"bob\"\ncontroller", "to = \"bob\"\nrelay = \"turn\"\ncontroller");
    let bytes = capture(&text);
    let mut reader = PcapNgReader::new(&bytes[..]).unwrap();
    let mut framed = [0, 0, 0];
    while let Some(block) = reader.next_block() {
        let Block::EnhancedPacket(packet) = block.unwrap() else { continue };
        // IPv4 without options, then UDP; TCP goes directly.
        let (data, is_udp) = (&packet.data[28..], packet.data[9] == 17);
        // The first bits of RTP and RTCP are 10, of ChannelData 01 (RFC 7983 § 7).
        if is_udp && data[0] >> 6 == 1 {
            assert_eq!(data[..2], [0x40, 0]);
            assert_eq!(usize::from(u16::from_be_bytes([data[2], data[3]])), data.len() - 4);
            framed[packet.interface_id as usize] += 1;
        } else if is_udp {
            assert_ne!(
                packet.interface_id, 0,
                "the caller has a channel for all that it sends and gets"
            );
        }
    }
    assert!(framed[0] > 400 && framed[1] == 0 && framed[2] > 400, "{framed:?}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "printed past the capture of the test runner")]
fn tshark_dissects_a_capture_without_complaint() {
    if Command::new("tshark").arg("--version").output().is_err() {
        // Not by println, which the test runner keeps to itself.
        std::io::stderr()
            .write_all(b"skipped: tshark is not installed; scripts/deps installs it\n")
            .unwrap();
        return;
    }
    let path = std::env::temp_dir().join(format!("weir-capture-{}.pcapng", std::process::id()));
    std::fs::write(&path, capture(CALL)).unwrap();
    let fields = |filter: &str| {
        let mut tshark = Command::new("tshark");
        tshark.arg("-r").arg(&path).args([
            "-o",
            "tcp.check_checksum:TRUE",
            "--enable-heuristic",
            "rtp_udp",
            "--enable-heuristic",
            "rtcp_udp",
        ]);
        let output =
            tshark.args(["-Y", filter, "-T", "fields", "-e", "frame.number"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().count()
    };
    let kinds = [
        "rtp",
        "rtcp.pt == 200",
        "rtcp.pt == 201",
        "rtcp.app.name == \"BWST\"",
        "rtcp.pt == 205",
        "rtcp.pt == 206",
        "rtcp.pt == 207",
    ];
    let counts = kinds.map(fields);
    let malformed = fields("_ws.malformed");
    let tcp = [
        "tcp.flags.syn == 1",
        "tcp.flags.fin == 1",
        "tcp.options.sack.count > 0",
        "tcp.analysis.retransmission",
    ];
    let tcp = tcp.map(fields);
    let wrong = fields(
        "tcp.checksum.status == 0 || tcp.analysis.ack_lost_segment || tcp.analysis.window_full",
    );
    std::fs::remove_file(&path).unwrap();
    assert!(counts.iter().all(|&count| count > 0), "{kinds:?}: {counts:?}");
    assert_eq!(malformed, 0);
    // SYN and SYN-ACK at both ends.
    assert!(tcp[0] >= 4 && tcp.iter().all(|&count| count > 0), "{tcp:?}");
    assert_eq!(wrong, 0);
}
