//! The same packets through Linux's tbf, htb, pfifo and bfifo and through ours.
//!
//! ```text
//!  namespace of alice            namespace of bob
//!  sender ─▶ eth0 with the script ─▶ eth0 ─▶ receiver
//! ```
//!
//! The sender logs when it sent each packet, and the model gets these times and the same script.
//! Sizes are those of frames, as the kernel counts them. The test runs its own program again in
//! each namespace, in a role. Without root or namespaces the test is skipped with a message.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{Log, packet, run};
use net::{AccessConfig, Flow, HostConfig, LineConfig, Network, NetworkConfig, Packet};
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, Once, PoisonError};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use units::{Seed, Time};

const MS: u64 = 1_000_000;
/// Ethernet, IPv4 and UDP.
const HEADERS: u64 = 14 + 20 + 8;
/// The ports of the two classes.
const FIRST: u16 = 5010;
const SECOND: u16 = 5020;
const PORTS: [u16; 2] = [FIRST, SECOND];
/// The addresses of the model's hosts.
const ALICE: &str = "10.0.0.1";
const BOB: &str = "10.0.0.2";

/// A packet to send.
struct Planned {
    /// ns after the start.
    at: u64,
    port: u16,
    /// The size of the frame.
    size: u64,
}

/// One packet per `every` µs from `from` to `to` ms, with these sizes in turn.
fn steady(port: u16, [from, to]: [u64; 2], every: u64, sizes: &[u64]) -> Vec<Planned> {
    let count = (to - from) * 1_000 / every;
    let sizes = sizes.iter().copied().cycle();
    (0..count)
        .zip(sizes)
        .map(|(nth, size)| Planned { at: from * MS + nth * every * 1_000, port, size })
        .collect()
}

/// A script, and the packets that are sent through it.
struct Case {
    name: &'static str,
    script: &'static str,
    packets: Vec<Planned>,
    /// The windows in which throughputs are compared: class, start and end in ms.
    windows: &'static [(u16, [u64; 2])],
}

const TBF_BFIFO: &str = "tc qdisc add dev eth0 root handle 1: tbf rate 1mbit burst 5kb limit 20000";

/// An overload, then, once the queue is empty, a lower load of several sizes: a drop among these
/// would change all later packets.
fn tbf_bfifo() -> Case {
    let mut packets = steady(FIRST, [0, 2_000], 4_730, &[1_000]);
    packets.extend(steady(FIRST, [2_200, 3_200], 9_370, &[1_000, 1_400, 300]));
    packets.extend(steady(FIRST, [3_300, 3_350], 1_000, &[600, 1_514]));
    Case {
        name: "tbf with a bfifo",
        script: TBF_BFIFO,
        packets,
        windows: &[(FIRST, [500, 2_000]), (FIRST, [0, 3_500])],
    }
}

const TBF_PFIFO: &str =
    "tc qdisc add dev eth0 root handle 1: tbf rate 2mbit burst 6000 latency 50ms
tc qdisc add dev eth0 parent 1:1 handle 10: pfifo limit 15";

fn tbf_pfifo() -> Case {
    let mut packets = steady(FIRST, [0, 2_000], 2_930, &[1_000]);
    packets.extend(steady(FIRST, [2_100, 3_100], 4_370, &[1_200, 200, 1_514]));
    packets.extend(steady(FIRST, [3_200, 3_240], 1_000, &[1_514]));
    Case { name: "tbf with a pfifo", script: TBF_PFIFO, packets, windows: &[(FIRST, [200, 2_000])] }
}

const HTB_SHARES: &str = "tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 300kbit ceil 1mbit
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 700kbit ceil 1mbit
tc qdisc add dev eth0 parent 1:10 handle 10: pfifo limit 20
tc qdisc add dev eth0 parent 1:20 handle 20: bfifo limit 20000
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 5010 0xffff flowid 1:10";

fn htb_shares() -> Case {
    let mut packets = steady(FIRST, [0, 5_000], 6_130, &[1_000]);
    packets.extend(steady(SECOND, [0, 3_000], 6_370, &[1_000]));
    Case {
        name: "htb, shares and borrowing",
        script: HTB_SHARES,
        packets,
        windows: &[(FIRST, [500, 3_000]), (SECOND, [500, 3_000]), (FIRST, [3_400, 5_000])],
    }
}

