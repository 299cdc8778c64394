//! Sends UDP packets at planned times, and receives them with kernel timestamps, so that the delay
//! of the receiving program does not count.

use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrIn, recvmsg, sendmmsg, setsockopt, sockopt,
};
use rustix::time::{ClockId, clock_gettime};
use std::io::{IoSlice, IoSliceMut};
use std::net::{IpAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use units::Duration;

/// The size of the IPv4 and UDP headers, bytes.
pub(crate) const HEADERS: usize = 20 + 8;
/// The port of all receivers.
pub(crate) const PORT: u16 = 5004;
/// The size of both buffers of a socket, bytes: large enough to lose nothing.
const BUFFER: usize = 128 << 20;
/// The pause between two reads of the sockets.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

/// CLOCK_REALTIME in ns: the clock of kernel timestamps.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Realtime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Packets that are sent back to back, in one system call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    /// The time after the start.
    pub(crate) at: Duration,
    /// The index of the socket that sends it.
    pub(crate) socket: usize,
    pub(crate) packets: usize,
    /// The size of each IP packet, bytes.
    pub(crate) size: usize,
}

/// Single packets of one size at a constant interval, from the first socket.
pub(crate) fn steady(every: Duration, packets: usize, size: usize) -> Vec<Burst> {
    let single = |nth| Burst { at: every * nth, socket: 0, packets: 1, size };
    (0..packets as u64).map(single).collect()
}

/// A UDP socket in the network namespace of the calling thread, with large buffers and kernel
/// timestamps.
pub(crate) fn buffered(host: &str, port: u16, peer: Option<(IpAddr, u16)>) -> UdpSocket {
    let socket = UdpSocket::bind((host, port)).unwrap();
    setsockopt(&socket, sockopt::RcvBufForce, &BUFFER).unwrap();
    setsockopt(&socket, sockopt::SndBufForce, &BUFFER).unwrap();
    setsockopt(&socket, sockopt::ReceiveTimestampns, &true).unwrap();
    if let Some(peer) = peer {
        socket.connect(peer).unwrap();
    }
    socket
}

/// The lateness at the 99th percentile of a real-time thread that only waits, µs: the lateness of
/// the machine itself.
pub(crate) fn machine_is_late() -> f64 {
    let waits = std::thread::spawn(|| {
        let _ = emulator::real_time();
        let start = now();
        let wait = |nth: u64| {
            wait_until(start + nth * 1_000_000);
            now().saturating_sub(start + nth * 1_000_000) as f64 / 1e3
        };
        (1..=300).map(wait).collect::<Vec<_>>()
    });
    super::stats::p99(&waits.join().unwrap())
}

/// Sleeps until shortly before `at` and spins for the rest, because sleeps end late.
fn wait_until(at: u64) {
    const SPIN: u64 = 150_000;
    let left = at.saturating_sub(now());
    if left > SPIN {
        sleep(std::time::Duration::from_nanos(left - SPIN));
    }
    while now() < at {
        std::hint::spin_loop();
    }
}

/// Sends packets with numbers from 0 in their payloads, in a real-time thread if that is allowed.
/// Returns the time just before each packet was passed to the kernel.
pub(crate) fn send(sockets: &[UdpSocket], plan: &[Burst]) -> Vec<u64> {
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let _ = emulator::real_time();
            send_on_time(sockets, plan)
        });
        sender.join().unwrap()
    })
}

fn send_on_time(sockets: &[UdpSocket], plan: &[Burst]) -> Vec<u64> {
    let start = now() + 20_000_000;
    let mut sent = Vec::with_capacity(plan.iter().map(|burst| burst.packets).sum());
    for burst in plan {
        let payloads = payloads(sent.len() as u64, burst);
        wait_until(start + burst.at.as_nanos());
        let at = now();
        if let [payload] = &payloads[..] {
            sockets[burst.socket].send(payload).unwrap();
        } else {
            send_burst(&sockets[burst.socket], &payloads);
        }
        sent.resize(sent.len() + burst.packets, at);
    }
    sent
}

fn payloads(first: u64, burst: &Burst) -> Vec<Vec<u8>> {
    let payload = |number: u64| {
        let mut payload = number.to_be_bytes().to_vec();
        payload.resize(burst.size - HEADERS, 0);
        payload
    };
    (first..).take(burst.packets).map(payload).collect()
}

