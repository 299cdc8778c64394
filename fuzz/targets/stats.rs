//! `getStats` reports of a page, as JSON lines: the caller's and the callee's in turn.

#![no_main]

use testbed::measure::stats::{CallInfo, Collector};
use server::signalling::{CallRole, StatsReport};
use libfuzzer_sys::fuzz_target;
use units::{Duration, Time};

/// Milliseconds since 1970, of the run and of the seeds.
const START: f64 = 1_700_000_000_000.0;

fuzz_target!(|text: &str| {
    let call = CallInfo {
        name: "main".into(),
        hosts: ["alice".into(), "bob".into()],
        active: (Time::ZERO, Time::from_secs(10)),
        two_way: true,
        video: true,
        audio: true,
        silent: [false; 2],
    };
    let mut collector =
        Collector::new(call, START, Duration::from_millis(500), Duration::from_secs(10));
    for (line, end) in text.lines().zip([CallRole::Caller, CallRole::Callee].into_iter().cycle()) {
        if let Ok(report) = serde_json::from_str::<StatsReport>(line) {
            collector.take(end, &report);
        }
    }
    let collected = collector.finish();
    for stream in &collected.streams {
        assert!(stream.columns.iter().all(|column| column.values.len() == 20));
        let ordered = |values: &[(Time, f64)]| values.is_sorted_by_key(|(at, _)| *at);
        assert!(stream.points.iter().all(|points| ordered(&points.values)));
    }
    assert!(!format!("{:?}", collected.notes).contains("fingerprint"));
});