const HTB_PRIO: &str = "tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 204kbit ceil 1mbit prio 0
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 8bit ceil 1mbit prio 1
tc qdisc add dev eth0 parent 1:10 handle 10: bfifo limit 15000
tc qdisc add dev eth0 parent 1:20 handle 20: pfifo limit 20
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 5010 0xffff flowid 1:10";

fn htb_prio() -> Case {
    let mut packets = steady(FIRST, [1_700, 4_000], 16_670, &[1_000]);
    packets.extend(steady(SECOND, [0, 4_000], 6_370, &[1_000]));
    Case {
        name: "htb, prio against best effort",
        script: HTB_PRIO,
        packets,
        windows: &[(FIRST, [1_900, 4_000]), (SECOND, [200, 1_700]), (SECOND, [1_900, 4_000])],
    }
}

const HTB_CEIL: &str = "tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 1mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 200kbit ceil 400kbit
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 600kbit ceil 1mbit
tc qdisc add dev eth0 parent 1:10 handle 10: pfifo limit 20
tc qdisc add dev eth0 parent 1:20 handle 20: pfifo limit 20
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dport 5010 0xffff flowid 1:10";

fn htb_ceil() -> Case {
    let mut packets = steady(FIRST, [0, 4_000], 9_170, &[1_000]);
    packets.extend(steady(SECOND, [2_000, 4_000], 6_370, &[1_000]));
    Case {
        name: "htb, a ceil below the parent's",
        script: HTB_CEIL,
        packets,
        windows: &[(FIRST, [500, 2_000]), (FIRST, [2_300, 4_000]), (SECOND, [2_300, 4_000])],
    }
}

/// The duration of the warm-up, in ns: the first packets through new namespaces are slow.
const WARM_UP: u64 = 300 * MS;

fn cases() -> [Case; 5] {
    [tbf_bfifo(), tbf_pfifo(), htb_shares(), htb_prio(), htb_ceil()].map(|mut case| {
        case.packets.iter_mut().for_each(|packet| packet.at += WARM_UP);
        case.packets.extend(PORTS.iter().flat_map(|&port| steady(port, [0, 60], 20_000, &[60])));
        case.packets.sort_by_key(|packet| packet.at);
        case
    })
}

#[test]
fn tbf_with_a_bfifo() {
    check(0);
}

#[test]
fn tbf_with_a_pfifo() {
    check(1);
}

#[test]
fn htb_with_shares_and_borrowing() {
    check(2);
}

#[test]
fn htb_with_prio_against_best_effort() {
    check(3);
}

#[test]
fn htb_with_a_ceil_below_the_parents() {
    check(4);
}

/// A machine that stalls for longer than a burst lasts delays all later packets, so a case is
/// repeated; a real difference shows every time.
const ATTEMPTS: usize = 10;

fn check(number: usize) {
    // One at a time: parallel tests would disturb each other's timing.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let case = &cases()[number];
    for attempt in 1..=ATTEMPTS {
        let run = match through_the_kernel(number, case) {
            Ok(run) => run,
            Err(Unable(reason)) => return skip(&reason),
        };
        // A receiver that stalls loses packets, and a sender that moves to another core may reorder
        // packets.
        let wrong = run.conserves().map_or_else(
            |lost| vec![lost],
            |()| {
                let report = compare(case, &run);
                eprintln!("{}, attempt {attempt}:\n{report}", case.name);
                report.wrong
            },
        );
        if wrong.is_empty() {
            return;
        }
        assert!(attempt < ATTEMPTS, "the kernel differs:\n{}", wrong.join("\n"));
    }
}

/// Prints a message once, past the capture of the test's output.
#[expect(clippy::disallowed_methods, reason = "printed past the capture of the test runner")]
fn skip(reason: &str) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let line = format!("skipped: needs root and network namespaces: {reason}\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
    });
}

// The measurement of the kernel.

struct Run {
    /// When each packet was sent, in ns since 1970, by packet number.
    sent: Vec<u64>,
    /// Arrival times and packet numbers in order of arrival, by class.
    got: BTreeMap<u16, Vec<(u64, usize)>>,
    /// The counters of the root discipline.
    stats: Stats,
}

impl Run {
    /// The largest delay of the sender behind its plan, in ms.
    fn late(&self, case: &Case) -> u64 {
        // The first packet is due at 0.
        let start = self.sent[0];
        let each = self.sent.iter().zip(&case.packets);
        let late = each.map(|(at, planned)| (at - start).saturating_sub(planned.at));
        late.max().unwrap_or(0) / MS
    }

