//! Tests with reports of real browsers, from a call between two tabs of one browser, and with
//! synthetic reports.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

const CHROMIUM: &str = include_str!("fixtures/chromium-156.json");
const FIREFOX: &str = include_str!("fixtures/firefox-153.json");
/// Milliseconds since 1970.
const START: f64 = 1.7e12;

fn call(two_way: bool) -> CallInfo {
    CallInfo {
        name: "main".into(),
        hosts: ["alice".into(), "bob".into()],
        active: (Time::ZERO, Time::from_secs(60)),
        two_way,
        video: true,
        audio: true,
        silent: [false; 2],
    }
}

/// The records of the reports in a file, of a run that began half a second before the first report.
fn recorded(fixture: &str) -> Collected {
    let reports: Vec<Value> = serde_json::from_str(fixture).unwrap();
    let start = reports[0]["at"].as_f64().unwrap() - 500.0;
    let mut collector =
        Collector::new(call(false), start, Duration::from_millis(500), Duration::from_secs(10));
    for report in reports {
        let end = if report["end"] == "caller" { CallRole::Caller } else { CallRole::Callee };
        let stats = report["stats"].as_object().unwrap().clone();
        collector.take(end, &StatsReport { at: report["at"].as_f64().unwrap(), stats });
    }
    collector.finish()
}

fn stream<'a>(collected: &'a Collected, name: &str) -> &'a StreamRecord {
    let names: Vec<&str> = collected.streams.iter().map(|stream| stream.name.as_str()).collect();
    collected
        .streams
        .iter()
        .find(|stream| stream.name == name)
        .unwrap_or_else(|| panic!("{name} in {names:?}"))
}

/// The values of a column without missing samples.
fn present(stream: &StreamRecord, column: &str) -> Vec<f64> {
    let values = stream.column(column).unwrap_or_else(|| panic!("{column} of {}", stream.name));
    values.iter().copied().filter(|value| !value.is_nan()).collect()
}

fn note<'a>(collected: &'a Collected, name: &str) -> Option<&'a str> {
    collected.notes.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

/// A synthetic report at a time in seconds.
fn report(seconds: f64, stats: Value) -> StatsReport {
    let Value::Object(stats) = stats else { panic!("an object") };
    StatsReport { at: START + seconds * 1e3, stats }
}

fn collector() -> Collector {
    Collector::new(call(false), START, Duration::from_secs(1), Duration::from_secs(8))
}

#[test]
fn a_chromium_call_has_the_columns_of_a_simulated_call() {
    let collected = recorded(CHROMIUM);
    let video = stream(&collected, "main.video");
    assert_eq!(*present(video, "bytesSent").last().unwrap(), 204_406.0);
    assert_eq!(*present(video, "bytesReceived").last().unwrap(), 204_406.0);
    assert_eq!(present(video, "targetBitrate").last(), Some(&600_000.0));
    assert_eq!(present(video, "availableOutgoingBitrate").last(), Some(&1_304_000.0));
    assert_eq!(present(video, "frameWidthSent").last(), Some(&320.0));
    assert!(present(video, "roundTripTime").iter().all(|rtt| (0.0..0.1).contains(rtt)));
    assert!(!video.points("roundTripTime").unwrap().is_empty());
    assert_eq!(
        video.points("fractionLost").unwrap().iter().map(|(_, value)| *value).sum::<f64>(),
        0.0
    );
    let audio = stream(&collected, "main.audio");
    assert_eq!(present(audio, "packetsReceived").last(), Some(&450.0));
    assert!(collected.streams.iter().all(|stream| !stream.name.contains(".back")));
    assert_eq!(video.columns[0].values.len(), 20);
}

#[test]
fn columns_that_firefox_lacks_are_absent() {
    let collected = recorded(FIREFOX);
    let video = stream(&collected, "main.video");
    assert!(
        video.column("targetBitrate").is_none()
            && video.column("availableOutgoingBitrate").is_none()
    );
    assert_eq!(present(video, "framesPerSecondSent").last(), Some(&31.0));
    assert_eq!(present(video, "packetsSent").last(), Some(&288.0));
    assert!(!video.points("roundTripTime").unwrap().is_empty());
    let recording = sim::Recording {
        interval: Duration::from_millis(500),
        duration: Duration::from_secs(10),
        streams: collected.streams,
        events: collected.events,
    };
    let summary = metrics::summary(&recording);
    let of = |metric: &str| summary[0].values.iter().find(|(name, ..)| *name == metric).unwrap().2;
    assert_eq!((summary.len(), summary[0].stream.as_str()), (2, "main.video"));
    assert!(of("received_rate") > 0.0 && of("rtt_median") > 0.0 && of("loss") == 0.0);
    assert!(of("frame_delay_p95").is_nan());
}

