use experiment::{MAX_FRAME_RATE, MAX_SIZE};
use std::io;
use std::path::{Path, PathBuf};

/// Why picture or sound for the browsers cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MediaError {
    /// A picture with an odd or impossible size.
    #[error("the picture size {width}×{height}: use even numbers from 2 to {MAX_SIZE}")]
    Size {
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
    },
    /// An impossible frame rate.
    #[error("{0} frames/s: use a number from 1 to {MAX_FRAME_RATE}")]
    FrameRate(u32),
    /// The path is a folder or a device.
    #[error("{}: is not a file", .0.display())]
    NotAFile(PathBuf),
    /// The file has no YUV4MPEG2 header.
    #[error("{}: is not a YUV4MPEG2 file", .0.display())]
    NotY4m(PathBuf),
    /// The file has no WAVE header.
    #[error("{}: is not a WAVE file", .0.display())]
    NotWave(PathBuf),
    /// ffmpeg cannot be given the path.
    #[error("{}: the name is not UTF-8; rename the file", .0.display())]
    NotUtf8(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        error: io::Error,
    },
    /// The cache folder cannot be written.
    #[error("{}: {error}; set WEIR_CACHE to another folder", .folder.display())]
    Cache {
        /// The folder.
        folder: PathBuf,
        /// What the system answered.
        error: io::Error,
    },
    /// The user has no home directory, and so no cache.
    #[error("{0}; set WEIR_CACHE to a folder")]
    NoHome(String),
    /// A file that ffmpeg made is not complete.
    #[error("{}: the file is incomplete; is the disk full?", .0.display())]
    Incomplete(PathBuf),
    /// Files of processes that have ended cannot be looked for.
    #[error(transparent)]
    Leftovers(#[from] emulator::EmulatorError),
    /// ffmpeg cannot be started.
    #[error("cannot start ffmpeg ({0}); install it, on Debian with 'apt-get install ffmpeg'")]
    StartFfmpeg(io::Error),
    /// ffmpeg cannot be waited for.
    #[error("cannot wait for ffmpeg: {0}")]
    WaitFfmpeg(io::Error),
    /// ffmpeg failed; the last line that it printed.
    #[error("ffmpeg failed: {0}")]
    Ffmpeg(String),
    /// The run was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl MediaError {
    pub(super) fn file(path: &Path, error: io::Error) -> Self {
        Self::File { path: path.to_owned(), error }
    }
}
