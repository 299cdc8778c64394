//! Files that are there whole or not at all.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Why an export failed. Prints as `file: what is wrong; the suggestion`, on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportError {
    /// The file that was to be written, where there is one.
    pub path: Option<PathBuf>,
    /// What is wrong.
    pub reason: String,
    /// What to do about it; empty where the reason says it.
    pub suggestion: String,
}

impl ExportError {
    pub(super) fn new(reason: impl Into<String>, suggestion: impl Into<String>) -> Self {
        Self { path: None, reason: reason.into(), suggestion: suggestion.into() }
    }

    fn at(self, path: &Path) -> Self {
        Self { path: Some(self.path.unwrap_or_else(|| path.to_owned())), ..self }
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path =
            self.path.as_ref().map(|path| format!("{}: ", path.display())).unwrap_or_default();
        let suggestion = if self.suggestion.is_empty() {
            String::new()
        } else {
            format!("; {}", self.suggestion)
        };
        f.write_str(&format!("{path}{}{suggestion}", self.reason).replace(['\n', '\r'], " "))
    }
}

impl std::error::Error for ExportError {}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{
            NotADirectory, NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem,
            StorageFull,
        };
        match error.kind() {
            StorageFull | QuotaExceeded => {
                Self::new("the disk is full", "free some space, or name a file on another disk")
            }
            NotFound | NotADirectory => {
                Self::new("there is no such folder", "make it, or name another file")
            }
            PermissionDenied | ReadOnlyFilesystem => Self::new(
                "it cannot be written",
                "make the file and its folder writable, or name another file",
            ),
            _ => Self::new(
                format!("writing failed: {error}"),
                "check the disk, or name another file",
            ),
        }
    }
}

impl From<String> for ExportError {
    fn from(reason: String) -> Self {
        Self::new(reason, "")
    }
}

/// Writes the file `path` with `write`, under a temporary name beside it that becomes `path` at the
/// end: after an error the file is what it was, or is not there. A pipe or a device (`/dev/stdout`)
/// is written to as it is.
///
/// # Errors
/// What `write` met; or that the file cannot be made, written or put in its place.
pub fn to_file<T, E: Into<ExportError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<T, E>,
) -> Result<T, ExportError> {
    place(path, write).map_err(|error| error.at(path))
}

fn place<T, E: Into<ExportError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<T, E>,
) -> Result<T, ExportError> {
    match Draft::open(path)? {
        Draft::AsItIs(file) => fill(&file, write),
        Draft::Beside { file, target } => {
            let value = fill(file.as_file(), write)?;
            // Some file systems say only now that there is no room.
            file.as_file().sync_all()?;
            file.persist(&target).map_err(|error| error.error)?;
            Ok(value)
        }
    }
}

/// Sees whether `path` could be written, so that work of minutes does not end in an error.
///
/// # Errors
/// What [`to_file`] would meet before it writes.
pub fn writable(path: &Path) -> Result<(), ExportError> {
    Draft::open(path).map(drop).map_err(|error| error.at(path))
}

/// Where the bytes go.
enum Draft {
    /// A pipe or a device.
    AsItIs(File),
    /// A temporary file in the folder of its target.
    Beside { file: tempfile::NamedTempFile, target: PathBuf },
}

impl Draft {
    fn open(path: &Path) -> Result<Self, ExportError> {
        let old = match fs::metadata(path) {
            Ok(old) if old.is_dir() => {
                return Err(ExportError::new("it is a folder", "name a file in it"));
            }
            Ok(old) if !old.is_file() => {
                return Ok(Self::AsItIs(fs::OpenOptions::new().write(true).open(path)?));
            }
            Ok(old) if old.permissions().readonly() => {
                return Err(io::Error::from(io::ErrorKind::PermissionDenied).into());
            }
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        // What a link points to is replaced, not the link.
        let target = if old.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let permissions = old.map_or_else(usual_permissions, |old| old.permissions());
        let file = tempfile::Builder::new()
            .prefix(".weir-")
            .suffix(".part")
            .permissions(permissions)
            .tempfile_in(folder.unwrap_or(Path::new(".")))?;
        Ok(Self::Beside { file, target })
    }
}

fn fill<T, E: Into<ExportError>>(
    file: &File,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<T, E>,
) -> Result<T, ExportError> {
    let mut buffer = BufWriter::new(file);
    let value = write(&mut buffer).map_err(Into::into)?;
    buffer.flush()?;
    Ok(value)
}

/// What a new file gets, less the user's mask, as with any other program.
fn usual_permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}
