//! Changes to a run in progress.

use crate::common::findings::{Findings, attempts};
use crate::common::rig::{NullObserver, Rig, SEED, line, names, pairs, settle};
use crate::common::stats::median;
use crate::common::traffic::{Receiver, delays, now, steady, through};
use crate::exclusive;
use emulator::Controls;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::{env, fs};
use units::{Bitrate, Duration};

/// The path of a socket, which is removed at the end.
struct SocketPath(PathBuf);

impl SocketPath {
    fn new(name: &str) -> Self {
        let path = Self(env::temp_dir().join(format!("weir-{}-{name}", std::process::id())));
        let _ = fs::remove_file(&path.0);
        path
    }
}

impl Drop for SocketPath {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A client that waits for the answers to its requests.
struct Client(BufReader<UnixStream>);

impl Client {
    fn new(path: &Path) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        Self(BufReader::new(stream))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn ask(&mut self, bytes: &[u8]) -> String {
        self.0.get_mut().write_all(&[bytes, b"\n"].concat()).unwrap();
        self.line()
    }
}

fn listen(path: &Path) -> Result<Controls, emulator::EmulatorError> {
    Controls::listen(path, vec!["alice".into(), "bob".into()])
}

#[test]
fn a_run_is_changed_over_its_socket() {
    let Some(_lock) = exclusive() else { return };
    let path = SocketPath::new("live");
    let config = pairs(&[line(Bitrate::from_mbps(2))]);
    let controls = Controls::listen(&path.0, names(&config)).unwrap();
    let rig = Rig::start_with(&config, SEED, Some(controls), NullObserver);
    let (from, to) = (rig.sender(0, 1), rig.receiver(1));
    let mut client = Client::new(&path.0);

    attempts("the rate is halved", || {
        let received = [2, 1].map(|mbps| {
            assert_eq!(client.ask(format!("set alice.up rate {mbps}Mbit/s").as_bytes()), "ok");
            // More than the line carries. The queue is emptied before the next plan.
            let (_, arrivals) =
                through(&from, &to, &steady(Duration::from_millis(2), 500, 1_250), 0);
            assert_eq!(client.ask(b"set alice.up rate unlimited"), "ok");
            settle(50);
            // Discards the packets that were queued.
            Receiver::start(vec![to.try_clone().unwrap()]).finish();
            arrivals.len() as f64
        });
        let share = received[1] / received[0];
        let mut findings = Findings::default();
        findings.add(format!("{received:?} packets: {share:.3}"), (share - 0.5).abs() <= 0.01);
        findings
    });
    attempts("the delay is changed", || {
        let [none, some] = [0, 10].map(|millis| {
            assert_eq!(client.ask(format!("set alice.up delay {millis}ms").as_bytes()), "ok");
            let (sent, arrivals) =
                through(&from, &to, &steady(Duration::from_millis(1), 300, 200), 30);
            median(&delays(&sent, &arrivals))
        });
        let added = some - none;
        let mut findings = Findings::default();
        findings.add(format!("{added:.1} µs more"), (added - 10_000.0).abs() <= 100.0);
        findings
    });
    assert_eq!(client.ask(b"set alice.up delay 0ms"), "ok");
    assert_eq!(client.ask(b"set alice.up loss 100%"), "ok");
    let (_, arrivals) = through(&from, &to, &steady(Duration::from_millis(1), 100, 200), 30);
    assert_eq!(arrivals.len(), 0, "everything is lost");
    rig.finish();
    assert!(!path.0.exists(), "the socket is removed");
}

#[test]
fn an_invalid_request_is_an_error_and_does_not_stop_the_run() {
    let Some(_lock) = exclusive() else { return };
    let path = SocketPath::new("garbage");
    let config = pairs(&[line(Bitrate::from_mbps(2))]);
    let controls = Controls::listen(&path.0, names(&config)).unwrap();
    let rig = Rig::start_with(&config, SEED, Some(controls), NullObserver);
    let mut client = Client::new(&path.0);
    let invalid: [&[u8]; 5] = [
        b"",
        b"\xff\xfe\x00\x01",
        b"set carol.up rate 1Mbit/s",
        b"set alice.up rate fast",
        b"drop",
    ];
    for line in invalid {
        let answer = client.ask(line);
        assert!(answer.starts_with("error: "), "{answer}");
    }
    let answer = Client::new(&path.0).ask(&[b'x'; 10_000]);
    assert!(answer.starts_with("error: a line of more than"), "{answer}");
    assert!(client.ask(b"show").starts_with("time "));
    let lines: Vec<String> = (0..5).map(|_| client.line()).collect();
    assert!(lines[0].starts_with("alice.up rate 2000000 "), "{lines:?}");
    assert_eq!(lines[4], "ok");

    assert_eq!(client.ask(b"stop"), "ok");
    let asked = now();
    while !rig.over() {
        assert!(now() - asked < 5_000_000_000, "the run stops");
        settle(10);
    }
    rig.finish();
    assert!(!path.0.exists(), "the socket is removed");
}

#[test]
fn only_the_socket_of_a_killed_run_is_replaced() {
    let path = SocketPath::new("dead");
    drop(UnixListener::bind(&path.0).unwrap());
    assert!(UnixStream::connect(&path.0).is_err(), "nobody listens there");
    let run = listen(&path.0).unwrap();
    UnixStream::connect(&path.0).unwrap();
    let error = listen(&path.0).err().unwrap();
    assert!(error.to_string().contains("another run listens at this path"), "{error}");
    drop(run);

    fs::write(&path.0, "notes").unwrap();
    let error = listen(&path.0).err().unwrap();
    assert!(error.to_string().contains("not a socket"), "{error}");
    assert_eq!(fs::read_to_string(&path.0).unwrap(), "notes");
}
