//! Clock, waiting and options of sockets.

use super::{Dscp, InputError};
pub(super) use emulator::monotonic as now;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::Socket;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// Waits until one of `events` is there, or something is wrong with the socket, but not longer than
/// to `until` (as [`now`]).
pub(super) fn wait(socket: &impl AsFd, events: PollFlags, until: u64) -> io::Result<PollFlags> {
    let left = until.saturating_sub(now());
    let timeout = Timespec {
        tv_sec: i64::try_from(left / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(left % 1_000_000_000).unwrap_or(0),
    };
    let mut polled = [PollFd::new(socket, events)];
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) => Ok(polled[0].revents()),
        // A signal: the caller looks whether it is to stop.
        Err(rustix::io::Errno::INTR) => Ok(PollFlags::empty()),
        Err(error) => Err(error.into()),
    }
}

/// An address as both ends write it: IPv4 as such, also where it comes to an IPv6 socket.
pub(super) fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The kernel's congestion controls: what they are called, in a line.
pub(super) const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Chooses the congestion control.
pub(super) fn set_congestion_control(socket: &Socket, name: &str) -> Result<(), InputError> {
    let Err(error) = socket.set_tcp_congestion(name.as_bytes()) else { return Ok(()) };
    let known = std::fs::read_to_string(AVAILABLE).unwrap_or_default();
    let name = name.to_owned();
    Err(if known.split_whitespace().any(|other| other == name) {
        InputError::CongestionControlForbidden { name, error }
    } else {
        InputError::CongestionControlMissing { name, available: known.trim().to_owned() }
    })
}

/// Marks what the socket sends; IPv4 within an IPv6 socket is marked too.
pub(super) fn set_mark(socket: &Socket, mark: Dscp, address: SocketAddr) -> io::Result<()> {
    let field = u32::from(mark.0) << 2;
    if address.is_ipv6() { socket.set_tclass_v6(field) } else { socket.set_tos_v4(field) }
}
