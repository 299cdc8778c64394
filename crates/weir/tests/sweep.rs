//! Sweeps: killed and continued, refused stores, bad objectives, outputs.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{WEIR, in_folder};
use predicates::prelude::*;
use predicates::str::contains;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;
use std::process::{Command, Stdio};

/// A call over a rate that a sweep varies at this many points.
fn folder(points: usize, duration: &str, objective: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let experiment = format!(
        r#"
title = "A call"
duration = "{duration}"
[host.alice]
up = {{ rate = "1Mbit/s", delay = "25ms", queue = "droptail limit 150ms" }}
[host.bob]
[call.main]
from = "alice"
to = "bob"
controller = "gcc:carlucci-2017"
"#
    );
    let sweep = format!(
        r#"
title = "Many rates"
[parameter.rate]
key = "host.alice.up.rate"
from = 500
to = 2500
points = {points}
unit = "kbit/s"
[scenario.one]
experiment = "e.toml"
value.sent = {{ metric = "sent_rate", stream = "main.video" }}
objective = "{objective}"
"#
    );
    std::fs::write(folder.path().join("e.toml"), experiment).unwrap();
    std::fs::write(folder.path().join("s.toml"), sweep).unwrap();
    folder
}

/// The number of runs that a store has; 0 as long as it has no such table.
fn stored(path: &Path) -> usize {
    count(Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)).unwrap_or(0)
}

/// The number of runs after a kill. Only a connection that may write rolls back what was under way.
fn recovered(path: &Path) -> usize {
    count(Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)).unwrap()
}

fn count(store: rusqlite::Result<Connection>) -> rusqlite::Result<usize> {
    let runs: i64 = store?.query_row("SELECT count(*) FROM sweep_run", [], |row| row.get(0))?;
    Ok(usize::try_from(runs).unwrap())
}

