//! Real browsers on the hosts of a testbed.
//!
//! Needs root, /dev/net/tun, ffmpeg, the browsers and their drivers; without them the tests are
//! skipped with a message.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use emulator::{Host, Testbed};
use experiment::Browser as Kind;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};
use testbed::measure::browser::{Browser, BrowserError, Launch, Program};
use testbed::measure::media::{Cache, Media, MediaSpec};

/// The port of the page on each host's loopback.
const PORT: u16 = 8080;
const PAGE: &str =
    "<!doctype html><title>A call</title><link rel=icon href=data:,><video id=remote></video>";

/// Longer than a busy machine takes to end a killed browser.
const PATIENCE: Duration = Duration::from_secs(20);

/// Two hosts with one page each, and the lock that allows one testbed at a time.
struct Bench {
    testbed: Testbed,
    cancel: AtomicBool,
    _turn: MutexGuard<'static, ()>,
}

/// `None` if browsers cannot run here.
#[expect(clippy::disallowed_methods, reason = "printed past the capture of the test runner")]
fn bench() -> Option<Bench> {
    static TURN: Mutex<()> = Mutex::new(());
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let device = fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    let missing = Program::ALL.into_iter().any(|program| program.find().is_none());
    if !root || device.is_err() || missing || which::which("ffmpeg").is_err() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let _ = std::io::stderr().write_all(
                b"skipped: needs root, /dev/net/tun, ffmpeg, Chromium, Firefox and their drivers\n",
            );
        });
        return None;
    }
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let testbed = Testbed::new(&["alice".to_owned(), "bob".to_owned()]).unwrap();
    testbed.hosts().iter().for_each(serve);
    Some(Bench { testbed, cancel: AtomicBool::new(false), _turn: turn })
}

impl Bench {
    fn launch(
        &self,
        kind: Kind,
        host: usize,
        media: Option<&Media>,
    ) -> Result<Browser, BrowserError> {
        Browser::launch(Launch {
            event_logs: None,
            kind,
            host: &self.testbed.hosts()[host],
            media,
            trusted_key: None,
            ipv6: false,
            cancel: &self.cancel,
        })
    }
}

/// Serves the page on the host's loopback, from a thread that ends with the process.
fn serve(host: &Host) {
    host.within(|| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PORT)).unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                std::thread::spawn(move || {
                    let _ = stream.read(&mut [0; 4096]);
                    let length = PAGE.len();
                    let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
                    let _ = stream.write_all(format!("{head}{PAGE}").as_bytes());
                });
            }
        });
    })
    .unwrap();
}

#[expect(clippy::disallowed_methods, reason = "a test of a real program that has to end")]
fn now() -> Instant {
    Instant::now()
}

fn url() -> String {
    format!("http://127.0.0.1:{PORT}/")
}

/// Packets that the host's interface has sent.
fn sent(host: &Host) -> u64 {
    let text = host.within(|| fs::read_to_string("/proc/thread-self/net/dev")).unwrap().unwrap();
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("eth0:")).unwrap();
    line.split_whitespace().nth(9).unwrap().parse().unwrap()
}

/// The command lines of processes that belong to this run, in any state.
fn left() -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let own = format!("WEIR_RUN={}-", std::process::id());
        let ours = environment
            .split(|byte| *byte == 0)
            .any(|variable| variable.starts_with(own.as_bytes()));
        ours.then(|| {
            fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default().replace('\0', " ")
        })
    });
    processes.collect()
}

fn folders() -> usize {
    let names =
        fs::read_dir(std::env::temp_dir()).unwrap().flatten().map(|entry| entry.file_name());
    let own = format!("weir-browser-{}-", std::process::id());
    names.filter(|name| name.to_string_lossy().starts_with(&own)).count()
}

/// A script that returns the candidates of a page with access to camera and microphone, and the
/// size of its picture.
const GATHER: &str = "
    return navigator.mediaDevices.getUserMedia({ audio: true, video: true }).then(async (stream) => {
        const connection = new RTCPeerConnection(), found = [];
        stream.getTracks().forEach((track) => connection.addTrack(track, stream));
        const done = new Promise((resolve) => connection.onicecandidate = (event) =>
            event.candidate ? found.push(event.candidate.candidate) : resolve());
        await connection.setLocalDescription();
        await done;
        const settings = stream.getVideoTracks()[0].getSettings();
        return { found, size: [settings.width, settings.height], secure: isSecureContext };
    });";

fn gathers_its_own_address(browser: &mut Browser, address: &str) -> serde_json::Value {
    let told = browser.run(GATHER).unwrap();
    let found: Vec<&str> = told["found"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|candidate| candidate.as_str())
        .collect();
    assert!(found.iter().any(|candidate| candidate.contains(&format!(" {address} "))), "{found:?}");
    assert!(
        !found.iter().any(|candidate| candidate.contains(".local") || candidate.contains(" 127.")),
        "{found:?}"
    );
    assert_eq!(told["secure"], true);
    told
}

