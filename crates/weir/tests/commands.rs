//! The command line as a user meets it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{in_folder, json_lines, weir};
use predicates::prelude::*;
use predicates::str::{contains, is_empty, starts_with};
use serde_json::Value;
use store::{Mode, RunMeta, Store};

const EXPERIMENT: &str = r#"
title = "Two rates"
duration = "5s"
runs = 2

[host.alice]
up = { rate = "1Mbit/s", delay = "25ms", queue = "droptail limit 150ms", loss = "1%" }

[host.bob]

[call.main]
from = "alice"
to = "bob"
controller = "gcc:carlucci-2017"

[grid]
"host.alice.up.rate" = ["500kbit/s", "1Mbit/s"]
"#;

/// A folder with the experiment above in it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("two.toml"), EXPERIMENT).unwrap();
    folder
}

#[test]
fn help_shows_examples() {
    weir(&["--help"]).assert().success().stdout(contains("weir verify carlucci-2017"));
    weir(&[]).assert().code(2).stderr(contains("Usage"));
    for command in ["list", "run", "verify", "report", "export", "doctor", "fit"] {
        weir(&[command, "--help"]).assert().success().stdout(contains("Usage"));
    }
}

#[test]
fn list_names_experiments_with_their_claims() {
    weir(&["list"]).assert().success().stdout(contains("carlucci-2017/fig11").and(contains("C-5")));
    let output = weir(&["list", "--json"]).assert().success().get_output().stdout.clone();
    let rows = json_lines(&output);
    let row = rows.iter().find(|row| row["name"] == "carlucci-2017/fig11").unwrap();
    assert_eq!((row["cells"].as_u64(), row["runs"].as_u64()), (Some(24), Some(10)));
    assert!(row["claims"].as_array().unwrap().iter().any(|claim| claim["id"] == "C-8"));
    weir(&["list", "--controllers"]).assert().success().stdout(contains("gcc:carlucci-2017"));
    weir(&["list", "--controllers"]).assert().success().stdout(contains("gcc:…+short-hold: "));
    let output =
        weir(&["list", "--controllers", "--json"]).assert().success().get_output().stdout.clone();
    let rows = json_lines(&output);
    let row = rows.iter().find(|row| row["name"] == "+aqm-alpha").unwrap();
    assert_eq!(
        (&row["published"]["decrease"], &row["libwebrtc"]["aimd.decrease"]),
        (&"0.95".into(), &"0.95".into())
    );
    weir(&["list", "--remedies"])
        .assert()
        .success()
        .stdout(contains("fq_codel").and(contains("RFC 8290")));
    let remedies = json_lines(
        &weir(&["list", "--remedies", "--json"]).assert().success().get_output().stdout.clone(),
    );
    assert!(remedies.iter().any(|remedy| remedy["name"] == "wmm" && remedy["kind"] == "wifi"));
    weir(&["list", "--metrics"]).assert().success().stdout(contains("queuing_delay_p95"));
}

