//! The dashboard as a user meets it, in a browser.

use crate::common::{WEIR, signal};
use crate::webdriver::Browser;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A call on a line of 1 Mbit/s.
const CALL: &str = "title = \"A short call\"\nduration = \"20s\"\n[host.a]\n\
    up = { rate = \"1Mbit/s\", delay = \"20ms\", queue = \"bfifo limit 40kB\" }\n[host.b]\n\
    [call.main]\nfrom = \"a\"\nto = \"b\"\nvideo = true\ncontroller = \"gcc:libwebrtc\"\n";

/// A server whose process can be killed.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(folder: &Path, port: u16) -> Self {
        let mut command = Command::new(WEIR);
        command.args(["serve", "--quiet", "--port", &port.to_string(), "--jobs", "1"]);
        command.args(["--store", "runs.sqlite", "--experiments", "."]).current_dir(folder);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let port = first.trim().strip_prefix("http://localhost:").unwrap().parse().unwrap();
        Self { child, port }
    }

    fn address(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }

    fn kill(mut self) -> u16 {
        signal(self.child.id(), "KILL");
        self.child.wait().unwrap();
        self.port
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("call.toml"), CALL).unwrap();
    // Hours of virtual time, which no machine simulates before the test has seen it move.
    fs::write(folder.path().join("long.toml"), CALL.replace("20s", "20000s")).unwrap();
    folder
}

/// Sends a request as these lines; gives the head and the body of the answer.
fn ask(port: u16, lines: &[&str], body: &str) -> (String, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let length = format!("Content-Length: {}", body.len());
    let head = [lines, &["Connection: close", &length]].concat().join("\r\n");
    stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.to_owned(), body.to_owned())
}

const DRAWN: &str = "document.querySelector('.chart figure canvas')";

#[test]
fn dashboard_two_controllers_are_started_zoomed_compared_and_saved() {
    let Some(browser) = Browser::start() else { return };
    let folder = folder();
    let server = Server::start(folder.path(), 0);
    browser.open(&server.address("/"));
    browser.click("#empty a.primary");
    browser.click("#experiments a[href='/new?name=call.toml']");
    // Another rate by the form changes the text beside it.
    browser.write("[name='host.a.up.rate']", "2Mbit/s");
    browser.wait("document.querySelector('#text').value.includes('2Mbit/s')");
    browser.write("#other", "scream-v2");
    browser.click("#start");
    // When both have finished, the page shows them on top of each other.
    browser.wait("location.pathname === '/run' && document.body.dataset.drawn");
    assert!(browser.address().ends_with("/run?run=1&run=2"), "{}", browser.address());
    browser.wait(&format!("{DRAWN} && document.querySelectorAll('.chart figure').length >= 4"));
    let names = browser.value(
        "[...document.querySelectorAll('[data-panel=rate] .legend button')].map((one) => one.textContent)",
    );
    let names = names.to_string();
    assert!(names.contains("received · 1") && names.contains("received · 2"), "{names}");
    // All panels follow a zoom of one.
    browser.drag("[data-panel=rate] .u-over", 0.25, 0.5);
    browser.wait("Number(document.querySelector('.chart').dataset.to) < 11");
    let from = browser.value("Number(document.querySelector('.chart').dataset.from)");
    assert!((4.0..6.0).contains(&from.as_f64().unwrap()), "{from}");
    browser.click("[aria-label='Show everything']");
    browser.wait("Number(document.querySelector('.chart').dataset.to) === 20");
    // A line is switched off and on.
    browser.click("[data-panel=rate] .legend button");
    browser.wait("document.querySelector('[data-panel=rate] .legend button[aria-pressed=false]')");
    for kind in ["SVG", "PNG", "CSV"] {
        browser.click(&format!("[aria-label='Save as {kind}']"));
        let name = format!("runs-1-2.{}", kind.to_lowercase());
        browser.wait_for(&name, || browser.saved().contains(&name));
        let bytes = fs::read(browser.downloads.path().join(&name)).unwrap();
        let begin: &[u8] = match kind {
            "SVG" => b"<svg",
            "PNG" => b"\x89PNG",
            _ => b"panel,series,time (s),value\nrate",
        };
        assert!(bytes.starts_with(begin), "{name}: {} bytes", bytes.len());
    }
    // The list knows both, by their experiment and controller.
    browser.open(&server.address("/"));
    browser.wait("document.querySelectorAll('#runs tbody tr').length === 2");
    // The packets of a run, on demand.
    browser.open(&server.address("/packets?run=1&to=5"));
    browser.wait("Number(document.querySelector('#packets').dataset.count) > 100");
}

