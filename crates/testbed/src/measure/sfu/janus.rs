//! Janus on a host, and its configuration.

use super::connection::Connection;
use super::error::{JanusError, SfuError};
use crate::measure::server_process::{
    ConfigurationError, ServerError, ServerFailure, ServerProcess, ServerProgram,
};
use emulator::Host;
use server::Secret;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::runtime::Builder;

/// The program.
pub const PROGRAM: ServerProgram = ServerProgram {
    name: "janus",
    variable: "WEIR_JANUS",
    suggestion: "install Janus (Debian: apt-get install janus)",
    role: "the forwarding unit",
    folder: "weir-janus-",
};
/// The port of its WebSocket API, only on the loopback of its host.
const PORT: u16 = 8188;
/// The folders in which distributions and Janus' own installation put its modules; Debian has the
/// machine's name in the path.
const PARTS: [&str; 5] = [
    "/usr/lib/janus",
    "/usr/lib64/janus",
    "/usr/local/lib/janus",
    "/opt/janus/lib/janus",
    "/usr/lib/*/janus",
];
/// The modules that are loaded; no others are.
const NEEDED: [(&str, &str); 2] =
    [("plugins", "libjanus_videoroom.so"), ("transports", "libjanus_websockets.so")];

/// A running Janus. Dropping it ends it.
pub(super) struct Janus {
    server: ServerProcess,
    version: String,
    secret: Secret,
}

impl Janus {
    /// Starts Janus on the host, which has this address, and waits until it answers.
    pub(super) fn start(
        host: &Host,
        address: Ipv4Addr,
        cancel: &AtomicBool,
    ) -> Result<Self, SfuError> {
        let secret = Secret::random().map_err(|error| SfuError::Secret(error.to_string()))?;
        let server = ServerProcess::start(PROGRAM, host, &secret, |folder| {
            configure(folder, address, secret.expose())?;
            let file = folder.join("janus.jcfg");
            Ok(vec![
                "-F".into(),
                folder.into(),
                "-C".into(),
                file.into(),
                "--disable-colors".into(),
            ])
        })?;
        let mut janus = Self { server, version: String::new(), secret };
        janus.server.wait(cancel, || Ok(host.listens(PORT)))?;
        if !cancel.load(Ordering::Relaxed) {
            janus.version = janus
                .ask_version(host)
                .map_err(|error| janus.server.error(ServerFailure::Request(Box::new(error))))?;
        }
        Ok(janus)
    }

    fn ask_version(&self, host: &Host) -> Result<String, JanusError> {
        let socket = self.connect(host)?;
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(JanusError::Runtime)?;
        runtime.block_on(Connection::version(socket, self.secret.expose()))
    }

    /// Opens a connection to its API, from within its host.
    pub(super) fn connect(&self, host: &Host) -> Result<TcpStream, JanusError> {
        let connect = || {
            let socket = TcpStream::connect((Ipv4Addr::LOCALHOST, PORT))?;
            socket.set_nonblocking(true)?;
            socket.set_nodelay(true)?;
            Ok::<_, io::Error>(socket)
        };
        host.within(connect)?.map_err(JanusError::Connect)
    }

    /// Checks that Janus runs.
    pub(super) fn is_alive(&mut self) -> Result<(), ServerError> {
        self.server.is_alive()
    }

    /// The host's name.
    pub(super) fn host(&self) -> &str {
        self.server.host()
    }

    /// Name and version of Janus.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// The secret that every request must contain.
    pub(super) fn secret(&self) -> &Secret {
        &self.secret
    }
}

/// Writes the configuration into its folder, which no other user can read, and links the modules.
fn configure(folder: &Path, address: Ipv4Addr, secret: &str) -> Result<(), ConfigurationError> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| ConfigurationError::File { path, error })
    };
    let shown = folder.display();
    let mut text = format!("general: {{\n  configs_folder = \"{shown}\"\n");
    for part in ["plugins", "transports", "events", "loggers"] {
        let path = folder.join(part);
        fs::create_dir(&path).map_err(|error| ConfigurationError::Folder { path, error })?;
        // Writing to a String does not fail.
        let _ = writeln!(text, "  {part}_folder = \"{shown}/{part}\"");
    }
    // A forwarding unit has a public address, for which ICE lite is intended (RFC 8445, section
    // 2.5).
    let _ = write!(
        text,
        "  api_secret = \"{secret}\"\n  debug_level = 3\n  interface = \"{address}\"\n}}\n\
         nat: {{\n  ice_lite = true\n  ice_enforce_list = \"{address}\"\n}}\n"
    );
    write("janus.jcfg", &text)?;
    let sockets = format!(
        "general: {{\n  ws = true\n  ws_ip = \"127.0.0.1\"\n  ws_port = {PORT}\n  wss = false\n}}\n\
         admin: {{\n  admin_ws = false\n  admin_wss = false\n}}\n"
    );
    write("janus.transport.websockets.jcfg", &sockets)?;
    write("janus.plugin.videoroom.jcfg", "general: {\n}\n")?;
    for (part, file) in NEEDED {
        let found = part_file(part, file).ok_or_else(|| ConfigurationError::MissingModule {
            module: file,
            folders: PARTS.join(", "),
            suggestion: PROGRAM.suggestion,
        })?;
        let link = folder.join(part).join(file);
        symlink(found, &link)
            .map_err(|error| ConfigurationError::Link { path: link.clone(), error })?;
    }
    Ok(())
}

/// The path of a module of Janus.
fn part_file(part: &str, file: &str) -> Option<PathBuf> {
    let folders = PARTS.iter().flat_map(|pattern| match pattern.split_once("*/") {
        None => vec![PathBuf::from(pattern)],
        Some((above, below)) => {
            let machines = fs::read_dir(above).into_iter().flatten().flatten();
            machines.map(|machine| machine.path().join(below)).collect()
        }
    });
    folders.map(|folder| folder.join(part).join(file)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_api_listens_only_on_loopback_and_requires_the_secret() {
        let Some(_) = part_file(NEEDED[0].0, NEEDED[0].1) else {
            eprintln!("skipped: Janus is not installed");
            return;
        };
        let folder = tempfile::tempdir().unwrap();
        configure(folder.path(), Ipv4Addr::new(10, 0, 0, 7), "5ec4e7").unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        let general = read("janus.jcfg");
        assert!(
            general.contains("api_secret = \"5ec4e7\"")
                && general.contains("interface = \"10.0.0.7\"")
        );
        let sockets = read("janus.transport.websockets.jcfg");
        assert!(sockets.contains("ws_ip = \"127.0.0.1\"") && sockets.contains("admin_ws = false"));
        for (part, file) in NEEDED {
            let parts: Vec<_> = fs::read_dir(folder.path().join(part)).unwrap().collect();
            assert_eq!(parts.len(), 1, "nothing but {file} is loaded");
        }
    }
}
