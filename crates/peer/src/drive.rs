//! A peer over a socket, in real time.

use crate::{Error, Peer, Signal};
use std::time::Instant;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::time::sleep_until;

/// The largest datagram that is read.
const LARGEST: usize = 2_048;

/// Drives `peer` over `socket`, which is bound to the peer's address, until `end`: takes what the
/// other end says from `inbox` and puts replies into `outbox`. May be called again to go on:
/// between two turns the state and the statistics can be asked for. Dropped while it waits, it
/// loses no more than a datagram.
///
/// # Errors
/// When the socket fails or the peer can't go on. A reply that nobody takes is no error: the call
/// goes on without.
#[expect(clippy::disallowed_methods, reason = "here time is the machine's")]
pub async fn run(
    peer: &mut Peer,
    socket: &UdpSocket,
    inbox: &mut mpsc::Receiver<Signal>,
    outbox: &mpsc::Sender<Signal>,
    end: Instant,
) -> Result<(), Error> {
    let mut datagram = [0; LARGEST];
    while Instant::now() < end {
        while let Some((to, bytes)) = peer.poll_transmit() {
            send(socket, to, &bytes).await?;
        }
        let due = peer.next_timeout().map_or(end, |due| due.min(end));
        tokio::select! {
            // What is due comes first: no flow of datagrams may hold it up.
            biased;
            () = sleep_until(due.into()) => peer.handle_timeout(Instant::now())?,
            received = socket.recv_from(&mut datagram) => {
                let (size, from) = received?;
                peer.receive(Instant::now(), from, &datagram[..size])?;
            }
            Some(signal) = inbox.recv() => {
                if let Some(reply) = peer.signal(Instant::now(), signal)? {
                    let _ = outbox.send(reply).await;
                }
            }
        }
    }
    Ok(())
}

/// Loses what the other end's host refuses for now (ICMP, RFC 1122 § 4.1.3.3): its socket may not
/// be there yet, or no more.
async fn send(socket: &UdpSocket, to: std::net::SocketAddr, bytes: &[u8]) -> Result<(), Error> {
    match socket.send_to(bytes, to).await {
        Err(error) if error.kind() != std::io::ErrorKind::ConnectionRefused => Err(error.into()),
        _ => Ok(()),
    }
}
