//! Runs a peer over a socket, in real time.

use crate::{Error, Peer, Signal};
use std::time::Instant;
use tokio::net::UdpSocket;
use tokio::sync::mpsc;
use tokio::time::sleep_until;

/// The largest datagram that is read, bytes.
const MAX_DATAGRAM: usize = 2_048;

/// Runs `peer` over `socket`, which is bound to the address of the peer, until `end`. Takes the
/// signals of the remote endpoint from `inbox` and puts replies into `outbox`. Call it again to
/// continue; between calls, the state and the statistics can be read. If the future is dropped
/// while it waits, at most one datagram is lost.
///
/// # Errors
/// If the socket fails or the peer cannot go on. A reply that nobody receives is not an error: the
/// call continues without it.
#[expect(clippy::disallowed_methods, reason = "this function runs in real time")]
pub async fn run(
    peer: &mut Peer,
    socket: &UdpSocket,
    inbox: &mut mpsc::Receiver<Signal>,
    outbox: &mpsc::Sender<Signal>,
    end: Instant,
) -> Result<(), Error> {
    let mut datagram = [0; MAX_DATAGRAM];
    while Instant::now() < end {
        while let Some((to, bytes)) = peer.poll_transmit() {
            send(socket, to, &bytes).await?;
        }
        let due = peer.next_timeout().map_or(end, |due| due.min(end));
        tokio::select! {
            // Timeouts come first: a flow of datagrams must not delay them.
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

/// Sends a datagram. Ignores refused connections (ICMP, RFC 1122 § 4.1.3.3), because the remote
/// socket may not exist yet or any more.
async fn send(socket: &UdpSocket, to: std::net::SocketAddr, bytes: &[u8]) -> Result<(), Error> {
    match socket.send_to(bytes, to).await {
        Err(error) if error.kind() != std::io::ErrorKind::ConnectionRefused => Err(error.into()),
        _ => Ok(()),
    }
}
