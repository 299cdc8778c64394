//! Runs ten calls of native peers over loopback in one thread, and prints the received rates and
//! the processor time.
//!
//! `cargo run -p weir-peer --example ten [-- STACK [RATE [SECONDS]]]`: STACK is a controller on
//! `rtc`, for example `fixed:1Mbit/s`, or `str0m`; RATE is the highest rate that is sent.

use cc::ControllerConfig;
use peer::{Peer, PeerConfig, Rates, Signal, Stack, run};
use sim::codec::{Codec, EncoderConfig, SourceSize};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use units::{Bitrate, Seed};

const CALLS: u64 = 10;

/// The time after which ICE, DTLS and the first key frames are over, and the estimators have
/// reached their rate.
const WARM_UP: Duration = Duration::from_secs(5);

/// Clock ticks per second in `/proc` (proc(5), `USER_HZ`; 100 on all current Linux systems).
const TICKS: f64 = 100.0;

/// One endpoint, and the channels to the other.
struct Endpoint {
    peer: Peer,
    socket: UdpSocket,
    inbox: mpsc::Receiver<Signal>,
    outbox: mpsc::Sender<Signal>,
}

impl Endpoint {
    /// Runs until `times[1]`. Returns the bytes that arrived after `times[0]`.
    async fn run(mut self, times: [Instant; 2]) -> Result<f64, peer::Error> {
        let mut received = [0.0; 2];
        for (at, received) in times.into_iter().zip(&mut received) {
            run(&mut self.peer, &self.socket, &mut self.inbox, &self.outbox, at).await?;
            *received = self.received(at);
        }
        Ok(received[1] - received[0])
    }

    fn received(&mut self, now: Instant) -> f64 {
        let objects = self.peer.stats(now, 0.0).unwrap_or_default();
        let inbound = objects.values().find(|object| object["type"] == "inbound-rtp");
        let value = |name: &str| inbound.and_then(|object| object[name].as_f64()).unwrap_or(0.0);
        value("bytesReceived") + value("headerBytesReceived")
    }
}

fn stack(name: &str, rate: Bitrate) -> Result<Stack, cc::BuildError> {
    let (start, min) = (rate.min(Bitrate::from_kbps(300)), rate.min(Bitrate::from_kbps(50)));
    if name == "str0m" {
        return Ok(Stack::Str0m(Rates { start, min, max: rate }));
    }
    let (profile, settings) = (name.to_owned(), Vec::new());
    let config =
        ControllerConfig { profile, settings, start_rate: start, min_rate: min, max_rate: rate };
    Ok(Stack::Rtc(cc::build(&config)?))
}

async fn call(
    name: &str,
    rate: Bitrate,
    seed: u64,
    now: Instant,
) -> Result<[Endpoint; 2], Box<dyn Error>> {
    let (to_callee, for_callee) = mpsc::channel(8);
    let (to_caller, for_caller) = mpsc::channel(8);
    let source = SourceSize { width: 640, height: 360, fps: 30 };
    let mut ends = Vec::new();
    for (sends, inbox, outbox) in [(true, for_caller, to_callee), (false, for_callee, to_caller)] {
        let socket = UdpSocket::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await?;
        let video = sends.then(|| EncoderConfig::new(Codec::Vp8, source, rate));
        let address = socket.local_addr()?;
        let config =
            PeerConfig { address, stack: stack(name, rate)?, video, audio: None, seed: Seed(seed) };
        ends.push(Endpoint { peer: Peer::new(config, now)?, socket, inbox, outbox });
    }
    let offer = ends[0].peer.offer(now)?;
    ends[0].outbox.send(offer).await?;
    ends.try_into().map_err(|_| "two ends".into())
}

/// The processor time that this process has used, seconds (proc(5), `/proc/pid/stat`: utime and
/// stime).
fn processor() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let times = after_name.split_whitespace().skip(11).take(2);
    Ok(times.map(str::parse::<f64>).sum::<Result<f64, _>>()? / TICKS)
}

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::disallowed_methods, reason = "this example runs in real time")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "fixed:1Mbit/s".to_owned());
    let rate: Bitrate = words.next().map_or(Ok(Bitrate::from_mbps(1)), |word| word.parse())?;
    let seconds: u64 = words.next().map_or(Ok(20), |word| word.parse())?;
    let now = Instant::now();
    let times = [now + WARM_UP, now + WARM_UP + Duration::from_secs(seconds)];
    let mut ends = JoinSet::new();
    for seed in 0..CALLS {
        for end in call(&name, rate, seed, now).await? {
            ends.spawn(end.run(times));
        }
    }
    tokio::time::sleep_until(times[0].into()).await;
    let before = processor()?;
    let mut received = Vec::new();
    while let Some(end) = ends.join_next().await {
        received.push(end??);
    }
    let used = (processor()? - before) / seconds as f64;
    let rates: Vec<f64> = received
        .iter()
        .filter(|bytes| **bytes > 0.0)
        .map(|bytes| bytes * 8e-3 / seconds as f64)
        .collect();
    let (lowest, sum) =
        (rates.iter().copied().fold(f64::INFINITY, f64::min), rates.iter().sum::<f64>());
    println!(
        "{} of {CALLS} calls, {:.0} kbit/s mean, {lowest:.0} lowest; {:.0} % of a core",
        rates.len(),
        sum / CALLS as f64,
        used * 100.0
    );
    Ok(())
}
