//! Text from outside reaches the terminal with its control characters as escapes, whatever command
//! prints it: names of files, arguments, experiments, stores, baselines, dumps, broker files,
//! answers of sockets, and the output of other programs.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{Bench, WEIR, in_folder, json_lines, lacking};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output};
use store::{Mode, RunMeta, Store};

/// A colour, a title, C1, DEL, bidirectional controls, and a line break with a forged message.
const HOSTILE: &str = "a\u{1b}[31mb\u{1b}]0;c\u{7}d\u{9b}2Je\u{7f}\u{202e}f\u{2066}\u{200f}\u{61c}\u{2028}\r\nerror: forged";

/// The same for the name of a file.
const NAME: &str = "n\u{1b}[2J\u{9b}m\u{202e}\nerror: forged";

/// [`HOSTILE`] as a string of TOML.
fn toml() -> String {
    let letters = HOSTILE.chars().map(|letter| format!("\\u{:04x}", u32::from(letter)));
    format!("\"{}\"", letters.collect::<String>())
}

/// An experiment whose free texts are all hostile.
fn experiment() -> String {
    let text = toml();
    format!(
        "title = {text}\nsource = {text}\nabout = {text}\nduration = \"2s\"\n\
         [host.alice]\nup = {{ rate = \"1Mbit/s\", queue = \"fq_codel\" }}\n[host.bob]\n\
         [call.main]\nfrom = \"alice\"\nto = \"bob\"\n\
         [[axis]]\nname = {text}\npoints = [{{ label = {text}, set = {{ \"host.bob.up.delay\" = \"9ms\" }} }}]\n"
    )
}

/// Control characters other than line breaks, and bidirectional controls and separators of lines.
fn is_raw(letter: char) -> bool {
    (letter.is_control() && letter != '\n')
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Checks both streams, and that no line is forged. A page of HTML may break its lines anywhere.
fn assert_escaped(what: &[&str], output: &Output) {
    for bytes in [&output.stdout, &output.stderr] {
        let text = std::str::from_utf8(bytes).unwrap();
        let raw = text.find(is_raw).map(|at| text[at..].chars().take(50).collect::<String>());
        assert_eq!(raw, None, "weir {what:?}");
        let forged = text.lines().any(|line| line == "error: forged");
        assert!(!forged || text.starts_with("<!DOCTYPE html>"), "weir {what:?}");
    }
}

/// Runs a command whose output is checked.
fn run(folder: &Path, args: &[&str]) -> Output {
    let output = in_folder(folder, args).output().unwrap();
    assert_escaped(args, &output);
    output
}

/// As [`run`]; the output must also show the hostile text, as an escape.
fn shows(folder: &Path, args: &[&str]) -> Output {
    let output = run(folder, args);
    let text = [&*output.stdout, &output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("\\u{1b}[") || text.contains("\\u001b["), "weir {args:?}: {text}");
    if args.contains(&"--json") {
        assert!(!json_lines(&output.stdout).is_empty(), "weir {args:?}");
    }
    output
}

/// A folder with the experiment under a hostile name and under `e.toml`, and with a store of it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("e.toml"), experiment()).unwrap();
    fs::write(folder.path().join(NAME), experiment()).unwrap();
    shows(folder.path(), &["run", "e.toml", "-q", "--store", "s.sqlite"]);
    foreign_runs(&folder.path().join("s.sqlite"));
    folder
}

/// Adds two measured runs with hostile metadata, as another program could: one of the experiment,
/// one of an experiment with a hostile name and hostile streams.
fn foreign_runs(path: &Path) {
    let mut store = Store::open(path).unwrap();
    let (run, mut recording) = (store.run(1).unwrap(), store.recording(1).unwrap());
    let text = || HOSTILE.to_owned();
    let notes = ["browser.alice", "cpuLimited", HOSTILE].map(|name| (name.to_owned(), text()));
    let (notes, mode) = (notes.to_vec(), Mode::Measured);
    let meta = RunMeta { version: text(), mode, notes, ..run.meta };
    store.insert(&meta, &recording, &[]).unwrap();
    for stream in &mut recording.streams {
        stream.name.push_str(HOSTILE);
    }
    store.insert(&RunMeta { experiment: text(), ..meta }, &recording, &[]).unwrap();
}

#[test]
fn experiments_and_their_names() {
    let folder = folder();
    let here = folder.path();
    for file in ["e.toml", NAME] {
        shows(here, &["run", file]);
        shows(here, &["run", file, "--json"]);
        shows(here, &["advise", file, "--remedy", "queue"]);
        run(here, &["advise", file, "--remedy", "fq_codel", "--json", "-q"]);
        shows(here, &["tc", file]);
        let output = shows(here, &["report", file, "-o", "/dev/stdout"]);
        assert!(output.stdout.starts_with(b"<!DOCTYPE html>"));
    }
    shows(here, &["report", "e.toml", "-o", NAME.trim_end()]);
    shows(here, &["tc", "e.toml", "--line", HOSTILE]);
    shows(here, &["tc", "e.toml", "--dev", HOSTILE]);
    // Without root, these two only say that they need root.
    run(here, &["emulate", "e.toml", "--cell", &format!("x={HOSTILE}")]);
    run(here, &["emulate", HOSTILE]);
    run(here, &["measure", HOSTILE]);
    shows(here, &["run", "e.toml", "--set", &format!("{HOSTILE}=1")]);
    shows(here, &["run", "e.toml", "--set", &format!("call.main.controller={HOSTILE}")]);
    for command in ["run", "advise", "report", "tc", "verify", "compare"] {
        let output: &[&str] = if command == "report" { &["-o", "x.html"] } else { &[] };
        shows(here, &[&[command, HOSTILE], output].concat());
        shows(here, &[command, &format!("--{HOSTILE}")]);
    }
}