#[test]
fn dashboard_a_run_moves_is_cancelled_and_a_wrong_one_names_its_line() {
    let Some(browser) = Browser::start() else { return };
    let folder = folder();
    let server = Server::start(folder.path(), 0);
    browser.open(&server.address("/new?name=long.toml"));
    browser.click("#start");
    let at = "Number(document.querySelector('.chart-box')?.dataset.at ?? 0)";
    browser.wait(&format!("{at} > 0"));
    let first = browser.value(at).as_f64().unwrap();
    browser.wait(&format!("{at} > {first}"));
    browser.click(".job button.danger");
    browser.wait("document.querySelector('.job[data-status=cancelled]')");
    // A text with an error.
    browser.open(&server.address("/new?name=call.toml"));
    let wrong = CALL.replace("\"1Mbit/s\"", "\"1Mb\"");
    browser.write("#text", &wrong);
    browser.wait("document.querySelector('#problem [role=alert]')");
    let said = browser.value("document.querySelector('#problem').textContent").to_string();
    assert!(said.contains("call.toml:4: host.a.up.rate: "), "{said}");
    browser.click("#start");
    browser.wait("!document.querySelector('#start').disabled");
    assert!(browser.address().contains("/new?"));
    // Text that the simulator refuses only when it runs.
    let unrunnable = CALL.replace("from = \"a\"", "sfu = \"forward\"\nfrom = \"a\"");
    browser.write("#text", &unrunnable);
    browser.wait("document.querySelector('#problem [role=alert]')");
}

#[test]
fn dashboard_a_killed_server_loses_no_finished_run_and_the_page_reconnects() {
    let Some(browser) = Browser::start() else { return };
    let folder = folder();
    let server = Server::start(folder.path(), 0);
    browser.open(&server.address("/new?name=call.toml"));
    browser.click("#start");
    browser.wait("location.pathname === '/run' && document.body.dataset.drawn");
    browser.open(&server.address("/new?name=long.toml"));
    browser.click("#start");
    browser.wait("document.querySelector('.job[data-status=running]')");
    let before = browser.value("document.body.dataset.instance");
    let port = server.kill();
    browser.wait("document.querySelector('#connection').textContent.includes('Connection lost')");
    let server = Server::start(folder.path(), port);
    browser.wait(&format!("document.body.dataset.instance !== {before}"));
    browser.wait("document.querySelector('#connection').textContent.includes('restarted')");
    browser.open(&server.address("/"));
    browser.wait("document.querySelectorAll('#runs tbody tr').length === 1");
    browser.open(&server.address("/run?run=1"));
    browser.wait(DRAWN);
}

#[test]
fn dashboard_foreign_pages_hosts_and_files_are_refused() {
    let folder = folder();
    let server = Server::start(folder.path(), 0);
    let json = "Content-Type: application/json";
    let start = |more: &[&str], body: &str| {
        ask(server.port, &[&["POST /api/jobs HTTP/1.1", json], more].concat(), body)
    };
    let body =
        serde_json::json!({ "name": "call.toml", "text": CALL, "mode": "simulated", "tags": [] });
    let body = body.to_string();
    let own = format!("Origin: http://localhost:{}", server.port);
    let host = format!("Host: localhost:{}", server.port);
    assert!(start(&[&host, "Origin: http://example.org"], &body).0.starts_with("HTTP/1.1 403"));
    assert!(start(&["Host: example.org"], &body).0.starts_with("HTTP/1.1 421"));
    let (head, _) = start(&[&host, &own], &body);
    assert!(head.starts_with("HTTP/1.1 201") && head.contains("script-src 'self'"), "{head}");
    // Files outside the folder, programs, runs in real time.
    let outside =
        CALL.replace("rate = \"1Mbit/s\"", "rate = { trace = \"../../../../../../etc/hostname\" }");
    for (text, mode, wanted) in [
        (outside, "simulated", "outside the folder"),
        (CALL.replace("gcc:libwebrtc", "external:true"), "simulated", "not started from a page"),
        (CALL.to_owned(), "emulated", "--allow-real"),
    ] {
        let body = serde_json::json!({ "name": "x.toml", "text": text, "mode": mode, "tags": [] });
        let (head, said) = start(&[&host, &own], &body.to_string());
        assert!(head.starts_with("HTTP/1.1 4") && said.contains(wanted), "{head}\n{said}");
    }
    let long = "x".repeat(2 << 20);
    assert!(start(&[&host, &own], &long).0.starts_with("HTTP/1.1 413"));
}

#[test]
fn dashboard_another_address_needs_the_token() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("token"), "0123456789abcdef\n").unwrap();
    let token = folder.path().join("token").display().to_string();
    // Another address of the loopback stands for one of the network.
    let args = ["serve", "--quiet", "--port", "0", "--listen", "127.0.0.2:0", "--token-file"];
    let mut command = Command::new(WEIR);
    command.args(args).arg(&token).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.find(|line| line.starts_with("dashboard: ")).unwrap();
    let address = line.strip_prefix("dashboard: http://").unwrap().to_owned();
    let get = |more: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        let head = format!("GET /api/facts HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
        stream.write_all(format!("{head}{more}\r\n").as_bytes()).unwrap();
        std::io::read_to_string(stream).unwrap()
    };
    assert!(get("").starts_with("HTTP/1.1 401"));
    assert!(get("Authorization: Bearer wrong\r\n").starts_with("HTTP/1.1 401"));
    assert!(get("Authorization: Bearer 0123456789abcdef\r\n").starts_with("HTTP/1.1 200"));
    signal(child.id(), "INT");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let without = crate::common::weir(&["serve", "--listen", "127.0.0.2:0"]).assert().code(2);
    without.stderr(predicates::str::contains("--token-file"));
}
