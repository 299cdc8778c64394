//! What is measured of each kind of device.

use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::Duration;

use rustix::time::ClockId;
use serde_json::{Value, json};

use crate::hosts::{ADDRESSES, HOSTS, enter, inside};
use crate::mmsg::Batch;
use crate::relay::{BATCH, Forwarder, Stopping, Usage, clock};

/// How long TCP runs.
const TCP_SECONDS: u32 = 5;
/// How long UDP runs.
const UDP: Duration = Duration::from_secs(3);
/// The payload of an IP packet of 200 bytes.
const PAYLOAD: usize = 200 - 20 - 8;
/// The rate of UDP that no kind should have trouble with, in packets per second: about 30 Mbit/s.
const EASY: f64 = 20_000.0;
/// How many round trips, and how long from one to the next.
const PINGS: (usize, Duration) = (1000, Duration::from_millis(2));
/// The port of whoever receives UDP.
const PORT: u16 = 4000;

/// Everything measured in one run of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// TCP's throughput in Gbit/s.
    pub(crate) tcp_gbps: f64,
    /// The segments that TCP sent again.
    pub(crate) retransmits: u64,
    /// How many of these were not lost, as the receiver said afterwards.
    pub(crate) spurious: u64,
    /// How often TCP saw that a later segment had overtaken an earlier one.
    pub(crate) overtaken: u64,
    /// The forwarder during TCP.
    pub(crate) tcp: Usage,
    /// UDP as fast as the sender can.
    pub(crate) flood: Datagrams,
    /// UDP at [`EASY`].
    pub(crate) easy: Datagrams,
    /// Round trips in microseconds, in order of length.
    pub(crate) rtt: Vec<f64>,
}

/// What became of a flow of datagrams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagrams {
    /// Sent per second.
    pub(crate) sent: f64,
    /// Received per second.
    pub(crate) received: f64,
    /// The forwarder meanwhile.
    pub(crate) usage: Usage,
}

impl Measured {
    /// Measures everything.
    pub(crate) fn new(forwarder: &mut Forwarder<'_>) -> io::Result<Self> {
        let (rtt, _) = forwarder.during(round_trips)?;
        let ((tcp_gbps, retransmits), tcp) = forwarder.during(iperf)?;
        let [spurious, overtaken] =
            inside(HOSTS[0], || counters(["TCPDSACKRecv", "TCPSACKReorder"]))?;
        let easy = datagrams(forwarder, Some(EASY))?;
        let flood = datagrams(forwarder, None)?;
        Ok(Self { tcp_gbps, retransmits, spurious, overtaken, tcp, flood, easy, rtt })
    }

    /// A quantile of the round trips in microseconds.
    pub(crate) fn rtt(&self, quantile: f64) -> f64 {
        let last = self.rtt.len().saturating_sub(1) as f64;
        self.rtt.get((last * quantile) as usize).copied().unwrap_or(f64::NAN)
    }

    /// All of it for a machine to read.
    pub(crate) fn json(&self) -> Value {
        json!({
            "tcp_gbps": self.tcp_gbps,
            "retransmits": self.retransmits,
            "spurious_retransmits": self.spurious,
            "overtaken": self.overtaken,
            "tcp_forwarder": usage(&self.tcp),
            "udp_flood": flow(&self.flood),
            "udp_20k": flow(&self.easy),
            "rtt_us": { "p50": self.rtt(0.5), "p99": self.rtt(0.99) },
        })
    }
}

/// A flow of datagrams for a machine to read.
fn flow(datagrams: &Datagrams) -> Value {
    json!({
        "sent_per_s": datagrams.sent,
        "received_per_s": datagrams.received,
        "forwarder": usage(&datagrams.usage),
    })
}

/// The forwarder's part for a machine to read.
fn usage(usage: &Usage) -> Value {
    json!({
        "packets": usage.moved.packets,
        "refused": usage.moved.refused,
        "wakes": usage.wakes,
        "cpu_s": usage.cpu.as_secs_f64(),
        "wall_s": usage.wall.as_secs_f64(),
        "cpu_s_per_million": usage.seconds_per_million(),
    })
}

/// TCP from host 0 to host 1: Gbit/s received, and the segments sent again.
fn iperf() -> io::Result<(f64, u64)> {
    let _server = Killed(command(HOSTS[1], "iperf3 -s").stdout(Stdio::null()).spawn()?);
    sleep(Duration::from_millis(300));
    let line = format!("timeout 30 iperf3 -c {} -t {TCP_SECONDS} -C cubic -J", ADDRESSES[1]);
    let output = command(HOSTS[0], &line).output()?;
    // If packets stop passing, iperf3 waits for ever, is ended by `timeout`, and there is no
    // report.
    let report: Value = serde_json::from_slice(&output.stdout)?;
    if let Some(error) = report["error"].as_str() {
        return Err(io::Error::other(format!("iperf3: {error}")));
    }
    let end = &report["end"];
    let rate = end["sum_received"]["bits_per_second"].as_f64().unwrap_or(f64::NAN);
    Ok((rate / 1e9, end["sum_sent"]["retransmits"].as_u64().unwrap_or(0)))
}

