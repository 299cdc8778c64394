//! The clock, waiting for sockets, and socket options.

use super::{Dscp, InputError};
pub(super) use emulator::monotonic as now;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use socket2::Socket;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;

/// Waits until one of `events` or an error occurs on the socket, but not beyond `until` (in the
/// time of [`now`]).
pub(super) fn wait(socket: &impl AsFd, events: PollFlags, until: u64) -> io::Result<PollFlags> {
    let left = until.saturating_sub(now());
    let timeout = Timespec {
        tv_sec: i64::try_from(left / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: i64::try_from(left % 1_000_000_000).unwrap_or(0),
    };
    let mut polled = [PollFd::new(socket, events)];
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) => Ok(polled[0].revents()),
        // A signal arrived; the caller checks whether to stop.
        Err(rustix::io::Errno::INTR) => Ok(PollFlags::empty()),
        Err(error) => Err(error.into()),
    }
}

/// The address in its canonical form: an IPv4 address also if it is mapped into IPv6.
pub(super) fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// The kernel's list of congestion controls, one line.
pub(super) const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Selects the congestion control.
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

/// Sets the DSCP of the socket; also for IPv4 through an IPv6 socket.
pub(super) fn set_mark(socket: &Socket, mark: Dscp, address: SocketAddr) -> io::Result<()> {
    let field = u32::from(mark.0) << 2;
    if address.is_ipv6() { socket.set_tclass_v6(field) } else { socket.set_tos_v4(field) }
}
