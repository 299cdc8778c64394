//! Calls with Chromium; skipped if it is not installed.

use crate::support::{LOCALHOST, stack, video};
use peer::{Peer, PeerConfig, Signal, run};
use serde_json::Value;
use sim::codec::AudioConfig;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::mpsc;
use units::{Bitrate, Seed};

/// The path of Debian's Chromium, without its wrapper script. `WEIR_CHROMIUM` sets another path.
const CHROMIUM: &str = "/usr/lib/chromium/chromium";

/// A browser that is killed when this is dropped.
struct Browser(Child);

impl Drop for Browser {
    fn drop(&mut self) {
        let ended = self.0.kill().and_then(|()| self.0.wait());
        assert!(ended.is_ok() || std::thread::panicking(), "the browser ends: {ended:?}");
    }
}

fn chromium() -> PathBuf {
    std::env::var_os("WEIR_CHROMIUM").map_or_else(|| CHROMIUM.into(), PathBuf::from)
}

fn browser(page: &str, profile: &std::path::Path) -> Browser {
    let mut command = Command::new(chromium());
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--mute-audio",
        "--no-first-run",
        "--disable-sync",
    ]);
    command.args(["--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream"]);
    command.args([
        "--disable-features=WebRtcHideLocalIpsWithMdns",
        "--allow-loopback-in-peer-connection",
    ]);
    command.args([
        "--autoplay-policy=no-user-gesture-required",
        "--disable-dev-shm-usage",
        "--disable-component-update",
    ]);
    command.args(["--disable-background-networking", "--disable-background-timer-throttling"]);
    command.arg(format!("--user-data-dir={}", profile.display())).arg(page);
    Browser(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
}

/// Removes the profile directory of a killed browser. Retries, because its child processes write
/// there until they end too.
async fn remove(profile: &std::path::Path) {
    for _ in 0..100 {
        if std::fs::remove_dir_all(profile).is_ok() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{} cannot be removed", profile.display());
}

/// Reads the path and the body of a request.
async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let head = loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        if let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let text = String::from_utf8(bytes[..head].to_vec()).ok()?;
    let length = text
        .lines()
        .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    while bytes.len() < head + length.unwrap_or(0) {
        stream.read_buf(&mut bytes).await.ok()?;
    }
    Some((text.split(' ').nth(1)?.to_owned(), String::from_utf8(bytes[head..].to_vec()).ok()?))
}

