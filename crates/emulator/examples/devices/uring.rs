//! TUN devices again, with io_uring: a system call reads many packets and another writes them.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::{IoUring, opcode, squeue, types::Fd};

use crate::relay::{BATCH, Moved, Relay};
use crate::tun::{Ability, open};

/// The room for one packet.
const ROOM: usize = 2048;
/// How many packets are asked for at first. When they all come, a whole batch is.
const FIRST: usize = 4;

/// A TUN device in each of the hosts.
pub(crate) struct TunUring {
    ring: IoUring,
    files: [File; 2],
    buffer: Vec<u8>,
}

impl TunUring {
    /// Makes the devices.
    pub(crate) fn new() -> io::Result<Self> {
        let files = [open(0, Ability::Plain)?, open(1, Ability::Plain)?];
        let ring = IoUring::new(2 * BATCH as u32)?;
        Ok(Self { ring, files, buffer: vec![0; BATCH * ROOM] })
    }

    /// Has the kernel do `entries`, and waits for all; `done` is given each one's number and
    /// result.
    fn perform(
        &mut self,
        entries: &[squeue::Entry],
        mut done: impl FnMut(u64, i32),
    ) -> io::Result<()> {
        // SAFETY: the buffers that the entries name live until this returns, when the kernel is
        // done with them.
        unsafe { self.ring.submission().push_multiple(entries) }.map_err(io::Error::other)?;
        self.ring.submit_and_wait(entries.len())?;
        for entry in self.ring.completion() {
            done(entry.user_data(), entry.result());
        }
        Ok(())
    }

    /// Reads up to `count` packets, each into a room of its own; how long they are.
    fn read(&mut self, from: usize, count: usize) -> io::Result<Vec<(usize, u32)>> {
        let fd = Fd(self.files[from].as_raw_fd());
        let rooms = self.buffer.chunks_exact_mut(ROOM).take(count).enumerate();
        let entries: Vec<_> = rooms
            .map(|(n, room)| {
                opcode::Read::new(fd, room.as_mut_ptr(), ROOM as u32)
                    .rw_flags(libc::RWF_NOWAIT)
                    .build()
                    .user_data(n as u64)
            })
            .collect();
        let mut lengths = Vec::with_capacity(count);
        self.perform(&entries, |n, result| {
            if result > 0 {
                lengths.push((n as usize, result.cast_unsigned()));
            }
        })?;
        Ok(lengths)
    }

    /// Writes packets from their rooms.
    fn write(&mut self, to: usize, lengths: &[(usize, u32)]) -> io::Result<Moved> {
        let fd = Fd(self.files[to].as_raw_fd());
        let packet = |&(n, length): &(usize, u32)| {
            opcode::Write::new(fd, self.buffer[n * ROOM..].as_ptr(), length).build()
        };
        let entries: Vec<_> = lengths.iter().map(packet).collect();
        let mut moved = Moved::default();
        self.perform(
            &entries,
            |_, result| if result > 0 { moved.packets += 1 } else { moved.refused += 1 },
        )?;
        Ok(moved)
    }
}

impl Relay for TunUring {
    fn ends(&self) -> io::Result<[OwnedFd; 2]> {
        Ok([self.files[0].try_clone()?.into(), self.files[1].try_clone()?.into()])
    }

    fn relay(&mut self, from: usize) -> io::Result<Moved> {
        let mut total = Moved::default();
        for count in [FIRST, BATCH - FIRST] {
            let lengths = self.read(from, count)?;
            let moved =
                if lengths.is_empty() { Moved::default() } else { self.write(1 - from, &lengths)? };
            total.packets += moved.packets;
            total.refused += moved.refused;
            if lengths.len() < count {
                break;
            }
        }
        Ok(total)
    }
}
