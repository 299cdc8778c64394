//! `weir upload` over the loopback, and experiment files of programs, as a user meets them.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use assert_cmd::Command;
use common::{Running, json_lines};
use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use serde_json::Value;
use std::net::TcpListener;

fn weir(args: &[&str]) -> Command {
    let mut command = common::weir(args);
    command.timeout(std::time::Duration::from_secs(60));
    command
}

/// A server on a port of its own, and that.
fn server() -> (Running, String) {
    let server =
        Running::start(&["upload", "server", "--listen", "[::]:0", "--json", "--interval", "20ms"]);
    let listening: Value = serde_json::from_str(&server.first).unwrap();
    let port = listening["address"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    (server, port)
}

#[test]
fn an_upload_arrives_whole_and_says_so() {
    let (server, port) = server();
    let args = ["upload", "client", "127.0.0.1", "--port", &port, "--bytes", "1MB", "--json"];
    let mut client = weir(&args);
    client.args(["--interval", "5ms", "--congestion-control", "reno", "--dscp", "af11"]);
    let output = client.assert().success().stderr(is_empty()).get_output().stdout.clone();
    let lines = json_lines(&output);
    assert_eq!(lines[0]["event"], "connected");
    let [.., sample, end] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((&end["event"], end["value"].is_f64()), (&"completed".into(), true));
    assert_eq!(sample["bytesAcknowledged"], 1_000_000);
    for name in [
        "at",
        "bytesSent",
        "packetsSent",
        "retransmittedPacketsSent",
        "congestionWindow",
        "bytesInFlight",
    ] {
        assert!(sample[name].is_u64(), "{name}: {sample}");
    }
    for name in ["smoothedRoundTripTime", "roundTripTime", "retransmissionTimeout"] {
        assert!(sample[name].is_f64(), "{name}: {sample}");
    }
    weir(&["upload", "client", "localhost", "--port", &port, "--bytes", "10kB"])
        .assert()
        .success()
        .stdout(contains("completed: 10000 bytes acknowledged in"));
    let (told, status) = server.stop("TERM");
    assert!(status.success());
    let told = json_lines(told.as_bytes());
    let completed: Vec<&Value> = told.iter().filter(|line| line["event"] == "completed").collect();
    assert_eq!((completed.len(), &completed[0]["value"]), (2, &1_000_000.into()));
    assert_eq!(completed[0]["peer"], lines[0]["address"]);
    assert_eq!(
        (&told.last().unwrap()["event"], &told.last().unwrap()["value"]),
        (&"stopped".into(), &2.into())
    );
}

#[test]
fn a_client_that_is_stopped_says_how_far_it_came() {
    let (server, port) = server();
    let on_and_off = ["--json", "--on", "1s", "--off", "1s"];
    let client = Running::start(
        &[&["upload", "client", "127.0.0.1", "--port", &port], &on_and_off[..]].concat(),
    );
    let (told, status) = client.stop("INT");
    assert!(told.lines().last().unwrap().contains("\"event\":\"ended\""), "{told}");
    assert!(status.success());
    server.stop("TERM");
}

#[test]
fn a_server_listens_on_this_machine_only_unless_told_otherwise() {
    // The help, because another program may have the default port.
    weir(&["upload", "server", "--help"])
        .assert()
        .success()
        .stdout(contains("[default: 127.0.0.1:5601]").and(contains("[default: 60s]")));
    for wrong in [["--max-clients", "0"], ["--max-clients-per-address", "1001"]] {
        let said = weir(&["upload", "server"]).args(wrong).assert().code(2);
        said.stderr(contains("write 1 to 1000"));
    }
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    weir(&["upload", "client", "127.0.0.1", "--congestion-control", "cubik"])
        .assert()
        .code(2)
        .stdout(is_empty())
        .stderr(contains("tcp_available_congestion_control says: "));
    // Nobody serves tcpmux, and nobody is given its port meanwhile.
    weir(&["upload", "client", "127.0.0.1", "--port", "1", "--bytes", "1MB"])
        .assert()
        .code(1)
        .stdout(is_empty())
        .stderr(contains("cannot connect to 127.0.0.1"));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    weir(&["upload", "server", "--listen", &address])
        .assert()
        .code(2)
        .stderr(contains("cannot listen on"));
    for wrong in [
        &["upload", "client", "::1", "--bytes", "0B"][..],
        &["upload", "client", "::1", "--on", "5s"],
        &["upload", "client", "::1", "--bytes", "5MB", "--on", "5s", "--off", "5s"],
        &["upload", "client", "::1", "--dscp", "64"],
        &["upload", "client", "::1", "--port", "0"],
        &["upload", "client", "::1", "--interval", "0s"],
        &["upload", "server", "--listen", "here"],
        &["upload"],
    ] {
        weir(wrong).assert().code(2);
    }
}

#[test]
fn a_file_of_programs_alone_is_not_simulated() {
    let folder = tempfile::tempdir().unwrap();
    let text = "title = \"t\"\nduration = \"5s\"\n[host.a]\n[host.b]\n[program.p]\nhost = \"a\"\nping = \"b\"\n";
    std::fs::write(folder.path().join("p.toml"), text).unwrap();
    for args in [&["run", "p.toml"][..], &["report", "p.toml", "-o", "p.html"]] {
        let mut command = weir(args);
        let refused = command.current_dir(folder.path()).assert().code(2).stdout(is_empty());
        refused.stderr(contains("p.toml: nothing to simulate").and(contains("weir emulate")));
    }
}
