//! TUN devices: IP packets read from and written to a file, one a system call.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, IoSlice, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::hosts::{DEVICE, HOSTS, configure, inside};
use crate::relay::{BATCH, Moved, Relay};
use crate::split::{HEADER, split};

/// Which of a TUN device's abilities to use.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ability {
    /// None.
    Plain,
    /// What is written passes through NAPI, where TCP segments can be joined.
    Napi,
    /// A header before each packet says that its checksum need not be computed.
    Checksum,
    /// As `Checksum`, and TCP hands out up to 64 kB at once, which the forwarder divides.
    Segmentation,
}

impl Ability {
    /// The flags of `TUNSETIFF`.
    fn flags(self) -> i32 {
        let more = match self {
            Self::Plain => 0,
            Self::Napi => libc::IFF_NAPI,
            Self::Checksum | Self::Segmentation => libc::IFF_VNET_HDR,
        };
        libc::IFF_TUN | libc::IFF_NO_PI | more
    }

    /// The argument of `TUNSETOFFLOAD`.
    fn offload(self) -> u32 {
        match self {
            Self::Plain | Self::Napi => 0,
            Self::Checksum => libc::TUN_F_CSUM,
            Self::Segmentation => libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6,
        }
    }
}

/// A TUN device in each of the hosts.
pub(crate) struct Tun {
    files: [File; 2],
    ability: Ability,
    buffer: Vec<u8>,
}

impl Tun {
    /// Makes the devices.
    pub(crate) fn new(ability: Ability) -> io::Result<Self> {
        let files = [open(0, ability)?, open(1, ability)?];
        Ok(Self { files, ability, buffer: vec![0; HEADER + (1 << 16)] })
    }
}

/// Makes the device of host `n` and gives it its address.
pub(crate) fn open(n: usize, ability: Ability) -> io::Result<File> {
    let file = inside(HOSTS[n], || {
        let nonblocking = libc::O_NONBLOCK;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(nonblocking)
            .open("/dev/net/tun")?;
        attach(&file, ability)?;
        Ok(file)
    })?;
    configure(n)?;
    Ok(file)
}

/// Makes `file` the far end of a new device in the namespace of the calling thread.
fn attach(file: &File, ability: Ability) -> io::Result<()> {
    // SAFETY: all of `ifreq` may be zero.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(DEVICE.bytes()) {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = ability.flags() as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes an `ifreq`, which `request` is.
    if unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: TUNSETOFFLOAD takes its argument by value.
    if unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, u64::from(ability.offload())) }
        < 0
    {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

impl Relay for Tun {
    fn ends(&self) -> io::Result<[OwnedFd; 2]> {
        Ok([self.files[0].try_clone()?.into(), self.files[1].try_clone()?.into()])
    }

    fn relay(&mut self, from: usize) -> io::Result<Moved> {
        let mut moved = Moved::default();
        for _ in 0..BATCH {
            let length = match (&self.files[from]).read(&mut self.buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            };
            let (packet, to) = (&mut self.buffer[..length], &self.files[1 - from]);
            match self.ability {
                Ability::Segmentation => split(packet, |parts| count(to, parts, &mut moved)),
                _ => count(to, &[IoSlice::new(packet)], &mut moved),
            }
        }
        Ok(moved)
    }
}

/// Writes one packet, which a TUN device takes whole or not at all, and counts it.
fn count(to: &File, parts: &[IoSlice<'_>], moved: &mut Moved) {
    match rustix::io::writev(to, parts) {
        Ok(_) => moved.packets += 1,
        Err(_) => moved.refused += 1,
    }
}