    fn arrivals(&self) -> impl Iterator<Item = (u64, usize)> {
        self.got.values().flatten().copied()
    }

    /// Checks that every packet arrived in order or was dropped by the discipline.
    fn conserves(&self) -> Result<(), String> {
        let reordered =
            self.got.iter().find(|(_, got)| !got.is_sorted_by(|one, next| one.1 < next.1));
        if let Some((port, _)) = reordered {
            return Err(format!("reordered to port {port}"));
        }
        let (sent, left, dropped) = (self.sent.len(), self.stats.sent, self.stats.dropped);
        match self.arrivals().count() {
            got if got != left => Err(format!("{left} left, {got} arrived")),
            got if sent != got + dropped => {
                Err(format!("{sent} sent, {got} arrived and {dropped} dropped"))
            }
            _ => Ok(()),
        }
    }
}

/// Why the kernel could not be tested.
struct Unable(String);

fn through_the_kernel(number: usize, case: &Case) -> Result<Run, Unable> {
    let pair = Pair::new(number)?;
    pair.alice.script(case.script)?;
    let mut receiver = pair.bob.role("receive", number)?;
    let mut log = BufReader::new(receiver.0.stdout.take().unwrap());
    let mut line = String::new();
    while line.trim_end() != "ready" {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "the receiver did not start");
    }
    let mut sender = pair.alice.role("send", number)?;
    let mut text = String::new();
    sender.0.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(sender.0.wait().unwrap().success(), "the sender failed: {text}");
    let stats = pair.alice.drained();
    // Time for the last packets to reach the receiver's log.
    sleep(Duration::from_millis(100));
    drop(receiver.0.stdin.take());
    log.read_to_string(&mut text).unwrap();
    assert!(receiver.0.wait().unwrap().success(), "the receiver failed: {text}");
    Ok(read_logs(&text, stats))
}

fn read_logs(text: &str, stats: Stats) -> Run {
    let mut run = Run { sent: Vec::new(), got: BTreeMap::new(), stats };
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["sent", at] => run.sent.push(at.parse().unwrap()),
            ["got", port, at, id] => {
                let got = run.got.entry(port.parse().unwrap()).or_default();
                got.push((at.parse().unwrap(), id.parse().unwrap()));
            }
            _ => {}
        }
    }
    run
}

// Namespaces.

/// The prefix of their names; process, case and host follow.
const PREFIX: &str = "weir-kernel-";

struct Namespace(String);

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = ip(&["netns", "del", &self.0]);
    }
}

/// Two namespaces connected by a veth pair.
struct Pair {
    alice: Namespace,
    bob: Namespace,
}

impl Pair {
    fn new(number: usize) -> Result<Self, Unable> {
        static SWEPT: LazyLock<Result<(), String>> =
            LazyLock::new(|| sweep().map_err(|Unable(reason)| reason));
        SWEPT.clone().map_err(Unable)?;
        let name = |host| format!("{PREFIX}{}-{number}-{host}", std::process::id());
        let pair =
            Self { alice: Namespace::new(name("alice"))?, bob: Namespace::new(name("bob"))? };
        let [alice, bob] = [&*pair.alice.0, &*pair.bob.0];
        ip(&[
            "-n", alice, "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns",
            bob,
        ])?;
        pair.alice.link("02:00:00:00:00:01", ALICE)?;
        pair.bob.link("02:00:00:00:00:02", BOB)?;
        pair.alice.ip("neigh add 10.0.0.2 lladdr 02:00:00:00:00:02 dev eth0 nud permanent")?;
        pair.bob.ip("neigh add 10.0.0.1 lladdr 02:00:00:00:00:01 dev eth0 nud permanent")?;
        Ok(pair)
    }
}

/// Messages of the shell, tc and the kernel about a missing feature.
const ABSENT: [&str; 3] = ["unknown", "not found", "No such file"];

/// Removes namespaces that a killed run left behind.
fn sweep() -> Result<(), Unable> {
    for line in ip(&["netns", "list"])?.lines() {
        let name = line.split_whitespace().next().unwrap_or_default();
        let pid = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if pid
            .is_some_and(|pid| pid.parse::<u32>().is_ok() && !Path::new("/proc").join(pid).exists())
        {
            drop(Namespace(name.to_owned()));
        }
    }
    Ok(())
}