/// Serves the page and its signalling until the page has sent statistics `times` times.
async fn serve(
    listener: TcpListener,
    to_peer: mpsc::Sender<Signal>,
    mut from_peer: mpsc::Receiver<Signal>,
    times: usize,
) -> Vec<Value> {
    let mut statistics = Vec::new();
    while statistics.len() < times {
        let (mut stream, _) = listener.accept().await.unwrap();
        let Some((path, body)) = request(&mut stream).await else { continue };
        let reply = match path.as_str() {
            "/" => include_str!("page.html").to_owned(),
            "/offer" => {
                to_peer.send(Signal::Offer(body)).await.unwrap();
                match from_peer.recv().await {
                    Some(Signal::Answer(sdp)) => sdp,
                    _ => panic!("an offer is answered"),
                }
            }
            "/stats" => {
                statistics.push(serde_json::from_str(&body).unwrap());
                String::new()
            }
            "/error" => panic!("the page: {body}"),
            _ => String::new(),
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            reply.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(reply.as_bytes()).await.unwrap();
    }
    statistics
}

/// Makes a call. Returns the statistics of the browser at each second, and the native endpoint;
/// `None` without a browser.
#[expect(clippy::disallowed_methods, reason = "a test in real time")]
async fn call(name: &str, native_sends: bool, seconds: usize) -> Option<(Vec<Value>, Peer)> {
    if !chromium().exists() {
        println!(
            "skipped: no Chromium at {} (set WEIR_CHROMIUM to its path)",
            chromium().display()
        );
        return None;
    }
    let now = Instant::now();
    let socket = UdpSocket::bind(SocketAddr::from((LOCALHOST, 0))).await.unwrap();
    let address = socket.local_addr().unwrap();
    let max_rate = if native_sends { Bitrate::from_mbps(3) } else { Bitrate::from_kbps(150) };
    let stack = stack(name, max_rate);
    let video = native_sends.then(video);
    let audio = Some(AudioConfig::opus());
    let mut peer =
        Peer::new(PeerConfig { address, stack, video, audio, seed: Seed(1) }, now).unwrap();
    let listener = TcpListener::bind(SocketAddr::from((LOCALHOST, 0))).await.unwrap();
    let hash = if native_sends { "" } else { "#sends" };
    let page = format!("http://{}/{hash}", listener.local_addr().unwrap());
    let directory =
        std::env::temp_dir().join(format!("weir-peer-{}-{}", std::process::id(), address.port()));
    let browser = browser(&page, &directory);
    let (to_peer, mut for_peer) = mpsc::channel(8);
    let (from_peer, for_page) = mpsc::channel(8);
    let end = now + Duration::from_secs(60);
    let statistics = tokio::select! {
        statistics = serve(listener, to_peer, for_page, seconds) => statistics,
        ended = run(&mut peer, &socket, &mut for_peer, &from_peer, end) => panic!("no call within a minute: {ended:?}"),
    };
    drop(browser);
    remove(&directory).await;
    Some((statistics, peer))
}

/// A member of the statistics object of this type and kind of media.
fn member(report: &Value, kind: &str, media: &str, name: &str) -> f64 {
    let mut objects = report.as_array().unwrap().iter();
    let found = objects
        .find(|object| object["type"] == kind && object["kind"] == media && !object[name].is_null())
        .unwrap_or_else(|| panic!("no {kind} of {media} with {name} in {report:#}"));
    found[name].as_f64().unwrap()
}

#[tokio::test]
async fn chromium_decodes_the_video_and_audio_of_a_native_peer() {
    for name in ["gcc:libwebrtc", "str0m"] {
        let Some((reports, peer)) = call(name, true, 8).await else { return };
        let last = reports.last().unwrap();
        let frames = member(last, "inbound-rtp", "video", "framesDecoded");
        assert!(frames > 120.0, "{frames} frames in 8 s: {last:#}");
        assert!(member(last, "inbound-rtp", "video", "frameHeight") > 0.0);
        let target = peer.target_rate();
        assert!(target.as_bps() > 300_000, "Chromium's feedback raises the rate: {target}");
        let of = |name| member(last, "inbound-rtp", "audio", name);
        assert!(of("packetsReceived") > 200.0, "{name}: {last:#}");
        // Samples that are not concealed were decoded.
        assert!(of("concealedSamples") < 0.5 * of("totalSamplesReceived"), "{name}: {last:#}");
    }
}

#[tokio::test]
async fn chromium_obeys_remb() {
    // The native receiver allows at most 150 kbit/s; Chromium itself starts at 300 kbit/s.
    let Some((reports, peer)) = call("gcc:carlucci-2017", false, 8).await else { return };
    let target = member(reports.last().unwrap(), "outbound-rtp", "video", "targetBitrate");
    assert!(target <= 150e3, "{target} bit/s");
    audio_goes_both_ways(peer, reports.last().unwrap());
}

#[tokio::test]
async fn str0m_receives_the_media_of_chromium() {
    let Some((reports, peer)) = call("str0m", false, 5).await else { return };
    audio_goes_both_ways(peer, reports.last().unwrap());
}

/// Compares what each endpoint sent with what the other received.
#[expect(clippy::disallowed_methods, reason = "a test in real time")]
fn audio_goes_both_ways(mut peer: Peer, browser: &Value) {
    let stats = peer.stats(Instant::now(), 0.0).unwrap();
    let native = Value::Array(stats.into_iter().map(|(_, object)| object).collect());
    for (sender, receiver) in [(&native, browser), (browser, &native)] {
        let sent = member(sender, "outbound-rtp", "audio", "packetsSent");
        let received = member(receiver, "inbound-rtp", "audio", "packetsReceived");
        let lost = member(receiver, "inbound-rtp", "audio", "packetsLost");
        // The two statistics were taken within a second of each other.
        assert!(
            received > 150.0 && (sent - received).abs() < 60.0 && lost < 5.0,
            "{browser:#} {native:#}"
        );
    }
    assert!(member(&native, "inbound-rtp", "video", "framesDecoded") > 30.0, "{native:#}");
}
