//! Which packets pass between hosts, and which do not.

use crate::common::findings::{Findings, attempts};
use crate::common::rig::{Log, NullObserver, Rig, address, id, line, pairs, settle};
use crate::common::traffic::{Arrival, PORT, Receiver, buffered, send, steady, through};
use crate::{exclusive, skip};
use emulator::Host;
use net::{Dscp, Ecn, LineConfig, Protocol};
use nix::sys::socket::{setsockopt, sockopt};
use rustix::net::sockopt::{
    Ipv4PathMtuDiscovery, set_ip_mtu_discover, set_ip_tos, set_ipv6_tclass,
};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::process::{Command, Stdio};
use units::{Bitrate, Duration};

/// The traffic class of expedited forwarding (DSCP 46), as a byte.
const EF: u8 = 46 << 2;
const ECT0: u8 = 0b10;
const CE: u8 = 0b11;

/// Runs a command on a host. Panics with its output if it fails.
fn run(host: &Host, words: &str) {
    let mut words = words.split(' ');
    let mut command = Command::new(words.next().unwrap());
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = host.spawn(command).unwrap().wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&text));
}

#[test]
fn pings_are_answered_over_ipv4_and_ipv6() {
    let Some(_lock) = exclusive() else { return };
    if Command::new("ping").arg("-V").stdout(Stdio::null()).status().is_err() {
        return skip("needs ping (Debian: iputils-ping)");
    }
    let rig = Rig::start(&pairs(&[LineConfig::default()]), Log::of(100));
    run(rig.host(0), "ping -4 -c 3 -i 0.1 -W 5 bob");
    run(rig.host(1), "ping -6 -c 3 -i 0.1 -W 5 alice.ipv6");
    let (_, log) = rig.finish();
    for protocol in [1, 58] {
        let seen = log
            .delivered
            .iter()
            .filter(|seen| seen.packet.flow.protocol == Protocol::Other(protocol));
        assert_eq!(seen.count(), 6, "requests and replies of protocol {protocol}");
    }
}