#[test]
fn both_browsers_open_a_page_and_leave_no_process_or_file() {
    let Some(bench) = bench() else { return };
    let folder = tempfile::tempdir().unwrap();
    let spec = MediaSpec { width: 320, height: 180, frame_rate: 10, video: None, audio: None };
    let media =
        spec.prepare(&Cache::at(folder.path().to_owned()), false, &bench.cancel, &|_| ()).unwrap();
    let before = folders();
    let open = |kind, host| {
        let start = now();
        let mut browser = bench.launch(kind, host, Some(&media)).unwrap();
        browser.open(&url(), &bench.cancel).unwrap();
        println!("{} open after {:?}", browser.version(), start.elapsed());
        browser
    };
    let (mut firefox, mut chromium) = std::thread::scope(|scope| {
        let chromium = scope.spawn(|| open(Kind::Chromium, 0));
        (open(Kind::Firefox, 1), chromium.join().unwrap())
    });
    assert!(chromium.version().starts_with("Chromium 1"), "{}", chromium.version());
    assert!(firefox.version().starts_with("Firefox 1"), "{}", firefox.version());
    let told = gathers_its_own_address(&mut chromium, "10.0.0.1");
    assert_eq!(told["size"], serde_json::json!([320, 180]), "the camera is the file");
    gathers_its_own_address(&mut firefox, "10.0.0.2");
    for browser in [&mut chromium, &mut firefox] {
        assert_eq!(browser.title().unwrap(), "A call");
        browser.run("sessionStorage.setItem('tab', 'first')").unwrap();
        browser.open(&url(), &bench.cancel).unwrap();
        assert_eq!(
            browser.run("return sessionStorage.getItem('tab')").unwrap(),
            serde_json::Value::Null,
            "a tab of its own"
        );
        assert_eq!(&browser.screenshot().unwrap()[1..4], b"PNG");
        browser.is_alive().unwrap();
    }
    let start = now();
    chromium.quit();
    println!("Chromium gone after {:?}", start.elapsed());
    let start = now();
    firefox.quit();
    println!("Firefox gone after {:?}", start.elapsed());
    assert_eq!(left(), [""; 0]);
    assert_eq!(folders(), before);
}

#[test]
fn an_idle_browser_sends_nothing() {
    let Some(bench) = bench() else { return };
    for (host, kind) in [Kind::Chromium, Kind::Firefox].into_iter().enumerate() {
        let place = &bench.testbed.hosts()[host];
        let before = sent(place);
        let mut browser = bench.launch(kind, host, None).unwrap();
        browser.open(&url(), &bench.cancel).unwrap();
        sleep(Duration::from_secs(8));
        browser.is_alive().unwrap();
        assert_eq!(sent(place) - before, 0, "{kind:?}");
    }
}

#[test]
fn a_killed_browser_is_detected_and_leaves_no_process() {
    let Some(bench) = bench() else { return };
    for kind in [Kind::Chromium, Kind::Firefox] {
        let mut browser = bench.launch(kind, 0, None).unwrap();
        browser.open(&url(), &bench.cancel).unwrap();
        let killed =
            Command::new("kill").args(["-9", &browser.pid().to_string()]).status().unwrap();
        assert!(killed.success());
        let start = now();
        let error = loop {
            match browser.is_alive() {
                Err(error) => break error.to_string(),
                Ok(()) if start.elapsed() > PATIENCE => panic!("{kind:?} is still thought alive"),
                Ok(()) => sleep(Duration::from_millis(10)),
            }
        };
        assert!(
            error.starts_with(&format!("{} on alice: the browser has ended", kind.name())),
            "{error}"
        );
        let asked = browser.open(&url(), &bench.cancel).unwrap_err().to_string();
        assert!(asked.contains("the browser has ended"), "{asked}");
        drop(browser);
        assert_eq!(left(), [""; 0], "{kind:?}");
    }
}

#[test]
fn a_page_that_cannot_be_opened_is_an_error() {
    let Some(bench) = bench() else { return };
    for kind in [Kind::Chromium, Kind::Firefox] {
        let mut browser = bench.launch(kind, 0, None).unwrap();
        for closed in ["http://127.0.0.1:1/", "http://127.0.0.1:8081/call"] {
            let url = format!("{closed}?room=main#0123456789abcdef");
            let error = browser.open(&url, &bench.cancel).unwrap_err().to_string();
            let start = format!("{} on alice: cannot open {closed}: ", kind.name());
            assert!(error.starts_with(&start) && !error.contains("0123456789abcdef"), "{error}");
        }
        assert!(
            !browser.log().iter().any(|line| line.contains("0123456789abcdef")),
            "{:?}",
            browser.log()
        );
        browser.is_alive().unwrap();
        bench.cancel.store(true, Ordering::Relaxed);
        let opened = browser.open(&url(), &bench.cancel);
        assert!(matches!(opened, Err(BrowserError::Cancelled)), "{opened:?}");
        let launched = bench.launch(kind, 1, None).err();
        assert!(matches!(launched, Some(BrowserError::Cancelled)), "{launched:?}");
        bench.cancel.store(false, Ordering::Relaxed);
    }
    assert_eq!(left(), [""; 0]);
}
