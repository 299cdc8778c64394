use super::Program;
use std::fmt;

/// Why a browser cannot be used, or not any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BrowserError {
    /// A program is not installed.
    Missing(Program),
    /// The run was ended from outside.
    Cancelled,
    /// It failed.
    Failed {
        /// Which browser, on which host, and what it did, for people.
        what: String,
        /// The last lines that the browser and its driver wrote.
        log: Vec<String>,
    },
}

impl fmt::Display for BrowserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(program) => write!(
                f,
                "{} is not there: {}, or name its file in {} (see 'weir doctor')",
                program.names()[0],
                program.suggestion(),
                program.variable()
            ),
            Self::Cancelled => f.write_str("cancelled"),
            Self::Failed { what, log } if log.is_empty() => write!(f, "{what}; it wrote nothing"),
            Self::Failed { what, log } => {
                write!(f, "{what}; it wrote last:\n  {}", log.join("\n  "))
            }
        }
    }
}

impl std::error::Error for BrowserError {}
