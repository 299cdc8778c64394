//! A server program on a host of a run: its process, its folder and its end.

use super::leftovers;
use super::output_tail::OutputTail;
use emulator::{EmulatorError, Host};
use server::Secret;
use std::error::Error;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// The number of attempts, at intervals of [`PAUSE`], until a server must answer: 20 s. On an idle
/// machine it takes a tenth of a second.
const PATIENCE: u32 = 1_000;
const PAUSE: Duration = Duration::from_millis(20);

/// A server program: where it is found, and its name in messages.
#[derive(Clone, Copy, Debug)]
pub struct ServerProgram {
    /// Its name in `PATH`.
    pub name: &'static str,
    /// The environment variable that overrides its path.
    pub variable: &'static str,
    /// How to get it.
    pub suggestion: &'static str,
    /// Its role in a run, for messages.
    pub(super) role: &'static str,
    /// The start of the names of its folders.
    pub(super) folder: &'static str,
}

impl ServerProgram {
    /// The path of the program, if it is installed.
    #[must_use]
    pub fn find(&self) -> Option<PathBuf> {
        which::which(std::env::var_os(self.variable).unwrap_or(self.name.into())).ok()
    }
}

/// Why a server program of a run cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The program is not installed.
    #[error("{host}: {program} is not installed; {suggestion}")]
    NotInstalled {
        /// The host that needs it.
        host: String,
        /// The program.
        program: &'static str,
        /// How to get it.
        suggestion: &'static str,
    },
    /// Its host failed.
    #[error(transparent)]
    Host(#[from] EmulatorError),
    /// Its folder cannot be made.
    #[error("{host}: cannot make a folder for {program}: {error}")]
    Folder {
        /// The host.
        host: String,
        /// The program.
        program: &'static str,
        /// What the system answered.
        error: io::Error,
    },
    /// Its configuration cannot be written.
    #[error("{host}: {error}")]
    Configuration {
        /// The host.
        host: String,
        /// Why.
        error: ConfigurationError,
    },
    /// The program failed after its start.
    #[error("{host}: {role}, {program}: {failure}{}", last_output(.log))]
    Failed {
        /// The host.
        host: String,
        /// What it is in the run: `the relay`.
        role: &'static str,
        /// The program.
        program: &'static str,
        /// What failed.
        failure: ServerFailure,
        /// The last lines that it wrote.
        log: Vec<String>,
    },
}

fn last_output(log: &[String]) -> String {
    if log.is_empty() {
        String::new()
    } else {
        format!("; its last output:\n  {}", log.join("\n  "))
    }
}

/// What failed in a server program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerFailure {
    /// It does not answer within 20 s.
    #[error("it does not answer")]
    Timeout,
    /// It has ended.
    #[error("it has ended ({0})")]
    Ended(ExitStatus),
    /// Whether it runs is not known.
    #[error("it cannot be watched: {0}")]
    Wait(io::Error),
    /// It cannot be asked, or its answer is an error.
    #[error(transparent)]
    Request(Box<dyn Error + Send + Sync>),
}

/// Why the configuration of a server program cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// A file cannot be written.
    #[error("cannot write {}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        error: io::Error,
    },
    /// A folder cannot be made.
    #[error("cannot make the folder {}: {error}", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system answered.
        error: io::Error,
    },
    /// A module of the program cannot be linked.
    #[error("cannot link {}: {error}", .path.display())]
    Link {
        /// The link.
        path: PathBuf,
        /// What the system answered.
        error: io::Error,
    },
    /// A module of the program is not installed.
    #[error("cannot find the module {module} in {folders}; {suggestion}")]
    MissingModule {
        /// The file of the module.
        module: &'static str,
        /// Where modules are looked for.
        folders: String,
        /// How to get it.
        suggestion: &'static str,
    },
}

/// A running server. Dropping it ends it.
pub(super) struct ServerProcess {
    program: ServerProgram,
    host: String,
    child: Child,
    tail: OutputTail,
    /// Removed after the server has ended.
    _folder: TempDir,
}

impl ServerProcess {
    /// Starts the program on the host, with its own folder that no other user can read. `configure`
    /// writes the configuration there and returns the arguments. The secret is removed from the
    /// program's output.
    pub(super) fn start(
        program: ServerProgram,
        host: &Host,
        secret: &Secret,
        configure: impl FnOnce(&Path) -> Result<Vec<OsString>, ConfigurationError>,
    ) -> Result<Self, ServerError> {
        let name = || host.name().to_owned();
        let file = program.find().ok_or_else(|| ServerError::NotInstalled {
            host: name(),
            program: program.name,
            suggestion: program.suggestion,
        })?;
        let prefix = leftovers::clean_up(&std::env::temp_dir(), program.folder)?;
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir();
        let folder = folder.map_err(|error| ServerError::Folder {
            host: name(),
            program: program.name,
            error,
        })?;
        let mut command = Command::new(file);
        let arguments = configure(folder.path())
            .map_err(|error| ServerError::Configuration { host: name(), error })?;
        command.args(arguments).current_dir(folder.path());
        // Its own process group: Ctrl-C goes to Weir only.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = host.spawn(command)?;
        let tail = OutputTail::default();
        tail.hide(secret.expose());
        let pipes: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|pipe| Box::new(pipe) as _),
            child.stderr.take().map(|pipe| Box::new(pipe) as _),
        ];
        pipes.into_iter().flatten().for_each(|pipe| tail.follow(pipe));
        Ok(Self { program, host: name(), child, tail, _folder: folder })
    }

    /// Waits until the server answers, or the run is cancelled.
    pub(super) fn wait(
        &mut self,
        cancel: &AtomicBool,
        mut answers: impl FnMut() -> Result<bool, Box<dyn Error + Send + Sync>>,
    ) -> Result<(), ServerError> {
        for _ in 0..PATIENCE {
            if cancel.load(Ordering::Relaxed)
                || answers().map_err(|error| self.error(ServerFailure::Request(error)))?
            {
                return Ok(());
            }
            self.is_alive()?;
            sleep(PAUSE);
        }
        Err(self.error(ServerFailure::Timeout))
    }

    /// Checks that the server runs.
    pub(super) fn is_alive(&mut self) -> Result<(), ServerError> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.error(ServerFailure::Ended(status))),
            Err(error) => Err(self.error(ServerFailure::Wait(error))),
        }
    }

    /// Kills the server and waits for its end, as a crash would.
    pub(super) fn kill(&mut self) {
        // The server has no state to save, so it is killed at once.
        emulator::kill_group(&self.child);
        // A process that the kernel cannot end is left to the testbed.
        let _ = self.child.wait();
    }

    /// An error of the server, with its last output.
    pub(super) fn error(&self, failure: ServerFailure) -> ServerError {
        ServerError::Failed {
            host: self.host.clone(),
            role: self.program.role,
            program: self.program.name,
            failure,
            log: self.tail.last(),
        }
    }

    /// The output of the server so far.
    pub(super) fn lines(&self) -> Vec<String> {
        self.tail.lines()
    }

    /// The host's name.
    pub(super) fn host(&self) -> &str {
        &self.host
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