fn ip(words: &[&str]) -> Result<String, Unable> {
    output(Command::new("ip").args(words))
}

fn output(command: &mut Command) -> Result<String, Unable> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Unable(format!("{name}: {error}")))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Unable(format!("{name}: {}", said.lines().next().unwrap_or("failed"))))
}

impl Namespace {
    fn new(name: String) -> Result<Self, Unable> {
        ip(&["netns", "add", &name])?;
        let namespace = Self(name);
        output(&mut namespace.command("true".as_ref()))?;
        Ok(namespace)
    }

    fn ip(&self, words: &str) -> Result<String, Unable> {
        let words: Vec<&str> = ["-n", &self.0].into_iter().chain(words.split(' ')).collect();
        ip(&words)
    }

    /// A command that runs in the namespace.
    fn command(&self, program: &std::ffi::OsStr) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.0]).arg(program);
        command
    }

    fn link(&self, ethernet: &str, address: &str) -> Result<(), Unable> {
        // Without an address, IPv6 sends no packets by itself; the kernel may also lack IPv6.
        let _ = self.ip("link set eth0 addrgenmode none");
        self.ip(&format!("link set eth0 address {ethernet}"))?;
        self.ip(&format!("addr add {address}/24 dev eth0"))?;
        self.ip("link set eth0 up")?;
        Ok(())
    }

    /// Runs a script of tc commands.
    fn script(&self, script: &str) -> Result<(), Unable> {
        let ran = output(self.command("sh".as_ref()).args(["-ec", script]));
        match ran {
            // The kernel lacks the discipline or the classifier, or there is no tc.
            Err(Unable(reason)) if !ABSENT.iter().any(|word| reason.contains(word)) => {
                panic!("tc refuses a script that we accept: {reason}")
            }
            other => other.map(drop),
        }
    }

    /// Runs this test in a role in the namespace.
    fn role(&self, role: &str, number: usize) -> Result<Role, Unable> {
        let itself = std::env::current_exe().unwrap();
        let mut command = self.command(itself.as_os_str());
        command
            .args(["role", "--exact", "--nocapture"])
            .env(ROLE, role)
            .env(CASE, number.to_string());
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        child.map(Role).map_err(|error| Unable(error.to_string()))
    }

    /// The counters of the root discipline once the queue is empty.
    fn drained(&self) -> Stats {
        for _ in 0..500 {
            let text = output(
                Command::new("tc").args(["-n", &self.0, "-s", "qdisc", "show", "dev", "eth0"]),
            );
            let text = text.unwrap_or_else(|Unable(reason)| panic!("{reason}"));
            let stats = Stats::read(&text)
                .unwrap_or_else(|| panic!("tc's counters are not understood: {text}"));
            if stats.waits == 0 {
                return stats;
            }
            sleep(Duration::from_millis(10));
        }
        panic!("packets still wait in the kernel after five seconds");
    }
}

/// The packet counters of a discipline.
struct Stats {
    sent: usize,
    dropped: usize,
    waits: usize,
}

impl Stats {
    /// Parses the counters of the first discipline, which is the root.
    fn read(text: &str) -> Option<Self> {
        let before =
            |mark: &str| text.split_once(mark)?.0.split([' ', 'b']).next_back()?.parse().ok();
        let (_, dropped) = text.split_once("(dropped ")?;
        let waits = text.split_once("backlog ")?.1.split_whitespace().nth(1)?.strip_suffix('p')?;
        Some(Self {
            sent: before(" pkt ")?,
            dropped: dropped.split(',').next()?.parse().ok()?,
            waits: waits.parse().ok()?,
        })
    }
}

/// A process in a namespace, which ends with the test.
struct Role(Child);

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

// The roles.

const ROLE: &str = "WEIR_KERNEL_ROLE";
const CASE: &str = "WEIR_KERNEL_CASE";

/// Not a test: the entry point of the roles in the namespaces.
#[test]
fn role() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let number: usize = std::env::var(CASE).unwrap().parse().unwrap();
    match &*role {
        "send" => send(&cases()[number]),
        _ => receive(),
    }
}

/// ns since 1970: a clock that both processes share.
#[expect(clippy::disallowed_methods, reason = "the kernel's disciplines run on the machine's time")]
fn now() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos()).unwrap()
}

