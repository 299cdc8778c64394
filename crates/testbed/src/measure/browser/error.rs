use super::Program;
use super::network::NetworkError;
use super::session::SessionError;
use emulator::EmulatorError;
use std::fmt;
use std::process::ExitStatus;
use std::time::Duration;
use thirtyfour::error::WebDriverError;

/// Why a browser cannot be used, or can no longer be used.
#[derive(Debug, thiserror::Error)]
pub enum BrowserError {
    /// A program is not installed.
    #[error(
        "{} is not installed; {}, or set {} to its path (see 'weir doctor')",
        .0.names()[0], .0.suggestion(), .0.variable()
    )]
    Missing(Program),
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The browser or its driver failed.
    #[error("{browser}: {failure}; {}", last_output(.log))]
    Failed {
        /// The browser and its host: `Firefox on bob`.
        browser: String,
        /// What failed.
        failure: Box<BrowserFailure>,
        /// The last lines that the browser and its driver wrote.
        log: Vec<String>,
    },
}

fn last_output(log: &[String]) -> String {
    if log.is_empty() {
        "it wrote no output".to_owned()
    } else {
        format!("its last output:\n  {}", log.join("\n  "))
    }
}

/// What failed in a browser.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BrowserFailure {
    /// The network of its host cannot be prepared.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The driver cannot be started.
    #[error(transparent)]
    Driver(#[from] EmulatorError),
    /// The driver ended before it listened.
    #[error("its driver ended at the start: {0}")]
    DriverEndedAtStart(ExitStatus),
    /// The driver does not listen.
    #[error("its driver does not listen after {} s", .0.as_secs())]
    DriverNotListening(Duration),
    /// The driver ended.
    #[error("its driver has ended: {0}")]
    DriverEnded(ExitStatus),
    /// The options of the session cannot be set.
    #[error("cannot set the options of the session: {0}")]
    Capabilities(Box<WebDriverError>),
    /// The driver did not say which process the browser is.
    #[error("the driver does not report the process of the browser")]
    NoProcess,
    /// The browser ended before it could be watched.
    #[error("the browser ended at the start")]
    EndedAtStart,
    /// The browser ended.
    #[error("the browser has ended")]
    Ended,
    /// The driver refused a request, or did not answer.
    #[error("{action}: {error}")]
    Request {
        /// What was asked of the browser.
        action: Action,
        /// Why it failed.
        error: SessionError,
    },
    /// The browser shows an error page instead of the page.
    #[error("{0}: the browser shows an error page")]
    ErrorPage(Action),
}

/// What is asked of a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// To start a session.
    Start,
    /// To open a page; its address without query and fragment.
    Open(String),
    /// The title of the page.
    Title,
    /// A picture of the page.
    Screenshot,
    /// To run a script in the page.
    Script,
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("cannot start a session"),
            Self::Open(page) => write!(f, "cannot open {page}"),
            Self::Title => f.write_str("cannot read the title of the page"),
            Self::Screenshot => f.write_str("cannot take a picture of the page"),
            Self::Script => f.write_str("cannot run a script in the page"),
        }
    }
}
