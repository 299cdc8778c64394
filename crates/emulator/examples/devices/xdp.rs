//! Pairs of virtual Ethernet devices, and AF_XDP sockets on the forwarder's ends of them, in copy
//! mode: packets come and go by rings in memory that the kernel shares, and a system call is only
//! to say that there is something to send.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::net::xdp::{
    SocketAddrXdp, SocketAddrXdpFlags, XdpRingOffset, XdpUmemReg, XdpUmemRegFlags,
};
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, send, sockopt};

use crate::bpf::{Attached, attach};
use crate::hosts::{MIDDLE, ethernet, inside};
use crate::packet::index;
use crate::relay::{BATCH, Moved, Relay};

/// `XDP_FLAGS_SKB_MODE`: the program runs once the packet is the kernel's ordinary one.
pub(crate) const GENERIC: u32 = 1 << 1;
/// `XDP_FLAGS_DRV_MODE`: the program runs in the device's driver.
pub(crate) const DRIVER: u32 = 1 << 2;
/// The entries of each ring.
const ENTRIES: usize = 4096;
/// The room for one packet.
const ROOM: usize = 2048;

/// A socket on each of the forwarder's ends.
pub(crate) struct Xdp {
    sockets: [Socket; 2],
}

impl Xdp {
    /// Makes the devices and the sockets; `mode` is [`GENERIC`] or [`DRIVER`].
    pub(crate) fn new(mode: u32) -> io::Result<Self> {
        ethernet()?;
        let sockets = inside(MIDDLE, || Ok([Socket::new("f0", mode)?, Socket::new("f1", mode)?]))?;
        Ok(Self { sockets })
    }
}

impl Relay for Xdp {
    fn ends(&self) -> io::Result<[OwnedFd; 2]> {
        Ok([self.sockets[0].fd.try_clone()?, self.sockets[1].fd.try_clone()?])
    }

    fn relay(&mut self, from: usize) -> io::Result<Moved> {
        let [first, second] = &mut self.sockets;
        let (from, to) = if from == 0 { (first, second) } else { (second, first) };
        let mut moved = Moved::default();
        to.reclaim();
        for _ in 0..BATCH {
            let Some(packet) = from.received.take() else { break };
            if to.queue(from.memory.packet(packet)) {
                moved.packets += 1;
            } else {
                moved.refused += 1;
            }
            from.fill.put(packet.addr & !(ROOM as u64 - 1));
        }
        to.kick()?;
        Ok(moved)
    }
}

/// One AF_XDP socket with memory of its own, half of it for receiving and half for sending.
struct Socket {
    _attached: Attached,
    fill: Ring<u64>,
    completed: Ring<u64>,
    received: Ring<libc::xdp_desc>,
    sending: Ring<libc::xdp_desc>,
    free: Vec<u64>,
    memory: Memory,
    fd: OwnedFd,
}

impl Socket {
    /// A socket on the only queue of the device `name`.
    fn new(name: &str, mode: u32) -> io::Result<Self> {
        let fd = rustix::net::socket_with(
            AddressFamily::XDP,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            None,
        )?;
        let memory = Memory::anonymous(2 * ENTRIES * ROOM)?;
        register(&fd, &memory)?;
        let offsets = sockopt::xdp_mmap_offsets(&fd)?;
        let fill = Ring::new(&fd, libc::XDP_UMEM_PGOFF_FILL_RING, &offsets.fr)?;
        let completed = Ring::new(&fd, libc::XDP_UMEM_PGOFF_COMPLETION_RING, &offsets.cr)?;
        let received = Ring::new(&fd, libc::XDP_PGOFF_RX_RING as u64, &offsets.rx)?;
        let sending = Ring::new(&fd, libc::XDP_PGOFF_TX_RING as u64, &offsets.tx)?;
        let (rooms, free) = rooms().partition(|at| *at < (ENTRIES * ROOM) as u64);
        let rooms: Vec<u64> = rooms;
        rooms.into_iter().for_each(|at| fill.put(at));
        let number = index(name)?;
        rustix::net::bind(&fd, &SocketAddrXdp::new(SocketAddrXdpFlags::XDP_COPY, number, 0))?;
        let attached = attach(&fd, number, mode)?;
        Ok(Self { _attached: attached, fill, completed, received, sending, free, memory, fd })
    }

    /// Takes back the rooms of the packets that are sent.
    fn reclaim(&mut self) {
        while let Some(at) = self.completed.take() {
            self.free.push(at);
        }
    }

    /// Copies a packet to where it will be sent from; whether there was room.
    fn queue(&mut self, packet: &[u8]) -> bool {
        let Some(addr) = self.free.pop() else { return false };
        let room = libc::xdp_desc { addr, len: packet.len() as u32, options: 0 };
        self.memory.packet_mut(room).copy_from_slice(packet);
        self.sending.put(room);
        true
    }

