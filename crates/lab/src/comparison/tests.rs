use super::*;
use crate::claims::Catalogue;
use crate::runner::Job;
use report::{Bars, Role, TimePlot};
use std::sync::LazyLock;
use store::{Mode, RunMeta};
use units::{Duration, Seed};

const TEXT: &str = r#"
title = "Two rates"
duration = "300s"
sample_interval = "1s"

[host.alice]
up = { rate = "1Mbit/s", delay = "25ms", queue = "droptail limit 150ms" }

[host.bob]

[call.main]
from = "alice"
to = "bob"
controller = "gcc:carlucci-2017"

[grid]
"host.alice.up.rate" = ["500kbit/s", "1Mbit/s"]

[[figure]]
kind = "time"
title = "Rate"
panels = [
  { label = "rate", unit = "kbit/s", lines = [{ stream = "main.video", value = "received_rate", name = "received" }, { stream = "main.video", value = "sent_rate", name = "sent" }] },
  { label = "RTT", unit = "ms", lines = [{ stream = "main.video", value = "roundTripTime", name = "RTT" }] },
]

[[figure]]
kind = "bars"
title = "Mean rate"
label = "rate"
unit = "kbit/s"
values = [{ name = "rate", metric = "received_rate", stream = "main.video", published = [400, 800] }]
"#;

const CLAIMS: &str = r#"
paper = "a-paper"
title = "A paper"

[[claim]]
id = "X-1"
where = "Fig. 1"
setting = "two rates"
published = "much"
check = "grows"
experiment = "a-paper/fig1"
value.rate = { metric = "received_rate", stream = "main.video", from = "100s", to = "300s" }
measured.rates = "cells.map(c, c.rate)"
holds = "increasing(rates)"
show = "{rates:bit/s}"
"#;

/// The short form: a schedule times 0.2.
static QUICK: LazyLock<Experiment> = LazyLock::new(|| {
    let mut experiment = Experiment::parse(TEXT, "a-paper/fig1").unwrap();
    experiment.name = "a-paper/fig1".to_owned();
    experiment.quick().unwrap()
});

/// A run as a store has it, made by the simulator whatever its mode says.
fn run(
    id: i64,
    experiment: &Experiment,
    cell: usize,
    mode: Mode,
    notes: &[(&str, &str)],
) -> StoredRun {
    let meta = RunMeta {
        experiment: experiment.name.clone(),
        cell: experiment.cells()[cell].params.clone(),
        seed: Seed(1),
        index: 0,
        mode,
        file: experiment.text.as_str().into(),
        version: "0.1.0".to_owned(),
        notes: notes
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    };
    StoredRun { id, meta, duration: Duration::from_secs(60) }
}

const CHROMIUM: [(&str, &str); 2] =
    [("browser.alice", "Chromium 156.0.8078.73"), ("browser.bob", "Chromium 156.0.8078.73")];

fn recording(experiment: &Experiment, job: Job) -> sim::Recording {
    sim::run(&experiment.cells()[job.cell].scenario(job.seed), sim::Options::default()).unwrap()
}

/// The comparison of these runs with the facts of all, and those of the simulations that were
/// missing.
fn compare<'c>(runs: &[StoredRun], catalogue: &'c Catalogue) -> Comparison<'c> {
    let claims = catalogue.select(&[]).unwrap();
    let mut comparison = Comparison::of(runs, &claims).unwrap().remove(0);
    for source in comparison.missing_simulations() {
        let mut source = source.unwrap();
        for cell in 0..source.experiment.cells().len() {
            let job = Job { experiment: 0, cell, run: 0, seed: Seed(1) };
            source.add(source.facts(job, &recording(&source.experiment, job), false));
        }
        comparison.sources.push(source);
    }
    for source in &mut comparison.sources {
        for (_, job, limited) in source.stored.clone() {
            source.add(source.facts(job, &recording(&source.experiment, job), limited));
        }
    }
    comparison
}

fn names(comparison: &Comparison<'_>) -> Vec<String> {
    comparison.sources.iter().map(|source| source.who.clone()).collect()
}

