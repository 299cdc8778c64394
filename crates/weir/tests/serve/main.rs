//! `weir serve` as a user meets it.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

#[path = "../common/mod.rs"]
mod common;
mod dashboard;
mod webdriver;

use common::{Running, weir};
use predicates::str::contains;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn it_says_where_it_is_and_ends_cleanly() {
    let server = Running::start(&["serve", "--port", "0"]);
    let port: u16 = server.first.trim().strip_prefix("http://localhost:").unwrap().parse().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("/app.js"), "{answer}");
    assert_eq!(server.stop("INT").1.code(), Some(0));
}

#[test]
fn a_port_in_use_and_a_missing_film_are_said_with_the_suggestion() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let serve = |args: &[&str]| weir(&["serve"]).args(args).assert().code(2);
    serve(&["--port", &port]).stderr(contains("choose another port with --port"));
    serve(&["--film", "no-such.webm"]).stderr(contains("no-such.webm: there is no such film"));
}

#[test]
fn the_limit_on_open_files_is_raised_for_many_pages() {
    let script = format!("ulimit -Sn 128; exec '{}' serve --port 0 --quiet", common::WEIR);
    let server = Running::of(Command::new("sh").args(["-c", &script]));
    let port: u16 = server.first.trim().strip_prefix("http://localhost:").unwrap().parse().unwrap();
    let open = |_| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let request = format!(
            "GET /ws/a HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!(&answer, b"HTTP/1.1 101");
        stream
    };
    let pages: Vec<TcpStream> = (0..200).map(open).collect();
    drop(pages);
    assert_eq!(server.stop("INT").1.code(), Some(0));
}

#[test]
fn a_token_and_a_secret_that_others_can_read_draw_a_warning() {
    let folder = broker();
    let set = |name: &str, mode: u32| {
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
    };
    let said = |token_mode, secret_mode| {
        set("token", token_mode);
        set("paris.secret", secret_mode);
        let mut command = Command::new(common::WEIR);
        let args = ["serve", "--port", "0", "--broker", "broker.toml", "--token-file", "token"];
        command.args(args).current_dir(folder.path()).stderr(Stdio::piped());
        Running::of(&mut command).stop_with_errors("INT")
    };
    let text = said(0o666, 0o640);
    for warning in [
        "warning: token: users other than the owner can read and change this file (mode 666); \
         run 'chmod 600 token'",
        "warning: paris.secret: users other than the owner can read this file (mode 640)",
    ] {
        assert!(text.contains(warning), "{text}");
    }
    assert_eq!(said(0o600, 0o400), "");
}

const BROKER: &str = r#"
[relay.paris]
urls = ["turn:192.0.2.1:3478?transport=udp"]
secret_file = "paris.secret"
class = "specialised"
capacity = 10

[service.meet]
specialised = true
"#;

/// A folder with a broker's file, its relay's secret and a token.
fn broker() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("broker.toml", BROKER),
        ("paris.secret", "0123456789abcdef\n"),
        ("token", "fedcba9876543210\n"),
        ("short", "a"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    folder
}

#[test]
fn a_broker_gives_a_relay_to_those_who_have_the_token() {
    let folder = broker();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (file, token) = (path("broker.toml"), path("token"));
    let server =
        Running::start(&["serve", "--port", "0", "--broker", &file, "--token-file", &token]);
    let port: u16 = server.first.trim().strip_prefix("http://localhost:").unwrap().parse().unwrap();
    let ask = |token: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let body = r#"{"service":"meet","user":"alice","specialised":true}"#;
        let head = "POST /broker/v1/sessions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json";
        let length = body.len();
        let request = format!(
            "{head}\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let given = ask("fedcba9876543210");
    assert!(given.starts_with("HTTP/1.1 201") && given.contains(r#""relay":"paris""#), "{given}");
    assert!(ask("fedcba9876543211").starts_with("HTTP/1.1 401"));
    assert_eq!(server.stop("INT").1.code(), Some(0));
}

#[test]
fn a_broker_that_others_could_ask_needs_a_token() {
    let folder = broker();
    let serve = |args: &[&str]| {
        let mut command = common::in_folder(folder.path(), &["serve", "--port", "0"]);
        command.env_remove("WEIR_BROKER_TOKEN").args(args).assert().code(2)
    };
    let outside = ["--broker", "broker.toml", "--bind", "192.0.2.1:0"];
    serve(&outside)
        .stderr(contains("--bind 192.0.2.1:0: an address other than loopback needs a token"));
    serve(&[&outside[..], &["--token-file", "short"]].concat())
        .stderr(contains("a token has 16 letters"));
    serve(&[&outside[..], &["--token-file", "none"]].concat())
        .stderr(contains("none: No such file"));
    serve(&["--bind", "192.0.2.1:0"]).stderr(contains("--broker"));
    serve(&["--broker", "none.toml"]).stderr(contains("none.toml: No such file"));
}
