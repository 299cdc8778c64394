//! UDP packets at planned times, and when they came: by the kernel's time stamps, so that the
//! receiver's own delay does not count.

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

/// IPv4 and UDP.
pub(crate) const HEADERS: usize = 20 + 8;
/// Where receivers are.
pub(crate) const PORT: u16 = 5004;
/// Both buffers of a socket: nothing is lost there.
const BUFFER: usize = 128 << 20;
/// Between looks at what came.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(10);

/// CLOCK_REALTIME, ns: the clock of the kernel's time stamps.
pub(crate) fn now() -> u64 {
    let time = clock_gettime(ClockId::Realtime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Packets back to back, in one call of the kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    /// After the start.
    pub(crate) at: Duration,
    /// Which socket sends it.
    pub(crate) socket: usize,
    pub(crate) packets: usize,
    /// Of each IP packet, bytes.
    pub(crate) size: usize,
}

/// Single packets of one size, so far apart, from the first socket.
pub(crate) fn steady(every: Duration, packets: usize, size: usize) -> Vec<Burst> {
    let single = |nth| Burst { at: every * nth, socket: 0, packets: 1, size };
    (0..packets as u64).map(single).collect()
}

/// A UDP socket in the calling thread's network namespace, with large buffers and time stamps.
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

/// How late a thread that nothing holds up is at one deadline of a hundred, µs: what the machine
/// itself does.
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

/// A sleep ends a little late: the rest is spent awake.
fn wait_until(at: u64) {
    const AWAKE: u64 = 150_000;
    let left = at.saturating_sub(now());
    if left > AWAKE {
        sleep(std::time::Duration::from_nanos(left - AWAKE));
    }
    while now() < at {
        std::hint::spin_loop();
    }
}

/// Sends packets, numbered from 0 in their payloads. Returns the time just before each was handed
/// to the kernel. Where that is allowed, other programs do not hold it up.
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

/// Sends these back to back.
pub(crate) fn send_burst(socket: &UdpSocket, payloads: &[Vec<u8>]) {
    let slices: Vec<[IoSlice<'_>; 1]> =
        payloads.iter().map(|payload| [IoSlice::new(payload)]).collect();
    let mut headers = MultiHeaders::<SockaddrIn>::preallocate(slices.len(), None);
    let peers = vec![None; slices.len()];
    let sent =
        sendmmsg(socket.as_raw_fd(), &mut headers, &slices, &peers, [], MsgFlags::empty()).unwrap();
    assert_eq!(sent.count(), payloads.len(), "all of a burst is sent");
}

/// The number in an IP packet's payload, if it is UDP over IPv4.
pub(crate) fn number(packet: &[u8]) -> Option<u64> {
    let payload = packet.get(HEADERS..HEADERS + 8)?;
    let udp = packet[0] == 0x45 && packet[9] == 17;
    udp.then(|| u64::from_be_bytes(payload.try_into().unwrap()))
}

/// A packet that came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    /// When, by the kernel, in ns of CLOCK_REALTIME.
    pub(crate) at: u64,
    /// To which socket.
    pub(crate) socket: usize,
    /// The number in its payload.
    pub(crate) number: u64,
    /// The byte of DSCP and ECN, where the socket asks for it.
    pub(crate) tos: Option<u8>,
}

/// Collects what comes to sockets. It looks rarely: that disturbs the measurement little.
pub(crate) struct Receiver {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Arrival>>,
}

impl Receiver {
    pub(crate) fn start(sockets: Vec<UdpSocket>) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut arrivals = Vec::with_capacity(1 << 16);
            loop {
                let last = ends.load(Ordering::Relaxed);
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
        Self { over, thread }
    }

    /// What came until now.
    pub(crate) fn finish(self) -> Vec<Arrival> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// The next packet, if one is there.
fn receive(socket: &UdpSocket, place: usize) -> Option<Arrival> {
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
    Some(Arrival { at: at.unwrap(), socket: place, number, tos })
}

/// Sends a plan through one socket and returns when its packets were sent, and what came of them to
/// the other.
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

/// How long each packet took that came, µs.
pub(crate) fn delays(sent: &[u64], arrivals: &[Arrival]) -> Vec<f64> {
    let delay = |arrival: &Arrival| {
        let sent = sent[usize::try_from(arrival.number).unwrap()];
        (i128::from(arrival.at) - i128::from(sent)) as f64 / 1e3
    };
    arrivals.iter().map(delay).collect()
}