#[test]
fn errors_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let text = toml();
    for wrong in [
        format!("{text} = 1"),
        format!("[host]\n{text} = 1"),
        format!("duration = {text}"),
        format!("[host.a]\nup = {{ queue = {text} }}\n[host.b]"),
        format!("[host.a]\nup = {{ rate = {{ trace = {text} }} }}\n[host.b]"),
        format!("[host.a]\n[host.b]\n[grid]\n{text} = [1]"),
        format!("[[figure]]\nkind = {text}"),
        format!("x = {HOSTILE}"),
    ] {
        fs::write(here.join("e.toml"), format!("title = \"t\"\n{wrong}\n")).unwrap();
        let output = run(here, &["run", "e.toml"]);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    fs::write(here.join("broker.toml"), format!("[relay.x]\nurls = [{text}]\n{text} = 1\n"))
        .unwrap();
    shows(here, &["serve", "--broker", "broker.toml"]);
    shows(here, &["serve", "--broker", HOSTILE]);
    shows(here, &["serve", "--film", HOSTILE]);
    fs::write(here.join("before.json"), format!("{HOSTILE}\n")).unwrap();
    run(here, &["verify", "C-5", "--baseline", "before.json"]);
    shows(here, &["verify", "C-5", "--with", HOSTILE]);
    shows(here, &["verify", "C-5", "--set", &format!("{HOSTILE}=1")]);
    shows(here, &["fit", "--source", HOSTILE]);
    shows(here, &["man", "-o", NAME]);
    shows(here, &["completions", HOSTILE]);
    shows(here, &["upload", "client", HOSTILE]);
    shows(here, &["advise", "situations/adsl-upload", "--remedy", HOSTILE]);
}

#[test]
fn stores_and_dumps() {
    let folder = folder();
    let here = folder.path();
    shows(here, &["list", "--store", "s.sqlite"]);
    shows(here, &["list", "--store", "s.sqlite", "--json"]);
    shows(here, &["list", "--store", HOSTILE]);
    shows(here, &["compare", "s.sqlite"]);
    run(here, &["compare", "s.sqlite", HOSTILE]);
    shows(here, &["compare", "s.sqlite", &format!("other {HOSTILE}")]);
    run(here, &["verify", "--from", "s.sqlite"]);
    shows(here, &["report", "--from", "s.sqlite", "-o", "/dev/stdout"]);
    shows(here, &["report", "--from", "s.sqlite", HOSTILE, "-o", "x.html"]);
    shows(here, &["export", "--from", "s.sqlite", "--csv", "/dev/stdout"]);
    shows(here, &["export", "--from", "s.sqlite", "2", "--stream", HOSTILE, "--csv", "x.csv"]);
    shows(here, &["export", "--from", NAME, "--csv", "x.csv"]);
    fs::write(here.join("dump"), format!("{{\"{HOSTILE}\": 1}}")).unwrap();
    run(here, &["import", "dump", "--store", "s.sqlite"]);
    shows(here, &["import", HOSTILE, "--store", "s.sqlite"]);
    shows(here, &["run", "e.toml", "-q", "--store", NAME]);
}

#[test]
fn other_programs_and_sockets() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let program = here.join("ffmpeg");
    fs::write(&program, format!("#!/bin/sh\nprintf '%s' '{HOSTILE}'\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    for more in [&[][..], &["--json"]] {
        let args = [&["doctor"], more].concat();
        let path = format!("{}:{}", here.display(), std::env::var("PATH").unwrap());
        let output = Command::new(WEIR).args(&args).env("PATH", path).output().unwrap();
        assert_escaped(&args, &output);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("\\u{1b}[31m") || text.contains("\\u001b[31m"), "{text}");
    }
    let listener = UnixListener::bind(here.join("socket")).unwrap();
    let answer = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        client.read_to_end(&mut Vec::new()).unwrap();
        let line = HOSTILE.lines().next().unwrap();
        write!(client, "{line}\n{line}\nerror: {line}").unwrap();
    });
    shows(here, &["control", "socket", "show"]);
    answer.join().unwrap();
    shows(here, &["control", HOSTILE, "show"]);
}

#[test]
fn the_output_of_emulated_programs() {
    let Some(bench) = Bench::new(&experiment(), &lacking()) else { return };
    let line = "alice=printf 'x\\033[31m\\033]0;t\\007\\302\\2332J\\n' && false";
    for (more, shown) in [(&[][..], "x\\u{1b}[31m"), (&["--json"], "x\\u001b[31m")] {
        let args = [&["emulate", "e.toml", "--run", line], more].concat();
        let output = bench.weir(&args).output().unwrap();
        assert_escaped(&args, &output);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(text.contains(shown), "{text}");
    }
}

#[test]
fn long_values_are_cut() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(500_000);
    for wrong in [format!("duration = \"{long}\""), format!("{long} = 1")] {
        fs::write(folder.path().join("e.toml"), format!("title = \"t\"\n{wrong}\n")).unwrap();
        let output = run(folder.path(), &["run", "e.toml"]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.len() < 1_200 && said.contains('…') && said.contains("kB"), "{said}");
        assert!(said.starts_with("error: e.toml:2: "), "{said}");
    }
}
