//! Pairs of virtual Ethernet devices, and AF_PACKET sockets on the forwarder's ends of them.

use std::ffi::CString;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use crate::hosts::{MIDDLE, ethernet, inside};
use crate::mmsg::Batch;
use crate::relay::{Moved, Relay};

/// The room for packets that wait at a socket, in bytes.
const ROOM: i32 = 8 << 20;

/// A raw socket on each of the forwarder's ends.
pub(crate) struct Packet {
    sockets: [OwnedFd; 2],
    batch: Batch,
}

impl Packet {
    /// Makes the devices and the sockets.
    pub(crate) fn new() -> io::Result<Self> {
        ethernet()?;
        let sockets = inside(MIDDLE, || Ok([open("f0")?, open("f1")?]))?;
        Ok(Self { sockets, batch: Batch::new(0) })
    }
}

/// A raw socket bound to the device `name`, which does not see what it sends.
pub(crate) fn open(name: &str) -> io::Result<OwnedFd> {
    let protocol = (libc::ETH_P_ALL as u16).to_be();
    let kind = libc::SOCK_RAW | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
    // SAFETY: `socket` takes no pointers. With protocol 0 nothing is received before `bind`.
    let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `fd` was just made and has no other owner.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    option(&socket, libc::SOL_PACKET, libc::PACKET_IGNORE_OUTGOING, &1)?;
    option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &ROOM)?;
    option(&socket, libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &ROOM)?;
    bind(&socket, name, protocol)?;
    Ok(socket)
}

/// Binds a raw socket to the device `name`.
fn bind(socket: &OwnedFd, name: &str, protocol: u16) -> io::Result<()> {
    // SAFETY: all of `sockaddr_ll` may be zero.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol;
    address.sll_ifindex = index(name)?.cast_signed();
    let length = size_of_val(&address) as u32;
    // SAFETY: `address` is an address of that length.
    let result = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// The number of the device `name` in the namespace of the calling thread.
pub(crate) fn index(name: &str) -> io::Result<u32> {
    let name = CString::new(name)?;
    // SAFETY: `name` ends with a zero.
    let index = unsafe { libc::if_nametoindex(name.as_ptr()) };
    if index == 0 { Err(io::Error::last_os_error()) } else { Ok(index) }
}

/// Sets an option of a socket.
pub(crate) fn option<T>(socket: &OwnedFd, level: i32, name: i32, value: &T) -> io::Result<()> {
    let length = size_of::<T>() as u32;
    // SAFETY: `value` is of that length.
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), level, name, std::ptr::from_ref(value).cast(), length)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

impl Relay for Packet {
    fn ends(&self) -> io::Result<[OwnedFd; 2]> {
        Ok([self.sockets[0].try_clone()?, self.sockets[1].try_clone()?])
    }

    fn relay(&mut self, from: usize) -> io::Result<Moved> {
        let count = self.batch.receive(self.sockets[from].as_fd(), 0)?;
        let (to, mut moved, mut done) = (self.sockets[1 - from].as_fd(), Moved::default(), 0);
        while done < count {
            match self.batch.send(to, done, count - done) {
                Ok(sent) => {
                    moved.packets += sent as u64;
                    done += sent;
                }
                Err(error) if refused(&error) => {
                    moved.refused += 1;
                    done += 1;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(moved)
    }
}

/// Whether the device had no room for the packet.
fn refused(error: &io::Error) -> bool {
    error.kind() == ErrorKind::WouldBlock || error.raw_os_error() == Some(libc::ENOBUFS)
}