/// Sleeps, then busy-waits for the last part, as sleeping ends late.
fn wait_until(at: u64) {
    let left = at.saturating_sub(now());
    sleep(Duration::from_nanos(left.saturating_sub(MS / 4)));
    while now() < at {
        std::hint::spin_loop();
    }
}

#[expect(clippy::disallowed_methods, reason = "the other process reads it")]
fn send(case: &Case) {
    let socket = || {
        let socket = UdpSocket::bind((ALICE, 0)).unwrap();
        // A full socket buffer is then an error and does not block: the limits must be those of the
        // discipline.
        socket.set_nonblocking(true).unwrap();
        socket
    };
    let sockets = PORTS.map(|port| (port, socket()));
    let mut log = String::from("\n");
    let start = now() + 100 * MS;
    for (id, planned) in (0u64..).zip(&case.packets) {
        let mut payload = id.to_be_bytes().to_vec();
        payload.resize(usize::try_from(planned.size - HEADERS).unwrap(), 0);
        let (port, socket) = sockets.iter().find(|(port, _)| *port == planned.port).unwrap();
        wait_until(start + planned.at);
        writeln!(log, "sent {}", now()).unwrap();
        socket.send_to(&payload, (BOB, *port)).unwrap();
    }
    std::io::stdout().write_all(log.as_bytes()).unwrap();
}

/// Logs arriving packets until the standard input is closed.
#[expect(clippy::disallowed_methods, reason = "the other process reads it")]
fn receive() {
    let over = AtomicBool::new(false);
    let sockets = PORTS.map(|port| UdpSocket::bind((BOB, port)).unwrap());
    std::io::stdout().write_all(b"\nready\n").unwrap();
    std::thread::scope(|scope| {
        let logs = sockets.each_ref().map(|socket| scope.spawn(|| arrivals(socket, &over)));
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        over.store(true, Ordering::Relaxed);
        for log in logs {
            std::io::stdout().write_all(log.join().unwrap().as_bytes()).unwrap();
        }
    });
}

fn arrivals(socket: &UdpSocket, over: &AtomicBool) -> String {
    let port = socket.local_addr().unwrap().port();
    socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let (mut log, mut payload) = (String::from("\n"), [0; 2_048]);
    loop {
        if socket.recv(&mut payload).is_ok() {
            let at = now();
            let id = u64::from_be_bytes(payload[..8].try_into().unwrap());
            writeln!(log, "got {port} {at} {id}").unwrap();
        } else if over.load(Ordering::Relaxed) {
            return log;
        }
    }
}

// The model, and its comparison with the kernel.

/// The largest relative difference of throughputs.
const THROUGHPUT: f64 = 0.01;
/// The largest difference of the numbers of drops.
const DROPS: usize = 3;
/// The most packets that only one of the two may have dropped. The kernel dequeues 0.1 ms late,
/// when its timer fires, and so drops another packet now and then; a rate that is wrong by half a
/// percent causes 41 to 218 of them.
const OTHER_DROPS: usize = 40;
/// The largest median difference of arrival times, in ms. The kernel is 0.1 to 0.2 ms later.
const HALF: f64 = 1.0;
/// The largest difference of 9 of 10 arrival times, in ms: a packet at 1 Mbit/s that only one of
/// the two dropped, and the timer.
const MOST: f64 = 10.0;

/// The arrival time of each packet that arrived, in ns after the first was sent.
type Arrivals = BTreeMap<usize, u64>;

fn through_the_kernel_since(start: u64, run: &Run) -> Arrivals {
    run.arrivals().map(|(at, id)| (id, at.saturating_sub(start))).collect()
}

fn through_the_model(case: &Case, start: u64, sent: &[u64]) -> Arrivals {
    let queue = case.script.parse().unwrap_or_else(|error| panic!("{}: {error}", case.script));
    let host = |name: &str, up| HostConfig {
        name: name.into(),
        access: AccessConfig::Wired { up, down: LineConfig::default() },
    };
    let up = LineConfig { queue, ..LineConfig::default() };
    let hosts = vec![host("alice", up), host("bob", LineConfig::default())];
    let mut network =
        Network::new(&NetworkConfig { hosts, ..NetworkConfig::default() }, Seed(1)).unwrap();
    let packets = (0..).zip(sent.iter().zip(&case.packets)).map(|(id, (sent, planned))| {
        let plain = packet(id, planned.size);
        let flow = Flow { dst_port: planned.port, ..plain.flow };
        (Time::from_nanos(sent - start), Packet { flow, ..plain })
    });
    let log: Log = run(&mut network, packets);
    log.delivered
        .into_iter()
        .map(|(at, id)| (usize::try_from(id).unwrap(), at.as_nanos()))
        .collect()
}

