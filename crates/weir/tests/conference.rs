//! Conferences through a real forwarding unit: `weir measure` with Chromium and Janus.
//!
//! Needs root, /dev/net/tun, Chromium with its driver, ffmpeg and Janus; without them the tests are
//! skipped, and say so.

mod common;

use common::{Bench, lacking, missing, run_of, said, signal, wait_for};
use serde_json::Value;
use std::thread::sleep;
use std::time::Duration;

const FILE: &str = r#"
title = "Two parties and a forwarding unit"
duration = "15s"
sample_interval = "500ms"

[host.alice]
up = { rate = "4Mbit/s", delay = "5ms" }
down = { rate = "4Mbit/s", delay = "5ms" }

[host.bob]
up = { delay = "5ms" }

[host.janus]

[conference.main]
parties = ["alice", "bob"]
topology = "sfu"
sfu = "janus"
bitrate = "600kbit/s"
audio = true
video = { width = 320, height = 180, fps = 15 }
"#;

/// `None` where something that is needed is not there.
fn bench() -> Option<Bench> {
    let needed = missing(&["chromium", "chromedriver", "ffmpeg", "janus", "ip"]);
    Bench::new(FILE, &[lacking(), needed].concat())
}

/// Processes that the bench's runs have started and that are still there.
fn left(bench: &Bench) -> Vec<String> {
    let started = bench.processes().into_iter().map(|process| process.command);
    started.filter(|command| ["chrom", "janus"].iter().any(|name| command.contains(name))).collect()
}

fn janus(bench: &Bench) -> Option<u32> {
    let is_one =
        |command: &str| command.split('\0').next().is_some_and(|word| word.ends_with("janus"));
    bench.processes().iter().find(|process| is_one(&process.command)).map(|process| process.pid)
}

/// Measures the conference, with these arguments besides, and sees that every stream comes through
/// the unit.
/// The run of an attempt on which the machine kept up: three at most, because a machine that is
/// busy while browsers start and encode fails an attempt, not the test.
fn confer(bench: &Bench, more: &[&str]) -> Value {
    let args = [&["measure", "e.toml", "--json", "--quiet"], more].concat();
    let mut wrong = String::new();
    for _ in 0..3 {
        let run = match run_of(&bench.output(&mut bench.weir(&args))) {
            Ok(run) => run,
            Err(said) => {
                wrong = said;
                continue;
            }
        };
        assert!(left(bench).is_empty(), "{:?}", left(bench));
        wrong = problems(&run);
        if wrong.is_empty() {
            return run;
        }
        assert!(!run["notes"]["cpuLimited"].is_null(), "{wrong}: {run}");
    }
    panic!("no attempt of three gave a run: {wrong}");
}

/// What a run of two parties and a unit should not have; empty if nothing.
fn problems(run: &Value) -> String {
    let mut problems = Vec::new();
    let mut expect = |holds: bool, problem: String| problems.extend((!holds).then_some(problem));
    let janus = run["notes"]["sfu.janus"].as_str().unwrap_or_default();
    expect(janus.starts_with("Janus "), format!("the unit is {janus}"));
    let rate =
        |stream: &str, metric: &str| run["streams"][stream][metric].as_f64().unwrap_or(f64::NAN);
    for (up, down) in [("main-alice", "main-alice-bob"), ("main-bob", "main-bob-alice")] {
        for medium in ["video", "audio"] {
            let sent = rate(&format!("{up}.{medium}"), "sent_rate");
            let received = rate(&format!("{down}.{medium}"), "received_rate");
            let forwarded = sent > 10e3 && (0.7..1.3).contains(&(received / sent));
            expect(forwarded, format!("{up}.{medium}: {sent} sent, {received} received"));
        }
        expect(rate(&format!("{down}.video"), "fps_mean") > 1.0, format!("{down}: no picture"));
        let sent = rate(&format!("{up}.video"), "sent_rate");
        expect(sent < 700e3, format!("{up}: {sent} is above the room's bitrate"));
    }
    let warnings = run["warnings"].to_string();
    expect(!warnings.contains("has no statistics"), format!("nobody expects a unit's: {warnings}"));
    problems.join("; ")
}

#[test]
fn two_chromiums_publish_and_subscribe() {
    let Some(bench) = bench() else { return };
    let run = confer(&bench, &[]);
    assert!(
        run["notes"]["browser.alice"].as_str().unwrap().starts_with("Chromium "),
        "{}",
        run["notes"]
    );
}

#[test]
fn a_native_peer_and_chromium_publish_and_subscribe() {
    let Some(bench) = bench() else { return };
    let controller = [
        "--set",
        "conference.main.controller=gcc:libwebrtc",
        "--set",
        "conference.main.max_rate=500kbit/s",
    ];
    let run = confer(&bench, &[&["--endpoint", "bob=peer"][..], &controller].concat());
    assert_eq!(run["notes"]["endpoint.bob"], "peer, gcc:libwebrtc");
}

#[test]
fn a_unit_that_dies_ends_the_run_and_ctrl_c_leaves_nothing() {
    let Some(bench) = bench() else { return };
    let start = || {
        let child = bench.start(&mut bench.weir(&["measure", "e.toml", "--quiet"]));
        assert!(wait_for(|| janus(&bench).is_some()), "no Janus came up");
        // Until they call.
        sleep(Duration::from_secs(3));
        child
    };
    let child = start();
    signal(janus(&bench).unwrap(), "KILL");
    let output = child.wait_with_output().unwrap();
    let words = said(&output);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("Janus"), "{words}");
    assert!(left(&bench).is_empty(), "{:?}", left(&bench));
    let child = start();
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(left(&bench).is_empty(), "{:?}", left(&bench));
}
