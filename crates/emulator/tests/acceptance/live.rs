//! Changes while a run goes on.

use crate::common::findings::{Findings, attempts};
use crate::common::rig::{Blind, Rig, SEED, line, names, pairs, settle};
use crate::common::stats::median;
use crate::common::traffic::{Receiver, delays, now, steady, through};
use crate::turn;
use emulator::Controls;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::{env, fs};
use units::{Bitrate, Duration};

/// A place for a socket, which is removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let place = Self(env::temp_dir().join(format!("weir-{}-{name}", std::process::id())));
        let _ = fs::remove_file(&place.0);
        place
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A client that waits for its answers.
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
    let Some(_turn) = turn() else { return };
    let place = Place::new("live");
    let config = pairs(&[line(Bitrate::from_mbps(2))]);
    let controls = Controls::listen(&place.0, names(&config)).unwrap();
    let rig = Rig::start_with(&config, SEED, Some(controls), Blind);
    let (from, to) = (rig.sender(0, 1), rig.receiver(1));
    let mut client = Client::new(&place.0);

    attempts("the rate is halved", || {
        let came = [2, 1].map(|mbps| {
            assert_eq!(client.ask(format!("set alice.up rate {mbps}Mbit/s").as_bytes()), "ok");
            // Three times what the line takes; what waits is let out before the next.
            let (_, arrivals) =
                through(&from, &to, &steady(Duration::from_millis(2), 500, 1_250), 0);
            assert_eq!(client.ask(b"set alice.up rate unlimited"), "ok");
            settle(50);
            // They are not of the next.
            Receiver::start(vec![to.try_clone().unwrap()]).finish();
            arrivals.len() as f64
        });
        let share = came[1] / came[0];
        let mut findings = Findings::default();
        findings.add(format!("{came:?} packets: {share:.3}"), (share - 0.5).abs() <= 0.01);
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
    assert!(!place.0.exists(), "the socket is removed");
}

#[test]
fn what_is_no_request_is_an_error_and_stops_nothing() {
    let Some(_turn) = turn() else { return };
    let place = Place::new("garbage");
    let config = pairs(&[line(Bitrate::from_mbps(2))]);
    let controls = Controls::listen(&place.0, names(&config)).unwrap();
    let rig = Rig::start_with(&config, SEED, Some(controls), Blind);
    let mut client = Client::new(&place.0);
    let wrong: [&[u8]; 5] = [
        b"",
        b"\xff\xfe\x00\x01",
        b"set carol.up rate 1Mbit/s",
        b"set alice.up rate fast",
        b"drop",
    ];
    for line in wrong {
        let answer = client.ask(line);
        assert!(answer.starts_with("error: "), "{answer}");
    }
    let answer = Client::new(&place.0).ask(&[b'x'; 10_000]);
    assert!(answer.starts_with("error: a line of more than"), "{answer}");
    assert!(client.ask(b"show").starts_with("time "));
    let lines: Vec<String> = (0..5).map(|_| client.line()).collect();
    assert!(lines[0].starts_with("alice.up rate 2000000 "), "{lines:?}");
    assert_eq!(lines[4], "ok");

    assert_eq!(client.ask(b"stop"), "ok");
    let asked = now();
    while !rig.over() {
        assert!(now() - asked < 5_000_000_000, "it stops");
        settle(10);
    }
    rig.finish();
    assert!(!place.0.exists(), "the socket is removed");
}

#[test]
fn a_dead_runs_socket_is_replaced_and_nothing_else() {
    let place = Place::new("dead");
    drop(UnixListener::bind(&place.0).unwrap());
    assert!(UnixStream::connect(&place.0).is_err(), "nobody listens there");
    let run = listen(&place.0).unwrap();
    UnixStream::connect(&place.0).unwrap();
    let error = listen(&place.0).err().unwrap();
    assert!(error.0.contains("another run listens there"), "{error}");
    drop(run);

    fs::write(&place.0, "notes").unwrap();
    let error = listen(&place.0).err().unwrap();
    assert!(error.0.contains("not a socket"), "{error}");
    assert_eq!(fs::read_to_string(&place.0).unwrap(), "notes");
}
