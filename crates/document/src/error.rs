use crate::{did_you_mean, shown};
use std::fmt;

/// An error in a file. Prints as `file:line: key: reason; suggestion`, on one line and with control
/// characters as escapes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The file name as given by the user; empty if the text has no name.
    pub path: String,
    /// The line, counted from 1; `None` for a value of the command line, and for the whole file.
    pub line: Option<usize>,
    /// The full key, such as `host.alice.up.rate`; empty for the whole file.
    pub key: String,
    /// What is wrong.
    pub reason: String,
    /// What to write instead; empty if there is no suggestion.
    pub suggestion: String,
}

impl FileError {
    /// An error about the whole file.
    #[must_use]
    pub fn file(path: &str, reason: impl Into<String>, suggestion: impl Into<String>) -> Self {
        let (reason, suggestion) = (reason.into(), suggestion.into());
        Self { path: path.to_owned(), line: None, key: String::new(), reason, suggestion }
    }

    /// An error about the whole file.
    #[must_use]
    pub fn of_file(path: &str, problem: Problem) -> Self {
        Self::file(path, problem.reason, problem.suggestion)
    }
}

impl FileError {
    fn write(&self, f: &mut impl fmt::Write) -> fmt::Result {
        f.write_str(&self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.path.is_empty() || self.line.is_some() {
            f.write_str(": ")?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.reason)?;
        if !self.suggestion.is_empty() {
            write!(f, "; {}", self.suggestion)?;
        }
        Ok(())
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text)?;
        // Each part may quote the file: a value of many lines, a key with a line break.
        f.write_str(&shown::message(&text))
    }
}

impl std::error::Error for FileError {}

/// What is wrong with a value, before its place and key are known. Prints as `reason; suggestion`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong.
    pub reason: String,
    /// What to write instead; empty if there is no suggestion.
    pub suggestion: String,
}

impl Problem {
    /// A problem with this reason and suggestion.
    pub fn new(reason: impl Into<String>, suggestion: impl Into<String>) -> Self {
        Self { reason: reason.into(), suggestion: suggestion.into() }
    }

    /// A name that is not among the `known` ones: `there is no host 'bop'; did you mean bob?`. If
    /// no known name is similar, the suggestion lists all of them after `introduction`.
    pub fn unknown<'c>(
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'c str> + Clone,
        introduction: &str,
    ) -> Self {
        let suggestion = did_you_mean(name, known, introduction);
        Self::new(format!("there is no {what} '{name}'"), suggestion)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if self.suggestion.is_empty() { Ok(()) } else { write!(f, "; {}", self.suggestion) }
    }
}

impl std::error::Error for Problem {}

/// Where a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// In the file, on this line.
    Line(usize),
    /// On the command line, with `--set`.
    CommandLine,
}

/// An error inside a file, before the file's name is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where the value was written.
    pub location: Location,
    /// The full key, such as `host.alice.up.rate`.
    pub key: String,
    /// What is wrong.
    pub reason: String,
    /// What to write instead; empty if there is no suggestion.
    pub suggestion: String,
}

impl Fault {
    /// An error at `location`, about the value under `key`.
    pub fn new(
        location: Location,
        key: impl Into<String>,
        reason: impl Into<String>,
        suggestion: impl Into<String>,
    ) -> Self {
        Self { location, key: key.into(), reason: reason.into(), suggestion: suggestion.into() }
    }

    /// An error at `location`, about the value under `key`.
    pub fn of(location: Location, key: impl Into<String>, problem: Problem) -> Self {
        Self::new(location, key, problem.reason, problem.suggestion)
    }

    /// The error with the name of the file, as the user sees it.
    pub fn in_file(self, path: &str) -> FileError {
        let (path, line) = match self.location {
            Location::Line(line) => (path.to_owned(), Some(line)),
            Location::CommandLine => ("--set".to_owned(), None),
        };
        FileError { path, line, key: self.key, reason: self.reason, suggestion: self.suggestion }
    }
}