#[test]
fn statistics_objects_keep_all_numbers_and_some_texts_and_no_secret() {
    for (fixture, pair) in [(CHROMIUM, "totalRoundTripTime"), (FIREFOX, "responsesReceived")] {
        let collected = recorded(fixture);
        let outbound = stream(&collected, "main.alice.outbound-rtp.video");
        assert_eq!(outbound.kind, StreamKind::Stats);
        assert!(outbound.column("totalEncodeTime").is_some() && outbound.column("ssrc").is_some());
        assert!(stream(&collected, "main.alice.candidate-pair").column(pair).is_some());
        assert!(
            stream(&collected, "main.bob.inbound-rtp.video").column("totalDecodeTime").is_some()
        );
        assert_eq!(note(&collected, "main.alice.outbound-rtp.video.mimeType"), Some("video/VP8"));
        assert_eq!(note(&collected, "main.alice.candidate-pair.local.candidateType"), Some("host"));
        assert!(!format!("{collected:?}").contains("SECRET"));
        let pairs =
            collected.streams.iter().filter(|stream| stream.name.contains("candidate-pair"));
        assert_eq!(pairs.count(), 2, "the selected pair of each end");
    }
    let chromium = recorded(CHROMIUM);
    let outbound = stream(&chromium, "main.alice.outbound-rtp.video");
    assert!(outbound.column("qualityLimitationDurations.none").is_some());
    assert_eq!(present(outbound, "active").last(), Some(&1.0));
    assert_eq!(
        note(&chromium, "main.alice.outbound-rtp.video.encoderImplementation"),
        Some("libvpx")
    );
}

#[test]
fn a_sample_takes_the_nearest_report() {
    let mut collector = collector();
    let sent = |seconds, bytes: u64| {
        report(
            seconds,
            json!({ "O": { "type": "outbound-rtp", "kind": "video", "bytesSent": bytes } }),
        )
    };
    for (seconds, bytes) in
        [(0.997, 10), (2.2, 20), (2.4, 21), (1.0, 5), (4.01, 40), (99.0, 90), (-1e9, 1), (8.3, 80)]
    {
        collector.take(CallRole::Caller, &sent(seconds, bytes));
    }
    for at in [f64::NAN, f64::INFINITY, -1e300, 1e300] {
        collector.take(CallRole::Caller, &StatsReport { at, ..sent(0.0, 7) });
    }
    let collected = collector.finish();
    let values = stream(&collected, "main.video").column("bytesSent").unwrap();
    assert_eq!(format!("{values:?}"), "[10.0, 20.0, NaN, 40.0, NaN, NaN, NaN, 80.0]");
    assert!(
        collected
            .warnings
            .contains(&"4 of 8 statistics reports of alice in 'main' are missing".to_owned())
    );
    assert!(
        collected.warnings.contains(&"main.video has no statistics from its receiver".to_owned())
    );
}

#[test]
fn layers_are_summed_and_a_new_source_does_not_decrease_a_counter() {
    let mut collector = collector();
    let layer = |bytes: u64, width: u32| json!({ "type": "outbound-rtp", "kind": "video", "bytesSent": bytes, "frameWidth": width, "targetBitrate": 7 });
    collector
        .take(CallRole::Caller, &report(1.0, json!({ "A": layer(100, 320), "B": layer(50, 640) })));
    collector
        .take(CallRole::Caller, &report(2.0, json!({ "A": layer(110, 320), "C": layer(5, 640) })));
    collector
        .take(CallRole::Caller, &report(3.0, json!({ "A": layer(3, 320), "C": layer(6, 640) })));
    let collected = collector.finish();
    let video = stream(&collected, "main.video");
    assert_eq!(present(video, "bytesSent"), [150.0, 165.0, 169.0]);
    assert_eq!(present(video, "frameWidthSent"), [640.0; 3]);
    assert_eq!(present(video, "targetBitrate"), [14.0; 3]);
    assert!(
        collected.streams.iter().any(|stream| stream.name == "main.alice.outbound-rtp.video.3")
    );
}

