use super::*;
use sim::recording::StreamRecord;

const LOG: &[u8] = include_bytes!("../event_log/fixtures/beside-tcp.rtclog");
const DUMP: &[u8] = include_bytes!("../measure/internals/fixtures/chromium-156.json.gz");
const RTCSTATS: &[u8] = include_bytes!("../../../../fuzz/seeds/rtcstats/version-3.jsonl");
const OLD_RTCSTATS: &[u8] = include_bytes!("../../../../fuzz/seeds/rtcstats/without-header.jsonl");
const CAPTURE: &[u8] = include_bytes!("../../../../fuzz/seeds/capture/vlan.pcap");

fn run(bytes: &[u8]) -> Imported {
    join(&[open(bytes).unwrap()], "test").unwrap().imported
}

fn last(stream: &StreamRecord, column: &str) -> f64 {
    *stream.column(column).unwrap().last().unwrap()
}

#[test]
fn the_kind_is_recognised_by_the_content() {
    for (bytes, kind) in [
        (LOG, Kind::EventLog),
        (DUMP, Kind::Internals),
        (RTCSTATS, Kind::Rtcstats),
        (OLD_RTCSTATS, Kind::Rtcstats),
        (CAPTURE, Kind::Capture),
    ] {
        assert_eq!(open(bytes).unwrap().kind, kind);
        run(bytes);
    }
    assert!(matches!(open(&b"GIF89a"[..]), Err(ImportError::Unknown)));
    assert!(matches!(open(&b""[..]), Err(ImportError::Unknown)));
}

#[test]
fn an_event_log_has_both_directions_and_what_the_feedback_says() {
    let imported = run(LOG);
    let video = imported.recording.stream("main.video").unwrap();
    let [sent, received, lost] =
        ["packetsSent", "packetsReceived", "packetsLost"].map(|column| last(video, column));
    // All but the packets that are in flight at the end were reported.
    assert!((0.0..100.0).contains(&(sent - received - lost)), "{sent} {received} {lost}");
    let delays = video.column("queueDelay").unwrap();
    // Times without a value are NaN.
    assert!(delays.iter().any(|delay| *delay > 0.2) && !delays.iter().any(|delay| *delay < 0.0));
    assert!(video.points("roundTripTime").unwrap().len() > 10);
}

#[test]
fn a_dump_of_rtcstats_is_restored_from_its_changes() {
    let imported = run(RTCSTATS);
    let video = imported.recording.stream("main.video").unwrap();
    // Since the first report.
    assert_eq!(last(video, "bytesSent"), 90_000.0);
    assert_eq!(video.column("targetBitrate").unwrap(), [300_000.0; 3]);
    let trips: Vec<f64> =
        video.points("roundTripTime").unwrap().iter().map(|(_, value)| *value).collect();
    assert_eq!(trips, [0.05, 0.07]);
    assert_eq!(
        last(run(OLD_RTCSTATS).recording.stream("main.video").unwrap(), "packetsSent"),
        60.0
    );
    let cut = open(&RTCSTATS[..RTCSTATS.len() - 20]).unwrap();
    let line = RTCSTATS[..RTCSTATS.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    assert!(cut.damage().unwrap().starts_with(&format!("byte {line}: ")), "{:?}", cut.damage());
}

#[test]
fn a_cut_dump_of_internals_keeps_what_is_complete() {
    let mut text = String::new();
    GzDecoder::new(DUMP).read_to_string(&mut text).unwrap();
    let cut = open(&text.as_bytes()[..text.len() * 9 / 10]).unwrap();
    assert!(cut.damage().unwrap().starts_with("byte "), "{:?}", cut.damage());
    assert!(!join(&[cut], "cut").unwrap().imported.recording.streams.is_empty());
    // The same of a compressed file that is cut.
    let cut = open(&DUMP[..DUMP.len() * 9 / 10]).unwrap();
    assert!(cut.damage().is_some());
}

#[test]
fn both_endpoints_of_a_call_are_joined_and_others_are_refused() {
    let both = || [open(CAPTURE).unwrap(), open(LOG).unwrap()];
    assert!(matches!(join(&both(), "x"), Err(ImportError::NotOneCall)));
    let kinds = [open(DUMP).unwrap(), open(LOG).unwrap()];
    assert!(matches!(join(&kinds, "x"), Err(ImportError::Kinds(..))));
}