/// The results, and those that are out of bounds.
#[derive(Default)]
struct Report {
    lines: String,
    wrong: Vec<String>,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.lines)?;
        self.wrong.iter().try_for_each(|wrong| writeln!(f, "out of bounds: {wrong}"))
    }
}

impl Report {
    fn add(&mut self, line: String, within: bool) {
        writeln!(self.lines, "  {line}").unwrap();
        if !within {
            self.wrong.push(line);
        }
    }
}

fn compare(case: &Case, ran: &Run) -> Report {
    let start = ran.sent[0];
    let kernel = through_the_kernel_since(start, ran);
    let model = through_the_model(case, start, &ran.sent);
    let mut report = Report::default();
    report.add(format!("the sender was up to {} ms late", ran.late(case)), true);
    compare_throughputs(case, &kernel, &model, &mut report);
    compare_drops(case, &kernel, &model, &mut report);
    compare_delays(case, &kernel, &model, &mut report);
    report
}

fn compare_throughputs(case: &Case, kernel: &Arrivals, model: &Arrivals, report: &mut Report) {
    for &(port, window) in case.windows {
        let [real, ours] = [kernel, model].map(|arrivals| throughput(case, arrivals, port, window));
        let off = real / ours - 1.0;
        let line = format!(
            "{port} in {window:?} ms: {real:.1} kbit/s, ours {ours:.1}: {:+.2} %",
            100.0 * off
        );
        report.add(line, off.abs() <= THROUGHPUT);
    }
}

/// The throughput in kbit/s from the first arrival (excluded) to the last (included), so that no
/// packet is counted in part.
fn throughput(case: &Case, arrivals: &Arrivals, port: u16, [from, to]: [u64; 2]) -> f64 {
    let within = (WARM_UP + from * MS)..(WARM_UP + to * MS);
    let mut of_class: Vec<(u64, u64)> = arrivals
        .iter()
        .map(|(&id, &at)| (at, &case.packets[id]))
        .filter(|(at, planned)| planned.port == port && within.contains(at))
        .map(|(at, planned)| (at, planned.size))
        .collect();
    of_class.sort_unstable();
    let [(first, _), .., (last, _)] = of_class[..] else {
        panic!("{}: no packet arrived at {port}", case.name)
    };
    let bytes: u64 = of_class[1..].iter().map(|(_, size)| size).sum();
    (bytes * 8 * MS) as f64 / (last - first) as f64
}

fn compare_drops(case: &Case, kernel: &Arrivals, model: &Arrivals, report: &mut Report) {
    let all = case.packets.len();
    let [real, ours] = [kernel, model].map(|arrivals| all - arrivals.len());
    let other = (0..all).filter(|id| kernel.contains_key(id) != model.contains_key(id)).count();
    let line = format!("{real} of {all} dropped, ours {ours}; {other} by one of them alone");
    report.add(line, real.abs_diff(ours) <= DROPS && other <= OTHER_DROPS);
}

fn compare_delays(case: &Case, kernel: &Arrivals, model: &Arrivals, report: &mut Report) {
    for port in PORTS {
        let counts = |planned: &Planned| planned.port == port && planned.at >= WARM_UP;
        let both = model.iter().filter(|(id, _)| counts(&case.packets[**id]));
        let both = both.filter_map(|(id, ours)| Some((kernel.get(id)?, ours)));
        let mut off: Vec<f64> =
            both.map(|(&real, &ours)| (real as f64 - ours as f64) / MS as f64).collect();
        if off.is_empty() {
            continue;
        }
        off.sort_by(f64::total_cmp);
        let at = |percent: usize| off[(off.len() - 1) * percent / 100];
        let [p5, median, p95] = [5, 50, 95].map(at);
        let line = format!(
            "{port}: later than ours by {p5:.3}, {median:.3}, {p95:.3} ms (5, 50, 95 of 100)"
        );
        report.add(line, median.abs() <= HALF && -p5 <= MOST && p95 <= MOST);
    }
}
