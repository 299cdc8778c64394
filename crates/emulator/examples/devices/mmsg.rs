//! Many packets in one system call.

use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::null_mut;

use crate::relay::BATCH;

/// The room for one packet.
const ROOM: usize = 2048;

/// Up to [`BATCH`] packets, for `recvmmsg` and `sendmmsg`.
pub(crate) struct Batch {
    data: Vec<u8>,
    slices: Vec<libc::iovec>,
    messages: Vec<libc::mmsghdr>,
}

// SAFETY: the pointers in it are to its own vectors, which are on the heap and never change their
// length.
unsafe impl Send for Batch {}

impl Batch {
    /// A batch in which each packet is `length` zeroes.
    pub(crate) fn new(length: usize) -> Self {
        let mut data = vec![0; BATCH * ROOM];
        let mut slices: Vec<_> = data
            .chunks_exact_mut(ROOM)
            .map(|packet| libc::iovec { iov_base: packet.as_mut_ptr().cast(), iov_len: length })
            .collect();
        let messages = slices.iter_mut().map(message).collect();
        Self { data, slices, messages }
    }

    /// Takes what waits at `socket`, up to a whole batch; how many packets, none if none waits.
    pub(crate) fn receive(&mut self, socket: BorrowedFd<'_>, flags: i32) -> io::Result<usize> {
        for slice in &mut self.slices {
            slice.iov_len = ROOM;
        }
        debug_assert_eq!(self.data.len(), BATCH * ROOM);
        let (fd, messages) = (socket.as_raw_fd(), self.messages.as_mut_ptr());
        // SAFETY: there are BATCH messages, each with one slice, which is the ROOM bytes of that
        // packet.
        let count = unsafe { libc::recvmmsg(fd, messages, BATCH as u32, flags, null_mut()) };
        if count < 0 {
            return none_if_blocked(io::Error::last_os_error());
        }
        for (slice, message) in self.slices.iter_mut().zip(&self.messages[..count as usize]) {
            slice.iov_len = message.msg_len as usize;
        }
        Ok(count as usize)
    }

    /// Sends `count` packets, after the first `skip`, by `socket`; how many went.
    pub(crate) fn send(
        &mut self,
        socket: BorrowedFd<'_>,
        skip: usize,
        count: usize,
    ) -> io::Result<usize> {
        let messages = &mut self.messages[skip..skip + count];
        let (fd, length) = (socket.as_raw_fd(), messages.len() as u32);
        // SAFETY: `messages` are `length` messages, each with one slice, at most the ROOM bytes of
        // that packet.
        let sent = unsafe { libc::sendmmsg(fd, messages.as_mut_ptr(), length, 0) };
        if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(sent as usize) }
    }
}

/// A message of one slice, without an address.
fn message(slice: &mut libc::iovec) -> libc::mmsghdr {
    // SAFETY: all of `mmsghdr` may be zero.
    let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
    message.msg_hdr.msg_iov = slice;
    message.msg_hdr.msg_iovlen = 1;
    message
}

/// That nothing waits is not an error.
fn none_if_blocked(error: io::Error) -> io::Result<usize> {
    if error.kind() == ErrorKind::WouldBlock { Ok(0) } else { Err(error) }
}
