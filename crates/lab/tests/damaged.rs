//! Metrics and figures of a forged store: a value or an error, no panic, and no more memory than a
//! recording may take.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use experiment::Experiment;
use lab::StoredExperiments;
use lab::figures::{Figures, SectionBuilder};
use lab::runner::{Job, insert};
use metrics::{summary, usual};
use proptest::prelude::*;
use rusqlite::Connection;
use std::path::Path;
use std::sync::LazyLock;
use store::{Filter, Mode, Store};
use tempfile::tempdir;

const TEXT: &str = r#"
title = "A call and an upload"
duration = "3s"

[host.alice]
up = { rate = "1Mbit/s", delay = "25ms", queue = "droptail limit 150ms" }

[host.bob]

[call.main]
from = "alice"
to = "bob"
controller = "gcc:libwebrtc"
audio = true

[tcp.upload]
from = "alice"
to = "bob"
bytes = "50kB"

[[figure]]
kind = "time"
title = "Rates"
panels = [{ label = "rate", unit = "kbit/s", lines = [{ stream = "main.video", value = "sent_rate" }, { stream = "main.video", value = "roundTripTime" }] }]

[[figure]]
kind = "cdf"
title = "Delays"
label = "RTT"
unit = "ms"
value = { metric = "rtt", stream = "main.video" }

[[figure]]
kind = "table"
title = "Means"
values = [
    { name = "utilization", metric = "utilization", stream = "main.video", line = "alice.up" },
    { name = "recovery", metric = "recovery_time", streams = ["main.video", "upload.tcp"] },
    { name = "frozen", metric = "freeze_share", stream = "main.video" },
    { name = "ramp", metric = "ramp_time", stream = "main.video", level = 0.9 },
]
"#;

/// The bytes of a store with one simulated run.
static STORE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = tempdir().unwrap();
    let path = folder.path().join("s.sqlite");
    let experiment = lab::parse(TEXT, "x.toml").unwrap();
    let job = Job { experiment: 0, cell: 0, run: 0, seed: experiment.seed };
    let recording =
        sim::run(&experiment.cells()[0].scenario(job.seed), sim::Options::default()).unwrap();
    let mut store = Store::create_or_open(&path).unwrap();
    insert(&mut store, &experiment, job, &recording, Mode::Simulated, &[]).unwrap();
    drop(store);
    std::fs::read(&path).unwrap()
});

/// Draws a page of all runs and computes all usual metrics.
fn report(path: &Path) -> Option<String> {
    let store = Store::open(path).ok()?;
    let mut experiments = StoredExperiments::default();
    let mut page = None;
    for run in store.runs(&Filter::default()).ok()? {
        let (experiment, job) = experiments.of(&run).ok()?;
        let recording = store.recording(run.id).ok()?;
        let _ = (summary(&recording), usual(&recording));
        page = Some(section(&experiment, job, &recording));
    }
    page
}

fn section(experiment: &Experiment, job: Job, recording: &sim::Recording) -> String {
    let figures = Figures::read(experiment).unwrap();
    let mut builder = SectionBuilder::new(experiment, &figures);
    builder.add(figures.extract(experiment, job, recording));
    let sections = vec![builder.section()];
    report::html(&report::Report { sections, ..report::Report::default() }).unwrap()
}

/// Columns of integers.
const INTEGERS: [&str; 6] = [
    "run.duration_ns",
    "run.interval_ns",
    "stream.began_ns",
    "stream.ended_ns",
    "series.count",
    "event.at_ns",
];

#[test]
fn an_intact_store_is_reported() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("s.sqlite");
    std::fs::write(&path, &*STORE).unwrap();
    assert_eq!(report(&path).unwrap().matches("<figure").count(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_integers_in_a_store_give_a_page_or_an_error(
        changes in prop::collection::vec(
            (
                0..INTEGERS.len(),
                prop_oneof![
                    any::<i64>(),
                    -3i64..40,
                    Just(i64::MAX),
                    Just(i64::MIN),
                    (0u32..63).prop_map(|bit| 1i64 << bit),
                ],
            ),
            1..4,
        ),
    ) {
        let folder = tempdir().unwrap();
        let path = folder.path().join("s.sqlite");
        std::fs::write(&path, &*STORE).unwrap();
        let connection = Connection::open(&path).unwrap();
        for (column, value) in changes {
            let (table, column) = INTEGERS[column].split_once('.').unwrap();
            connection.execute(&format!("UPDATE {table} SET {column} = ?1"), [value]).unwrap();
        }
        drop(connection);
        let _ = report(&path);
    }
}
