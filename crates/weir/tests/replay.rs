//! `weir replay` as a user runs it.

mod common;

use common::in_folder;
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;

const LOG: &[u8] = include_bytes!("../../testbed/src/event_log/fixtures/beside-tcp.rtclog");

#[test]
fn a_log_is_replayed_as_text_json_and_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.rtclog"), LOG).unwrap();
    let agreement = contains("detector's state").and(contains("first divergence"));
    in_folder(folder, &["replay", "a.rtclog", "-o", "a.html"]).assert().success().stdout(agreement);
    assert!(fs::read_to_string(folder.join("a.html")).unwrap().contains("Delay-based estimate"));
    let output = in_folder(folder, &["replay", "a.rtclog", "--json"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (summary, steps) = lines.split_last().unwrap();
    assert_eq!(summary["summary"]["feedback"], steps.len());
    assert!(steps.iter().all(|step| step["signals"]["trend"].is_number()));
}

#[test]
fn a_cut_log_is_replayed_and_other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("cut.rtclog"), &LOG[..LOG.len() - 100]).unwrap();
    let cut = contains("the file ends within a message");
    in_folder(folder, &["replay", "cut.rtclog"]).assert().success().stderr(cut);
    fs::write(folder.join("other.json"), "{}").unwrap();
    let refused = contains("not a dump of webrtc-internals");
    in_folder(folder, &["replay", "other.json"]).assert().code(2).stderr(refused);
    let set = ["replay", "cut.rtclog", "--set", "start_rate=fast"];
    in_folder(folder, &set).assert().code(2).stderr(contains("is not a rate"));
}

#[test]
fn two_controllers_are_compared_on_a_recorded_call() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.rtclog"), LOG).unwrap();
    let equal = |second: &str, more: &[&str]| {
        let args = ["equal", "gcc:libwebrtc", second, "--log", "a.rtclog"];
        in_folder(folder, &[&args, more].concat()).assert()
    };
    equal("gcc:libwebrtc", &[]).success().stdout(contains("a.rtclog: equal after"));
    let changed = ["--set", "aimd.decrease=0.6", "--json"];
    let output = equal("gcc:libwebrtc", &changed).code(1).get_output().stdout.clone();
    let found: Value = serde_json::from_slice(&output).unwrap();
    let first = &found["diverged"][0];
    assert!(first["time"].as_f64().unwrap() > 1.0 && first["message"].as_u64().unwrap() > 1);
    let at_receiver = contains("gcc:carlucci-2017 decides at the receiver");
    equal("gcc:carlucci-2017", &[]).code(2).stderr(at_receiver);
    equal("external:./missing", &[]).code(2).stderr(contains("cannot start './missing'"));
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return common::note("skipped: needs python3");
    }
    let adapter = concat!(env!("CARGO_MANIFEST_DIR"), "/../../adapters/python/controller.py");
    let python = format!("external:python3 '{adapter}'");
    equal(&python, &[]).code(1).stdout(contains("first divergence at"));
}
