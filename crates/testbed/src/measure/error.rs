use super::active_call::CallError;
use super::browser::BrowserError;
use super::ims::ImsError;
use super::media::MediaError;
use super::native::NativePeerError;
use super::plan::PlanError;
use super::relay::RelayError;
use super::sfu::SfuError;
use crate::emulate::EmulationError;
use emulator::EmulatorError;
use server::signalling::RoomError;
use std::io;
use std::path::PathBuf;

/// Why a measured run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The emulation failed.
    #[error(transparent)]
    Emulation(#[from] EmulationError),
    /// The calls of the experiment cannot be measured.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Picture or sound cannot be made.
    #[error(transparent)]
    Media(#[from] MediaError),
    /// A browser failed.
    #[error("{host}: {error}")]
    Browser {
        /// Its host.
        host: String,
        /// Why.
        error: BrowserError,
    },
    /// The folder for the event logs of the browsers cannot be created.
    #[error("{}: cannot create the folder for event logs: {error}", .path.display())]
    EventLogs {
        /// The folder.
        path: PathBuf,
        /// What the system answered.
        error: io::Error,
    },
    /// The thread that launches a browser panicked.
    #[error("internal error (the launch of a browser panicked); please report it")]
    LaunchPanicked,
    /// A host has no socket for the page of its calls.
    #[error("{host}: cannot serve the call page: {error}")]
    PageSocket {
        /// The host.
        host: String,
        /// What the system answered.
        error: io::Error,
    },
    /// The server of the call pages cannot start.
    #[error("cannot serve the call page: {0}")]
    PageServer(io::Error),
    /// The signalling room of a call cannot be made.
    #[error("{call}: {error}")]
    Room {
        /// The call.
        call: String,
        /// Why.
        error: RoomError,
    },
    /// A participant is refused by the signalling room of its call.
    #[error("{call}: {reason}")]
    Participant {
        /// The call.
        call: String,
        /// The reason that the room gives.
        reason: String,
    },
    /// A native peer cannot be started.
    #[error("{call}: {error}")]
    NativePeer {
        /// The call.
        call: String,
        /// Why.
        error: NativePeerError,
    },
    /// A media relay failed.
    #[error(transparent)]
    Relay(#[from] RelayError),
    /// A selective forwarding unit failed.
    #[error(transparent)]
    Sfu(#[from] SfuError),
    /// The IMS that the calls pass failed.
    #[error(transparent)]
    Ims(#[from] ImsError),
    /// A call failed.
    #[error("{error}{}", .logs.iter().map(ToString::to_string).collect::<String>())]
    Call {
        /// Why.
        error: CallError,
        /// The last output of each browser.
        logs: Vec<BrowserLog>,
    },
}

impl From<EmulatorError> for MeasureError {
    fn from(error: EmulatorError) -> Self {
        Self::Emulation(error.into())
    }
}

/// The last output of a browser, as an error shows it.
#[derive(Debug, thiserror::Error)]
#[error("\nthe last output of {browser} on {host}:\n  {}", .lines.join("\n  "))]
pub struct BrowserLog {
    /// Its host.
    pub host: String,
    /// Its name and version.
    pub browser: String,
    /// The lines.
    pub lines: Vec<String>,
}
