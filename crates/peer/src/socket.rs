//! A UDP socket that reads and writes the ECN field of its datagrams.

use cc::Ecn;
use quinn_udp::{EcnCodepoint, RecvMeta, UdpSocketState};
use socket2::SockRef;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use tokio::io::Interest;
use tokio::net::UdpSocket;

/// The most that one call reads, bytes: the kernel may join datagrams of one sender (generic receive
/// offload).
const MAX_READ: usize = 65_535;
/// The bits of the ECN field in the type of service (RFC 3168 § 5).
const ECN_BITS: u32 = 0b11;

/// A UDP socket of a peer.
pub struct Socket {
    io: UdpSocket,
    state: UdpSocketState,
    buffer: Vec<u8>,
    /// The field of the datagrams that are sent.
    ecn: Ecn,
}

/// What one call of [`Socket::receive`] has read: one datagram, or several of one sender with the
/// same ECN field.
#[derive(Clone, Copy, Debug)]
pub struct Received {
    /// The sender.
    pub from: SocketAddr,
    /// The ECN field.
    pub ecn: Ecn,
    length: usize,
    /// The size of each datagram; the last may be shorter.
    stride: usize,
}

impl Socket {
    /// Takes a bound socket, and asks the kernel for the ECN field (`IP_RECVTOS`).
    ///
    /// # Errors
    /// If the kernel refuses an option of the socket.
    pub fn new(io: UdpSocket) -> io::Result<Self> {
        let state = UdpSocketState::new((&io).into())?;
        Ok(Self { io, state, buffer: vec![0; MAX_READ], ecn: Ecn::NotEct })
    }

    /// The address to which the socket is bound.
    ///
    /// # Errors
    /// If the kernel does not know it.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Waits for datagrams. If the future is dropped while it waits, none is lost.
    ///
    /// # Errors
    /// If the socket fails; also after an ICMP error for a datagram that was sent.
    pub async fn receive(&mut self) -> io::Result<Received> {
        let Self { io, state, buffer, .. } = self;
        let mut meta = [RecvMeta::default()];
        let read = || state.recv((&*io).into(), &mut [IoSliceMut::new(buffer)], &mut meta);
        io.async_io(Interest::READABLE, read).await?;
        let [RecvMeta { addr, len, stride, ecn, .. }] = meta;
        let ecn = match ecn {
            None => Ecn::NotEct,
            Some(EcnCodepoint::Ect0) => Ecn::Ect0,
            Some(EcnCodepoint::Ect1) => Ecn::Ect1,
            Some(EcnCodepoint::Ce) => Ecn::Ce,
        };
        Ok(Received { from: addr, ecn, length: len, stride })
    }

    /// The datagrams of the newest [`Self::receive`].
    pub fn datagrams(&self, received: &Received) -> impl Iterator<Item = &[u8]> {
        self.buffer[..received.length].chunks(received.stride.max(1))
    }

    /// Sends a datagram with this ECN field. The DSCP of the socket stays.
    ///
    /// # Errors
    /// If the socket fails. An ICMP error for an earlier datagram (RFC 1122 § 4.1.3.3) is ignored,
    /// because the remote socket may not exist yet or any more.
    pub async fn send(&mut self, to: SocketAddr, ecn: Ecn, bytes: &[u8]) -> io::Result<()> {
        self.mark(ecn)?;
        match self.io.send_to(bytes, to).await {
            Err(error) if error.kind() != io::ErrorKind::ConnectionRefused => Err(error),
            _ => Ok(()),
        }
    }

    fn mark(&mut self, ecn: Ecn) -> io::Result<()> {
        if ecn == self.ecn {
            return Ok(());
        }
        let bits = match ecn {
            Ecn::NotEct => 0b00,
            Ecn::Ect1 => 0b01,
            Ecn::Ect0 => 0b10,
            Ecn::Ce => 0b11,
        };
        let socket = SockRef::from(&self.io);
        if self.io.local_addr()?.is_ipv6() {
            socket.set_tclass_v6((socket.tclass_v6()? & !ECN_BITS) | bits)?;
        } else {
            socket.set_tos_v4((socket.tos_v4()? & !ECN_BITS) | bits)?;
        }
        self.ecn = ecn;
        Ok(())
    }
}
