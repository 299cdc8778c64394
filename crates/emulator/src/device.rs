//! The interface of a host: a TUN device, whose file descriptor the emulator holds.

use crate::buffers::HEADROOM;
use crate::error::EmulatorError;
use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::ffi::CStr;
use std::io::IoSlice;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// The MTU of a host's interface, bytes: that of Ethernet.
pub const MTU: usize = 1500;

/// The file descriptor of a TUN device (Linux Documentation/networking/tuntap.rst). Each read and
/// each write transfers one IP packet after a `virtio_net_hdr`. Offloads towards the emulator are
/// off, so the host's stack sends segments of at most the MTU.
#[derive(Debug)]
pub(crate) struct Device(OwnedFd);

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// A packet of this many bytes. If the number is larger than the buffer, the packet was
    /// truncated.
    Packet(usize),
    /// No packet waits.
    Empty,
}

impl Device {
    /// Makes a TUN device in the network namespace of the calling thread. The device is removed
    /// when this is dropped.
    pub(crate) fn create(name: &CStr) -> Result<Self, EmulatorError> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = open(TUN, flags, Mode::empty())
            .map_err(|error| EmulatorError::system(CANNOT_OPEN_TUN, error))?;
        attach(&file, name)
            .map_err(|error| EmulatorError::system("cannot make a TUN device", error))?;
        Ok(Self(file))
    }

    /// Reads the next packet that the host has sent, and writes it after the headroom.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> Result<Read, Errno> {
        match rustix::io::read(&self.0, &mut *buffer) {
            Ok(length) => {
                // The header is empty: no offload is on towards the emulator, so checksums are
                // complete.
                buffer[..HEADROOM].fill(0);
                Ok(Read::Packet(length.saturating_sub(HEADROOM)))
            }
            Err(Errno::AGAIN) => Ok(Read::Empty),
            Err(error) => Err(error),
        }
    }

    /// Gives the host one packet. `parts` are its headroom and its bytes, in order.
    pub(crate) fn write(&self, parts: &[IoSlice<'_>]) -> Result<(), Errno> {
        rustix::io::writev(&self.0, parts).map(drop)
    }
}

impl Device {
    /// Whether the kernel accepts UDP segmentation offload (TUN_F_USO4, TUN_F_USO6: Linux 6.2).
    pub(crate) fn joins_udp(&self) -> bool {
        let offered =
            offer_offloads(&self.0, libc::TUN_F_CSUM | libc::TUN_F_USO4 | libc::TUN_F_USO6).is_ok();
        // Switch the offload off again: this only tests whether the kernel knows it.
        offered && offer_offloads(&self.0, 0).is_ok()
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

pub(crate) const TUN: &str = "/dev/net/tun";
const CANNOT_OPEN_TUN: &str = "cannot open /dev/net/tun: load the module (modprobe tun) and let this user open it (chmod 666 /dev/net/tun, the default of most systems)";

/// Attaches the open file to a new TUN device of this name.
#[expect(unsafe_code, reason = "no library has a binding of the ioctl TUNSETIFF")]
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

/// Sets the offloads that the emulator accepts from the host's interface.
#[expect(unsafe_code, reason = "no library has a binding of the ioctl TUNSETOFFLOAD")]
fn offer_offloads(file: &OwnedFd, offloads: libc::c_uint) -> std::io::Result<()> {
    // SAFETY: the argument is a number.
    let done = unsafe {
        libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(offloads))
    };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
