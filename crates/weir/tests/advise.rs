//! Advice as a user meets it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{in_folder, json_lines, weir};
use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use serde_json::Value;
use std::fs;

const HOME: &str = r#"
title = "A call beside an upload"
duration = "30s"
runs = 2

[host.home]
up = { rate = "1Mbit/s", delay = "20ms", queue = "bfifo limit 125kB" }

[host.net]

[call.main]
from = "home"
to = "net"

[tcp.upload]
from = "home"
to = "net"
start = "5s"

[axis_or_none]
"#;

/// A folder with the experiment above in it, with these lines at its end.
fn folder(more: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("home.toml"), HOME.replace("[axis_or_none]", more)).unwrap();
    folder
}

#[test]
fn remedies_come_best_first_an_object_each_and_say_where_they_do_not_fit() {
    let folder = folder("");
    let args = [
        "advise",
        "home.toml",
        "--json",
        "--remedy",
        "queue",
        "--remedy",
        "wmm",
        "--remedy",
        "htb-priority",
    ];
    let output = in_folder(folder.path(), &args)
        .assert()
        .success()
        .stderr(is_empty())
        .get_output()
        .stdout
        .clone();
    let rows = json_lines(&output);
    let (ranked, unfit): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| row["place"].is_u64());
    let places: Vec<u64> = ranked.iter().map(|row| row["place"].as_u64().unwrap()).collect();
    assert_eq!(places, (1..=10).collect::<Vec<u64>>(), "eight queues, a class, and what stands");
    let scores: Vec<f64> = ranked.iter().map(|row| row["score"].as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|one, other| one >= other), "{scores:?}");
    let [wmm] = unfit[..] else { panic!("{unfit:?}") };
    assert_eq!(
        (&wmm["remedy"], &wmm["unfit"][0]),
        (&"wmm".into(), &"the call passes no Wi-Fi cell".into())
    );
    let of = |name: &str| ranked.iter().find(|row| row["remedy"] == name).unwrap();
    let class = of("htb-priority");
    assert!(
        class["tc"][0].as_str().unwrap().contains("htb rate 200kbit ceil 1Mbit prio 0"),
        "{}",
        class["tc"]
    );
    assert_eq!(class["set"]["call.main.dscp"], "{ audio = \"ef\", video = \"af41\" }");
    assert!(
        class["call"]["quality"]["mean"].as_f64()
            > of("as it stands")["call"]["quality"]["mean"].as_f64()
    );
    assert_eq!(of("as it stands")["others"]["kept"]["mean"], 1.0);
    assert!(
        class["others"]["upload.received_rate"]["mean"].as_f64()
            < of("as it stands")["others"]["upload.received_rate"]["mean"].as_f64()
    );
}

