//! With a dump that Chromium 156 made of a call within one page, its addresses and keys taken out.

use super::*;
use experiment::Experiment;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};
use sim::recording::{StreamKind, StreamRecord};
use std::io::Read;
use store::{Mode, RunMeta};
use units::{Duration, Seed};

const CHROMIUM: &[u8] = include_bytes!("fixtures/chromium-156.json.gz");

fn imported(bytes: &[u8]) -> Imported {
    import(&read(bytes).unwrap(), "A \"call\"").unwrap()
}

fn last(stream: &StreamRecord, column: &str) -> f64 {
    let values = stream.column(column).unwrap_or_else(|| panic!("{column} of {}", stream.name));
    values.iter().rev().copied().find(|value| !value.is_nan()).unwrap()
}

fn note<'a>(imported: &'a Imported, name: &str) -> Option<&'a str> {
    imported.notes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

fn meta(imported: &Imported) -> RunMeta {
    RunMeta {
        experiment: "call".into(),
        cell: Vec::new(),
        seed: Seed(0),
        index: 0,
        mode: Mode::Measured,
        file: imported.experiment.as_str().into(),
        version: "0.1.0".into(),
        notes: imported.notes.clone(),
    }
}

#[test]
fn a_dump_becomes_a_run_with_sent_and_received_streams() {
    let imported = imported(CHROMIUM);
    let recording = &imported.recording;
    assert_eq!(recording.interval, Duration::from_secs(1));
    assert_eq!(recording.duration, Duration::from_secs(8));
    let sent = recording.stream("call1.video").unwrap();
    let bytes: Vec<f64> = sent.column("bytesSent").unwrap().to_vec();
    // Counts from before the first poll are left out of the run, but kept in the object.
    assert_eq!(&bytes[..7], [0.0, 22_296.0, 43_913.0, 65_712.0, 88_253.0, 110_469.0, 132_524.0]);
    // The first round trip was measured before the second poll.
    let round_trips = sent.column("roundTripTime").unwrap();
    assert!(round_trips[0].is_nan() && (round_trips[1] - 0.002_945).abs() < 1e-9);
    assert!(sent.points("roundTripTime").unwrap().len() >= 5);
    let received = recording.stream("call2.video.back").unwrap();
    assert_eq!(last(received, "framesDecoded"), 140.0);
    let outbound = recording.stream("call1.local.outbound-rtp.video").unwrap();
    assert_eq!(outbound.kind, StreamKind::Stats);
    assert!(last(outbound, "qualityLimitationDurations.none") > 7.0);
    assert_eq!(outbound.column("bytesSent").unwrap()[0], 25_281.0);
    assert_eq!(note(&imported, "browser.local"), Some("Chromium 156.0.8078.79"));
    assert_eq!(note(&imported, "date"), Some("2026-11-21T20:18:57Z"));
    assert_eq!(note(&imported, "call1.local.outbound-rtp.video.mimeType"), Some("video/VP8"));
    assert!(!format!("{imported:?}").contains("SECRET"));
}

#[test]
fn the_experiment_of_an_imported_run_is_valid() {
    let imported = imported(CHROMIUM);
    let experiment = Experiment::parse(&imported.experiment, "call").unwrap();
    assert_eq!(experiment.title, "A \"call\"");
    let scenario = experiment.cells()[0].scenario(Seed(1));
    assert_eq!(
        (scenario.duration, scenario.sample_interval),
        (Duration::from_secs(8), Duration::from_secs(1))
    );
    assert!(scenario.stream_names().contains(&"call2.video.back".to_owned()));
}

#[test]
fn a_written_dump_is_read_back_as_the_same_run() {
    let first = imported(CHROMIUM);
    let mut dump = Vec::new();
    write(&meta(&first), &first.recording, &mut dump).unwrap();
    let again = imported(&dump);
    assert_eq!(again.recording.duration, first.recording.duration);
    for stream in &first.recording.streams {
        // Endpoints keep their order; the two connections get new names.
        let same =
            again.recording.stream(&stream.name).unwrap_or_else(|| panic!("{}", stream.name));
        for column in &stream.columns {
            let (was, is) = (&column.values, same.column(column.name).unwrap_or(&[]));
            assert_eq!(format!("{is:?}"), format!("{was:?}"), "{} of {}", column.name, stream.name);
        }
        assert_eq!(same.points, stream.points, "{}", stream.name);
    }
    assert_eq!(again.recording.streams.len(), first.recording.streams.len());
    assert_eq!(again.notes, first.notes);
}

/// The members that a viewer expects in a dump.
#[test]
fn a_written_dump_has_the_members_of_a_dump() {
    let imported = imported(CHROMIUM);
    let mut dump = Vec::new();
    write(&meta(&imported), &imported.recording, &mut dump).unwrap();
    let dump: Value = serde_json::from_slice(&dump).unwrap();
    assert_eq!(dump["UserAgent"], "Chromium 156.0.8078.79");
    let series = &dump["PeerConnections"]["call1.local"]["stats"]["outbound-rtp.video-bytesSent"];
    assert_eq!(series["startTime"], "2026-11-21T20:18:58.919Z");
    assert_eq!(series["endTime"], "2026-11-21T20:19:05.926Z");
    assert_eq!(series["statsType"], "outbound-rtp");
    let values: Vec<u64> = serde_json::from_str(series["values"].as_str().unwrap()).unwrap();
    assert_eq!((values.len(), values[0]), (8, 25_281));
    assert!(dump["PeerConnections"]["call1.local"]["updateLog"].is_array());
}

