use super::columns::BEGIN;
use super::*;
use units::{Bitrate, Time};

/// A call of twelve seconds between two connections of one page, by Chromium 156.
const LOOPBACK: &[u8] = include_bytes!("fixtures/loopback.rtclog");

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A field with a length.
fn field(number: u32, content: &[u8]) -> Vec<u8> {
    [varint(u64::from(number) << 3 | 2), varint(content.len() as u64), content.to_vec()].concat()
}

/// A field with a number.
fn number(number: u32, value: u64) -> Vec<u8> {
    [varint(u64::from(number) << 3), varint(value)].concat()
}

/// The begin of a log at 1 s.
fn begin() -> Vec<u8> {
    field(BEGIN, &[number(1, 1_000), number(2, 2), number(3, 1_700_000_000_000)].concat())
}

/// Three updates of the delay-based estimate: at 1.5 s and at once after it.
fn updates(further: u64) -> Vec<u8> {
    let batch = [number(1, 1_500), number(2, 300_000), number(3, 1), number(4, further)].concat();
    field(19, &batch)
}

#[test]
fn a_real_log_is_read() {
    let log = read(LOOPBACK).unwrap();
    assert_eq!((log.format, log.bytes), (Format::Columns, LOOPBACK.len() as u64));
    assert!(log.error.is_none() && log.damaged == 0, "{:?}", log.error);
    assert!(log.sent.len() > 1_000 && log.received.is_empty());
    assert!(log.sent.is_sorted_by_key(|packet| packet.at));
    assert!(log.sent.iter().all(|packet| packet.transport_sequence.is_some()));
    assert_eq!(log.delay_based.len(), 6);
    assert!(log.delay_based.iter().all(|update| update.state == DetectorState::Normal));
    assert_eq!(log.probes.len(), 5);
    assert_eq!(log.routes.len(), 1);
    let kinds = |kind| log.streams.iter().filter(|stream| stream.kind == kind).count();
    assert!(kinds(StreamKind::Video) >= 1 && kinds(StreamKind::Audio) >= 1);
    // Candidate pairs and the states of DTLS.
    assert!(log.skipped.contains_key(&26) && log.skipped.contains_key(&27), "{:?}", log.skipped);
}

#[test]
fn every_prefix_of_a_log_keeps_what_is_readable() {
    let whole = read(LOOPBACK).unwrap().events();
    let mut before = 0;
    for length in (100..LOOPBACK.len()).step_by(97) {
        let log = read(&LOOPBACK[..length]).unwrap();
        assert!(log.events() >= before && log.events() <= whole);
        assert!(log.bytes <= length as u64);
        before = log.events();
    }
    assert!(before > whole / 2);
}

#[test]
fn a_cut_message_is_reported_with_its_offset() {
    let mut bytes = begin();
    let offset = bytes.len() as u64;
    bytes.extend(&updates(0)[..8]);
    let log = read(&bytes[..]).unwrap();
    let error = log.error.unwrap();
    assert!(
        matches!(error, EventLogError::Cut { offset: at, field: 19, .. } if at == offset),
        "{error}"
    );
    assert!(error.to_string().starts_with(&format!("byte {offset}: ")));
}

#[test]
fn a_damaged_message_is_skipped_and_the_rest_is_read() {
    let damaged = field(19, &[number(1, 1_500), number(2, 1), number(3, 7)].concat());
    let unknown = field(999, b"abc");
    let log = read(&[begin(), damaged, unknown, updates(2)].concat()[..]).unwrap();
    assert_eq!((log.damaged, log.delay_based.len(), log.skipped[&999]), (1, 3, 1));
    assert_eq!(log.delay_based[0].at, Time::from_millis(500));
    assert_eq!(log.delay_based[2].rate, Bitrate::from_kbps(300));
    assert_eq!(log.begin_unix_millis, Some(1_700_000_000_000));
    let error = log.error.unwrap().to_string();
    assert!(error.contains("detector_state") && error.contains('7'), "{error}");
}

#[test]
fn lengths_and_counts_that_nothing_backs_take_no_memory() {
    // A message of 10⁹ bytes, and one of 2⁶² bytes.
    for length in [1_000_000_000, 1 << 62] {
        let bytes = [begin(), varint(19 << 3 | 2), varint(length), vec![0; 9]].concat();
        let error = read(&bytes[..]).unwrap().error.unwrap();
        assert!(matches!(error, EventLogError::TooLong { field: 19, .. }), "{error}");
    }
    // 10⁹ further events that all equal the first.
    let log = read(&[begin(), updates(1_000_000_000)].concat()[..]).unwrap();
    assert_eq!((log.damaged, log.delay_based.len()), (1, 0));
    let error = log.error.unwrap().to_string();
    assert!(error.contains("at most 10000 are allowed"), "{error}");
}

#[test]
fn other_files_are_refused() {
    for bytes in [&b"{\"PeerConnections\": {}}"[..], b"\x1f\x8b\x08", b"\xff\xff\xff", b"\x00"] {
        let error = read(bytes).unwrap_err();
        assert!(matches!(error, EventLogError::NotALog), "{error}");
    }
    assert_eq!(read(&b""[..]).unwrap().events(), 0);
}

#[test]
fn the_legacy_form_has_one_message_per_event() {
    let extension = [field(1, TRANSPORT.as_bytes()), number(2, 5)].concat();
    let config = field(9, &[number(1, 7), field(2, &extension)].concat());
    // A header with one extension of two bytes, number 5: transport-wide sequence number 0x0102.
    let header = [0x90, 0xe0, 0x12, 0x34, 0, 0, 0, 9, 0, 0, 0, 7, 0xbe, 0xde, 0, 1, 0x51, 1, 2, 0];
    let rtp = [number(1, 0), number(3, 120), field(4, &header), number(5, 3)].concat();
    let event =
        |at, kind, content: Vec<u8>| field(1, &[number(1, at), number(2, kind), content].concat());
    let rate = [number(1, 500_000), number(2, 2)].concat();
    let bytes = [
        event(1_000_000, 1, Vec::new()),
        event(1_000_000, 9, config),
        event(1_250_500, 3, field(3, &rtp)),
        event(1_300_000, 7, field(7, &rate)),
        event(1_400_000, 5, field(5, &[])),
        event(1_500_000, 2, Vec::new()),
    ];
    let log = read(&bytes.concat()[..]).unwrap();
    assert!(log.error.is_none(), "{:?}", log.error);
    assert_eq!((log.format, log.end), (Format::Legacy, Some(Time::from_millis(500))));
    let [packet] = log.sent[..] else { panic!("{:?}", log.sent) };
    assert_eq!(packet.at, Time::from_micros(250_500));
    assert_eq!((packet.ssrc, packet.sequence, packet.payload_type), (7, 0x1234, 0x60));
    assert_eq!(
        (packet.transport_sequence, packet.probe, packet.marker),
        (Some(0x0102), Some(3), true)
    );
    assert_eq!((packet.size.get(), packet.payload.get()), (120, 100));
    assert_eq!(log.delay_based[0].state, DetectorState::Overusing);
    assert_eq!(log.skipped[&1], 1, "audio playout is not used");
}

const TRANSPORT: &str = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
