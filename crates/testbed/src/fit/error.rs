use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no fit, and what to do.
#[derive(Debug)]
pub enum FitError {
    /// An option makes no sense.
    Option {
        /// Its name.
        name: &'static str,
        /// What to give instead.
        suggestion: &'static str,
    },
    /// ffmpeg or ffprobe is not installed or can't be started.
    Missing {
        /// Which.
        program: &'static str,
        /// What the system said.
        reason: String,
    },
    /// ffmpeg or ffprobe failed.
    Failed {
        /// Which.
        program: &'static str,
        /// The last line that it printed.
        message: String,
    },
    /// ffmpeg or ffprobe printed what can't be read.
    Output {
        /// Which.
        program: &'static str,
        /// The place.
        text: String,
    },
    /// A file can't be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// No encode of a codec kept to its target rate.
    Unusable {
        /// Which codec.
        codec: &'static str,
    },
}

impl FitError {
    pub(super) fn option(name: &'static str, suggestion: &'static str) -> Self {
        Self::Option { name, suggestion }
    }

    pub(super) fn start(program: &'static str, error: &io::Error) -> Self {
        Self::Missing { program, reason: error.to_string() }
    }

    pub(super) fn failed(program: &'static str, stderr: &str) -> Self {
        let message =
            stderr.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        Self::Failed { program, message: message.trim().to_owned() }
    }

    pub(super) fn output(program: &'static str, text: &str) -> Self {
        Self::Output { program, text: text.trim().to_owned() }
    }

    pub(super) fn file(path: &Path, error: &io::Error) -> Self {
        Self::File { path: path.to_owned(), reason: error.to_string() }
    }
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Option { name, suggestion } => write!(f, "{name}: {suggestion}"),
            Self::Missing { program, reason } => {
                write!(
                    f,
                    "{program} can't be started ({reason}): install it, on Debian with 'apt-get install ffmpeg'"
                )
            }
            Self::Failed { program, message } if message.contains("Unknown encoder") => {
                write!(
                    f,
                    "{program}: {message}: install an ffmpeg with libvpx and libx264, as Debian's is"
                )
            }
            Self::Failed { program, message } => write!(f, "{program} failed: {message}"),
            Self::Output { program, text } => {
                write!(f, "{program} printed what can't be read: {text}")
            }
            Self::File { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::Unusable { codec } => write!(
                f,
                "no {codec} encode kept within 10 % of its target rate: give rates between what the source needs at \
                 its coarsest and its finest"
            ),
        }
    }
}

impl std::error::Error for FitError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_suggestion() {
        let missing =
            FitError::start("ffmpeg", &io::Error::from(io::ErrorKind::NotFound)).to_string();
        assert!(
            missing.starts_with("ffmpeg can't be started")
                && missing.contains("apt-get install ffmpeg")
        );
        let failed = FitError::failed("ffmpeg", "noise\nUnknown encoder 'libx264'\n\n").to_string();
        assert!(failed.contains("'libx264'") && failed.contains("libvpx and libx264"), "{failed}");
        assert_eq!(FitError::failed("ffprobe", "").to_string(), "ffprobe failed: it said nothing");
    }
}
