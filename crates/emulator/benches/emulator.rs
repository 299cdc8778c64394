//! Measures the fidelity and the speed of the emulator, and of the token buckets of the kernel over
//! a veth pair, and prints one table.
//!
//! ```text
//! cargo bench -p weir-emulator --bench emulator [-- --json]
//! ```
//!
//! Needs root, /dev/net/tun, iperf3, tc and ethtool; without root it prints what is missing. Takes
//! about two minutes. Sizes are those of IP packets. The disciplines of the kernel also count the
//! Ethernet header; their figures are relative to the rate that this gives.

#![expect(clippy::unwrap_used, reason = "a benchmark that cannot be set up fails")]

#[path = "../tests/common/mod.rs"]
mod common;

use common::rig::{NullObserver, Rig, delayed, line, pairs, settle};
use common::stats::{median, quantile, slope};
use common::traffic::{
    Arrival, Burst, HEADERS, PORT, Receiver, buffered, delays, machine_is_late, now, send,
    send_burst, steady, through,
};
use common::veth::Veth;
use emulator::Host;
use net::{LineConfig, NetworkConfig};
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use units::{Bitrate, Bytes, Duration};

fn main() {
    let json = std::env::args().any(|word| word == "--json");
    if let Some(reason) = common::missing() {
        eprintln!("not measured: needs root, /dev/net/tun and network namespaces: {reason}");
        return;
    }
    let tools = ["iperf3 -v", "tc -V", "ethtool --version", "ping -V", "chrt -V"];
    if let Some(tool) = tools.iter().find(|tool| words(tool).output().is_err()) {
        eprintln!(
            "not measured: '{tool}' does not work; install the Debian packages iperf3, iproute2, ethtool, iputils-ping and util-linux"
        );
        return;
    }
    let mut table = Table::new(json);
    speed(&mut table);
    rates(&mut table);
    spacing(&mut table);
    delay(&mut table);
    many_hosts(&mut table);
}

// The table.

/// Prints each row as soon as it is measured.
struct Table {
    json: bool,
}

impl Table {
    fn new(json: bool) -> Self {
        if !json {
            println!("{:<44} {:<16} {:>12}", "figure", "of", "value");
        }
        Self { json }
    }

    fn row(&mut self, figure: &str, of: &str, value: f64, unit: &str) {
        if self.json {
            // The texts need no escaping.
            println!(r#"{{"figure":"{figure}","of":"{of}","value":{value},"unit":"{unit}"}}"#);
        } else {
            let digits = if unit == "% off" { 4 } else { 1 };
            println!("{figure:<44} {of:<16} {value:>12.digits$} {unit}");
        }
    }
}

// Two hosts, over the emulator or over a veth pair.

/// Two hosts with a path from the first to the second.
trait Path {
    /// Starts a command on one of the hosts.
    fn spawn(&self, host: usize, command: Command) -> Child;
    /// A socket on the first host, connected to the receiver on the second.
    fn sender(&self) -> UdpSocket;
    /// The receiver on the second host.
    fn receiver(&self) -> UdpSocket;
}

/// One pair of hosts of an emulated network.
struct Emulated<'a>(&'a Rig<NullObserver>, usize);

impl Emulated<'_> {
    fn host(&self, number: usize) -> &Host {
        self.0.host(2 * self.1 + number)
    }
}

impl Path for Emulated<'_> {
    fn spawn(&self, host: usize, command: Command) -> Child {
        self.host(host).spawn(command).unwrap()
    }
    fn sender(&self) -> UdpSocket {
        self.0.sender(2 * self.1, 2 * self.1 + 1)
    }
    fn receiver(&self) -> UdpSocket {
        self.0.receiver(2 * self.1 + 1)
    }
}

impl Path for Veth {
    fn spawn(&self, host: usize, command: Command) -> Child {
        self.within(host, move || { command }.spawn().unwrap())
    }
    fn sender(&self) -> UdpSocket {
        self.within(0, || buffered("0.0.0.0", 0, Some((common::rig::address(1), PORT))))
    }
    fn receiver(&self) -> UdpSocket {
        self.within(1, || buffered("0.0.0.0", PORT, None))
    }
}

