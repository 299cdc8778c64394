use crate::measure::server_process::ServerError;
use emulator::EmulatorError;
use std::io;
use std::time::Duration;
use tokio_tungstenite::tungstenite;

/// Why a selective forwarding unit cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SfuError {
    /// The system gives no random numbers for the secret of Janus.
    #[error("no random numbers for the secret of Janus: {0}")]
    Secret(String),
    /// Janus failed.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// The system gives no thread for the connections to Janus.
    #[error("no thread for the connections to Janus: {0}")]
    Thread(io::Error),
    /// A call cannot be set up with Janus.
    #[error("'{call}': {error}")]
    Janus {
        /// The call.
        call: String,
        /// Why.
        error: JanusError,
    },
    /// A call forwards a stream that no call publishes.
    #[error("'{call}': '{published}' is not published")]
    NotPublished {
        /// The call.
        call: String,
        /// The call that should publish the stream.
        published: String,
    },
    /// The signalling room of a call refuses Janus.
    #[error("'{call}': {reason}")]
    Participant {
        /// The call.
        call: String,
        /// The reason that the room gives.
        reason: String,
    },
}

/// Why Janus does not do what was asked of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JanusError {
    /// Its host failed.
    #[error(transparent)]
    Host(#[from] EmulatorError),
    /// The runtime of the connection cannot be made.
    #[error("no thread for a connection to Janus: {0}")]
    Runtime(io::Error),
    /// Its port refuses the connection.
    #[error("Janus does not accept the connection: {0}")]
    Connect(io::Error),
    /// The WebSocket cannot be opened.
    #[error("Janus does not accept the connection: {0}")]
    Handshake(Box<tungstenite::Error>),
    /// It does not answer in time.
    #[error("Janus does not answer within {} s", .0.as_secs())]
    Timeout(Duration),
    /// The connection broke.
    #[error("the connection to Janus broke: {0}")]
    Lost(Box<tungstenite::Error>),
    /// It closed the connection.
    #[error("Janus has closed the connection")]
    Closed,
    /// It ended the session.
    #[error("Janus has ended the session")]
    SessionEnded,
    /// Its message is not JSON.
    #[error("Janus sent a message that is not JSON: {0}")]
    NotJson(serde_json::Error),
    /// Its answer has no identifier of the session or handle.
    #[error("Janus sent an answer without an identifier")]
    NoId,
    /// It, or its plugin, refuses; the reason that it gives.
    #[error("Janus refuses: {0}")]
    Refused(String),
}