#[test]
fn tcp_carries_data_both_ways_over_ipv4_and_ipv6() {
    let Some(_lock) = exclusive() else { return };
    let rig = Rig::start(&pairs(&[LineConfig::default()]), NullObserver);
    let sent: Vec<u8> =
        (0..1_000_000u32).map(|nth| (nth.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    for (at, name) in [("0.0.0.0", "bob"), ("::", "bob.ipv6")] {
        let listener = rig.host(1).within(move || TcpListener::bind((at, 80)).unwrap()).unwrap();
        assert!(rig.host(1).listens(80) && !rig.host(0).listens(80));
        let echo = std::thread::spawn(move || {
            let (mut stream, peer) = listener.accept().unwrap();
            std::io::copy(&mut stream.try_clone().unwrap(), &mut stream).unwrap();
            stream.shutdown(Shutdown::Write).unwrap();
            peer.ip()
        });
        // The name is resolved on the host, because it is only known there.
        let mut stream =
            rig.host(0).within(move || TcpStream::connect((name, 80)).unwrap()).unwrap();
        let mut back = Vec::new();
        std::thread::scope(|scope| {
            let mut writer = stream.try_clone().unwrap();
            let sent = &sent;
            scope.spawn(move || {
                writer.write_all(sent).unwrap();
                writer.shutdown(Shutdown::Write).unwrap();
            });
            stream.read_to_end(&mut back).unwrap();
        });
        assert!(back == sent, "{name}: the echo equals what was sent");
        let peer = echo.join().unwrap();
        assert!(peer == address(0) || peer == id(0).address_v6(), "{name}: {peer}");
        assert_eq!(peer.is_ipv6(), name.ends_with("ipv6"));
    }
}

#[test]
fn udp_carries_payload_and_traffic_class_over_ipv4_and_ipv6() {
    let Some(_lock) = exclusive() else { return };
    let rig = Rig::start(&pairs(&[LineConfig::default()]), Log::of(100));
    let bind = |host: usize, at: &'static str| {
        rig.host(host).within(move || UdpSocket::bind((at, PORT)).unwrap()).unwrap()
    };
    // The largest payloads that one packet holds, and an empty one.
    for (at, to, size) in [
        ("0.0.0.0", address(1), 1_472),
        ("::", id(1).address_v6().into(), 1_452),
        ("0.0.0.0", address(1), 0),
    ] {
        let (from, receiver) = (bind(0, at), bind(1, at));
        if at == "::" {
            set_ipv6_tclass(&from, EF.into()).unwrap();
        } else {
            set_ip_tos(&from, EF).unwrap();
        }
        let payload: Vec<u8> = (0..size).map(|nth| (nth % 251) as u8).collect();
        from.send_to(&payload, (to, PORT)).unwrap();
        receiver.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
        let mut buffer = [0; 2_000];
        let (length, peer) = receiver.recv_from(&mut buffer).unwrap();
        assert_eq!(&buffer[..length], payload);
        assert_eq!(peer.is_ipv6(), to.is_ipv6());
    }
    let (report, log) = rig.finish();
    let classes: Vec<Dscp> = log.delivered.iter().map(|seen| seen.packet.dscp).collect();
    assert_eq!((report.delivered, classes), (3, vec![Dscp::EF; 3]));
}

const HTB: &str = "tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 4mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 3mbit ceil 3mbit
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 1mbit ceil 1mbit
tc qdisc add dev eth0 parent 1:10 handle 10: bfifo limit 15000
tc qdisc add dev eth0 parent 1:20 handle 20: bfifo limit 15000
tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:10";

/// Two sockets send 8 Mbit/s each; each HTB class forwards its own rate.
#[test]
fn the_dscp_of_a_packet_selects_its_htb_class() {
    let Some(_lock) = exclusive() else { return };
    let queue = HTB.parse().unwrap();
    let rig = Rig::start(&pairs(&[LineConfig { queue, ..LineConfig::default() }]), NullObserver);
    let senders = [rig.sender(0, 1), rig.sender(0, 1)];
    set_ip_tos(&senders[0], EF).unwrap();
    let to = rig.receiver(1);
    setsockopt(&to, sockopt::IpRecvTos, &true).unwrap();
    attempts("two classes", || {
        let receiver = Receiver::start(vec![to.try_clone().unwrap()]);
        let mut plan = steady(Duration::from_micros(500), 2_000, 1_000);
        plan.iter_mut().step_by(2).for_each(|burst| burst.socket = 1);
        let start = send(&senders, &plan)[0];
        settle(200);
        let arrivals = receiver.finish();
        let mut findings = Findings::default();
        for (tos, mbps) in [(EF, 3.0), (0, 1.0)] {
            // From the time at which both classes have spent their bursts, until the last packet is
            // sent.
            let within = start + 200_000_000..start + 1_000_000_000;
            let of_class =
                |arrival: &&Arrival| arrival.tos == Some(tos) && within.contains(&arrival.at);
            let packets = arrivals.iter().filter(of_class).count();
            let rate = packets as f64 * 8_000.0 / 0.8 / 1e6;
            let line = format!("class {tos:#x}: {rate:.3} Mbit/s of {mbps}");
            findings.add(line, (rate / mbps - 1.0).abs() <= 0.03);
        }
        findings
    });
}

/// Sends twice the rate of the line. CoDel signals with CE marks. The kernel of bob would drop a
/// header with a wrong checksum.
#[test]
fn the_queue_marks_a_packet_instead_of_dropping_it() {
    let Some(_lock) = exclusive() else { return };
    let queue = "codel limit 5000 ecn".parse().unwrap();
    let config = pairs(&[LineConfig { queue, ..line(Bitrate::from_mbps(5)) }]);
    let rig = Rig::start(&config, Log::of(5_000));
    let to = rig.receiver(1);
    setsockopt(&to, sockopt::IpRecvTos, &true).unwrap();
    let from = rig.sender(0, 1);
    set_ip_tos(&from, EF | ECT0).unwrap();
    let (_, arrivals) = through(&from, &to, &steady(Duration::from_millis(1), 800, 1_250), 1_200);
    let (_, log) = rig.finish();
    assert_eq!(arrivals.len(), 800, "nothing is dropped");
    let with = |tos: u8| arrivals.iter().filter(|arrival| arrival.tos == Some(tos)).count();
    let (marked, plain) = (with(EF | CE), with(EF | ECT0));
    assert!(marked > 3, "{marked} are marked");
    assert_eq!(marked + plain, 800, "the packets keep their traffic class");
    let seen = log.delivered.iter().filter(|seen| seen.packet.ecn == Ecn::Ce).count();
    assert_eq!(seen, marked);
}

#[test]
fn a_packet_over_the_mtu_is_refused_and_counted() {
    let Some(_lock) = exclusive() else { return };
    let rig = Rig::start(&pairs(&[LineConfig::default()]), NullObserver);
    let to = rig.receiver(1);
    to.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
    let from = rig.sender(0, 1);
    let mut buffer = [0; 5_000];
    from.send(&[1; 4_000]).unwrap();
    assert_eq!(
        to.recv(&mut buffer).unwrap(),
        4_000,
        "the host fragments it, and the fragments pass"
    );

    run(rig.host(0), "ip link set eth0 mtu 9000");
    // A new socket: the cached route of the old one has the old MTU.
    let from = rig.sender(0, 1);
    set_ip_mtu_discover(&from, Ipv4PathMtuDiscovery::DO).unwrap();
    from.send(&[2; 4_000]).unwrap();
    from.send(&[3; 1_473]).unwrap();
    from.send(&[4; 1_472]).unwrap();
    let length = to.recv(&mut buffer).unwrap();
    assert_eq!((length, buffer[0]), (1_472, 4), "a packet of 1500 bytes passes");
    let (report, _) = rig.finish();
    assert_eq!((report.refused, report.entered, report.delivered), (2, 4, 4));
}

#[test]
fn unknown_addresses_and_an_interface_that_is_down_do_not_stop_the_run() {
    let Some(_lock) = exclusive() else { return };
    let rig = Rig::start(&pairs(&[LineConfig::default()]), NullObserver);
    let to = rig.receiver(1);
    to.set_read_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
    let any =
        rig.host(0).within(|| [buffered("0.0.0.0", 0, None), buffered("::", 0, None)]).unwrap();
    any[0].set_broadcast(true).unwrap();
    for unknown in ["10.0.0.77", "10.0.200.1", "10.0.255.255"] {
        any[0].send_to(b"anyone there?", (unknown, PORT)).unwrap();
    }
    any[1].send_to(b"anyone there?", ("fd77:6569:7200::77", PORT)).unwrap();
    let bob = (address(1), PORT);
    run(rig.host(1), "ip link set eth0 down");
    any[0].send_to(b"nobody takes this", bob).unwrap();
    // The loop must read the packet while the interface is down, even if the machine stalls for a
    // moment.
    settle(500);
    run(rig.host(1), "ip link set eth0 up");
    any[0].send_to(b"hello", bob).unwrap();
    let mut buffer = [0; 100];
    assert_eq!(to.recv(&mut buffer).unwrap(), 5);
    let (report, _) = rig.finish();
    assert_eq!((report.unroutable, report.undeliverable, report.delivered), (4, 1, 1));
}