/// Sends these payloads back to back.
pub(crate) fn send_burst(socket: &UdpSocket, payloads: &[Vec<u8>]) {
    let slices: Vec<[IoSlice<'_>; 1]> =
        payloads.iter().map(|payload| [IoSlice::new(payload)]).collect();
    let mut headers = MultiHeaders::<SockaddrIn>::preallocate(slices.len(), None);
    let peers = vec![None; slices.len()];
    let sent =
        sendmmsg(socket.as_raw_fd(), &mut headers, &slices, &peers, [], MsgFlags::empty()).unwrap();
    assert_eq!(sent.count(), payloads.len(), "all of a burst is sent");
}

/// The number in the payload of an IP packet, if it is UDP over IPv4.
pub(crate) fn number(packet: &[u8]) -> Option<u64> {
    let payload = packet.get(HEADERS..HEADERS + 8)?;
    let udp = packet[0] == 0x45 && packet[9] == 17;
    udp.then(|| u64::from_be_bytes(payload.try_into().unwrap()))
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// The kernel timestamp, in ns of CLOCK_REALTIME.
    pub(crate) at: u64,
    /// The index of the receiving socket.
    pub(crate) socket: usize,
    /// The number in the payload.
    pub(crate) number: u64,
    /// The byte of DSCP and ECN, if the socket asks for it.
    pub(crate) tos: Option<u8>,
}

/// Collects the packets that arrive at sockets. Reads rarely, to disturb the measurement little.
pub(crate) struct Receiver {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Arrival>>,
}

impl Receiver {
    pub(crate) fn start(sockets: Vec<UdpSocket>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut arrivals = Vec::with_capacity(1 << 16);
            loop {
                let last = stopped.load(Ordering::Relaxed);
                for (number, socket) in sockets.iter().enumerate() {
                    while let Some(arrival) = receive(socket, number) {
                        arrivals.push(arrival);
                    }
                }
                if last {
                    return arrivals;
                }
                sleep(PAUSE);
            }
        });
        Self { stop, thread }
    }

    /// Stops, and returns the packets that have arrived.
    pub(crate) fn finish(self) -> Vec<Arrival> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// The next packet, if one has arrived.
fn receive(socket: &UdpSocket, socket_index: usize) -> Option<Arrival> {
    let (mut payload, mut control) = ([0; 64], [0; 128]);
    let mut slices = [IoSliceMut::new(&mut payload)];
    let flags = MsgFlags::MSG_DONTWAIT;
    let message = recvmsg::<()>(socket.as_raw_fd(), &mut slices, Some(&mut control), flags).ok()?;
    let (mut at, mut tos) = (None, None);
    for control in message.cmsgs().unwrap() {
        match control {
            ControlMessageOwned::ScmTimestampns(time) => {
                at = Some(
                    time.tv_sec().unsigned_abs() * 1_000_000_000 + time.tv_nsec().unsigned_abs(),
                );
            }
            ControlMessageOwned::Ipv4Tos(class) => tos = Some(class),
            ControlMessageOwned::Ipv6TClass(class) => tos = u8::try_from(class).ok(),
            _ => {}
        }
    }
    let number = u64::from_be_bytes(payload[..8].try_into().unwrap());
    Some(Arrival { at: at.unwrap(), socket: socket_index, number, tos })
}

/// Sends a plan through one socket, and receives at the other until `settle` ms later. Returns when
/// the packets were sent, and the arrivals.
pub(crate) fn through(
    from: &UdpSocket,
    to: &UdpSocket,
    plan: &[Burst],
    settle: u64,
) -> (Vec<u64>, Vec<Arrival>) {
    let receiver = Receiver::start(vec![to.try_clone().unwrap()]);
    let sent = send(std::slice::from_ref(from), plan);
    super::rig::settle(settle);
    (sent, receiver.finish())
}

/// The delay of each packet that arrived, µs.
pub(crate) fn delays(sent: &[u64], arrivals: &[Arrival]) -> Vec<f64> {
    let delay = |arrival: &Arrival| {
        let sent = sent[usize::try_from(arrival.number).unwrap()];
        (i128::from(arrival.at) - i128::from(sent)) as f64 / 1e3
    };
    arrivals.iter().map(delay).collect()
}
