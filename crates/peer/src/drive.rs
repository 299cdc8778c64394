//! Runs a peer over a socket, in real time.

use crate::{Error, Peer, Signal, Socket};
use std::time::Instant;
use tokio::sync::mpsc;
use tokio::time::sleep_until;

/// Runs `peer` over `socket`, which is bound to the address of the peer, until `end`. Takes the
/// signals of the remote endpoint from `inbox` and puts replies into `outbox`. Call it again to
/// continue; between calls, the state and the statistics can be read.
///
/// # Errors
/// If the socket fails or the peer cannot go on. A reply that nobody receives is not an error: the
/// call continues without it.
#[expect(clippy::disallowed_methods, reason = "this function runs in real time")]
pub async fn run(
    peer: &mut Peer,
    socket: &mut Socket,
    inbox: &mut mpsc::Receiver<Signal>,
    outbox: &mpsc::Sender<Signal>,
    end: Instant,
) -> Result<(), Error> {
    while Instant::now() < end {
        while let Some((to, bytes)) = peer.poll_transmit() {
            socket.send(to, peer.ecn(), &bytes).await?;
        }
        let due = peer.next_timeout().map_or(end, |due| due.min(end));
        tokio::select! {
            // Timeouts come first: a flow of datagrams must not delay them.
            biased;
            () = sleep_until(due.into()) => peer.handle_timeout(Instant::now())?,
            received = socket.receive() => {
                let received = received?;
                for datagram in socket.datagrams(&received) {
                    peer.receive(Instant::now(), received.from, received.ecn, datagram)?;
                }
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
