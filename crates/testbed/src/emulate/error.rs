use emulator::EmulatorError;
use std::io;
use std::sync::Arc;
use store::export::ExportError;

/// Why a run in real time failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmulationError {
    /// The hosts or the real-time loop failed.
    #[error(transparent)]
    Emulator(#[from] EmulatorError),
    /// The modelled network cannot be built.
    #[error(transparent)]
    Network(#[from] net::ConfigError),
    /// The packet captures cannot be opened.
    #[error("{0}")]
    Capture(Arc<ExportError>),
    /// No host has the name that a command is for.
    #[error("{reason}; {suggestion}")]
    UnknownHost {
        /// Which name.
        reason: String,
        /// The names that exist, or the closest one.
        suggestion: String,
    },
    /// A command has no words.
    #[error("the command is empty; name a program")]
    EmptyCommand,
    /// A program of a host is not installed.
    #[error("{error}; is {program} installed? (see 'weir doctor')")]
    NotInstalled {
        /// The program.
        program: String,
        /// What the system answered.
        error: EmulatorError,
    },
    /// The command in the foreground cannot be waited for.
    #[error("cannot wait for the command in the foreground: {0}")]
    Foreground(#[source] Arc<io::Error>),
    /// A TCP flow cannot be replaced by an upload, because it models a web session.
    #[error(
        "the flow '{0}' models web pages, which an upload cannot do; add a program named '{0}'"
    )]
    WebFlow(String),
    /// A server program ended, or did not listen in time.
    #[error("the server {server} does not listen: {last_line}")]
    ServerNotListening {
        /// The name of the program.
        server: String,
        /// The last line of its output.
        last_line: String,
    },
    /// ECN cannot be enabled on a host.
    #[error("cannot set net.ipv4.tcp_ecn: {0}")]
    Ecn(#[source] Arc<io::Error>),
    /// The output of an upload cannot be read.
    #[error("{program}: {source}")]
    Transcript {
        /// The name of the upload.
        program: String,
        /// Why.
        source: Arc<io::Error>,
    },
}

impl From<ExportError> for EmulationError {
    fn from(error: ExportError) -> Self {
        Self::Capture(Arc::new(error))
    }
}
