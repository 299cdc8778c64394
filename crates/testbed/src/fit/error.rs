use std::io;
use std::path::{Path, PathBuf};

/// Why a fit failed.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// An option has a value that is not allowed.
    #[error("{name}: {suggestion}")]
    Option {
        /// The option's name.
        name: &'static str,
        /// What to give instead.
        suggestion: &'static str,
    },
    /// ffmpeg or ffprobe cannot be started.
    #[error(
        "cannot start {program} ({error}); install it, on Debian with 'apt-get install ffmpeg'"
    )]
    Missing {
        /// The program.
        program: &'static str,
        /// What the system answered.
        error: io::Error,
    },
    /// ffmpeg was built without one of the encoders.
    #[error("{program}: {message}; install an ffmpeg with libvpx and libx264, such as Debian's")]
    UnknownEncoder {
        /// The program.
        program: &'static str,
        /// The last line that it printed.
        message: String,
    },
    /// ffmpeg or ffprobe failed.
    #[error("{program} failed: {message}")]
    Failed {
        /// The program.
        program: &'static str,
        /// The last line that it printed.
        message: String,
    },
    /// The output of ffmpeg or ffprobe has another form than expected.
    #[error("{program} printed output that cannot be read: {text}")]
    Output {
        /// The program.
        program: &'static str,
        /// The first part that cannot be read.
        text: String,
    },
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        error: io::Error,
    },
    /// No encode of a codec had a mean rate near its target.
    #[error(
        "no {codec} encode kept within 10 % of its target rate; give rates between those that the \
         encoder produces at its coarsest and at its finest quantiser"
    )]
    Unusable {
        /// The codec.
        codec: &'static str,
    },
}

impl FitError {
    pub(super) fn option(name: &'static str, suggestion: &'static str) -> Self {
        Self::Option { name, suggestion }
    }

    pub(super) fn start(program: &'static str, error: io::Error) -> Self {
        Self::Missing { program, error }
    }

    /// The failure that the last line of a program's standard error names.
    pub(super) fn failed(program: &'static str, stderr: &str) -> Self {
        let last = stderr.lines().rfind(|line| !line.trim().is_empty());
        let message = last.unwrap_or("it printed no error").trim().to_owned();
        if message.contains("Unknown encoder") {
            Self::UnknownEncoder { program, message }
        } else {
            Self::Failed { program, message }
        }
    }

    pub(super) fn output(program: &'static str, text: &str) -> Self {
        Self::Output { program, text: text.trim().to_owned() }
    }

    pub(super) fn file(path: &Path, error: io::Error) -> Self {
        Self::File { path: path.to_owned(), error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_or_encoder_is_named_with_a_suggestion() {
        let missing =
            FitError::start("ffmpeg", io::Error::from(io::ErrorKind::NotFound)).to_string();
        assert!(
            missing.starts_with("cannot start ffmpeg")
                && missing.contains("apt-get install ffmpeg")
        );
        let failed = FitError::failed("ffmpeg", "noise\nUnknown encoder 'libx264'\n\n").to_string();
        assert!(failed.contains("'libx264'") && failed.contains("libvpx and libx264"), "{failed}");
        assert_eq!(
            FitError::failed("ffprobe", "").to_string(),
            "ffprobe failed: it printed no error"
        );
    }
}
