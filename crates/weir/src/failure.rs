use crate::output;
use std::fmt::Display;
use std::io;
use std::process::ExitCode;

/// The exit code for bad input: files, names, arguments.
const BAD_INPUT: u8 = 2;
/// The exit code of a program that was interrupted: 128 and the signal's number.
const INTERRUPTED: u8 = 130;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// One clear line for the user.
    Message(String),
    /// A failure after a correct start: one clear line.
    Broken(String),
    /// The reader of the output has closed the pipe, as `head` does: nothing to report.
    PipeClosed,
    /// Ctrl-C. The message about kept runs is already printed.
    Interrupted,
}

impl Failure {
    pub(crate) fn new(message: impl Display) -> Self {
        Self::Message(message.to_string())
    }

    /// Prints the message and returns the exit code.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Message(message) => {
                output::error(&message);
                ExitCode::from(BAD_INPUT)
            }
            Self::Broken(message) => {
                output::error(&message);
                ExitCode::FAILURE
            }
            Self::PipeClosed => ExitCode::SUCCESS,
            Self::Interrupted => ExitCode::from(INTERRUPTED),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::PipeClosed,
            _ => Self::new(error),
        }
    }
}

#[cfg(feature = "testbed")]
impl From<testbed::upload::UploadError> for Failure {
    fn from(error: testbed::upload::UploadError) -> Self {
        match error {
            testbed::upload::UploadError::Input(error) => Self::new(error),
            testbed::upload::UploadError::Broken(error) => Self::Broken(error.to_string()),
            testbed::upload::UploadError::Output(error) => error.into(),
        }
    }
}

macro_rules! from_errors {
    ($($error:ty),+) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::new(error)
            }
        })+
    };
}

from_errors!(
    document::FileError,
    lab::claims::UnknownClaim,
    lab::claims::BaselineError,
    lab::sweep::SweepError,
    store::export::ExportError,
    report::PlotError,
    store::StoreError,
    serde_json::Error
);

#[cfg(feature = "testbed")]
from_errors!(testbed::emulate::EmulationError, testbed::fit::FitError);

/// Prints help, version, or an error about the arguments, and returns the exit code.
pub(crate) fn usage(error: &clap::Error) -> ExitCode {
    output::usage(error);
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(BAD_INPUT))
}
