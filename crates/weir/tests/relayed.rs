//! Calls with a media relay: simulated, and two Chromiums whose media passes a coturn on a host of
//! its own.
//!
//! Those need root, /dev/net/tun, Chromium with its driver, ffmpeg and coturn; without them the
//! tests are skipped, and say so.

mod common;

use common::{Bench, json_lines, lacking, missing, run_of, said, signal, wait_for, weir};

const FILE: &str = r#"
title = "A relayed call"
duration = "15s"
sample_interval = "500ms"

[host.alice]
up = { rate = "1Mbit/s", delay = "20ms" }

[host.bob]

[host.turn]

[call.main]
from = "alice"
to = "bob"
relay = "turn"
audio = true
dscp = { audio = "ef", video = "af41" }
video = { width = 640, height = 360, fps = 25 }
"#;

/// `None` where something that is needed is not there.
fn bench() -> Option<Bench> {
    let needed = missing(&["ffmpeg", "chromium", "chromedriver", "turnserver"]);
    Bench::new(FILE, &[lacking(), needed].concat())
}

/// The relays of the bench's runs.
fn relays(bench: &Bench) -> Vec<u32> {
    let is_one = |command: &str| command.contains("turnserver\0");
    let found = bench.processes().into_iter().filter(|process| is_one(&process.command));
    found.map(|process| process.pid).collect()
}

#[test]
fn the_eligible_call_lives_and_the_other_starves() {
    let args = ["run", "janczukowicz-2017/adsl-ct-turn", "--quick", "--runs", "1", "--json"];
    let output = weir(&args).assert().success().get_output().stdout.clone();
    let runs = json_lines(&output);
    let metric = |config: &str, stream: &str, metric: &str| {
        let run = runs.iter().find(|run| run["cell"]["config"] == config).unwrap();
        run["streams"][stream][metric].as_f64().unwrap()
    };
    let rtt = |config, stream| metric(config, stream, "rtt_p95");
    assert!(rtt("Specialised TURN", "eligible.video") < 0.2);
    for (config, stream) in [
        ("Specialised TURN", "other.video"),
        ("Basic P2P", "eligible.video"),
        ("Basic P2P", "other.video"),
    ] {
        assert!(rtt(config, stream) > 0.5, "{config}, {stream}: {}", rtt(config, stream));
    }
    assert!(metric("Specialised TURN", "eligible.video", "received_rate") > 400e3);
    assert!(metric("Specialised TURN", "other.video", "received_rate") < 300e3);
}

#[test]
fn the_media_of_a_relayed_call_passes_its_relay() {
    let Some(bench) = bench() else { return };
    let args = ["measure", "e.toml", "--json", "--quiet"];
    // A machine that stands still while browsers start fails an attempt, not the test.
    let mut why = String::new();
    let attempt = || run_of(&bench.output(&mut bench.weir(&args)));
    let run = (0..3).find_map(|_| attempt().map_err(|said| why = said).ok());
    let run = run.unwrap_or_else(|| panic!("no attempt of three gave a run: {why}"));
    let notes = &run["notes"];
    assert!(notes["relay.turn"].as_str().unwrap().starts_with("coturn "), "{notes}");
    assert_eq!(notes["main.alice.candidate-pair.local.candidateType"], "relay", "{notes}");
    assert_eq!(notes["main.bob.candidate-pair.remote.candidateType"], "relay", "{notes}");
    assert!(run["streams"]["main.video"]["received_rate"].as_f64().unwrap() > 50e3, "{run}");
    let output = run.to_string();
    assert!(!output.contains("did not pass"), "{output}");
    assert!(relays(&bench).is_empty(), "{:?}", relays(&bench));
}

#[test]
fn a_relay_that_dies_ends_the_run_with_a_clear_word_and_ctrl_c_leaves_none() {
    let Some(bench) = bench() else { return };
    let start = || {
        let child = bench.start(&mut bench.weir(&["measure", "e.toml", "--quiet"]));
        assert!(wait_for(|| !relays(&bench).is_empty()), "no relay came up");
        child
    };
    let child = start();
    signal(relays(&bench)[0], "KILL");
    let output = child.wait_with_output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("turn: the relay, turnserver: it has ended"), "{said}");
    assert!(relays(&bench).is_empty(), "{:?}", relays(&bench));
    let child = start();
    let folder = format!("weir-turn-{}-", child.id());
    signal(child.id(), "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", common::said(&output));
    assert!(relays(&bench).is_empty(), "{:?}", relays(&bench));
    let mut left = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    assert!(
        !left.any(|entry| entry.file_name().to_string_lossy().starts_with(&folder)),
        "{folder}…"
    );
}
