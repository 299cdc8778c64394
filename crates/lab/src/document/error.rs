use std::fmt;

/// What is wrong with a file: where, and how to mend it. Prints as `file:line: key: what is wrong;
/// the mend`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The file, as it was named; empty if it has no name.
    pub path: String,
    /// The line, from 1; `None` for a value that was set on the command line, or for the file as a
    /// whole.
    pub line: Option<usize>,
    /// The key, from the top of the file: `host.alice.up.rate`. Empty for the file as a whole.
    pub key: String,
    /// What is wrong.
    pub reason: String,
    /// What to write instead; empty where the reason says it.
    pub mend: String,
}

impl FileError {
    /// An error about a file as a whole.
    #[must_use]
    pub fn file(path: &str, reason: impl Into<String>, mend: impl Into<String>) -> Self {
        let (reason, mend) = (reason.into(), mend.into());
        Self { path: path.to_owned(), line: None, key: String::new(), reason, mend }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        // One clear line, whatever a text of the file that is quoted holds.
        f.write_str(&self.reason.replace(['\n', '\r'], " "))?;
        if !self.mend.is_empty() {
            write!(f, "; {}", self.mend.replace(['\n', '\r'], " "))?;
        }
        Ok(())
    }
}

impl std::error::Error for FileError {}

/// Where a value was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the file, on this line.
    Line(usize),
    /// On the command line, with `--set`.
    CommandLine,
}

/// An error inside a file, before the file's name is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) place: Place,
    pub(crate) key: String,
    pub(crate) reason: String,
    pub(crate) mend: String,
}

impl Fault {
    pub(crate) fn new(
        place: Place,
        key: impl Into<String>,
        reason: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self { place, key: key.into(), reason: reason.into(), mend: mend.into() }
    }

    /// The error as the user sees it.
    pub(crate) fn in_file(self, path: &str) -> FileError {
        let (path, line) = match self.place {
            Place::Line(line) => (path.to_owned(), Some(line)),
            Place::CommandLine => ("--set".to_owned(), None),
        };
        FileError { path, line, key: self.key, reason: self.reason, mend: self.mend }
    }
}