#[test]
fn a_simulated_run_cannot_be_written_as_a_dump() {
    let mut simulated = imported(CHROMIUM);
    simulated.recording.streams.retain(|stream| stream.kind != StreamKind::Stats);
    let meta = RunMeta { mode: Mode::Simulated, ..meta(&simulated) };
    let error = write(&meta, &simulated.recording, Vec::new()).unwrap_err().to_string();
    assert_eq!(error, "a simulated run has no statistics of a browser; name a measured run");
}

#[test]
fn files_that_are_not_dumps_are_refused_with_a_suggestion() {
    let old = json!({ "PeerConnections": { "1": { "stats": {
        "ssrc_1-bytesSent": { "startTime": "2016-01-01T00:00:00.000Z", "endTime": "2016-01-01T00:00:01.000Z",
                              "statsType": "ssrc", "values": "[1]" },
        "ssrc_1-timestamp": { "startTime": "2016-01-01T00:00:00.000Z", "values": "[1451606400000]" } } } } });
    let bomb = {
        use std::io::Write;
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        (0..257).for_each(|_| packer.write_all(&vec![b' '; 1 << 20]).unwrap());
        packer.finish().unwrap()
    };
    for (bytes, why) in [
        (b"".to_vec(), "not JSON"),
        (b"<html>".to_vec(), "not JSON"),
        (b"[1]".to_vec(), "no 'PeerConnections'"),
        (b"{\"PeerConnections\":{}}".to_vec(), "no statistics of RTP"),
        (b"\x1f\x8bnonsense".to_vec(), "cannot read"),
        (old.to_string().into_bytes(), "'ssrc'"),
        (bomb, "larger than 256 MB"),
    ] {
        let error = read(&bytes[..]).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("; ") && !error.contains('\n'), "{error}");
    }
}

#[test]
fn what_a_cut_dump_holds_is_kept() {
    let dump = read(&CHROMIUM[..5000]).unwrap();
    let cut = dump.cut.as_ref().unwrap();
    assert!(cut.offset > 5000 && cut.why.contains("EOF"), "in bytes of the JSON: {cut:?}");
    assert!(!dump.connections.is_empty());
    assert!(read(CHROMIUM).unwrap().cut.is_none());
}

#[test]
fn a_small_dump_does_not_become_a_large_run() {
    let start = 1_767_225_600_000u64;
    let times = json!([start, start + 100, start + 200, start + 300, start + 900_000]);
    let many: serde_json::Map<String, Value> = (0..8_000)
        .map(|member| {
            (
                format!("I-m{member}"),
                json!({ "startTime": "2026-01-01T00:00:00Z", "values": "[1]" }),
            )
        })
        .collect();
    let mut stats = json!({ "I-timestamp": { "startTime": "2026-01-01T00:00:00Z", "statsType": "inbound-rtp",
                                             "values": times.to_string() } });
    stats.as_object_mut().unwrap().extend(many);
    let dump = json!({ "PeerConnections": { "1": { "stats": stats } } }).to_string();
    let error = import(&read(dump.as_bytes()).unwrap(), "many").unwrap_err().to_string();
    assert!(error.contains("are too many; make a dump of a shorter call"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_dump_with_any_numbers_gives_a_run_or_an_error(changes in vec((any::<Index>(), 0usize..12), 1..40)) {
        let mut text = Vec::new();
        flate2::read::GzDecoder::new(CHROMIUM).read_to_end(&mut text).unwrap();
        let digits: Vec<usize> = (0..text.len()).filter(|place| text[*place].is_ascii_digit()).collect();
        for (place, digit) in changes {
            text[*place.get(&digits)] = b"0123456789e-"[digit];
        }
        if let Ok(imported) = read(&text[..]).and_then(|dump| import(&dump, "x")) {
            let mut again = Vec::new();
            write(&meta(&imported), &imported.recording, &mut again).unwrap();
            prop_assert!(serde_json::from_slice::<Value>(&again).is_ok());
        }
    }
}

/// A dump with one object that has these values.
fn odd(times: &Value, start: &str, values: &str) -> Result<Imported, DumpError> {
    let series = |values: &str| json!({ "startTime": start, "endTime": start, "statsType": "inbound-rtp", "values": values });
    let stats = json!({ "I-timestamp": series(&times.to_string()), "I-bytesReceived": series(values),
                        "I-kind": series("[\"video\",\"video\"]"), "nodash": 1, "I-": {}, "-": null, "I-[x]": 3 });
    let dump =
        json!({ "PeerConnections": { "1": { "stats": stats }, "2": 5, "3": { "stats": {} } } });
    import(&read(dump.to_string().as_bytes())?, "odd")
}

#[test]
fn odd_times_and_values_give_a_run_or_an_error() {
    let start = "2026-01-01T00:00:01.000Z";
    let run = odd(&json!([1_767_225_601_000u64, 1_767_225_602_000u64]), start, "[10,20]").unwrap();
    let bytes =
        run.recording.stream("main.video.back").unwrap().column("bytesReceived").unwrap().to_vec();
    assert_eq!(bytes, [0.0, 10.0]);
    let far = json!([1e12, 1e12 + 1e3, 1e12 + 2e3, 1e12 + 2e7]);
    for times in [json!([-1e300, 1e300]), json!([0, 1e15]), json!([1e12, 1e12 + 7e6]), far] {
        assert!(
            odd(&times, start, "[1,2]")
                .unwrap_err()
                .to_string()
                .contains("the times of its statistics are not usable")
        );
    }
    assert!(odd(&json!([]), start, "[1,2]").is_err());
    assert!(odd(&json!([1e12]), "yesterday", "[1]").is_err());
    assert!(odd(&json!([1e12]), start, "[{},null,\"x\",[1,[2]],1e999]").is_ok());
}
