use std::fmt;
use std::io;

/// Why the network cannot be emulated: what failed, and the mend where one is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmulatorError(pub String);

impl EmulatorError {
    /// What was tried, and what the system said.
    pub(crate) fn of(what: &str, error: impl Into<io::Error>) -> Self {
        Self(format!("{what}: {}", error.into()))
    }
}

impl fmt::Display for EmulatorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for EmulatorError {}
