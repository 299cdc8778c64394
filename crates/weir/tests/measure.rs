//! `weir measure` as a user meets it: real browsers that call each other across the modelled
//! network.
//!
//! Needs root, /dev/net/tun, Chromium and Firefox with their drivers, and ffmpeg; without them the
//! tests are skipped, and say so.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{Bench, json_lines, lacking, run_of, said, signal, wait_for};
use serde_json::Value;
use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

const FILE: &str = r#"
title = "A call beside an upload"
duration = "20s"
sample_interval = "500ms"

[host.alice]
up = { rate = "1Mbit/s", delay = "25ms", queue = "droptail limit 300ms" }

[host.bob]
up = { delay = "25ms" }

[call.main]
from = "alice"
to = "bob"
audio = true
dscp = { audio = "ef", video = "af41" }
video = { width = 640, height = 360, fps = 30 }

[tcp.upload]
from = "alice"
to = "bob"
start = "8s"
stop = "16s"
"#;

/// `None` where something that is needed is not there.
fn bench() -> Option<Bench> {
    Bench::new(FILE, &[lacking(), doctor()].concat())
}

/// What `weir doctor` misses of what is for `weir measure`.
fn doctor() -> Vec<String> {
    let output = Command::new(common::WEIR).args(["doctor", "--json"]).output().unwrap();
    let needed = |finding: &Value| {
        finding["needed_for"].as_str().is_some_and(|purpose| purpose.contains("weir measure"))
    };
    let findings = json_lines(&output.stdout).into_iter();
    let missing = findings.filter(|finding| needed(finding) && finding["status"] != "good");
    missing.map(|finding| finding["what"].as_str().unwrap().to_owned()).collect()
}

/// A run as JSON. A machine that stands still while browsers start, as a new one does that has yet
/// to read them from its disk, fails an attempt, not the test.
fn json(bench: &Bench, args: &[&str]) -> Value {
    let mut why = String::new();
    for _ in 0..3 {
        match run_of(&bench.output(&mut bench.weir(args))) {
            Ok(run) => return run,
            Err(said) => why = said,
        }
    }
    panic!("no attempt of three gave a run: {why}");
}

/// Processes of browsers and their drivers that runs of the bench have started.
fn browsers(bench: &Bench) -> Vec<String> {
    let commands = bench.processes().into_iter().map(|process| process.command);
    commands
        .filter(|command| ["chrom", "firefox", "gecko"].iter().any(|name| command.contains(name)))
        .collect()
}

/// The value of the last run in a table of metrics.
fn newest(csv: &str, stream: &str, metric: &str) -> f64 {
    let mut lines = csv.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let of_stream = |line: &&str| line.split(',').any(|value| value == stream);
    let row = lines.rfind(of_stream).unwrap_or_else(|| panic!("no {stream}: {csv}"));
    let index = names.iter().position(|name| *name == metric).unwrap();
    row.split(',').nth(index).unwrap().parse().unwrap_or_else(|_| panic!("no {metric}: {row}"))
}

fn mean(run: &Value, stream: &str, metric: &str) -> f64 {
    run["streams"][stream][metric]
        .as_f64()
        .unwrap_or_else(|| panic!("no {metric} of {stream}: {run}"))
}

#[test]
fn a_chromium_call_beside_an_upload_is_measured_and_kept() {
    let Some(bench) = bench() else { return };
    let run = json(&bench, &["measure", "e.toml", "--json", "--quiet", "--store", "runs.sqlite"]);
    assert_eq!(run["mode"], "measured");
    assert!(
        run["notes"]["browser.alice"].as_str().unwrap().starts_with("Chromium "),
        "{}",
        run["notes"]
    );
    let rate = mean(&run, "main.video", "received_rate");
    assert!((50e3..1e6).contains(&rate), "{rate}");
    assert!(mean(&run, "main.video", "rtt_median") > 0.05, "the path's round trip is 50 ms");
    assert!(mean(&run, "upload.tcp", "received_rate") > 50e3);
    assert!(
        run["lines"]["alice.up"]["rate_out"].as_f64().unwrap() < 1e6,
        "the line is the model's"
    );
    assert!(browsers(&bench).is_empty(), "{:?}", browsers(&bench));
    // It is a run like any other to those that come after.
    let list = bench.weir(&["list", "--store", "runs.sqlite"]).output().unwrap();
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(list.contains("measured") && list.contains("Chromium"), "{list}");
    let csv =
        ["export", "--from", "runs.sqlite", "1", "--csv", "main.csv", "--stream", "main.video"];
    assert!(bench.weir(&csv).status().unwrap().success());
    let table = fs::read_to_string(bench.folder.path().join("main.csv")).unwrap();
    assert!(
        table.contains("targetBitrate") && table.contains("availableOutgoingBitrate"),
        "{table}"
    );
    let report =
        bench.weir(&["report", "--from", "runs.sqlite", "-o", "report.html"]).output().unwrap();
    assert!(report.status.success(), "{}", said(&report));
}

