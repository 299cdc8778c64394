//! A coturn on a relay's host.

use super::{config, probe};
use crate::measure::server_process::{
    ConfigurationError, ServerError, ServerProcess, ServerProgram,
};
use emulator::Host;
use server::Secret;
use sim::relay::TURN_PORT;
use std::net::Ipv4Addr;
use std::sync::atomic::AtomicBool;

/// The program.
pub const PROGRAM: ServerProgram = ServerProgram {
    name: "turnserver",
    variable: "WEIR_TURNSERVER",
    suggestion: "install coturn (Debian: apt-get install coturn)",
    role: "the relay",
    folder: "weir-turn-",
};

/// A coturn under way. Dropping it ends it.
pub struct Coturn {
    server: ServerProcess,
    version: String,
}

impl Coturn {
    /// Starts one on the host, which has this address, and waits until it answers there.
    ///
    /// # Errors
    /// When it is not installed, cannot be started, ends, or does not answer.
    pub fn start(
        host: &Host,
        address: Ipv4Addr,
        secret: &Secret,
        cancel: &AtomicBool,
    ) -> Result<Self, ServerError> {
        let mut server = ServerProcess::start(PROGRAM, host, secret, |folder| {
            let path = folder.join("turnserver.conf");
            config::write(&path, address, secret)
                .map_err(|error| ConfigurationError::File { path: path.clone(), error })?;
            Ok(vec!["-c".into(), path.into()])
        })?;
        server.wait(cancel, || {
            Ok(host.within(move || probe::answers((address, TURN_PORT).into()))??)
        })?;
        let version = said_version(&server.lines()).unwrap_or_else(|| PROGRAM.name.to_owned());
        Ok(Self { server, version })
    }

    /// Sees whether it runs.
    ///
    /// # Errors
    /// When it has ended: how, and what it wrote last.
    pub fn is_alive(&mut self) -> Result<(), ServerError> {
        self.server.is_alive()
    }

    /// The host's name.
    pub(super) fn host(&self) -> &str {
        self.server.host()
    }

    /// Its name and version.
    pub(super) fn version(&self) -> &str {
        &self.version
    }
}

/// What it says of itself when it starts: `Coturn Version Coturn-4.6.1 'Gorst'`.
fn said_version(lines: &[String]) -> Option<String> {
    let said = lines.iter().find_map(|line| line.split_once("Version Coturn-"))?.1;
    Some(format!("coturn {}", said.split_whitespace().next()?))
}