const WEIR: &str = "weir";
const VETH: &str = "veth";

/// The rate-limiting disciplines of the kernel.
const KERNEL: [&str; 2] = ["tbf burst 5kb", "htb"];
/// The size of the Ethernet header, which the kernel counts in addition to the IP packet, bytes.
const ETHERNET: u64 = 14;

/// The tc script of a discipline.
fn script(of: &str, rate: Bitrate) -> String {
    let bps = rate.as_bps();
    match of {
        "htb" => format!(
            "tc qdisc add dev eth0 root handle 1: htb default 10
tc class add dev eth0 parent 1: classid 1:10 htb rate {bps}bit
tc qdisc add dev eth0 parent 1:10 bfifo limit 40000000"
        ),
        _ => format!("tc qdisc add dev eth0 root {of} rate {bps}bit limit 40000000"),
    }
}

// Throughput.

fn speed(table: &mut Table) {
    let config = pairs(&[LineConfig::default()]);
    let mut best = [0.0f64; 2];
    for _ in 0..ROUNDS {
        let rig = Rig::start(&config, NullObserver);
        best[0] = best[0].max(tcp(&Emulated(&rig, 0)));
        rig.finish();
        best[1] = best[1].max(tcp(&Veth::new("speed", "")));
    }
    for (of, rate) in [WEIR, VETH].into_iter().zip(best) {
        table.row("TCP, 1500 B, unlimited, best of 5", of, rate, "Mbit/s");
    }
    let rig = Rig::start(&config, NullObserver);
    small_packets(table, WEIR, &Emulated(&rig, 0));
    rig.finish();
    small_packets(table, VETH, &Veth::new("speed", ""));
}

/// How often the throughput is measured; the best value counts, because other load makes a machine
/// slow at times.
const ROUNDS: usize = 5;