#[test]
fn a_killed_sweep_continues_with_the_runs_that_it_has_stored() {
    const POINTS: usize = 1_500;
    let folder = folder(POINTS, "20s", "sent");
    let path = folder.path().join("s.sqlite");
    let mut child = Command::new(WEIR)
        .args(["sweep", "s.toml", "--quiet", "--store", "s.sqlite"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Waits for a condition: some runs are there.
    while stored(&path) < 20 {
        assert!(child.try_wait().unwrap().is_none(), "the sweep ended too soon");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = recovered(&path);
    assert!((20..POINTS).contains(&kept), "{kept} runs are kept");
    in_folder(folder.path(), &["sweep", "s.toml", "--store", "s.sqlite", "--csv", "a.csv"])
        .assert()
        .success()
        .stderr(contains(format!("{kept} runs were already in the store")));
    assert_eq!(stored(&path), POINTS);
    // The same as without an interruption, on one core.
    in_folder(folder.path(), &["sweep", "s.toml", "--jobs", "1", "--csv", "b.csv"])
        .assert()
        .success();
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("a.csv") == read("b.csv"), "the interruption changed the results");
}

#[test]
fn a_store_of_another_model_or_sweep_is_refused() {
    let folder = folder(3, "1s", "sent");
    let sweep = ["sweep", "s.toml", "--store", "s.sqlite"];
    in_folder(folder.path(), &sweep).assert().success();
    in_folder(folder.path(), &["sweep", "s.toml", "--store", "s.sqlite", "--points", "4"])
        .assert()
        .code(2)
        .stderr(contains("other points, scenarios, seeds or metrics"))
        .stderr(contains("name a new file with --store"));
    let store = Connection::open(folder.path().join("s.sqlite")).unwrap();
    store.execute("UPDATE sweep SET model = 'another'", []).unwrap();
    drop(store);
    in_folder(folder.path(), &sweep)
        .assert()
        .code(2)
        .stderr(contains("s.toml are from another version of the model"))
        .stderr(contains("name a new file with --store"));
}

#[test]
fn a_wrong_objective_names_file_line_and_key() {
    for (objective, message) in [
        ("sent +", "s.toml:12: scenario.one.objective: 'sent +' is not an expression"),
        (
            "sant",
            "s.toml:12: scenario.one.objective: 'sant' refers to 'sant', which is not defined",
        ),
        ("'text'", "s.toml:12: scenario.one.objective: it is not a number"),
    ] {
        let folder = folder(3, "1s", objective);
        in_folder(folder.path(), &["sweep", "s.toml"]).assert().code(2).stderr(contains(message));
    }
    let folder = folder(3, "1s", "sent");
    let path = folder.path().join("s.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("sent_rate", "sent_rat")).unwrap();
    in_folder(folder.path(), &["sweep", "s.toml"]).assert().code(2).stderr(contains(
        "s.toml:11: scenario.one.value.sent.metric: there is no metric 'sent_rat'",
    ));
}

#[test]
fn a_point_without_an_objective_is_marked_and_the_sweep_goes_on() {
    let folder = folder(3, "1s", "0.0 / (rate - 1500.0) + sent");
    in_folder(folder.path(), &["sweep", "s.toml", "--csv", "points.csv"])
        .assert()
        .code(1)
        .stderr(contains(
            "s.toml:12: scenario.one.objective: it is not a number at rate=1500kbit/s, seed 1, where sent=",
        ))
        .stdout(contains("The best of 2 points"));
    let table = std::fs::read_to_string(folder.path().join("points.csv")).unwrap();
    assert_eq!(table.lines().count(), 7, "a header, and two rows per point: {table}");
    assert!(table.contains("\n1,s.toml,simulated,false,1500kbit/s,1,,point,,,\n"), "{table}");
}

#[test]
fn a_sweep_writes_json_and_a_page_with_its_figures() {
    let folder = folder(3, "1s", "sent");
    in_folder(folder.path(), &["sweep", "s.toml", "--json", "-o", "page.html"])
        .assert()
        .success()
        .stdout(contains(r#"{"point":1,"parameters":{"rate":1500.0},"objective":"#).count(1));
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("Objective along rate") && page.contains("The best of 3 points"));
    in_folder(folder.path(), &["sweep", "s.toml", "--dry-run"])
        .assert()
        .success()
        .stdout(contains("3 points × 1 scenarios × 1 seeds = 3 runs").and(contains("about ")));
}

#[test]
fn an_optimiser_finds_the_top_of_a_hill() {
    let folder = folder(3, "1s", "0.0 - (rate - 1700.0) * (rate - 1700.0)");
    let run = || {
        let output = in_folder(folder.path(), &["optimise", "s.toml", "--runs", "40", "--json"])
            .assert()
            .success();
        String::from_utf8(output.get_output().stdout.clone()).unwrap()
    };
    let text = run();
    let rate = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["parameters"]["rate"].as_f64().unwrap()
    };
    let rates: Vec<f64> = text.lines().map(rate).collect();
    assert_eq!(rates.len(), 40);
    // The best 5 % of the range are those within 50 kbit/s of the top.
    let closest = rates.iter().map(|rate| (rate - 1700.0).abs()).fold(f64::INFINITY, f64::min);
    assert!(closest <= 50.0, "{closest} kbit/s from the top");
    assert_eq!(text, run(), "the same on every run");
    let stored = |runs: &str| {
        in_folder(
            folder.path(),
            &["optimise", "s.toml", "--runs", runs, "--json", "--store", "o.sqlite"],
        )
        .assert()
        .success()
    };
    stored("20");
    // The first points do not depend on the number of runs: those of a stopped search are reused.
    stored("40").stdout(text).stderr(contains("20 runs were already in the store"));
    stored("40").stderr(contains("40 runs were already in the store"));
    let path = folder.path().join("o.sqlite");
    Connection::open(path).unwrap().execute("UPDATE sweep SET model = 'another'", []).unwrap();
    in_folder(folder.path(), &["optimise", "s.toml", "--runs", "20", "--store", "o.sqlite"])
        .assert()
        .code(2)
        .stderr(contains("from another version of the model"));
    in_folder(folder.path(), &["optimise", "carlucci-2017/fig5", "--runs", "2"])
        .assert()
        .code(2)
        .stderr(contains("--runs: 2 runs are not one point; a point takes 3 runs"));
}

#[test]
fn a_dataset_continues_with_the_files_that_are_missing() {
    let folder = folder(1_001, "1s", "1.0 / (rate - 1500.0)");
    let sweep = ["sweep", "s.toml", "--dataset", "runs"];
    let part = |number: usize| folder.path().join(format!("runs/part-{number:07}.parquet"));
    // The objective is infinite in the middle: the run is marked, and the others are written.
    let message = "scenario.one.objective: it is infinite at rate=1500kbit/s, seed 1";
    in_folder(folder.path(), &sweep)
        .assert()
        .code(1)
        .stdout(contains("s.toml: 1001 runs in 2 files in runs"))
        .stderr(contains(message));
    let before = [0, 1].map(|number| std::fs::read(part(number)).unwrap());
    std::fs::remove_file(part(1)).unwrap();
    in_folder(folder.path(), &sweep)
        .assert()
        .success()
        .stderr(contains("1000 runs were already in the dataset"));
    assert!(before == [0, 1].map(|number| std::fs::read(part(number)).unwrap()));
    in_folder(folder.path(), &["sweep", "s.toml", "--dataset", "runs", "--points", "9"])
        .assert()
        .code(2)
        .stderr(contains("runs: it has another sweep, or other points").and(contains("--dataset")));
    in_folder(folder.path(), &["sweep", "s.toml", "--dataset", "."])
        .assert()
        .code(2)
        .stderr(contains("the folder is not empty and not a dataset"));
    let about = folder.path().join("runs/_weir.json");
    let text = std::fs::read_to_string(&about).unwrap();
    let model = text.lines().find(|line| line.contains("\"model\"")).unwrap();
    std::fs::write(&about, text.replace(model, "\"model\": \"another\",")).unwrap();
    in_folder(folder.path(), &sweep)
        .assert()
        .code(2)
        .stderr(contains("runs: its runs are from another version of the model"));
}

#[test]
fn a_store_and_a_dataset_have_the_same_runs() {
    let folder = folder(1_001, "1s", "sent");
    let part = |place: &str, number: usize| {
        std::fs::read(folder.path().join(format!("{place}/part-{number:07}.parquet"))).unwrap()
    };
    let sweep =
        |more: &[&str]| in_folder(folder.path(), &[&["sweep", "s.toml"], more].concat()).assert();
    sweep(&["--dataset", "alone"]).success();
    let both = ["--store", "s.sqlite", "--dataset", "both", "--csv", "a.csv"];
    sweep(&both)
        .success()
        .stdout(contains("The best of 1001 points"))
        .stderr(contains("s.toml: 1001 runs in 2 files in both"));
    assert_eq!(stored(&folder.path().join("s.sqlite")), 1_001);
    for number in [0, 1] {
        assert!(part("alone", number) == part("both", number));
    }
    // A missing file is written from the store; what the store lacks is run, also if the file is
    // there.
    std::fs::remove_file(folder.path().join("both/part-0000000.parquet")).unwrap();
    let store = Connection::open(folder.path().join("s.sqlite")).unwrap();
    store.execute("DELETE FROM sweep_run WHERE number = 1000", []).unwrap();
    drop(store);
    sweep(&both).success().stderr(contains("1000 runs were already in the store"));
    assert!(part("alone", 0) == part("both", 0));
    assert_eq!(stored(&folder.path().join("s.sqlite")), 1_001);
    for (name, value) in [("--csv", "b.csv"), ("--output", "b.html"), ("--parquet", "b.parquet")] {
        sweep(&["--dataset", "alone", name, value])
            .code(2)
            .stderr(contains(format!("{name} needs the metrics of all runs in memory")))
            .stderr(contains("add --store FILE"));
    }
}

#[test]
fn an_address_of_object_storage_is_checked_before_any_run() {
    let folder = folder(3, "1s", "sent");
    for (address, message) in [
        ("s3://bucket", "--dataset s3://bucket: it needs a bucket and a path"),
        ("gs://bucket/runs", "it is neither a folder nor s3://BUCKET/PATH"),
        (
            "s3://bucket/runs",
            "s3://bucket/runs: AWS_ACCESS_KEY_ID is not set; set AWS_ACCESS_KEY_ID",
        ),
    ] {
        in_folder(folder.path(), &["sweep", "s.toml", "--dataset", address])
            .env_remove("AWS_ACCESS_KEY_ID")
            .env_remove("AWS_SKIP_SIGNATURE")
            .assert()
            .code(2)
            .stderr(contains(message));
    }
}

#[test]
fn a_page_has_the_figures_of_the_file() {
    let folder = folder(3, "1s", "sent");
    let path = folder.path().join("s.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let figure = |keys: &str| {
        std::fs::write(&path, format!("{text}[[figure]]\n{keys}\n")).unwrap();
        in_folder(folder.path(), &["sweep", "s.toml", "--report", "page.html"]).assert()
    };
    figure(
        "kind = \"axis-line\"\ntitle = \"Sent over the rate\"\nx = \"rate\"\nvalue = \"one.sent\"",
    )
    .success();
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    assert!(page.contains("Sent over the rate") && page.contains("one: sent (kbit/s)"), "{page}");
    assert!(!page.contains("Objective along"), "the usual figures are replaced");
    figure("kind = \"contour\"\ntitle = \"t\"\nx = \"rate\"\ny = \"dalay\"")
        .code(2)
        .stderr(contains("s.toml:17: figure.y: there is no parameter 'dalay'"));
    std::fs::write(&path, &text).unwrap();
    in_folder(folder.path(), &["report", "s.toml", "-o", "page.html"])
        .assert()
        .code(2)
        .stderr(contains("s.toml is a sweep; 'weir sweep s.toml --report page.html' draws"));
}

/// Python's module `ray`, reduced to what the driver calls, without a cluster.
const NO_CLUSTER: &str = r#"
__version__ = "0"
def init(address, **_):
    if address != "auto":
        raise ConnectionError("nobody at " + address)
def cluster_resources():
    return {"CPU": 2.0}
def put(value):
    return value
get = put
def remote(**_):
    class Remote:
        def __init__(self, task):
            self.task = task
        def remote(self, *arguments):
            return self.task(*arguments)
    return Remote
def wait(waiting, num_returns):
    return waiting[-1:], waiting[:-1]
"#;

#[test]
fn tasks_give_the_same_bytes_as_this_process() {
    let folder = folder(7, "1s", "sent");
    std::fs::write(folder.path().join("ray.py"), NO_CLUSTER).unwrap();
    let ray = |arguments: &[&str]| {
        let on = ["sweep", "s.toml", "--on"];
        let mut command = in_folder(folder.path(), &[&on[..], arguments].concat());
        command.env("PYTHONPATH", folder.path()).env_remove("WEIR_PYTHON");
        command.assert()
    };
    in_folder(folder.path(), &["sweep", "s.toml", "--csv", "a.csv"]).assert().success();
    ray(&["ray", "--runs-per-task", "2", "--csv", "b.csv", "--store", "s.sqlite"])
        .success()
        .stderr(contains("Ray 0 with 2 processors").and(contains("set RAY_AUTH_MODE=token")));
    let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert!(read("a.csv") == read("b.csv"), "the cluster changed the results");
    assert_eq!(stored(&folder.path().join("s.sqlite")), 7);
    ray(&["ray:somewhere:1"])
        .code(2)
        .stderr(contains("the Ray cluster somewhere:1 failed: nobody at somewhere:1"))
        .stderr(contains("without --on"));
    ray(&["rai"]).code(2).stderr(contains("write local, ray, ray:HOST:PORT"));
    // A file that is not below the folder of the sweep cannot be sent.
    std::fs::create_dir(folder.path().join("below")).unwrap();
    let text = std::fs::read_to_string(folder.path().join("s.toml")).unwrap();
    let moved = text.replace("e.toml", "../e.toml");
    std::fs::write(folder.path().join("below/s.toml"), moved).unwrap();
    in_folder(folder.path(), &["sweep", "below/s.toml", "--on", "ray"])
        .assert()
        .code(2)
        .stderr(contains("the file ../e.toml is not in the folder of the sweep"));
}

#[test]
fn a_cluster_that_does_not_answer_is_given_up() {
    let folder = folder(3, "1s", "sent");
    let silent = "import time\ndef init(**_):\n    time.sleep(1000)\n";
    std::fs::write(folder.path().join("ray.py"), silent).unwrap();
    in_folder(folder.path(), &["sweep", "s.toml", "--on", "ray", "--ray-timeout", "1"])
        .env("PYTHONPATH", folder.path())
        .assert()
        .code(2)
        .stderr(contains("the Ray cluster auto did not answer within 1 s"))
        .stderr(contains("or run on this machine without --on"));
    in_folder(folder.path(), &["sweep", "s.toml", "--on", "ray"])
        .env("WEIR_PYTHON", folder.path().join("nothing"))
        .assert()
        .code(2)
        .stderr(contains("nothing cannot be started"));
}