/// TCP's counters with these names, in the namespace of the calling thread, since that was made.
fn counters<const N: usize>(names: [&str; N]) -> io::Result<[u64; N]> {
    let text = std::fs::read_to_string("/proc/thread-self/net/netstat")?;
    let mut lines =
        text.lines().filter(|line| line.starts_with("TcpExt:")).map(str::split_whitespace);
    let (titles, values) = (lines.next(), lines.next());
    let pairs: Vec<_> = titles.into_iter().flatten().zip(values.into_iter().flatten()).collect();
    let value =
        |name| pairs.iter().find(|pair| pair.0 == name).and_then(|pair| pair.1.parse().ok());
    Ok(names.map(|name| value(name).unwrap_or(0)))
}

/// A command to run in a namespace; `ip netns exec` becomes the command, so killing the one kills
/// the other.
fn command(namespace: &str, line: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace]).args(line.split_whitespace());
    command
}

/// A process that ends with its owner.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The times of round trips to an idle host, sorted, in microseconds.
fn round_trips() -> io::Result<Vec<f64>> {
    let (stop, echo) = (AtomicBool::new(false), inside(HOSTS[1], || socket(1))?);
    thread::scope(|scope| {
        scope.spawn(|| answer(&echo, &stop));
        let _stopping = Stopping(&stop);
        let mut times = inside(HOSTS[0], || {
            let socket = socket(0)?;
            socket.connect((ADDRESSES[1], PORT))?;
            (0..PINGS.0)
                .filter_map(|_| round_trip(&socket).transpose())
                .collect::<io::Result<Vec<f64>>>()
        })?;
        times.sort_by(f64::total_cmp);
        Ok(times)
    })
}

/// A socket for UDP at host `n`, which waits at most a tenth of a second.
fn socket(n: usize) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((ADDRESSES[n], PORT))?;
    socket.set_read_timeout(Some(Duration::from_millis(100)))?;
    crate::packet::option(
        &socket.as_fd().try_clone_to_owned()?,
        libc::SOL_SOCKET,
        libc::SO_RCVBUFFORCE,
        &(8 << 20),
    )?;
    Ok(socket)
}

/// Sends back all that comes, until told to stop.
fn answer(socket: &UdpSocket, stop: &AtomicBool) {
    let mut buffer = [0; 2048];
    while !stop.load(Ordering::Relaxed) {
        if let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..length], from);
        }
    }
}

/// Waits a little, then measures one round trip in microseconds; none if the answer was lost.
fn round_trip(socket: &UdpSocket) -> io::Result<Option<f64>> {
    sleep(PINGS.1);
    let mut buffer = [0; 2048];
    let start = clock(ClockId::Monotonic);
    socket.send(&buffer[..PAYLOAD])?;
    match socket.recv(&mut buffer) {
        Ok(_) => Ok(Some((clock(ClockId::Monotonic) - start).as_secs_f64() * 1e6)),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// Datagrams from host 0 to host 1 at `rate` per second, or as fast as can be.
fn datagrams(forwarder: &mut Forwarder<'_>, rate: Option<f64>) -> io::Result<Datagrams> {
    let (stop, socket) = (AtomicBool::new(false), inside(HOSTS[1], || socket(1))?);
    let ((sent, received), usage) = forwarder.during(|| {
        thread::scope(|scope| {
            let receiver = scope.spawn(|| receive(&socket, &stop));
            let stopping = Stopping(&stop);
            let sent = scope
                .spawn(|| send(rate))
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("sender")))?;
            sleep(Duration::from_millis(200));
            drop(stopping);
            let received = receiver.join().unwrap_or_else(|_| Err(io::Error::other("receiver")))?;
            Ok((sent, received))
        })
    })?;
    let seconds = UDP.as_secs_f64();
    Ok(Datagrams { sent: sent as f64 / seconds, received: received as f64 / seconds, usage })
}

/// Counts what comes, until told to stop.
fn receive(socket: &UdpSocket, stop: &AtomicBool) -> io::Result<u64> {
    let (mut batch, mut total) = (Batch::new(0), 0);
    while !stop.load(Ordering::Relaxed) {
        total += batch.receive(socket.as_fd(), libc::MSG_WAITFORONE)? as u64;
    }
    Ok(total)
}

/// Sends for the length of a measurement; how many went.
fn send(rate: Option<f64>) -> io::Result<u64> {
    enter(HOSTS[0])?;
    let socket = socket(0)?;
    socket.connect((ADDRESSES[1], PORT))?;
    let (mut batch, mut total, start) = (Batch::new(PAYLOAD), 0, clock(ClockId::Monotonic));
    loop {
        let elapsed = clock(ClockId::Monotonic) - start;
        if elapsed >= UDP {
            return Ok(total);
        }
        let due = rate.map_or(BATCH as u64, |rate| (elapsed.as_secs_f64() * rate) as u64 - total);
        if due == 0 {
            sleep(Duration::from_micros(20));
            continue;
        }
        total += batch.send(socket.as_fd(), 0, BATCH.min(due as usize))? as u64;
    }
}