#[test]
fn a_run_gives_one_object_a_run_and_the_same_whatever_the_threads() {
    let folder = folder();
    let run = |jobs: &str| {
        let args = ["run", "two.toml", "--json", "--seed", "7", "--jobs", jobs];
        in_folder(folder.path(), &args)
            .assert()
            .success()
            .stderr(is_empty())
            .get_output()
            .stdout
            .clone()
    };
    let one = run("1");
    assert_eq!(one, run("2"));
    let rows = json_lines(&one);
    let keys: Vec<_> = rows
        .iter()
        .map(|row| (row["run"].as_u64().unwrap(), row["seed"].as_u64().unwrap()))
        .collect();
    assert_eq!(keys, [(0, 7), (1, 8), (0, 7), (1, 8)]);
    assert_eq!(rows[2]["cell"]["host.alice.up.rate"], "1Mbit/s");
    assert!(rows[0]["streams"]["main.video"]["received_rate"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_table_shows_every_cell() {
    let folder = folder();
    in_folder(folder.path(), &["run", "two.toml", "--set", "runs=1"]).assert().success().stdout(
        contains("host.alice.up.rate=500kbit/s")
            .and(contains("main.video"))
            .and(contains("1 run per cell")),
    );
}

#[test]
fn bad_input_is_one_line_and_exit_code_2() {
    let folder = folder();
    std::fs::write(folder.path().join("bad.toml"), EXPERIMENT.replace("25ms", "25")).unwrap();
    for (args, message) in [
        (&["run", "bad.toml"][..], "error: bad.toml:7: host.alice.up.delay: '25' is not a time"),
        (
            &["run", "none.toml"],
            "error: none.toml: there is no experiment of this name, and there is no file 'none.toml'",
        ),
        (&["run", "two.toml", "--set", "duration=0s"], "error: --set: duration: "),
        (&["run", "two.toml", "--set", "call.*.controler=x"], "did you mean controller?"),
        (&["run", "."], "error: .: there is no experiment of this name, and '.' is a folder"),
        (&["verify", "C-99"], "error: there is no claim or paper 'C-99'"),
        (
            &["verify", "C-4", "--baseline", "none.json"],
            "name a file that 'weir verify --json' wrote",
        ),
        (&["fit", "--source", "none.mp4"], "error: --source none.mp4: there is no such file"),
        (&["verify", "C-4", "--baseline", "two.toml"], "error: two.toml:2: not a verdict"),
        (
            &["verify", "C-4", "--set", "call.main.controller=gcc:none"],
            "there is no controller 'gcc:none'",
        ),
    ] {
        let line_count = predicate::function(|text: &str| text.lines().count() == 1);
        in_folder(folder.path(), args)
            .assert()
            .code(2)
            .stdout(is_empty())
            .stderr(contains(message).and(line_count));
    }
    weir(&["run", "x", "--runs", "0"]).assert().code(2);
    weir(&["run", "x", "--set", "novalue"]).assert().code(2).stderr(contains("write KEY=VALUE"));
}

#[test]
fn verify_prints_verdicts_and_compares_with_a_baseline() {
    let folder = folder();
    let short = ["--runs", "1", "--set", "duration=5s", "--quiet"];
    let verify =
        |more: &[&str]| in_folder(folder.path(), &[&["verify", "C-5"], &short[..], more].concat());
    verify(&[]).assert().success().stdout(contains("C-5").and(contains("reproduced")));
    let output = verify(&["--json", "--save-baseline", "old.json"])
        .assert()
        .success()
        .get_output()
        .stdout
        .clone();
    let rows = json_lines(&output);
    assert_eq!((rows.len(), &rows[0]["id"]), (1, &Value::from("C-5")));
    for key in ["status", "measured", "published", "check", "where", "values"] {
        assert!(!rows[0][key].is_null(), "{key}");
    }
    assert_eq!(std::fs::read(folder.path().join("old.json")).unwrap(), output);
    verify(&["--baseline", "old.json"]).assert().success().stderr(is_empty());
    let mut better = rows[0].clone();
    better["status"] = "reproduced".into();
    for value in better["values"].as_array_mut().unwrap() {
        value["mean"] = 5.0.into();
    }
    std::fs::write(folder.path().join("better.json"), format!("{better}\n")).unwrap();
    verify(&["--baseline", "better.json"]).assert().code(1).stderr(starts_with("worse: C-5"));
    better["time_scale"] = 0.2.into();
    std::fs::write(folder.path().join("quick.json"), format!("{better}\n")).unwrap();
    verify(&["--baseline", "quick.json"])
        .assert()
        .code(2)
        .stderr(contains("compare --quick with --quick"));
}

#[test]
fn verify_puts_other_controllers_beside_the_papers() {
    let folder = folder();
    let verify = |more: &[&str]| {
        in_folder(
            folder.path(),
            &[&["verify", "--runs", "1", "--set", "duration=5s", "--quiet"], more].concat(),
        )
    };
    let output =
        verify(&["C-5", "--json", "--with", "all"]).assert().success().get_output().stdout.clone();
    let rows = json_lines(&output);
    let beside = rows[0]["beside"].as_array().unwrap();
    let names: Vec<&str> = beside.iter().filter_map(|other| other["controller"].as_str()).collect();
    let others = [
        "gcc:carlucci-2017",
        "gcc:jansen-2016",
        "gcc:draft-02",
        "gcc:chromium-2014",
        "gcc:chrome-47",
        "gcc:chrome-52",
        "gcc:firefox-48",
        "gcc:chrome-72",
        "gcc:libwebrtc",
        "kilinc-andersson",
        "nada",
        "nada@ns3-rmcat",
        "scream-v1",
        "scream-v1@ericsson",
        "scream-v2",
        "scream-v2@ericsson",
    ];
    assert_eq!(names, others, "not the one that was run");
    assert!(
        beside.iter().all(|other| other["holds"].is_boolean() && !other["values"][0].is_null())
    );
    // The threshold is what C-1 varies, and libwebrtc has no such setting.
    let row =
        verify(&["C-1", "--with", "gcc:libwebrtc", "--with", "gcc:draft-02"]).assert().success();
    row.stdout(contains("not run").and(contains("gcc:draft-02")));
    verify(&["C-5", "--with", "gcc:libwebrt"])
        .assert()
        .code(2)
        .stderr(contains("did you mean gcc:libwebrtc?"));
}

#[test]
fn verify_puts_improved_controllers_beside_the_papers() {
    let short = ["verify", "--as-printed", "--runs", "1", "--set", "duration=5s"];
    let verify = |more: &[&str]| weir(&[&short[..], more].concat());
    let assert = verify(&[
        "C-5",
        "--json",
        "--quiet",
        "--with",
        "+short-hold",
        "--with",
        "+short-hold+aqm-loss",
    ])
    .assert();
    let rows = json_lines(&assert.success().stderr(is_empty()).get_output().stdout);
    let beside = rows[0]["beside"].as_array().unwrap();
    let names: Vec<&str> = beside.iter().filter_map(|other| other["controller"].as_str()).collect();
    assert_eq!(names, ["+short-hold", "+short-hold+aqm-loss"]);
    assert!(beside.iter().all(|other| other["holds"].is_boolean()));
    // The paper's is the draft's profile, which has the pre-filter.
    let assert = verify(&["V-1", "--json", "--with", "improvements"]).assert().success();
    let assert = assert.stderr(
        contains(
            "note: V-1 not rerun with +outage-prefilter: gcc:draft-02 already has outage-prefilter",
        )
        .and(contains("note: V-1 not rerun with +packet-groups")),
    );
    let rows = json_lines(&assert.get_output().stdout);
    assert_eq!(
        rows[0]["beside"].as_array().unwrap().len(),
        experiment::controllers::improvements().len() - 2
    );
    for (name, message) in [
        ("+shorthold", "--with: there is no improvement 'shorthold'; did you mean short-hold?"),
        ("+", "--with: there is no improvement ''"),
        ("gcc:draft-02+none", "--with: there is no improvement 'none'"),
        (
            "kilinc-andersson+aqm-loss",
            "--with: improvement 'aqm-loss' does not apply to kilinc-andersson: only gcc profiles have improvements",
        ),
    ] {
        verify(&["C-5", "--with", name]).assert().code(2).stderr(contains(message));
    }
}

#[test]
fn a_stores_runs_are_listed() {
    let folder = folder();
    in_folder(folder.path(), &["run", "two.toml", "-q", "--store", "s.sqlite"]).assert().success();
    let list = |more: &[&str]| {
        in_folder(folder.path(), &[&["list", "--store", "s.sqlite"], more].concat())
    };
    list(&[]).assert().success().stdout(contains("host.alice.up.rate=500kbit/s"));
    let rows = json_lines(&list(&["--json"]).assert().success().get_output().stdout);
    assert_eq!(rows[0]["run"], 1);
    assert_eq!(rows.last().unwrap()["cell"]["host.alice.up.rate"], "1Mbit/s");
    assert_eq!(rows[0]["notes"]["digest"].as_str().map(str::len), Some(64), "{}", rows[0]);
    in_folder(folder.path(), &["list", "--store", "none"]).assert().code(2);
}

#[test]
fn a_measured_run_is_listed_with_its_browsers_and_the_mark_of_a_slow_machine() {
    let folder = folder();
    in_folder(folder.path(), &["run", "two.toml", "-q", "--store", "s.sqlite"]).assert().success();
    let mut store = Store::open(&folder.path().join("s.sqlite")).unwrap();
    let (run, recording) = (store.run(1).unwrap(), store.recording(1).unwrap());
    let notes = [
        ("browser.alice", "Chromium 156.0.8078.73"),
        ("browser.bob", "Firefox 153.0"),
        ("cpuLimited", "the machine was 98 % busy"),
    ];
    let notes = notes.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    store.insert(&RunMeta { mode: Mode::Measured, notes, ..run.meta }, &recording, &[]).unwrap();
    let list = |more: &[&str]| {
        in_folder(folder.path(), &[&["list", "--store", "s.sqlite"], more].concat())
    };
    list(&[]).assert().success().stdout(contains("CPU-limited, Chromium 156, Firefox 153"));
    let rows = json_lines(&list(&["--json"]).assert().success().get_output().stdout);
    assert_eq!(rows.last().unwrap()["notes"]["cpuLimited"], "the machine was 98 % busy");
}

/// A folder with a store of one experiment in its short form: simulated, and as if a browser had
/// done the same.
fn folder_with_a_measured_call() -> tempfile::TempDir {
    use store::{Filter, Mode, RunMeta, Store};
    let folder = folder();
    let args = [
        "run",
        "guerrero-viveros-2019/fig6-1",
        "--quick",
        "--runs",
        "1",
        "--store",
        "s.sqlite",
        "--quiet",
    ];
    in_folder(folder.path(), &args).assert().success();
    let mut store = Store::open(&folder.path().join("s.sqlite")).unwrap();
    let run = store.runs(&Filter::default()).unwrap().remove(0);
    let recording = store.recording(run.id).unwrap();
    let notes =
        [("browser.pc1", "Chromium 156.0.8078.73"), ("cpuLimited", "the machine was 98 % busy")];
    let notes = notes.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    store.insert(&RunMeta { mode: Mode::Measured, notes, ..run.meta }, &recording, &[]).unwrap();
    folder
}

#[test]
fn stored_runs_are_judged_apart_by_who_made_them() {
    let folder = folder_with_a_measured_call();
    let verify = |more: &[&str]| {
        in_folder(folder.path(), &[&["verify", "--from", "s.sqlite"], more].concat())
    };
    let output = verify(&["--json"]).assert().success().get_output().stdout.clone();
    let who: Vec<Value> = json_lines(&output).iter().map(|row| row["who"].clone()).collect();
    assert!(
        who.contains(&"Chromium 156".into()) && who.contains(&"simulator, gcc:chrome-72".into()),
        "{who:?}"
    );
    assert_eq!(json_lines(&output)[0]["time_scale"], 0.5);
    verify(&[]).assert().success().stdout(contains("CPU-limited in 1 cell; quick: schedule × 0.5"));
    verify(&["C-5"])
        .assert()
        .success()
        .stdout(contains("there is no stored run of carlucci-2017/fig11"));
    verify(&["--quick"]).assert().code(2);
}

#[test]
fn a_run_that_cannot_be_read_any_more_is_left_out() {
    let folder = folder_with_a_measured_call();
    let mut store = Store::open(&folder.path().join("s.sqlite")).unwrap();
    let (run, recording) = (store.run(1).unwrap(), store.recording(1).unwrap());
    store.insert(&RunMeta { file: "title = 1".into(), ..run.meta }, &recording, &[]).unwrap();
    let weir = |args: &[&str]| in_folder(folder.path(), args).assert();
    for args in [
        &["compare", "s.sqlite", "-q"][..],
        &["verify", "--from", "s.sqlite"],
        &["report", "--from", "s.sqlite", "-o", "page.html"],
    ] {
        weir(args).success().stderr(contains("left out: run 3 cannot be read: "));
    }
    weir(&["report", "--from", "s.sqlite", "3", "-o", "x.html"])
        .code(2)
        .stderr(contains("run 3 cannot"));
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains(", measured *") && page.contains("lacked processor time in run 2"));
    weir(&["export", "--from", "s.sqlite", "2", "--csv", "x.csv", "--stream", "main.video"])
        .success()
        .stderr(contains("run 2 is CPU-limited: the machine was 98 % busy"));
    weir(&["export", "--from", "s.sqlite", "2", "--csv", "x.csv"]).success();
    let table = std::fs::read_to_string(folder.path().join("x.csv")).unwrap();
    assert!(table.contains("\n2,guerrero-viveros-2019/fig6-1,measured,true,"));
}

#[test]
fn measured_runs_are_set_against_the_simulator() {
    let folder = folder_with_a_measured_call();
    let compare = |more: &[&str]| {
        in_folder(folder.path(), &[&["compare", "s.sqlite", "--quiet"], more].concat())
    };
    compare(&[])
        .assert()
        .success()
        .stdout(contains("fig6-1, schedule × 0.5").and(contains("Chromium 156, CPU-limited")));
    let output =
        compare(&["--json", "-o", "side.html"]).assert().success().get_output().stdout.clone();
    let rows = json_lines(&output);
    let metrics: Vec<&str> = rows.iter().filter_map(|row| row["metric"].as_str()).collect();
    assert_eq!(metrics, ["received_rate", "loss", "rtt_p95"]);
    assert!(rows.iter().all(|row| row["cpu_limited"] == true && row["difference"].is_number()));
    let page = std::fs::read_to_string(folder.path().join("side.html")).unwrap();
    assert!(
        page.contains("simulator, today's Chromium")
            && page.contains("* CPU-limited: in guerrero-viveros-2019/fig6-1")
    );
    let output = compare(&["--claims", "--json"]).assert().success().get_output().stdout.clone();
    let who: Vec<Value> = json_lines(&output).iter().map(|row| row["who"].clone()).collect();
    assert_eq!(who[..2], ["Chromium 156", "simulator, gcc:chrome-72"]);
    assert!(who.contains(&"simulator, today's Chromium".into()), "{who:?}");
    compare(&["jansen-2016"]).assert().code(2).stderr(contains("no run of 'jansen-2016'"));
}

#[test]
fn no_output_takes_the_place_of_another_file_of_the_command() {
    let folder = folder();
    in_folder(folder.path(), &["run", "two.toml", "-q", "--store", "s.sqlite"]).assert().success();
    let before = std::fs::read(folder.path().join("s.sqlite")).unwrap();
    for args in [
        &["export", "--from", "s.sqlite", "--csv", "./s.sqlite"][..],
        &["run", "two.toml", "--pcap", "two.toml"],
        &["run", "two.toml", "--store", "s.sqlite", "--pcap", "s.sqlite"],
        &["report", "two.toml", "-o", "two.toml"],
        &["report", "--from", "s.sqlite", "-o", "s.sqlite"],
        &["verify", "C-5", "--report", "x", "--save-baseline", "x"],
    ] {
        in_folder(folder.path(), args)
            .assert()
            .code(2)
            .stderr(contains("another option names the same file"));
    }
    assert_eq!(std::fs::read(folder.path().join("s.sqlite")).unwrap(), before);
    assert_eq!(std::fs::read_to_string(folder.path().join("two.toml")).unwrap(), EXPERIMENT);
}

#[test]
fn a_closed_pipe_is_no_error() {
    use std::process::{Command, Stdio};
    let mut child = Command::new(common::WEIR)
        .args(["list", "--metrics"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success());
}

#[test]
fn doctor_says_what_is_there_and_how_to_get_the_rest() {
    let output = weir(&["doctor", "--json"]).assert().success().get_output().stdout.clone();
    let rows = json_lines(&output);
    for what in ["processor", "disk", "ffmpeg", "tshark", "chromium", "network namespaces"] {
        let row = rows.iter().find(|row| row["what"] == what).unwrap();
        assert!(row["status"] == "good" || row["suggestion"] != "", "{row}");
    }
    weir(&["doctor"]).assert().success().stdout(contains("ffmpeg"));
}

#[test]
fn runs_are_kept_exported_and_shown() {
    let folder = folder();
    let weir = |args: &[&str]| in_folder(folder.path(), args).assert();
    weir(&["run", "two.toml", "--store", "runs.sqlite", "--pcap", "first.pcapng", "--quiet"])
        .success();
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    // The block type of a pcapng section header (draft-ietf-opsawg-pcapng, section 4.1).
    assert_eq!(read("first.pcapng")[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    weir(&["export", "--from", "runs.sqlite", "--csv", "runs.csv"]).success();
    let csv = String::from_utf8(read("runs.csv")).unwrap();
    assert!(
        csv.starts_with("run,experiment,mode,cpu_limited,cell.host.alice.up.rate,seed,stream,"),
        "{}",
        &csv[..80]
    );
    weir(&["export", "--from", "runs.sqlite", "2", "--csv", "one.csv", "--stream", "main.video"])
        .success();
    assert!(String::from_utf8(read("one.csv")).unwrap().starts_with("time_s,bytesSent,"));
    weir(&["export", "--from", "runs.sqlite", "--parquet", "runs.parquet"]).success();
    assert_eq!(read("runs.parquet")[..4], *b"PAR1");
    weir(&["report", "--from", "runs.sqlite", "1", "3", "-o", "page.html"]).success();
    let page = String::from_utf8(read("page.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("Two rates"));
    weir(&["report", "two.toml", "--runs", "1", "-o", "page.html"]).success();
    weir(&["export", "--from", "runs.sqlite", "9", "--csv", "x.csv"]).code(2).stderr(contains("9"));
    weir(&["export", "--from", "none.sqlite", "--csv", "x.csv"])
        .code(2)
        .stderr(contains("none.sqlite"));
    weir(&["run", "two.toml", "--store", "two.toml"]).code(2).stderr(contains("two.toml"));
}

/// Two classes and a DSCP filter, as in tc-htb(8), tc-u32(8) and LARTC § 9.5, pasted as they stand.
const GATEWAY: &str = r#"
title = "A pasted gateway"
duration = "60s"

[host.alice]
up = { delay = "20ms", queue = """
#!/bin/sh
tc qdisc del dev eth0 root 2>/dev/null
# calls before everything else
tc qdisc add dev eth0 root handle 1: htb default 30
tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit burst 15k
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 500kbit ceil 1mbit burst 15k prio 1
tc class add dev eth0 parent 1:1 classid 1:30 htb rate 1kbit ceil 1mbit burst 15k prio 2
tc qdisc add dev eth0 parent 1:10 handle 10: sfq perturb 10
tc filter add dev eth0 protocol ip parent 1:0 prio 1 u32 match ip tos 0x88 0xfc flowid 1:10
""" }

[host.bob]

[call.main]
from = "alice"
to = "bob"
dscp = "af41"

[tcp.upload]
from = "alice"
to = "bob"
"#;

#[test]
fn a_pasted_script_of_tc_runs_as_it_stands_and_is_written_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gateway.toml");
    std::fs::write(&path, GATEWAY).unwrap();
    let rates = |set: &str| {
        let output =
            weir(&["run", path.to_str().unwrap(), "--json", "--set", set]).assert().success();
        let value: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
        let rate = |stream: &str| value["streams"][stream]["received_rate"].as_f64().unwrap();
        (rate("main.video"), rate("upload.tcp"))
    };
    let ((marked, beside), (unmarked, _)) =
        (rates("call.main.dscp=af41"), rates("call.main.dscp=be"));
    assert!(marked > 450e3 && marked + beside < 1e6, "{marked} {beside}");
    assert!(unmarked < marked / 2.0, "unmarked it shares the class of the upload: {unmarked}");
    let written = weir(&["tc", path.to_str().unwrap(), "--dev", "ppp0"]).assert().success();
    let written = String::from_utf8(written.get_output().stdout.clone()).unwrap();
    assert!(
        written.starts_with(
            "# alice.up\ntc qdisc replace dev ppp0 root pfifo\n\
             tc qdisc replace dev ppp0 root handle 1: htb default 30"
        ),
        "{written}"
    );
    for protocol in ["ip", "ipv6"] {
        let field = if protocol == "ip" { "ip dsfield" } else { "ip6 priority" };
        let filter = format!("u32 match {field} 0x88 0xfc flowid 1:10");
        let has =
            |line: &str| line.contains(&format!("protocol {protocol} ")) && line.ends_with(&filter);
        assert!(written.lines().any(has), "{written}");
    }
    assert!(written.ends_with("\n# back: tc qdisc del dev ppp0 root\n"), "{written}");
    weir(&["tc", path.to_str().unwrap(), "--line", "bob.up"])
        .assert()
        .code(2)
        .stderr(contains("no queue at bob.up; give a host's 'up' or 'down' a queue"));
    std::fs::write(&path, GATEWAY.replace("rate 500kbit ceil 1mbit", "rate 500kbit ceil 2mbit"))
        .unwrap();
    let message = "host.alice.up.queue: line 6: ceil 2Mbit of class 1:10 is above the ceil of its parent 1:1, 1Mbit; lower";
    weir(&["run", path.to_str().unwrap()])
        .assert()
        .code(2)
        .stderr(contains(message))
        .stdout(is_empty());
}

#[test]
fn a_device_is_a_name_of_linux_and_one_word_of_the_shell() {
    let tc = |device: &str| weir(&["tc", "janczukowicz-2017/adsl-ct-turn", "--dev", device]);
    let advise = |device: &str| weir(&["advise", "situations/adsl-upload", "--dev", device]);
    for wrong in ["eth0; touch X", "eth0\ntouch X", "", "a/b", "a:1", "..", "sixteen-letters-"] {
        for mut command in [tc(wrong), advise(wrong)] {
            let message = contains("'ip link' lists the devices").and(contains("--dev"));
            command.assert().code(2).stdout(is_empty()).stderr(message);
        }
    }
    tc("eth0;reboot")
        .assert()
        .success()
        .stdout(contains("tc qdisc replace dev 'eth0;reboot' root"));
    tc("br-lan.7").assert().success().stdout(contains("tc qdisc replace dev br-lan.7 root"));
}

#[test]
fn completions_manual_pages_and_the_schema_come_from_the_definitions() {
    weir(&["completions", "bash"]).assert().success().stdout(contains("verify"));
    let schema = weir(&["schema"]).assert().success().get_output().stdout.clone();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    assert!(schema["properties"]["host"].is_object(), "{schema}");
    let folder = tempfile::tempdir().unwrap();
    in_folder(folder.path(), &["man", "-o", "."]).assert().success();
    assert!(folder.path().join("weir-run.1").is_file());
    weir(&["--version"]).assert().success().stdout(contains(env!("CARGO_PKG_VERSION")));
}

#[test]
fn a_file_that_reaches_the_size_limit_is_an_error_and_not_a_silent_end() {
    let folder = tempfile::tempdir().unwrap();
    let text = "title = \"t\"\nduration = \"20s\"\n[host.a]\nup = { rate = \"1Mbit/s\" }\n[host.b]\n\
        [tcp.flow]\nfrom = \"a\"\nto = \"b\"\n";
    std::fs::write(folder.path().join("e.toml"), text).unwrap();
    for args in [
        "schema > schema.json",
        "man -o pages",
        "report e.toml --quiet -o report.html",
        "run e.toml --quiet --pcap flow.pcapng",
        "run e.toml --quiet --store runs.sqlite",
    ] {
        // The limit has blocks of 512 or 1024 bytes, depending on the shell.
        let script = format!("ulimit -f 1; exec '{}' {args}", common::WEIR);
        let mut command = std::process::Command::new("sh");
        let output = command.args(["-c", &script]).current_dir(folder.path()).output().unwrap();
        let said = common::said(&output);
        assert_eq!(output.status.code(), Some(2), "{args}: {:?} {said}", output.status);
        assert!(said.starts_with("error: ") && said.lines().count() == 1, "{args}: {said}");
    }
}

/// A suite of one cell.
const SUITE: &str = r#"
title = "A line"
duration = "8s"
runs = 3
[host.alice]
up = { rate = "1Mbit/s", delay = "25ms", queue = "droptail limit 150ms" }
[host.bob]
[call.main]
from = "alice"
to = "bob"
"#;

fn judge(folder: &std::path::Path, args: &[&str]) -> assert_cmd::Command {
    std::fs::write(folder.join("suite.toml"), SUITE).unwrap();
    in_folder(folder, &[&["judge", "--suite", "suite.toml", "-q"], args].concat())
}

#[test]
fn a_controller_is_the_same_as_itself() {
    let folder = tempfile::tempdir().unwrap();
    let same = contains("the same: no difference that counts");
    judge(folder.path(), &["gcc:libwebrtc"]).assert().success().stdout(same);
    let repeats = contains("0 alarms in 5 repeats of gcc:libwebrtc");
    judge(folder.path(), &["gcc:libwebrtc", "--repeat", "5"]).assert().success().stdout(repeats);
}

#[test]
fn a_worse_controller_is_reported_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let files = ["--junit", "j.xml", "--markdown", "m.md", "-o", "p.html", "--json"];
    let slow = [&["fixed:100kbit/s"], &files[..]].concat();
    let output = judge(folder.path(), &slow).assert().code(1).get_output().stdout.clone();
    let findings = json_lines(&output);
    let rate =
        |finding: &&Value| finding["metric"] == "received_rate" && !finding["cell"].is_null();
    let rate = findings.iter().find(rate).unwrap();
    assert_eq!((&rate["verdict"], &rate["words"]), (&"worse".into(), &"much worse".into()));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("j.xml").contains("<failure message=\"much worse: "));
    assert!(read("m.md").contains("| much worse | A line"));
    assert!(read("p.html").contains("received_rate"));
}

#[test]
fn a_program_that_fails_costs_its_runs_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let failed = contains("3 of 6 runs failed").and(contains("cannot start './missing'"));
    judge(folder.path(), &["external:./missing"]).assert().code(1).stderr(failed);
}

/// Compiles a controller in C to `NAME.so` in the folder; `None` without a compiler, which a line
/// says.
fn compiled(folder: &std::path::Path, name: &str, source: &str) -> Option<String> {
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../../adapters/c");
    let (library, file) = (format!("{name}.so"), format!("{name}.c"));
    std::fs::write(folder.join(&file), source).unwrap();
    let strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"];
    let done = std::process::Command::new("cc")
        .args(["-O1", "-shared", "-fPIC", "-I", header, "-o", &library, &file, "-lm"])
        .args(strict)
        .current_dir(folder)
        .output();
    let Ok(done) = done else {
        common::note("skipped: needs a C compiler");
        return None;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(format!("library:./{library}"))
}

const C_CONTROLLER: &str = include_str!("../../../adapters/c/controller.c");

#[test]
fn a_shared_library_is_judged() {
    let folder = tempfile::tempdir().unwrap();
    // What a library prints does not disturb the messages.
    let source = C_CONTROLLER
        .replace("#include <stdlib.h>", "#include <stdlib.h>\n#include <stdio.h>")
        .replace("  self->low = ", "  printf(\"hello\\n\");\n  self->low = ");
    let Some(controller) = compiled(folder.path(), "own", &source) else { return };
    std::fs::write(folder.path().join("suite.toml"), SUITE).unwrap();
    let set = format!("call.main.controller={controller}");
    let run = ["run", "suite.toml", "--runs", "1", "-q", "--json", "--set", &set];
    let of_run = || in_folder(folder.path(), &run).assert().success().get_output().stdout.clone();
    let lines = json_lines(&of_run());
    let rate = lines[0]["streams"]["main.video"]["received_rate"].as_f64().unwrap();
    assert!((2e5..1e6).contains(&rate), "{rate} bit/s of 1 Mbit/s");
    assert_eq!(lines, json_lines(&of_run()));
    let adapter = concat!(env!("CARGO_MANIFEST_DIR"), "/../../adapters/python/controller.py");
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return common::note("skipped: needs python3");
    }
    // The adapter in Python is the same controller.
    let python = format!("external:python3 '{adapter}'");
    let args = ["equal", &controller, &python, "--experiment", "suite.toml"];
    let same = contains("equal after");
    in_folder(folder.path(), &[&args[..], &["--tolerance", "1e-9"]].concat())
        .assert()
        .success()
        .stdout(same);
}

#[test]
fn a_library_that_fails_costs_its_runs_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let place = "  decide(self, answer);\n}\n\nvoid weir_controller_free";
    let with = |code: &str| {
        C_CONTROLLER.replace(place, &format!("  if (message->now > 1) {code}\n{place}"))
    };
    for (name, source, expected) in [
        ("crash", with("abort();"), "signal: 6 (SIGABRT)"),
        ("hang", with("for (;;);"), "no answer within 200ms"),
        ("nonsense", with("{ answer->target_rate = -5; return; }"), "target_rate is -5"),
        ("silent", with("return;"), "has not set target_rate"),
        ("array", with("answer->probe_count = 7;"), "probes is not an array of 7"),
        (
            "old",
            C_CONTROLLER.replace("return WEIR_CONTROLLER_VERSION;", "return 99;"),
            "the library has version 99",
        ),
        ("empty", "int nothing;\n".to_owned(), "does not export weir_controller_version"),
    ] {
        let Some(controller) = compiled(folder.path(), name, &source) else { return };
        let limit = ["--set", "answer_limit=200ms"];
        let failed = contains("3 of 6 runs failed").and(contains(expected));
        judge(folder.path(), &[&[&controller[..]], &limit[..]].concat())
            .assert()
            .code(1)
            .stderr(failed);
    }
    let missing = contains("cannot open the library").and(contains("3 of 6 runs failed"));
    judge(folder.path(), &["library:./none.so"]).assert().code(1).stderr(missing);
}

#[test]
fn equal_controllers_are_equal_and_others_diverge_first_somewhere() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("suite.toml"), SUITE).unwrap();
    let equal = |second: &[&str]| {
        let args = ["equal", "gcc:libwebrtc", "gcc:libwebrtc", "--experiment", "suite.toml"];
        in_folder(folder.path(), &[&args, second].concat())
    };
    equal(&[]).assert().success().stdout(contains("equal after"));
    let diverges = contains("first divergence at").and(contains("target_rate of main"));
    equal(&["--set", "aimd.decrease=0.6"]).assert().code(1).stdout(diverges);
}
