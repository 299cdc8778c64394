//! Writing a file completely or not at all.

use super::packet::PacketError;
use crate::{Mode, StoreError};
#[cfg(feature = "parquet")]
use parquet::errors::ParquetError;
use pcap_file::PcapError;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Why an export failed. Prints as `file: what is wrong; suggestion`, on one line.
#[derive(Debug)]
pub struct ExportError {
    /// The file that was to be written, if known.
    pub path: Option<PathBuf>,
    /// What is wrong.
    pub fault: ExportFault,
}

/// What is wrong with an export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportFault {
    /// The disk or the user's quota is full.
    #[error("the disk is full; free some space, or name a file on another disk")]
    DiskFull,
    /// The folder of the file does not exist.
    #[error("there is no such folder; create it, or name another file")]
    NoFolder,
    /// The path is a folder.
    #[error("it is a folder; name a file in it")]
    IsFolder,
    /// The file or its folder cannot be written.
    #[error("it cannot be written; make the file and its folder writable, or name another file")]
    ReadOnly,
    /// The operating system failed to write.
    #[error("writing failed: {0}; check the disk, or name another file")]
    Io(io::Error),
    /// The run has no stream of this name.
    #[error("the run has no stream \"{name}\"; it has {}", .streams.join(", "))]
    NoStream {
        /// The name.
        name: String,
        /// The names of the streams of the run.
        streams: Vec<String>,
    },
    /// A run of this mode has no statistics of a browser.
    #[error("a {0} run has no statistics of a browser; name a measured run")]
    NoStatistics(Mode),
    /// A CSV record cannot be written.
    #[error("writing CSV failed: {0}")]
    Csv(csv::Error),
    /// A Parquet column cannot be written.
    #[cfg(feature = "parquet")]
    #[error("writing Parquet failed: {0}")]
    Parquet(ParquetError),
    /// A pcapng block cannot be written.
    #[error("writing pcapng failed: {0}")]
    Pcapng(PcapError),
    /// A packet of the simulation does not fit its wire format.
    #[error(transparent)]
    Packet(#[from] PacketError),
    /// The run cannot be read from its store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run cannot be simulated.
    #[error(transparent)]
    Run(#[from] sim::RunError),
    /// The thread that writes the file panicked.
    #[error("internal error: the thread that writes the file panicked; please report it")]
    WriterPanicked,
}

impl ExportError {
    fn at(self, path: &Path) -> Self {
        Self { path: Some(self.path.unwrap_or_else(|| path.to_owned())), ..self }
    }
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path =
            self.path.as_ref().map(|path| format!("{}: ", path.display())).unwrap_or_default();
        f.write_str(&format!("{path}{}", self.fault).replace(['\n', '\r'], " "))
    }
}

impl std::error::Error for ExportError {}

impl<F: Into<ExportFault>> From<F> for ExportError {
    fn from(fault: F) -> Self {
        Self { path: None, fault: fault.into() }
    }
}

impl From<io::Error> for ExportFault {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{
            NotADirectory, NotFound, PermissionDenied, QuotaExceeded, ReadOnlyFilesystem,
            StorageFull,
        };
        match error.kind() {
            StorageFull | QuotaExceeded => Self::DiskFull,
            NotFound | NotADirectory => Self::NoFolder,
            PermissionDenied | ReadOnlyFilesystem => Self::ReadOnly,
            _ => Self::Io(error),
        }
    }
}

impl From<csv::Error> for ExportFault {
    fn from(error: csv::Error) -> Self {
        if !error.is_io_error() {
            return Self::Csv(error);
        }
        match error.into_kind() {
            csv::ErrorKind::Io(error) => error.into(),
            other => Self::Io(io::Error::other(format!("{other:?}"))),
        }
    }
}

#[cfg(feature = "parquet")]
impl From<ParquetError> for ExportFault {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(inner) => match inner.downcast::<io::Error>() {
                Ok(error) => (*error).into(),
                Err(other) => Self::Parquet(ParquetError::External(other)),
            },
            other => Self::Parquet(other),
        }
    }
}

impl From<PcapError> for ExportFault {
    fn from(error: PcapError) -> Self {
        match error {
            PcapError::IoError(error) => error.into(),
            other => Self::Pcapng(other),
        }
    }
}

/// Writes the file `path` with `write`. The data go to a temporary file in the same folder, which
/// is renamed to `path` at the end: after an error the old file is unchanged, and no new file
/// exists. A pipe or a device (`/dev/stdout`) is written directly.
///
/// # Errors
/// The error of `write`, or that the file cannot be created, written or renamed.
pub fn to_file<T, E: Into<ExportError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<T, E>,
) -> Result<T, ExportError> {
    replace(path, write).map_err(|error| error.at(path))
}

fn replace<T, E: Into<ExportError>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<T, E>,
) -> Result<T, ExportError> {
    match Draft::open(path)? {
        Draft::Direct(file) => fill(&file, write),
        Draft::Temporary { file, target } => {
            let value = fill(file.as_file(), write)?;
            // Some file systems report a full disk only here.
            file.as_file().sync_all()?;
            file.persist(&target).map_err(|error| error.error)?;
            Ok(value)
        }
    }
}

/// Checks that `path` can be written, before a long computation begins.
///
/// # Errors
/// The errors of [`to_file`] before it writes.
pub fn writable(path: &Path) -> Result<(), ExportError> {
    Draft::open(path).map(drop).map_err(|error| error.at(path))
}

/// The file that receives the data.
enum Draft {
    /// A pipe or a device.
    Direct(File),
    /// A temporary file in the folder of the target.
    Temporary { file: tempfile::NamedTempFile, target: PathBuf },
}

impl Draft {
    fn open(path: &Path) -> Result<Self, ExportError> {
        let old = match fs::metadata(path) {
            Ok(old) if old.is_dir() => {
                return Err(ExportFault::IsFolder.into());
            }
            Ok(old) if !old.is_file() => {
                return Ok(Self::Direct(fs::OpenOptions::new().write(true).open(path)?));
            }
            Ok(old) if old.permissions().readonly() => {
                return Err(ExportFault::ReadOnly.into());
            }
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        // The target of a symbolic link is replaced, not the link.
        let target = if old.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let permissions = old.map_or_else(default_permissions, |old| old.permissions());
        let file = tempfile::Builder::new()
            .prefix(".weir-")
            .suffix(".part")
            .permissions(permissions)
            .tempfile_in(folder.unwrap_or(Path::new(".")))?;
        Ok(Self::Temporary { file, target })
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

/// The permissions of a new file before the umask applies.
fn default_permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}