fn words(line: &str) -> Command {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// The throughput of one TCP connection over three seconds with packets of 1500 bytes, Mbit/s.
fn tcp(path: &dyn Path) -> f64 {
    let mut server = path.spawn(1, words("iperf3 -s --one-off --forceflush"));
    let mut output = BufReader::new(server.stdout.take().unwrap()).lines();
    output
        .find(|line| line.as_ref().is_ok_and(|line| line.contains("listening")))
        .unwrap()
        .unwrap();
    // The rest of the output must be read, or the server would block.
    let rest = std::thread::spawn(move || output.for_each(drop));
    let client = path.spawn(0, words("iperf3 -c 10.0.0.2 -t 3 -C cubic -f m"));
    let text = String::from_utf8(client.wait_with_output().unwrap().stdout).unwrap();
    let line =
        text.lines().find(|line| line.ends_with("receiver")).unwrap_or_else(|| panic!("{text}"));
    let rate = line.split_whitespace().rev().nth(2).unwrap().parse().unwrap();
    server.wait().unwrap();
    rest.join().unwrap();
    rate
}

/// Sends as many packets of 200 bytes as one thread can in three seconds.
fn small_packets(table: &mut Table, of: &str, path: &dyn Path) {
    const SPAN: u64 = 3_000_000_000;
    const SIZE: usize = 200;
    let (from, receiver) = (path.sender(), Receiver::start(vec![path.receiver()]));
    let payloads = vec![vec![0; SIZE - HEADERS]; 64];
    let (start, mut sent) = (now(), 0u64);
    while now() - start < SPAN {
        send_burst(&from, &payloads);
        sent += payloads.len() as u64;
    }
    settle(500);
    let arrivals = receiver.finish();
    let span = (arrivals[arrivals.len() - 1].at - arrivals[0].at) as f64 / 1e9;
    table.row("UDP, 200 B, unlimited", of, arrivals.len() as f64 / span, "packets/s received");
    table.row(
        "UDP, 200 B, unlimited",
        of,
        100.0 * arrivals.len() as f64 / sent as f64,
        "% of those sent",
    );
}

// Accuracy of the rate.

const RATES: [u64; 4] = [250, 1_000, 10_000, 100_000];
/// The size of an IP packet, bytes.
const SIZE: usize = 1_250;

/// Measures through the emulator, and then through the disciplines of the kernel, all of these at
/// the same time.
fn compare<T: Send>(
    name: &str,
    rate: Bitrate,
    measure: impl Fn(&UdpSocket, &UdpSocket, u64) -> T + Sync,
) -> Vec<(String, T)> {
    let rig = Rig::start(&pairs(&[line(rate)]), NullObserver);
    let path = Emulated(&rig, 0);
    let ours = (WEIR.to_owned(), measure(&path.sender(), &path.receiver(), 0));
    rig.finish();
    let veths = KERNEL.map(|of| Veth::new(&format!("{name}-{}", &of[..3]), &script(of, rate)));
    let theirs = std::thread::scope(|scope| {
        let measure = &measure;
        let runs = veths.each_ref().map(|veth| {
            let (from, to) = (veth.sender(), veth.receiver());
            scope.spawn(move || measure(&from, &to, ETHERNET))
        });
        runs.map(|run| run.join().unwrap())
    });
    let theirs = KERNEL.into_iter().map(str::to_owned).zip(theirs);
    [ours].into_iter().chain(theirs).collect()
}

/// Sends a tenth more than the rate for ten seconds, and measures how far the rate of arrivals is
/// from the rate, in %.
fn rates(table: &mut Table) {
    for kbps in RATES {
        let rate = Bitrate::from_kbps(kbps);
        let figures = compare("rate", rate, |from, to, more| {
            let each = time_of(rate, more);
            // Bursts of one millisecond, if that is more than one packet.
            let at_once = usize::try_from(1_000_000 / each.as_nanos()).unwrap().max(1);
            let every = Duration::from_nanos(each.as_nanos() * at_once as u64 * 10 / 11);
            let mut plan =
                steady(every, usize::try_from(10_000_000_000 / every.as_nanos()).unwrap(), SIZE);
            plan.iter_mut().for_each(|burst| burst.packets = at_once);
            let (_, arrivals) = through(from, to, &plan, 0);
            100.0 * (each.as_nanos() as f64 / spacing_of(&arrivals) - 1.0)
        });
        for (of, off) in figures {
            table.row(&format!("rate of {kbps} kbit/s, 10 s"), &of, off, "% off");
        }
    }
}

/// The transmission time of a packet, if `more` bytes are counted in addition to its size.
fn time_of(rate: Bitrate, more: u64) -> Duration {
    rate.time_to_send(Bytes::new(SIZE as u64 + more)).unwrap()
}

/// The mean time between arrivals, ns, from a least-squares line. The first half second is left
/// out: it contains the initial burst of a token bucket.
fn spacing_of(arrivals: &[Arrival]) -> f64 {
    let first = arrivals[0].at;
    let later = arrivals.iter().enumerate().filter(|(_, arrival)| arrival.at - first > 500_000_000);
    let points = later.map(|(nth, arrival)| (nth as f64, (arrival.at - first) as f64));
    slope(&points.collect::<Vec<_>>())
}

/// Sends bursts of packets back to back, and measures how long they take to arrive, in % of the
/// time that the rate gives.
fn spacing(table: &mut Table) {
    const PROBES: u64 = 11;
    for mbps in [1, 10] {
        let rate = Bitrate::from_mbps(mbps);
        let counts = [5, 10, 20, 50];
        let figures = compare("burst", rate, |from, to, more| {
            let each = time_of(rate, more);
            counts.map(|packets| {
                // Token buckets fill up again between the bursts.
                let every = each * packets as u64 + Duration::from_millis(100);
                let plan: Vec<Burst> = (0..PROBES)
                    .map(|nth| Burst { at: every * nth, socket: 0, packets, size: SIZE })
                    .collect();
                let (_, arrivals) =
                    through(from, to, &plan, 100 + (each * packets as u64).as_millis());
                let lasts = |probe: &[Arrival]| (probe[packets - 1].at - probe[0].at) as f64;
                let lasts: Vec<f64> = arrivals.chunks_exact(packets).map(lasts).collect();
                100.0 * median(&lasts) / (each.as_nanos() * (packets as u64 - 1)) as f64
            })
        });
        for (nth, packets) in counts.into_iter().enumerate() {
            for (of, shares) in &figures {
                let figure = format!("{packets} packets at once, {mbps} Mbit/s");
                table.row(&figure, of, shares[nth], "% of their time");
            }
        }
    }
}

// Accuracy of the delay.

const DELAY: Duration = Duration::from_millis(25);

/// Sends 1000 packets per second with and without a delay, through a loop with real-time scheduling
/// and through one without.
fn delay(table: &mut Table) {
    for (of, real_time) in [("SCHED_FIFO", true), ("SCHED_OTHER", false)] {
        let rig = Rig::start(&pairs(&[LineConfig::default(), delayed(DELAY)]), NullObserver);
        if !real_time {
            settle(100);
            let status = words(&format!("chrt --other --pid 0 {}", rig.tid())).status().unwrap();
            assert!(status.success(), "chrt (Debian: util-linux) fails");
        }
        let [none, some] = [0, 1].map(|pair| {
            let path = Emulated(&rig, pair);
            let plan = steady(Duration::from_micros(1_007), 3_000, 200);
            let (sent, arrivals) = through(&path.sender(), &path.receiver(), &plan, 60);
            delays(&sent, &arrivals)
        });
        rig.finish();
        let base = median(&none);
        let off: Vec<f64> =
            some.iter().map(|delay| (delay - base - DELAY.as_nanos() as f64 / 1e3).abs()).collect();
        table.row("1000 packets/s without a delay, median", of, base, "µs");
        table.row("25 ms added, off by, median", of, median(&off), "µs");
        table.row("25 ms added, off by, p99", of, quantile(&off, 0.99), "µs");
    }
    table.row("a bare timer's lateness, spun for, p99", "the machine", machine_is_late(), "µs");
}

/// 32 pairs send 6.25 Mbit/s each for three seconds.
fn many_hosts(table: &mut Table) {
    const PAIRS: usize = 32;
    let line = LineConfig {
        delay: delayed(Duration::from_millis(10)).delay,
        ..line(Bitrate::from_mbps(10))
    };
    let config: NetworkConfig = pairs(&vec![line; PAIRS]);
    let rig = Rig::start(&config, NullObserver);
    let senders: Vec<_> = (0..PAIRS).map(|pair| Emulated(&rig, pair).sender()).collect();
    let receiver =
        Receiver::start((0..PAIRS).map(|pair| Emulated(&rig, pair).receiver()).collect());
    // Eight packets every 400 µs, from the pairs in turn.
    let mut plan = steady(Duration::ZERO, 60_000, SIZE);
    for (nth, burst) in plan.iter_mut().enumerate() {
        (burst.at, burst.socket) = (Duration::from_micros(400) * (nth as u64 / 8), nth % PAIRS);
    }
    send(&senders, &plan);
    settle(200);
    let lost = plan.len() - receiver.finish().len();
    let (report, _) = rig.finish();
    let late = |share| report.lateness.quantile(share).as_nanos() as f64 / 1e3;
    let figure = "64 hosts, 200 Mbit/s";
    table.row(&format!("{figure}, late, median"), WEIR, late(0.5), "µs");
    table.row(&format!("{figure}, late, p99"), WEIR, late(0.99), "µs");
    table.row(
        &format!("{figure}, over 1 ms late"),
        WEIR,
        report.lateness.missed() as f64,
        "of 60000 packets",
    );
    table.row(&format!("{figure}, lost"), WEIR, lost as f64, "of 60000 packets");
}
