//! rtpengine as access gateway of the media (IMS-AGW; towards browsers eIMS-AGW, 3GPP TS 23.228 annex
//! U.1.4): ICE and DTLS-SRTP towards the browser, RTP towards the core.

use crate::measure::server_process::{ServerError, ServerProcess, ServerProgram};
use emulator::Host;
use server::Secret;
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The program.
pub const PROGRAM: ServerProgram = ServerProgram {
    name: "rtpengine",
    variable: "WEIR_RTPENGINE",
    suggestion: "install rtpengine-daemon (Debian: scripts/deps --ims)",
    role: "the access gateway",
    folder: "weir-agw-",
};

/// The port of its control protocol.
pub(super) const CONTROL_PORT: u16 = 2_223;
/// The ports of media.
const PORTS: (u16, u16) = (30_000, 39_999);
/// The time for an answer from the same host.
const PATIENCE: Duration = Duration::from_millis(200);

/// Starts the gateway on a host of this address, and waits until it answers there.
pub(super) fn start(
    host: &Host,
    address: Ipv4Addr,
    secret: &Secret,
    cancel: &AtomicBool,
) -> Result<ServerProcess, ServerError> {
    let mut server = ServerProcess::start(PROGRAM, host, secret, |_| {
        let (first, last) = PORTS;
        Ok([
            "--foreground".to_owned(),
            "--log-stderr".to_owned(),
            "--log-level=4".to_owned(),
            // No kernel module.
            "--table=-1".to_owned(),
            format!("--interface={address}"),
            format!("--listen-ng={address}:{CONTROL_PORT}"),
            format!("--port-min={first}"),
            format!("--port-max={last}"),
            "--num-threads=2".to_owned(),
        ]
        .map(OsString::from)
        .into())
    })?;
    server.wait(cancel, || Ok(host.within(move || answers(address))??))?;
    Ok(server)
}

/// Whether the gateway answers a ping (its `ng` protocol: a cookie, then bencoded data).
fn answers(address: Ipv4Addr) -> io::Result<bool> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    // If the port is closed, an ICMP error makes `connect` or `send` fail.
    let ping = b"1 d7:command4:pinge";
    if socket.connect((address, CONTROL_PORT)).and_then(|()| socket.send(ping)).is_err() {
        return Ok(false);
    }
    let mut bytes = [0; 512];
    let Ok(length) = socket.recv(&mut bytes) else { return Ok(false) };
    Ok(bytes[..length].windows(4).any(|window| window == b"pong"))
}