#[test]
fn each_receiver_report_is_a_point_once() {
    let mut collector = collector();
    let remote = |seconds: f64, measurements: u32, rtt: f64, fraction: f64| {
        json!({
            "O": { "type": "outbound-rtp", "kind": "video", "bytesSent": 1 },
            "R": { "type": "remote-inbound-rtp", "kind": "video", "timestamp": START + seconds * 1e3,
                   "roundTripTime": rtt, "roundTripTimeMeasurements": measurements, "fractionLost": fraction },
        })
    };
    for (at, stats) in [
        (1.0, remote(0.75, 1, 0.05, 0.0)),
        (2.0, remote(0.75, 1, 0.05, 0.0)),
        (3.0, remote(2.5, 2, 0.07, 0.25)),
        (4.0, remote(3.5, 2, 0.07, 0.5)),
        (5.0, remote(1e12, 3, 0.09, 0.0)),
    ] {
        collector.take(CallRole::Caller, &report(at, stats));
    }
    let collected = collector.finish();
    let video = stream(&collected, "main.video");
    let millis = |points: &[(Time, f64)]| -> Vec<(u64, f64)> {
        points.iter().map(|(at, value)| (at.as_nanos() / 1_000_000, *value)).collect()
    };
    assert_eq!(
        millis(video.points("roundTripTime").unwrap()),
        [(750, 0.05), (2500, 0.07), (5000, 0.09)]
    );
    let fractions = millis(video.points("fractionLost").unwrap());
    assert_eq!(fractions, [(750, 0.0), (2500, 0.25), (3500, 0.5), (5000, 0.0)]);
}

#[test]
fn freezes_and_key_frame_requests_are_events() {
    let mut collector = collector();
    let inbound = |freezes: u32, frozen: f64, requests: u32| {
        json!({ "I": { "type": "inbound-rtp", "kind": "video", "freezeCount": freezes,
                       "totalFreezesDuration": frozen, "pliCount": requests } })
    };
    collector.take(CallRole::Callee, &report(1.0, inbound(0, 0.0, 1)));
    collector.take(CallRole::Callee, &report(2.0, inbound(1, 0.75, 1)));
    collector.take(CallRole::Callee, &report(3.0, inbound(1, 0.75, 3)));
    let events = collector.finish().events;
    let told: Vec<_> =
        events.iter().map(|event| (event.at.as_secs_f64(), event.what, event.value)).collect();
    let request = "keyFrameRequest";
    assert_eq!(
        told,
        [(1.0, request, 1.0), (2.0, "freeze", 0.75), (3.0, request, 1.0), (3.0, request, 1.0)]
    );
    assert!(events.iter().all(|event| event.stream == "main.video"));
}

proptest! {
    #[test]
    fn records_are_complete_and_ordered_for_any_numbers_of_a_page(
        told in vec((0.0..10.0f64, 0usize..4, any::<f64>(), any::<f64>(), any::<f64>()), 0..30),
    ) {
        let mut collector = collector();
        for (at, kind, one, two, three) in told {
            let kind = ["outbound-rtp", "inbound-rtp", "remote-inbound-rtp", "candidate-pair"][kind];
            let stats = json!({
                "X": { "type": kind, "kind": "video", "timestamp": one, "bytesSent": two, "roundTripTime": three,
                       "freezeCount": one, "pliCount": two, "totalFreezesDuration": three, "selected": true },
                "O": { "type": "outbound-rtp", "kind": "video", "packetsSent": three },
            });
            collector.take(if two > 0.0 { CallRole::Caller } else { CallRole::Callee }, &report(at, stats));
        }
        let collected = collector.finish();
        for stream in &collected.streams {
            prop_assert!(stream.columns.iter().all(|column| column.values.len() == 8));
            let mut points = stream.points.iter().map(|points| &points.values);
            prop_assert!(points.all(|values| values.is_sorted_by_key(|(at, _)| *at)));
        }
        prop_assert!(collected.events.is_sorted_by_key(|event| event.at));
    }
}

#[test]
fn memory_is_bounded_for_any_report() {
    let mut collector = collector();
    let mut many = serde_json::Map::new();
    for id in 0..500 {
        let mut object =
            json!({ "type": "outbound-rtp", "kind": "video", "bytesSent": 1e300, "rid": "../x\n" });
        for member in 0..20 {
            object[format!("member{id}.{member}")] = json!({ "a": { "b": { "c": { "d": 1 } } } });
            object[format!("number{id}.{member}")] = json!(-1e308);
        }
        object["bad\u{0}name"] = json!(1);
        many.insert(format!("id{id}"), object);
    }
    many.insert("text".into(), json!("no object"));
    many.insert("untyped".into(), json!({ "kind": "video" }));
    for second in 1..=8 {
        collector.take(CallRole::Caller, &report(f64::from(second), Value::Object(many.clone())));
    }
    let collected = collector.finish();
    let raw: Vec<_> =
        collected.streams.iter().filter(|stream| stream.kind == StreamKind::Stats).collect();
    assert!(
        raw.len() <= 128 && raw.iter().map(|stream| stream.columns.len()).sum::<usize>() <= 1024
    );
    assert!(
        raw.iter().flat_map(|stream| &stream.columns).all(|column| !column.name.contains('\u{0}'))
    );
    assert!(collected.warnings.iter().any(|warning| warning.contains("only the first 1024")));
}
