//! Whether a relay answers: a STUN binding request (RFC 8489 § 3).

use rtc_stun::message::{BINDING_REQUEST, BINDING_SUCCESS, Message, TransactionId};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::time::Duration;

/// How long an answer from the same host may take.
const PATIENCE: Duration = Duration::from_millis(200);
/// Longer than any answer to it.
const MAX_MESSAGE: usize = 1_500;

/// Asks once, from the calling thread's network; whether there was an answer to this request.
pub(super) fn answers(server: SocketAddr) -> io::Result<bool> {
    answers_within(server, PATIENCE)
}

fn answers_within(server: SocketAddr, patience: Duration) -> io::Result<bool> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.set_read_timeout(Some(patience))?;
    let mut request = Message::new();
    let wrong = |error| io::Error::other(format!("no STUN request: {error}"));
    request.build(&[Box::new(TransactionId::new()), Box::new(BINDING_REQUEST)]).map_err(wrong)?;
    // A port where nobody listens yet refuses what was sent before, or what is waited for.
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

    /// A server that answers each request, with what `change` makes of the answer.
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
    fn only_an_answer_to_the_own_request_counts() {
        // A relay is asked again; this server, whose thread may get its turn late, answers once.
        assert!(answers_within(server(|_| ()), Duration::from_secs(20)).unwrap());
        assert!(!answers(server(|answer| answer.transaction_id = TransactionId::new())).unwrap());
        assert!(!answers(server(|answer| answer.set_type(BINDING_REQUEST))).unwrap());
        let nobody = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(!answers(nobody).unwrap());
    }
}