#[test]
fn a_native_peer_and_chromium_call_each_other() {
    let Some(bench) = bench() else { return };
    // The peer sends under the call's controller, and governs by its REMB what Chromium sends.
    for (sender, receiver) in [("alice=peer", "bob=chromium"), ("alice=chromium", "bob=peer")] {
        let ends = ["--endpoint", sender, "--endpoint", receiver];
        let mut args = vec!["measure", "e.toml", "--json", "--quiet"];
        args.extend(ends);
        for change in [
            "call.main.controller=gcc:carlucci-2017",
            "call.main.start_rate=100kbit/s",
            "call.main.max_rate=200kbit/s",
            "duration=10s",
            "tcp.upload.start=8s",
            "tcp.upload.stop=9s",
        ] {
            args.extend(["--set", change]);
        }
        let run = json(&bench, &args);
        let notes = run["notes"].to_string();
        assert!(
            notes.contains("peer, gcc:carlucci-2017") && notes.contains("Chromium "),
            "{notes}"
        );
        let rate = mean(&run, "main.video", "received_rate");
        assert!(
            (20e3..230e3).contains(&rate),
            "{sender}: the controller allows 200 kbit/s: {rate}"
        );
        assert!(mean(&run, "main.video", "rtt_median") > 0.05, "the path's round trip is 50 ms");
    }
    assert!(browsers(&bench).is_empty(), "{:?}", browsers(&bench));
}

/// The field trials of a Chromium are experiments of its authors; a Chromium without them fails. A
/// call that has not reached the rate of the line before it ends has no marks: another attempt.
#[test]
fn a_chromium_with_scream_sends_ect1_and_dualpi2_marks_it() {
    let Some(bench) = bench() else { return };
    let mut shares = Vec::new();
    for _ in 0..3 {
        let mut args = vec!["measure", "e.toml", "--quiet", "--json", "--store", "ecn.sqlite"];
        args.extend(["--endpoint", "chromium+scream"]);
        for change in [
            "call.main.audio=false",
            "call.main.dscp=be",
            "host.alice.up.rate=500kbit/s",
            "host.alice.up.queue=dualpi2",
            "duration=12s",
            "tcp.upload.start=10s",
            "tcp.upload.stop=11s",
        ] {
            args.extend(["--set", change]);
        }
        json(&bench, &args);
        let export = ["export", "--from", "ecn.sqlite", "--metrics", "--csv", "ecn.csv", "--quiet"];
        assert!(bench.weir(&export).status().unwrap().success());
        let csv = fs::read_to_string(bench.folder.path().join("ecn.csv")).unwrap();
        let share = |metric| newest(&csv, "main.video", metric);
        shares.push((share("ect1_share"), share("ce_share")));
        if shares.last().is_some_and(|(ect1, ce)| *ect1 >= 0.99 && *ce > 0.0) {
            return;
        }
    }
    panic!("shares of ECT(1) and CE: {shares:?}");
}

#[test]
fn firefox_and_chromium_call_each_other() {
    let Some(bench) = bench() else { return };
    let args = [
        "measure",
        "e.toml",
        "--json",
        "--quiet",
        "--endpoint",
        "bob=firefox",
        "--set",
        "duration=14s",
        "--set",
        "call.main.two_way=true",
        "--set",
        "tcp.upload.start=8s",
        "--set",
        "tcp.upload.stop=9s",
    ];
    let run = json(&bench, &args);
    assert!(
        run["notes"]["browser.bob"].as_str().unwrap().starts_with("Firefox "),
        "{}",
        run["notes"]
    );
    for stream in ["main.video", "main.video.back"] {
        assert!(mean(&run, stream, "received_rate") > 20e3, "{stream}: {run}");
        assert!(mean(&run, stream, "fps_mean") > 1.0, "{stream}: {run}");
    }
    assert!(browsers(&bench).is_empty(), "{:?}", browsers(&bench));
}

#[test]
fn browsers_that_cannot_reach_each_other_end_the_run_with_a_clear_word() {
    let Some(bench) = bench() else { return };
    // Longer than the 20 s that the ends have to connect.
    let longer = ["--set", "duration=30s"];
    let args = [&["measure", "e.toml", "--quiet", "--set", "host.alice.up.loss=100%"][..], &longer]
        .concat();
    let output = bench.output(&mut bench.weir(&args));
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("'main' are not connected after 20s") && said.contains("alice is '"),
        "{said}"
    );
    assert!(browsers(&bench).is_empty(), "{:?}", browsers(&bench));
}

#[test]
fn a_browser_that_dies_ends_the_run_and_ctrl_c_leaves_nothing() {
    let Some(bench) = bench() else { return };
    let start = || {
        let child = bench.start(&mut bench.weir(&["measure", "e.toml", "--quiet"]));
        assert!(wait_for(|| chromium(&bench).is_some()), "no browser came up");
        // Until it calls.
        sleep(Duration::from_secs(3));
        child
    };
    let child = start();
    signal(chromium(&bench).unwrap(), "KILL");
    let output = child.wait_with_output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("alice") || said.contains("bob"), "{said}");
    assert!(browsers(&bench).is_empty(), "{:?}", browsers(&bench));
    let child = start();
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", common::said(&output));
    assert!(browsers(&bench).is_empty(), "{:?}", browsers(&bench));
}

/// A run's Chromium, not one of its parts.
fn chromium(bench: &Bench) -> Option<u32> {
    let is_one = |command: &str| command.contains("/chromium\0--") && !command.contains("--type=");
    bench.processes().iter().find(|process| is_one(&process.command)).map(|process| process.pid)
}

#[test]
fn bad_input_is_answered_with_the_suggestion() {
    let Some(bench) = bench() else { return };
    for (args, suggestion) in [
        (&["measure", "e.toml", "--endpoint", "netscape"][..], "there is no endpoint 'netscape'"),
        (&["measure", "e.toml", "--endpoint", "carol=firefox"], "there is no host 'carol'"),
        (&["measure", "e.toml", "--set", "measure.video=none.y4m"], "none.y4m"),
    ] {
        let output = bench.weir(args).output().unwrap();
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(suggestion), "{args:?}: {said}");
    }
}