#[test]
fn runs_are_grouped_by_source_and_simulations_are_added() {
    let catalogue = Catalogue::parse(CLAIMS, "x.toml").unwrap();
    let firefox = [("browser.alice", "Chromium 156.0.1"), ("browser.bob", "Firefox 153.1")];
    let runs = [
        run(1, &QUICK, 0, Mode::Simulated, &[]),
        run(2, &QUICK, 0, Mode::Measured, &CHROMIUM),
        run(3, &QUICK, 1, Mode::Measured, &CHROMIUM),
        run(4, &QUICK, 0, Mode::Measured, &firefox),
        run(5, &QUICK, 0, Mode::Simulated, &[]),
    ];
    let claims = catalogue.select(&[]).unwrap();
    let all = Comparison::of(&runs, &claims).unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(
        names(&all[0]),
        ["Chromium 156", "Chromium 156 + Firefox 153", "simulator, gcc:carlucci-2017"]
    );
    let numbers: Vec<i64> = all[0].sources[2].stored.iter().map(|run| run.0).collect();
    assert_eq!(numbers, [5], "a simulation that is there twice counts once");
    let missing: Vec<String> =
        all[0].missing_simulations().into_iter().map(|source| source.unwrap().who).collect();
    assert_eq!(missing, ["simulator, today's Chromium"]);
    let full = Experiment::parse(TEXT, "a-paper/fig1").unwrap();
    let both = [run(1, &full, 0, Mode::Simulated, &[]), run(2, &QUICK, 0, Mode::Simulated, &[])];
    assert_eq!(Comparison::of(&both, &claims).unwrap().len(), 2, "two schedules are not compared");
    let seeds = QUICK.with_overrides(&[("runs".to_owned(), "3".to_owned())]).unwrap();
    let wider =
        QUICK.with_overrides(&[("host.alice.up.delay".to_owned(), "50ms".to_owned())]).unwrap();
    let runs: Vec<StoredRun> = [&*QUICK, &seeds, &wider]
        .into_iter()
        .zip(1..)
        .map(|(experiment, id)| run(id, experiment, 0, Mode::Measured, &CHROMIUM))
        .collect();
    assert_eq!(
        names(&Comparison::of(&runs, &claims).unwrap()[0]),
        ["Chromium 156", "Chromium 156, from run 3"]
    );
}

#[test]
fn a_claim_has_a_verdict_per_source_with_its_caveats() {
    let catalogue = Catalogue::parse(CLAIMS, "x.toml").unwrap();
    let limited = [CHROMIUM[0], ("cpuLimited", "12 of 30 frames a second were sent")];
    let runs =
        [run(1, &QUICK, 0, Mode::Measured, &CHROMIUM), run(2, &QUICK, 1, Mode::Measured, &limited)];
    let comparison = compare(&runs, &catalogue);
    let verdicts = comparison.verdicts();
    let all: Vec<_> =
        verdicts.iter().map(|verdict| (verdict.who.as_str(), verdict.status.to_string())).collect();
    assert_eq!(all.len(), 3, "{all:?}");
    assert_eq!(all[0], ("Chromium 156", "reproduced".to_owned()));
    assert_eq!(verdicts[0].caveat(), "CPU-limited in 1 cell; quick: schedule × 0.2");
    assert_eq!(verdicts[0].cpu_limited, ["host.alice.up.rate=1Mbit/s"]);
    assert_eq!(verdicts[1].caveat(), "quick: schedule × 0.2");
    let json = serde_json::to_value(&verdicts[0]).unwrap();
    assert_eq!(
        (json["who"].as_str(), json["time_scale"].as_f64()),
        (Some("Chromium 156"), Some(0.2))
    );
}

#[test]
fn cells_without_runs_are_named() {
    let catalogue = Catalogue::parse(CLAIMS, "x.toml").unwrap();
    let comparison = compare(&[run(1, &QUICK, 0, Mode::Measured, &CHROMIUM)], &catalogue);
    let verdict = &comparison.verdicts()[0];
    assert_eq!(
        (verdict.status.to_string(), verdict.measured.as_str()),
        ("not run".to_owned(), "1 of 2 cells have no run: host.alice.up.rate=1Mbit/s")
    );
    let known: Vec<&str> = verdict.values.iter().map(|value| value.cell.as_str()).collect();
    assert!(!known.is_empty() && !known.contains(&"host.alice.up.rate=1Mbit/s"), "{known:?}");
}

