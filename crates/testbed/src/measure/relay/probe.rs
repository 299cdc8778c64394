//! Checks that a relay answers a STUN binding request (RFC 8489, section 3).

use rtc_stun::message::{BINDING_REQUEST, BINDING_SUCCESS, Message, TransactionId};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

/// The time for an answer from the same host.
const PATIENCE: Duration = Duration::from_millis(200);
/// Larger than any answer, bytes.
const MAX_MESSAGE: usize = 1_500;

/// Sends one request from the network of the calling thread; returns whether an answer to this
/// request arrived.
pub(super) fn answers(server: SocketAddr) -> io::Result<bool> {
    answers_within(server, PATIENCE)
}

fn answers_within(server: SocketAddr, patience: Duration) -> io::Result<bool> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.set_read_timeout(Some(patience))?;
    let mut request = Message::new();
    let wrong = |error| io::Error::other(format!("no STUN request: {error}"));
    request.build(&[Box::new(TransactionId::new()), Box::new(BINDING_REQUEST)]).map_err(wrong)?;
    // If the port is closed, an ICMP error makes `connect` or `send` fail.
    if socket.connect(server).and_then(|()| socket.send(&request.raw)).is_err() {
        return Ok(false);
    }
    let mut bytes = [0; MAX_MESSAGE];
    let Ok(length) = socket.recv(&mut bytes) else { return Ok(false) };
    let mut answer = Message::new();
    let is_stun = answer.unmarshal_binary(&bytes[..length]).is_ok();
    Ok(is_stun && answer.typ == BINDING_SUCCESS && answer.transaction_id == request.transaction_id)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers one request, with an answer that `change` modifies.
    fn server(change: impl Fn(&mut Message) + Send + 'static) -> SocketAddr {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        std::thread::spawn(move || {
            let mut bytes = [0; MAX_MESSAGE];
            let (length, client) = socket.recv_from(&mut bytes).unwrap();
            let mut answer = Message::new();
            answer.unmarshal_binary(&bytes[..length]).unwrap();
            answer.set_type(BINDING_SUCCESS);
            change(&mut answer);
            answer.encode();
            socket.send_to(&answer.raw, client).unwrap();
        });
        address
    }

    #[test]
    fn only_an_answer_to_the_same_request_counts() {
        // This server answers only once and may be slow to start, so it gets more time.
        assert!(answers_within(server(|_| ()), Duration::from_secs(20)).unwrap());
        assert!(!answers(server(|answer| answer.transaction_id = TransactionId::new())).unwrap());
        assert!(!answers(server(|answer| answer.set_type(BINDING_REQUEST))).unwrap());
        let nobody = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(!answers(nobody).unwrap());
    }
}
