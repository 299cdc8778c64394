//! `weir serve` as a user meets it.

mod common;

use common::{Running, weir};
use predicates::str::contains;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

#[test]
fn it_says_where_it_is_and_ends_cleanly() {
    let server = Running::start(&["serve", "--port", "0"]);
    let port: u16 = server.first.trim().strip_prefix("http://localhost:").unwrap().parse().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("<form"), "{answer}");
    assert_eq!(server.stop("INT").1.code(), Some(0));
}

#[test]
fn a_port_in_use_and_a_missing_film_are_said_with_the_mend() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let serve = |args: &[&str]| weir(&["serve"]).args(args).assert().code(2);
    serve(&["--port", &port]).stderr(contains("choose another port with --port"));
    serve(&["--film", "no-such.webm"]).stderr(contains("no-such.webm: there is no such film"));
}
