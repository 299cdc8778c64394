//! `weir serve` as a user meets it.

use assert_cmd::Command;
use predicates::str::contains;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

const WEIR: &str = env!("CARGO_BIN_EXE_weir");

#[test]
fn it_says_where_it_is_and_ends_cleanly() {
    let mut child = std::process::Command::new(WEIR)
        .args(["serve", "--port", "0"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port: u16 = line.trim().strip_prefix("http://localhost:").unwrap().parse().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("<form"), "{answer}");
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_port_in_use_and_a_missing_film_are_said_with_the_mend() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let serve = |args: &[&str]| Command::new(WEIR).arg("serve").args(args).assert().code(2);
    serve(&["--port", &port]).stderr(contains("choose another port with --port"));
    serve(&["--film", "no-such.webm"]).stderr(contains("no-such.webm: there is no such film"));
}
