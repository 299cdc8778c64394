//! `weir upload` over the loopback, and experiment files of programs, as a user meets them.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use assert_cmd::Command;
use predicates::prelude::*;
use predicates::str::{contains, is_empty};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Stdio};

const WEIR: &str = env!("CARGO_BIN_EXE_weir");

fn weir(args: &[&str]) -> Command {
    let mut command = Command::new(WEIR);
    command.args(args).timeout(std::time::Duration::from_secs(60));
    command
}

fn json_lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A server on a port of its own.
struct Server {
    child: Child,
    out: BufReader<std::process::ChildStdout>,
    port: String,
}

impl Server {
    fn start() -> Self {
        let mut child = std::process::Command::new(WEIR)
            .args(["upload", "server", "--listen", "[::]:0", "--json", "--interval", "20ms"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let listening: Value = serde_json::from_str(&line).unwrap();
        let address = listening["address"].as_str().unwrap();
        let port = address.rsplit(':').next().unwrap().to_owned();
        Self { child, out, port }
    }

    /// Stops it with SIGTERM; what it told, and whether it ended well.
    fn stop(mut self) -> (Vec<Value>, bool) {
        let id = self.child.id().to_string();
        assert!(std::process::Command::new("kill").arg(id).status().unwrap().success());
        let lines = self.out.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
        (lines, self.child.wait().unwrap().success())
    }
}

#[test]
fn an_upload_arrives_whole_and_says_so() {
    let server = Server::start();
    let args = ["upload", "client", "127.0.0.1", "--port", &server.port, "--bytes", "1MB", "--json"];
    let mut client = weir(&args);
    client.args(["--interval", "5ms", "--congestion-control", "reno", "--dscp", "af11"]);
    let output = client.assert().success().stderr(is_empty()).get_output().stdout.clone();
    let lines = json_lines(&output);
    assert_eq!(lines[0]["event"], "connected");
    let [.., sample, end] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!((&end["event"], end["value"].is_f64()), (&"completed".into(), true));
    assert_eq!(sample["bytesAcknowledged"], 1_000_000);
    for name in
        ["at", "bytesSent", "packetsSent", "retransmittedPacketsSent", "congestionWindow", "bytesInFlight"]
    {
        assert!(sample[name].is_u64(), "{name}: {sample}");
    }
    for name in ["smoothedRoundTripTime", "roundTripTime", "retransmissionTimeout"] {
        assert!(sample[name].is_f64(), "{name}: {sample}");
    }
    weir(&["upload", "client", "localhost", "--port", &server.port, "--bytes", "10kB"])
        .assert()
        .success()
        .stdout(contains("completed: 10000 bytes acknowledged in"));
    let (told, well) = server.stop();
    assert!(well);
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
    let server = Server::start();
    let mut client = std::process::Command::new(WEIR)
        .args([
            "upload",
            "client",
            "127.0.0.1",
            "--port",
            &server.port,
            "--json",
            "--on",
            "1s",
            "--off",
            "1s",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(client.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    let id = client.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let last = out.lines().last().unwrap().unwrap();
    assert!(last.contains("\"event\":\"ended\""), "{last}");
    assert!(client.wait().unwrap().success());
    server.stop();
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    weir(&["upload", "client", "127.0.0.1", "--congestion-control", "cubik"])
        .assert()
        .code(2)
        .stdout(is_empty())
        .stderr(contains("tcp_available_congestion_control says: "));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    weir(&["upload", "client", "127.0.0.1", "--port", &closed, "--bytes", "1MB"])
        .assert()
        .code(1)
        .stdout(is_empty())
        .stderr(contains("cannot connect to 127.0.0.1"));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    weir(&["upload", "server", "--listen", &address]).assert().code(2).stderr(contains("cannot listen on"));
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
    let text =
        "title = \"t\"\nduration = \"5s\"\n[host.a]\n[host.b]\n[program.p]\nhost = \"a\"\nping = \"b\"\n";
    std::fs::write(folder.path().join("p.toml"), text).unwrap();
    for args in [&["run", "p.toml"][..], &["report", "p.toml", "-o", "p.html"]] {
        let mut command = weir(args);
        let refused = command.current_dir(folder.path()).assert().code(2).stdout(is_empty());
        refused.stderr(contains("p.toml: nothing to simulate").and(contains("weir emulate")));
    }
}
