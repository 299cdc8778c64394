//! What commands print with `--json` is as `weir schema` says, and the schemas give units.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{Bench, in_folder, json_lines, lacking, weir};
use jsonschema::Validator;
use serde_json::Value;
use std::fs;
use std::path::Path;

const FILE: &str = r#"
title = "A call beside an upload"
duration = "3s"

[host.home]
up = { rate = "1Mbit/s", delay = "20ms", queue = "bfifo limit 30kB" }

[host.net]

[call.main]
from = "home"
to = "net"
audio = true
video = true

[tcp.upload]
from = "home"
to = "net"
start = "1s"

[grid]
"host.home.up.queue" = ["bfifo limit 30kB", "fq_codel"]
"#;

/// The schema. Members that it does not name are refused, so that each one is described.
fn schema(of: &str) -> Value {
    let done = weir(&["schema", of]).assert().success();
    let mut schema: Value = serde_json::from_slice(&done.get_output().stdout).unwrap();
    close(&mut schema);
    schema
}

/// Refuses members without a description.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties") {
                members.entry("additionalProperties").or_insert(Value::Bool(false));
            }
            members.values_mut().for_each(close);
        }
        Value::Array(all) => all.iter_mut().for_each(close),
        _ => {}
    }
}

/// Checks that there are lines, and that each is as the schema says.
fn check(of: &str, lines: &[Value]) {
    let validator = Validator::new(&schema(of)).unwrap();
    assert!(!lines.is_empty(), "{of}: no line");
    for line in lines {
        let faults: Vec<String> = validator.iter_errors(line).map(|e| e.to_string()).collect();
        let line: String = line.to_string().chars().take(500).collect();
        assert!(faults.is_empty(), "{of}: {faults:?} in {line}");
    }
}

/// The lines that a command prints; a failed check of a claim is no failure here.
fn lines(folder: &Path, args: &[&str]) -> Vec<Value> {
    let done = in_folder(folder, args).assert();
    assert!(matches!(done.get_output().status.code(), Some(0 | 1)), "{args:?}: {done}");
    json_lines(&done.get_output().stdout)
}

#[test]
fn every_line_of_a_simulation_is_as_its_schema_says() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("e.toml"), FILE).unwrap();
    let of = |args: &[&str]| lines(folder.path(), args);
    check("run", &of(&["run", "e.toml", "--json", "-q"]));
    of(&["run", "e.toml", "--store", "s.sqlite", "--json", "-q"]);
    check("list-store", &of(&["list", "--store", "s.sqlite", "--json"]));
    let quick = ["--runs", "1", "--set", "duration=5s", "--json", "-q"];
    check("verify", &of(&[&["verify", "C-5"], &quick[..]].concat()));
    check("advise", &of(&["advise", "e.toml", "--runs", "2", "--json", "-q"]));
}

#[test]
fn every_line_of_a_list_is_as_its_schema_says() {
    let here = Path::new(".");
    for (of, args) in [
        ("list", &["list", "carlucci-2017", "--json"][..]),
        ("list-controllers", &["list", "--controllers", "--json"]),
        ("list-metrics", &["list", "--metrics", "--json"]),
        ("list-remedies", &["list", "--remedies", "--json"]),
        ("doctor", &["doctor", "--json"]),
    ] {
        check(of, &lines(here, args));
    }
}

#[test]
fn a_line_of_an_emulation_is_as_its_schema_says() {
    let file = FILE
        .replace("[call.main]\nfrom = \"home\"\nto = \"net\"\naudio = true\nvideo = true\n", "");
    let Some(bench) = Bench::new(&file, &lacking()) else { return };
    let done = bench.weir(&["emulate", "e.toml", "--json", "--compare", "-q"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    check("emulate", &json_lines(&done.stdout));
}

#[test]
fn judgements_and_what_external_controllers_read_and_write_are_as_their_schemas_say() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("e.toml"), FILE).unwrap();
    let of = |args: &[&str]| lines(folder.path(), args);
    let judge = ["judge", "fixed:200kbit/s", "--suite", "e.toml", "--runs", "3", "--json", "-q"];
    check("judge", &of(&judge));
    let equal = ["equal", "gcc:libwebrtc", "fixed:200kbit/s", "--experiment", "e.toml", "--json"];
    check("equal", &of(&equal));
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return common::note("skipped: needs python3");
    }
    let adapter = concat!(env!("CARGO_MANIFEST_DIR"), "/../../adapters/python/controller.py");
    let program = format!("sh -c 'tee asked | python3 {adapter} | tee answered'");
    let set = format!("call.main.controller=external:{program}");
    of(&["run", "e.toml", "--runs", "1", "--jobs", "1", "--json", "-q", "--set", &set]);
    let of_file = |name: &str| json_lines(&fs::read(folder.path().join(name)).unwrap());
    check("external-message", &of_file("asked"));
    check("external-answer", &of_file("answered"));
}

#[test]
fn schemas_give_the_units_of_metrics() {
    let run = schema("run");
    let metrics = &run["$defs"]["Streams"]["additionalProperties"]["properties"];
    assert_eq!(metrics["received_rate"]["unit"], "bit/s");
    assert_eq!(metrics["rtt_p95"]["unit"], "s");
    assert_eq!(metrics["loss"]["unit"], "1");
    let lines = &schema("emulate")["$defs"]["Lines"]["additionalProperties"]["properties"];
    assert_eq!(lines["queue_delay_p95"]["unit"], "s");
    assert!(schema("experiment")["properties"]["host"].is_object());
}
