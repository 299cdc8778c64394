//! coturn on the host of a relay.

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

/// A running coturn. Dropping it ends it.
pub struct Coturn {
    server: ServerProcess,
    version: String,
}

impl Coturn {
    /// Starts coturn on the host, which has this address, and waits until it answers there.
    ///
    /// # Errors
    /// When coturn is not installed, cannot be started, ends, or does not answer.
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
        let version = version_in(&server.lines()).unwrap_or_else(|| PROGRAM.name.to_owned());
        Ok(Self { server, version })
    }

    /// Checks that coturn runs.
    ///
    /// # Errors
    /// When it has ended, with its exit status and last output.
    pub fn is_alive(&mut self) -> Result<(), ServerError> {
        self.server.is_alive()
    }

    /// The host's name.
    pub(super) fn host(&self) -> &str {
        self.server.host()
    }

    /// Name and version of coturn.
    pub(super) fn version(&self) -> &str {
        &self.version
    }
}

/// The version in its first output: `Coturn Version Coturn-4.6.1 'Gorst'`.
fn version_in(lines: &[String]) -> Option<String> {
    let version = lines.iter().find_map(|line| line.split_once("Version Coturn-"))?.1;
    Some(format!("coturn {}", version.split_whitespace().next()?))
}