#[test]
fn the_best_is_named_with_what_it_costs_and_its_lines_of_tc() {
    let folder = folder("");
    let args = [
        "advise",
        "home.toml",
        "--remedy",
        "fq_codel",
        "--remedy",
        "lte",
        "--dev",
        "ppp0",
        "-o",
        "page.html",
    ];
    in_folder(folder.path(), &args).assert().success().stdout(
        contains("Best: fq_codel, FQ-CoDel: one CoDel queue per flow")
            .and(contains("upload: "))
            .and(contains("tc qdisc replace dev ppp0 root fq_codel"))
            .and(contains("the call passes no LTE network")),
    );
    let page = fs::read_to_string(folder.path().join("page.html")).unwrap();
    for part in ["<svg", "others keep", "the call passes no LTE network", "dev ppp0 root"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn several_situations_are_judged_together_or_one_is_chosen() {
    let axis = "[[axis]]\nname = \"who\"\npoints = [{ label = \"both\" }, { label = \"nobody\", calls = [] }, \
                { label = \"slow\", set = { \"host.home.up.rate\" = \"500kbit/s\" } }]\n";
    let folder = folder(axis);
    let args = ["advise", "home.toml", "--remedy", "fq_codel", "--runs", "1"];
    in_folder(folder.path(), &args).assert().success().stdout(contains("2 situations")).stderr(
        contains("note: home.toml who=nobody: left out, because it has no call with video"),
    );
    let one = [&args[..], &["--cell", "who=slow"]].concat();
    in_folder(folder.path(), &one)
        .assert()
        .success()
        .stdout(contains("who=slow").and(contains("tc qdisc")));
}

#[test]
fn the_same_whatever_the_threads() {
    let folder = folder("");
    let run = |jobs: &str| {
        let args = ["advise", "home.toml", "--json", "--remedy", "class", "--jobs", jobs];
        in_folder(folder.path(), &args).assert().success().get_output().stdout.clone()
    };
    assert_eq!(run("1"), run("2"));
}

#[test]
fn few_seeds_are_held_against_many() {
    let folder = folder("");
    let args = ["advise", "home.toml", "--remedy", "htb-priority", "--check", "--runs"];
    let three = [&args[..], &["3"]].concat();
    in_folder(folder.path(), &three)
        .assert()
        .success()
        .stderr(contains(
            "home.toml: 3 seeds and 30 agree: the same best; 0 of 1 pairs that 3 separate are reversed",
        ))
        .stdout(contains("3 seeds"));
    let one = [&args[..], &["1"]].concat();
    in_folder(folder.path(), &one).assert().code(1).stderr(contains(
        "home.toml: 1 seed and 10 do not agree: the same best; 0 of 0 pairs that 1 separate",
    ));
}

#[test]
fn the_ranking_of_the_built_in_uplink_agrees_with_ten_times_the_seeds() {
    let args = [
        "advise",
        "situations/adsl-upload",
        "--remedy",
        "queue",
        "--remedy",
        "class",
        "--check",
        "--json",
    ];
    let output = weir(&args)
        .assert()
        .success()
        .stderr(contains("5 seeds and 50 agree"))
        .get_output()
        .stdout
        .clone();
    let ranked = json_lines(&output).iter().filter(|row| row["place"].is_u64()).count();
    assert_eq!(ranked, 13, "eight queues, four classes, and what stands");
}

#[test]
fn bad_input_is_one_line_and_exit_code_2() {
    let folder = folder("");
    let axis =
        "[call.main.video]\nwidth = 640\n[[axis]]\nname = \"q\"\npoints = [{ label = \"a\" }]\n";
    fs::write(folder.path().join("axis.toml"), HOME.replace("[axis_or_none]", axis)).unwrap();
    for (args, message) in [
        (
            &["home.toml", "--remedy", "fq-codel"][..],
            "--remedy: there is no remedy or kind 'fq-codel'; did you mean fq_codel?",
        ),
        (&["home.tom"], "no experiment of this name"),
        (
            &["home.toml", "--set", "call.main={from=\"home\",to=\"net\",audio=true,video=false}"],
            "home.toml: there is no call with video",
        ),
        (
            &["home.toml", "--set", "advise.call=mian"],
            "advise.call: there is no call 'mian'; did you mean main?",
        ),
        (&["home.toml", "--set", "advise.dsc=false"], "did you mean dscp?"),
        (&["axis.toml", "--cell", "q=b"], "--cell: no cell has these values; there are q=a"),
        (&["home.toml", "--cell", "q=b"], "--cell: the experiment has no axes"),
        (&["home.toml", "--weight", "2"], "write a number from 0 to 1"),
        (&["home.toml", "-o", "home.toml"], "another option names the same file"),
    ] {
        let args: Vec<&str> = std::iter::once("advise").chain(args.iter().copied()).collect();
        in_folder(folder.path(), &args)
            .assert()
            .code(2)
            .stdout(is_empty())
            .stderr(contains(message));
    }
    weir(&["advise", "--help"])
        .assert()
        .success()
        .stdout(contains("Usage").and(contains("weir advise")));
}

#[test]
fn with_a_store_nothing_is_run_twice() {
    let folder = folder("");
    let args = ["advise", "home.toml", "--json", "--remedy", "sfq", "--store", "s.sqlite"];
    let advise = || in_folder(folder.path(), &args).assert().success();
    let first = advise().stderr(is_empty()).get_output().stdout.clone();
    let second =
        advise().stderr(contains("6 runs were already in the store")).get_output().stdout.clone();
    assert_eq!(first, second);
    let run = ["run", "home.toml", "--runs", "3", "--store", "s.sqlite"];
    in_folder(folder.path(), &run)
        .assert()
        .success()
        .stderr(contains("2 runs were already in the store"));
    let listed =
        in_folder(folder.path(), &["list", "--store", "s.sqlite", "--json"]).assert().success();
    let rows = json_lines(&listed.get_output().stdout);
    let names: Vec<&str> = rows.iter().map(|row| row["experiment"].as_str().unwrap()).collect();
    let (plain, alone, sfq) = ("home.toml", "home.toml, main alone", "home.toml, sfq");
    assert_eq!(
        names,
        [plain, plain, alone, alone, sfq, sfq, plain, plain, plain],
        "the last are of 'run'"
    );
    let over = ["advise", "home.toml", "--store", "s.sqlite", "-o", "s.sqlite"];
    in_folder(folder.path(), &over).assert().code(2).stderr(contains("s.sqlite"));
}