    /// Has the kernel send what is queued, which it does 32 packets at a time.
    fn kick(&self) -> io::Result<()> {
        while !self.sending.is_empty() {
            match send(&self.fd, &[], SendFlags::DONTWAIT).map_err(io::Error::from) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Where in the memory packets can be.
fn rooms() -> impl Iterator<Item = u64> {
    (0..2 * ENTRIES).map(|n| (n * ROOM) as u64)
}

/// Tells the kernel of the memory and of the sizes of the rings.
fn register(fd: &OwnedFd, memory: &Memory) -> io::Result<()> {
    let region = XdpUmemReg {
        addr: memory.base.as_ptr() as u64,
        len: memory.length as u64,
        chunk_size: ROOM as u32,
        headroom: 0,
        flags: XdpUmemRegFlags::empty(),
        tx_metadata_len: 0,
    };
    sockopt::set_xdp_umem_reg(fd, region)?;
    sockopt::set_xdp_umem_fill_ring_size(fd, ENTRIES as u32)?;
    sockopt::set_xdp_umem_completion_ring_size(fd, ENTRIES as u32)?;
    sockopt::set_xdp_rx_ring_size(fd, ENTRIES as u32)?;
    Ok(sockopt::set_xdp_tx_ring_size(fd, ENTRIES as u32)?)
}

/// Memory shared with the kernel.
struct Memory {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: it has one owner, and memory is the same for all threads.
unsafe impl Send for Memory {}

impl Memory {
    /// Memory for packets.
    fn anonymous(length: usize) -> io::Result<Self> {
        Self::map(length, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
    }

    /// A ring of `fd`.
    fn of(fd: BorrowedFd<'_>, length: usize, offset: u64) -> io::Result<Self> {
        Self::map(length, libc::MAP_SHARED, fd.as_raw_fd(), offset)
    }

    /// Maps memory and touches all of it.
    fn map(length: usize, flags: i32, fd: i32, offset: u64) -> io::Result<Self> {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, flags | libc::MAP_POPULATE);
        // SAFETY: a new mapping at an address that the kernel chooses.
        let base = unsafe { libc::mmap(null_mut(), length, access, flags, fd, offset as i64) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or(ErrorKind::OutOfMemory)?;
        Ok(Self { base, length })
    }

    /// The packet that `room` describes.
    fn packet(&self, room: libc::xdp_desc) -> &[u8] {
        let (at, length) = self.range(room);
        // SAFETY: within the mapping, and the kernel leaves the room alone until it is back in the
        // fill ring.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(at), length) }
    }

    /// The room for the packet that `room` describes.
    fn packet_mut(&mut self, room: libc::xdp_desc) -> &mut [u8] {
        let (at, length) = self.range(room);
        // SAFETY: within the mapping, and the kernel does not look before the room is in the ring
        // for sending.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().add(at), length) }
    }

    /// Offset and length, which are within the memory.
    fn range(&self, room: libc::xdp_desc) -> (usize, usize) {
        let (at, length) = (room.addr as usize, room.len as usize);
        assert!(at + length <= self.length, "a packet outside of the memory");
        (at, length)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the whole of a mapping that nothing refers to any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
    }
}

/// One ring, of which the kernel has the other side.
struct Ring<T> {
    memory: Memory,
    producer: usize,
    consumer: usize,
    entries: usize,
    of: std::marker::PhantomData<T>,
}

impl<T: Copy> Ring<T> {
    /// The ring of `fd` that is mapped at `offset` and laid out as `at` says.
    fn new(fd: &OwnedFd, offset: u64, at: &XdpRingOffset) -> io::Result<Self> {
        let (producer, consumer, entries) =
            (at.producer as usize, at.consumer as usize, at.desc as usize);
        let memory = Memory::of(fd.as_fd(), entries + ENTRIES * size_of::<T>(), offset)?;
        Ok(Self { memory, producer, consumer, entries, of: std::marker::PhantomData })
    }

    /// How far one of the sides is.
    fn counter(&self, at: usize) -> &AtomicU32 {
        // SAFETY: `at` is where the kernel has this counter in the mapping, and both sides use it
        // as an atomic.
        unsafe { &*self.memory.base.as_ptr().add(at).cast() }
    }

    /// Where the entry number `count` is.
    fn entry(&self, count: u32) -> *mut T {
        // SAFETY: the mapping has room for ENTRIES of them.
        unsafe {
            self.memory.base.as_ptr().add(self.entries).cast::<T>().add(count as usize % ENTRIES)
        }
    }

    /// Whether the consumer has taken all.
    fn is_empty(&self) -> bool {
        self.counter(self.consumer).load(Ordering::Acquire)
            == self.counter(self.producer).load(Ordering::Acquire)
    }

    /// The next entry of a ring that the kernel fills.
    fn take(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let count = self.counter(self.consumer).load(Ordering::Relaxed);
        // SAFETY: the kernel has written this entry, as the producer is past it.
        let entry = unsafe { self.entry(count).read() };
        self.counter(self.consumer).store(count.wrapping_add(1), Ordering::Release);
        Some(entry)
    }

    /// Puts an entry into a ring that the kernel empties. There are no more rooms for it than
    /// entries, so it is never full.
    fn put(&self, entry: T) {
        let count = self.counter(self.producer).load(Ordering::Relaxed);
        // SAFETY: the kernel does not read this entry before the producer is past it.
        unsafe { self.entry(count).write(entry) };
        self.counter(self.producer).store(count.wrapping_add(1), Ordering::Release);
    }
}