#[test]
fn figures_of_all_sources_share_their_axes() {
    let catalogue = Catalogue::parse(CLAIMS, "x.toml").unwrap();
    let limited = [CHROMIUM[0], ("cpuLimited", "yes")];
    let runs =
        [run(1, &QUICK, 0, Mode::Measured, &CHROMIUM), run(2, &QUICK, 1, Mode::Measured, &limited)];
    let section = compare(&runs, &catalogue).section();
    assert!(
        section.text.contains("* CPU-limited: in host.alice.up.rate=1Mbit/s"),
        "{}",
        section.text
    );
    assert_eq!(section.compared[0].findings.len(), 3);
    let kinds: Vec<usize> = section
        .figures
        .iter()
        .map(|figure| {
            let panels = figure.body.downcast_ref().map(|plot: &TimePlot| plot.panels.len());
            let bars = figure.body.downcast_ref().map(|bars: &Bars| bars.0.series.len());
            panels.or(bars).unwrap_or_default()
        })
        .collect();
    assert_eq!(kinds, [4, 4, 3], "three panels of two lines and one of three; three bars a group");
    let TimePlot { panels, .. } = section.figures[0].body.downcast_ref().unwrap();
    assert!(
        panels[0].y_range.is_some()
            && panels[..3].iter().all(|panel| panel.y_range == panels[0].y_range)
    );
    let names: Vec<&str> = panels[3].series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(
        names,
        ["Chromium 156 *", "simulator, today's Chromium", "simulator, gcc:carlucci-2017"]
    );
    assert_eq!(panels[3].series[2].role, Role::Series(2));
}

#[test]
fn an_equal_run_has_no_difference_from_its_simulation() {
    let catalogue = Catalogue::parse(CLAIMS, "x.toml").unwrap();
    let today = QUICK.as_today().unwrap();
    let limited = [CHROMIUM[0], ("cpuLimited", "yes")];
    let runs = [
        run(1, &today, 0, Mode::Measured, &limited),
        run(2, &today, 1, Mode::Measured, &CHROMIUM),
        run(3, &QUICK, 0, Mode::Emulated, &[]),
    ];
    let all = differences(&compare(&runs, &catalogue));
    let of = |who: &str| all.iter().filter(|difference| difference.who == who).collect::<Vec<_>>();
    let same = of("Chromium 156");
    assert_eq!(same.len(), 6, "three metrics of two cells");
    assert!(
        same.iter()
            .all(|difference| difference.difference == 0.0 && difference.measured.is_finite())
    );
    assert_eq!(
        (same[0].shown(), same[1].metric, same[0].cpu_limited),
        ("+0.0 %".to_owned(), "loss", true)
    );
    assert!(same[0].marked().ends_with("CPU-limited") && !same[3].cpu_limited);
    assert!(of("emulator").is_empty(), "an emulation leaves calls out");
}

#[test]
fn every_measured_source_is_compared_with_its_own_simulation() {
    let catalogue = Catalogue::parse(CLAIMS, "x.toml").unwrap();
    let changed = |key: &str, value: &str| {
        QUICK.with_overrides(&[(key.to_owned(), value.to_owned())]).unwrap()
    };
    let wider = changed("host.alice.up.delay", "50ms").as_today().unwrap();
    let firefox = changed("measure.endpoint", "firefox");
    let imported = [CHROMIUM[0], ("imported", "chrome://webrtc-internals")];
    let runs = [
        run(1, &QUICK, 0, Mode::Measured, &CHROMIUM),
        run(2, &wider, 0, Mode::Measured, &CHROMIUM),
        run(3, &changed("host.alice.up.delay", "75ms"), 0, Mode::Measured, &imported),
        run(4, &firefox, 0, Mode::Measured, &[("browser.alice", "Firefox 153.0")]),
        run(5, &changed("call.main.controller", "gcc:libwebrtc"), 0, Mode::Simulated, &[]),
    ];
    let comparison = compare(&runs, &catalogue);
    assert_eq!(
        names(&comparison)[4..],
        [
            "simulator, gcc:libwebrtc",
            "simulator, today's Chromium",
            "simulator, gcc:carlucci-2017",
            "simulator, today's Chromium for Chromium 156, from run 2"
        ]
    );
    let all = differences(&comparison);
    let of = |who: &str| all.iter().filter(|difference| difference.who == who).collect::<Vec<_>>();
    assert_eq!((all.len(), of("Chromium 156").len(), of("Firefox 153").len()), (9, 3, 3));
    assert!(of("Chromium 156, from run 2").iter().all(|difference| difference.difference == 0.0));
    assert!(of("Chromium 156").iter().any(|difference| difference.difference != 0.0));
}
