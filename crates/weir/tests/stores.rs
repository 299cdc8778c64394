//! Stores of many runs: killed writers, pages of thousands of runs, and forged stores.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{WEIR, in_folder};
use predicates::prelude::*;
use predicates::str::contains;
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use store::{Filter, Store};

/// An experiment with this many cells of one run of one second.
fn grid(cells: usize) -> String {
    let mut rates = String::new();
    (0..cells).for_each(|cell| write!(rates, "\"{}kbit/s\", ", 500 + cell).unwrap());
    format!(
        r#"
title = "Many rates"
duration = "1s"

[host.alice]
up = {{ rate = "1Mbit/s", delay = "25ms", queue = "droptail limit 150ms" }}

[host.bob]

[call.main]
from = "alice"
to = "bob"
controller = "gcc:carlucci-2017"

[grid]
"host.alice.up.rate" = [{rates}]
"#
    )
}

/// A folder with an experiment.
fn folder(experiment: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("e.toml"), experiment).unwrap();
    folder
}

/// The number of runs in a store whose every part is intact.
fn intact(path: &Path) -> usize {
    let store = Store::open(path).unwrap();
    store.check().unwrap();
    store.runs(&Filter::default()).unwrap().len()
}

/// Kills the program with SIGKILL after it has reported `wanted` runs; returns how many it had
/// reported in the end.
fn killed(folder: &Path, wanted: usize) -> usize {
    let mut child = Command::new(WEIR)
        .args(["run", "e.toml", "--json", "--quiet", "--store", "s.sqlite"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reported = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        // The last line may be cut.
        let Ok(line) = line else { break };
        reported += usize::from(line.ends_with('}'));
        if reported == wanted {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    reported
}

/// A run is reported after its group is stored, so the test needs no clock: every reported run is
/// there, not only those that were reported 100 ms before.
#[test]
fn a_killed_run_keeps_every_run_that_it_has_reported() {
    const CELLS: usize = 400;
    let folder = folder(&grid(CELLS));
    let path = folder.path().join("s.sqlite");
    let mut kept = 0;
    for wanted in [1, 30, 150] {
        let reported = killed(folder.path(), wanted);
        assert!(reported >= wanted, "killed after {wanted} runs: {reported} reported");
        let now = intact(&path);
        // Reported runs may come from the store.
        assert!(now >= reported.max(kept), "{reported} were reported, {now} are there");
        kept = now;
    }
    assert!(kept < CELLS, "the program was killed too late");
    in_folder(folder.path(), &["run", "e.toml", "--store", "s.sqlite"])
        .assert()
        .success()
        .stderr(contains(format!("{kept} runs were already in the store")));
    assert_eq!(intact(&path), CELLS);
}

#[test]
fn two_processes_write_to_one_store() {
    let folder = folder(&grid(60));
    let run = |seed: &str| {
        Command::new(WEIR)
            .args(["run", "e.toml", "--quiet", "--seed", seed, "--store", "s.sqlite"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    for mut child in [run("1"), run("2")] {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(intact(&folder.path().join("s.sqlite")), 120);
}

#[test]
fn the_store_has_the_same_bytes_whatever_the_threads() {
    let folder = folder(&grid(40));
    let bytes = |jobs: &str| {
        let store = format!("{jobs}.sqlite");
        in_folder(folder.path(), &["run", "e.toml", "-q", "--jobs", jobs, "--store", &store])
            .assert()
            .success();
        std::fs::read(folder.path().join(store)).unwrap()
    };
    assert!(bytes("1") == bytes("3"));
}

/// A page says which cells it leaves out, and has no more plots than a browser shows at once.
#[test]
fn a_page_of_many_runs_is_limited_and_says_so() {
    let figures = r#"
[[figure]]
kind = "time"
title = "Rates"
panels = [{ label = "rate", unit = "kbit/s", lines = [{ stream = "main.video", value = "sent_rate" }] }]

[[figure]]
kind = "cdf"
title = "Delays"
label = "RTT"
unit = "ms"
value = { metric = "rtt", stream = "main.video" }

[[figure]]
kind = "bars"
title = "Means"
label = "received"
unit = "kbit/s"
values = [{ metric = "received_rate", stream = "main.video" }]

[[figure]]
kind = "table"
title = "All"
values = [{ name = "received", metric = "received_rate", stream = "main.video" }]
"#;
    let folder = folder(&format!("{}{figures}", grid(130)));
    let weir = |args: &[&str]| in_folder(folder.path(), args).assert().success();
    weir(&["run", "e.toml", "-q", "--store", "s.sqlite"]);
    weir(&["report", "--from", "s.sqlite", "-o", "stored.html"]);
    weir(&["report", "e.toml", "-q", "-o", "run.html"]);
    for page in ["stored.html", "run.html"] {
        let page = std::fs::read_to_string(folder.path().join(page)).unwrap();
        assert_eq!(page.matches("plot broad").count(), 50 + 1 + 1);
        for remark in [
            "Shown: the first 50 of 130 cells",
            "Shown: the first 24 of 130 cells",
            "Drawn: the first 100 of 130 groups",
            "<summary>30 more rows</summary>",
        ] {
            assert!(page.contains(remark), "{remark}");
        }
        assert!(page.contains("629kbit/s"), "the tables have every cell");
    }
}

/// Reading a stored run takes no time that grows with the cells of its experiment: 1,500 runs of
/// 1,500 cells would take minutes with one expansion of the grid per run.
#[test]
fn many_runs_of_many_cells_are_compared_and_reported() {
    let folder = folder(&grid(1500));
    let weir = |args: &[&str]| {
        let mut command = in_folder(folder.path(), args);
        command.timeout(std::time::Duration::from_secs(120)).assert().success()
    };
    weir(&["run", "e.toml", "-q", "--set", "duration=\"500ms\"", "--store", "s.sqlite"]);
    weir(&["report", "--from", "s.sqlite", "-o", "page.html"]);
    weir(&["compare", "s.sqlite", "-q"]);
}

/// Runs the program with at most 4 GB of address space, so that a forged size ends in an error here
/// and not in the machine's memory.
fn limited(folder: &Path, args: &[&str]) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new("sh");
    command.args(["-c", "ulimit -v 4000000; exec \"$@\"", "sh", WEIR]).args(args);
    command.current_dir(folder);
    command
}

#[test]
fn a_forged_store_is_an_error_and_no_crash() {
    let folder = folder(&grid(2));
    in_folder(folder.path(), &["run", "e.toml", "-q", "--store", "good.sqlite"]).assert().success();
    let zeros = zstd::stream::encode_all(std::io::Read::take(std::io::repeat(0), 1 << 30), 1);
    for (change, says) in [
        // Two threads read the two runs, and either may be the first.
        ("UPDATE run SET duration_ns = 9223372036854775807", "the duration of run "),
        ("UPDATE series SET count = 134217728, data = ?1", "more than 67108864 values"),
        ("UPDATE series SET data = ?1", "does not hold its"),
    ] {
        let path = folder.path().join("bad.sqlite");
        std::fs::copy(folder.path().join("good.sqlite"), &path).unwrap();
        let connection = rusqlite::Connection::open(&path).unwrap();
        let values = rusqlite::params_from_iter(
            change.contains("?1").then(|| zeros.as_ref().unwrap().clone()),
        );
        connection.execute(change, values).unwrap();
        drop(connection);
        for args in [
            &["report", "--from", "bad.sqlite", "-o", "page.html"][..],
            &["export", "--from", "bad.sqlite", "--csv", "runs.csv"],
            &["compare", "bad.sqlite", "-q"],
            &["run", "e.toml", "-q", "--store", "bad.sqlite"],
        ] {
            limited(folder.path(), args)
                .assert()
                .code(2)
                .stderr(contains("bad.sqlite: is damaged").and(contains(says)));
        }
        assert!(!folder.path().join("runs.csv").exists(), "no part of an export remains");
    }
}

#[test]
fn samples_that_do_not_fit_into_memory_are_refused() {
    let folder = folder(&grid(1).replace("duration = \"1s\"", "duration = \"5s\""));
    limited(folder.path(), &["run", "e.toml", "-q", "--set", "sample_interval=\"1us\""])
        .assert()
        .code(2)
        .stderr(contains("sample_interval: a run would record").and(contains("or longer")));
}

#[test]
fn a_page_names_what_made_it_and_repeats_to_the_byte_and_figures_are_files() {
    let folder = folder(&grid(2));
    let page = |epoch: &str| {
        let args = ["report", "e.toml", "-q", "-o", "p.html", "--set", "duration=\"2s\""];
        in_folder(folder.path(), &args).env("SOURCE_DATE_EPOCH", epoch).assert().success();
        std::fs::read_to_string(folder.path().join("p.html")).unwrap()
    };
    let first = page("951782400");
    for fact in ["2000-02-29", "weir report e.toml -q -o p.html --set", "<dt>commit</dt>"] {
        assert!(first.contains(fact), "{fact}");
    }
    assert_eq!(first, page("951782400"));
    assert!(page("0").contains("1970-01-01"));
    in_folder(folder.path(), &["report", "e.toml", "-o", "p.html"])
        .env("SOURCE_DATE_EPOCH", "today")
        .assert()
        .code(2);
    let args =
        ["report", "e.toml", "-q", "--figures", "paper", "--format", "svg,csv", "--width", "85mm"];
    in_folder(folder.path(), &args).assert().success();
    let mut files: Vec<String> = std::fs::read_dir(folder.path().join("paper"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort_unstable();
    let expected = [
        "e-toml-1-1.csv",
        "e-toml-1-1.svg",
        "e-toml-1-2.csv",
        "e-toml-1-2.svg",
        "e-toml-1-cells.csv",
    ];
    assert_eq!(files, expected);
}
