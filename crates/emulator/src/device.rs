//! A host's interface: a TUN device, of which the emulator holds the other end.

use crate::buffers::HEADROOM;
use crate::error::EmulatorError;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::ffi::CStr;
use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The largest IP packet, bytes: Ethernet's.
pub const MTU: usize = 1500;

/// The other end of a TUN device (Linux Documentation/networking/tuntap.rst): one IP packet a read,
/// one a write, each after a `virtio_net_hdr`. Offloads towards the emulator are off, so the host
/// cuts its segments to the MTU itself.
#[derive(Debug)]
pub(crate) struct Device(OwnedFd);

/// What a read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// A packet of so many bytes; more than the buffer holds means that it was cut off.
    Packet(usize),
    /// Nothing is there.
    Empty,
}

impl Device {
    /// Makes the device in the calling thread's network namespace. It is there as long as this end.
    pub(crate) fn create(name: &CStr) -> Result<Self, EmulatorError> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = open(TUN, flags, Mode::empty())
            .map_err(|error| EmulatorError::of(HOW_TO_TUN, error))?;
        attach(&file, name)
            .map_err(|error| EmulatorError::of("cannot make a TUN device", error))?;
        Ok(Self(file))
    }

    /// Takes the next packet that the host has sent, after the headroom.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Result<Read, Errno> {
        match rustix::io::read(&self.0, &mut *buffer) {
            Ok(length) => {
                // Neither offload nor a missing checksum: none was offered to the kernel.
                buffer[..HEADROOM].fill(0);
                Ok(Read::Packet(length.saturating_sub(HEADROOM)))
            }
            Err(Errno::AGAIN) => Ok(Read::Empty),
            Err(error) => Err(error),
        }
    }

    /// Gives the host a packet, which lies in these parts, with its headroom.
    pub(crate) fn write(&self, parts: &[IoSlice<'_>]) -> Result<(), Errno> {
        rustix::io::writev(&self.0, parts).map(drop)
    }
}

impl Device {
    /// Whether the kernel takes joined UDP datagrams (TUN_F_USO4, TUN_F_USO6: Linux 6.2).
    pub(crate) fn joins_udp(&self) -> bool {
        let offered =
            offer_offloads(&self.0, libc::TUN_F_CSUM | libc::TUN_F_USO4 | libc::TUN_F_USO6).is_ok();
        // It was only a question.
        offered && offer_offloads(&self.0, 0).is_ok()
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

pub(crate) const TUN: &str = "/dev/net/tun";
const HOW_TO_TUN: &str = "cannot open /dev/net/tun: load the module (modprobe tun) and let this user open it (chmod 666 /dev/net/tun, as most systems have it)";

/// Makes the open file the other end of a device of this name.
#[expect(unsafe_code, reason = "TUNSETIFF is an ioctl, of which no library knows")]
fn attach(file: &OwnedFd, name: &CStr) -> std::io::Result<()> {
    // SAFETY: ifreq is a C struct of integers and byte arrays, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(name.to_bytes()) {
        *to = from.cast_signed();
    }
    #[expect(clippy::cast_possible_truncation, reason = "the flags are 16 bits wide")]
    let flags = (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    request.ifr_ifru.ifru_flags = flags;
    // SAFETY: the kernel reads and writes one ifreq, which outlives the call.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

/// Says what the emulator would take of the host's interface.
#[expect(unsafe_code, reason = "TUNSETOFFLOAD is an ioctl, of which no library knows")]
fn offer_offloads(file: &OwnedFd, offloads: libc::c_uint) -> std::io::Result<()> {
    // SAFETY: the argument is a number.
    let done = unsafe {
        libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(offloads))
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
