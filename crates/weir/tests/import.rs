//! Dumps of chrome://webrtc-internals, in and out, as a user does it.

mod common;

use assert_cmd::assert::Assert;
use common::in_folder;
use predicates::prelude::*;
use predicates::str::contains;
use std::fs;
use std::path::Path;

const DUMP: &[u8] =
    include_bytes!("../../testbed/src/measure/internals/fixtures/chromium-156.json.gz");

fn weir(folder: &Path, args: &[&str]) -> Assert {
    in_folder(folder, args).assert()
}

#[test]
fn a_dump_becomes_a_run_that_is_listed_reported_and_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("office.json.gz"), DUMP).unwrap();
    weir(folder, &["import", "office.json.gz", "--store", "s.sqlite"])
        .success()
        .stdout(contains("run 1 of office in s.sqlite"));
    let listed = contains("office").and(contains("measured")).and(contains("Chromium 156"));
    weir(folder, &["list", "--store", "s.sqlite"]).success().stdout(listed);
    weir(folder, &["report", "--from", "s.sqlite", "1", "-o", "r.html"]).success();
    assert!(fs::read_to_string(folder.join("r.html")).unwrap().contains("call1.video"));
    weir(folder, &["export", "--from", "s.sqlite", "1", "--webrtc-internals", "again.json"])
        .success();
    weir(folder, &["import", "again.json", "--store", "s.sqlite", "--name", "again"]).success();
    for (run, file) in [("1", "one.csv"), ("2", "two.csv")] {
        let args = ["export", "--from", "s.sqlite", run, "--csv", file, "--stream", "call1.video"];
        weir(folder, &args).success();
    }
    let table = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
    assert_eq!(table("one.csv"), table("two.csv"));
    assert!(table("one.csv").contains(",22296,"), "{}", table("one.csv"));
}

#[test]
fn what_is_no_dump_is_refused_in_a_line_and_leaves_no_store() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("x.json"), "{}").unwrap();
    for (file, why) in [
        ("x.json", "x.json: not a dump of webrtc-internals"),
        ("none.json", "none.json: cannot read it"),
    ] {
        weir(folder, &["import", file, "--store", "s.sqlite"]).code(2).stderr(contains(why));
    }
    assert!(!folder.join("s.sqlite").exists());
}

#[test]
fn one_run_is_written_and_it_must_be_a_measured_one() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("d.gz"), DUMP).unwrap();
    let two = "title = \"t\"\nduration = \"2s\"\n[host.a]\n[host.b]\n[call.main]\nfrom = \"a\"\nto = \"b\"\n";
    fs::write(folder.join("two.toml"), two).unwrap();
    weir(folder, &["run", "two.toml", "-q", "--store", "s.sqlite"]).success();
    weir(folder, &["import", "d.gz", "--store", "s.sqlite"]).success();
    let export = |more: &[&str]| {
        weir(
            folder,
            &[&["export", "--from", "s.sqlite", "--webrtc-internals", "o.json"], more].concat(),
        )
    };
    export(&["1"]).code(2).stderr(contains("a simulated run has no statistics"));
    export(&[]).code(2).stderr(contains("writes one run"));
    assert!(!folder.join("o.json").exists());
}
