//! A server program on a host of a run: its process, its folder, and its end.

use super::browser::Tail;
use super::leftovers;
use crate::emulate::EmulationError;
use emulator::Host;
use server::Secret;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// How long a server may take until it answers, in looks of [`PAUSE`]; on an idle machine it is a
/// tenth of a second.
const PATIENCE: u32 = 1_000;
const PAUSE: Duration = Duration::from_millis(20);

/// A server program, as it is looked for and spoken of.
#[derive(Clone, Copy, Debug)]
pub struct ServerProgram {
    /// Its name in `PATH`.
    pub name: &'static str,
    /// The environment variable that names another file.
    pub variable: &'static str,
    /// How to get it.
    pub suggestion: &'static str,
    /// What it is in a run, for messages.
    pub(super) role: &'static str,
    /// What the names of its folders begin with.
    pub(super) folder: &'static str,
}

impl ServerProgram {
    /// Its file.
    #[must_use]
    pub fn find(&self) -> Option<PathBuf> {
        which::which(std::env::var_os(self.variable).unwrap_or(self.name.into())).ok()
    }
}

/// A server under way. Dropping it ends it.
pub(super) struct Server {
    program: ServerProgram,
    host: String,
    child: Child,
    tail: Tail,
    /// Removed after it has ended.
    _folder: TempDir,
}

impl Server {
    /// Starts the program on the host, with a folder of its own that nobody else can read;
    /// `configure` fills that and gives the arguments. The secret is left out of what it writes.
    pub(super) fn start(
        program: ServerProgram,
        host: &Host,
        secret: &Secret,
        configure: impl FnOnce(&Path) -> Result<Vec<OsString>, String>,
    ) -> Result<Self, EmulationError> {
        let name = host.name().to_owned();
        let failed = |what: String| EmulationError(format!("{name}: {what}"));
        let file = program.find().ok_or_else(|| {
            failed(format!("there is no {}; {}", program.name, program.suggestion))
        })?;
        let prefix = leftovers::replaced(&std::env::temp_dir(), program.folder)?;
        let folder = tempfile::Builder::new().prefix(&prefix).tempdir();
        let folder =
            folder.map_err(|error| failed(format!("no folder for {}: {error}", program.name)))?;
        let mut command = Command::new(file);
        command.args(configure(folder.path()).map_err(failed)?).current_dir(folder.path());
        // A group of its own: Ctrl-C is ours.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = host.spawn(command)?;
        let tail = Tail::default();
        tail.hide(secret.expose());
        let pipes: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|pipe| Box::new(pipe) as _),
            child.stderr.take().map(|pipe| Box::new(pipe) as _),
        ];
        pipes.into_iter().flatten().for_each(|pipe| tail.follow(pipe));
        Ok(Self { program, host: name, child, tail, _folder: folder })
    }

    /// Waits until it answers, or the run is cancelled.
    pub(super) fn wait(
        &mut self,
        cancel: &AtomicBool,
        mut answers: impl FnMut() -> Result<bool, String>,
    ) -> Result<(), EmulationError> {
        for _ in 0..PATIENCE {
            if cancel.load(Ordering::Relaxed) || answers().map_err(|what| self.error(&what))? {
                return Ok(());
            }
            self.is_alive()?;
            sleep(PAUSE);
        }
        Err(self.error("it does not answer"))
    }

    /// Sees whether it runs.
    pub(super) fn is_alive(&mut self) -> Result<(), EmulationError> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.error(&format!("it has ended ({status})"))),
            Err(error) => Err(self.error(&format!("it cannot be watched: {error}"))),
        }
    }

    /// An error of it, with what it wrote last.
    pub(super) fn error(&self, what: &str) -> EmulationError {
        let last = self.tail.last();
        let said = match last.as_slice() {
            [] => String::new(),
            lines => format!("; it wrote last:\n  {}", lines.join("\n  ")),
        };
        EmulationError(format!(
            "{}: {}, {}: {what}{said}",
            self.host, self.program.role, self.program.name
        ))
    }

    /// What it has written.
    pub(super) fn lines(&self) -> Vec<String> {
        self.tail.lines()
    }

    /// The host's name.
    pub(super) fn host(&self) -> &str {
        &self.host
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has nothing to save, so it is not asked first.
        emulator::kill_group(&self.child);
        // It has been told so; what the kernel cannot end is left to the testbed.
        let _ = self.child.wait();
    }
}
