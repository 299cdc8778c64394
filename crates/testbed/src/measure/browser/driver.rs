//! A WebDriver server on a host: the process, its log, and its end with all that it has started.

use super::BrowserKind;
use super::programs::Programs;
use crate::measure::leftovers;
use crate::measure::output_tail::OutputTail;
use emulator::{EmulatorError, Host};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// Between looks at what still runs.
const PAUSE: Duration = Duration::from_millis(10);
/// How long the kernel may take to end what it was told to end.
const KILLING: Duration = Duration::from_secs(2);
/// What a browser inherits of our environment; the rest, a desktop's and a proxy's, is none of the
/// run's.
const INHERITED: [&str; 2] = ["PATH", "LD_LIBRARY_PATH"];
/// What the names of their folders begin with.
const FOLDER: &str = "weir-browser-";

/// A WebDriver server under way, and the folder in which it and its browser keep all they write.
pub(super) struct Driver {
    child: Child,
    home: TempDir,
    pub(super) port: u16,
    pub(super) tail: OutputTail,
}

impl Driver {
    /// Starts it on the host.
    pub(super) fn start(
        kind: BrowserKind,
        host: &Host,
        programs: &Programs,
    ) -> Result<Self, EmulatorError> {
        let home = home()?;
        let port = free_port(host)?;
        let mut command = Command::new(&programs.driver);
        match kind {
            // The browser's own log among the driver's, and of the driver's what went wrong.
            BrowserKind::Chromium => command
                .arg(format!("--port={port}"))
                .args(["--enable-chrome-logs", "--log-level=WARNING"]),
            // The second port, which is not used, is 9222 on every host unless told otherwise.
            BrowserKind::Firefox => command.args([
                "--port",
                &port.to_string(),
                "--websocket-port",
                "0",
                "--log",
                "warn",
            ]),
        };
        environment(&mut command, home.path());
        // A group of its own: Ctrl-C is ours, and the browser's processes are known by it.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = host.spawn(command)?;
        let tail = OutputTail::default();
        let pipes: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|pipe| Box::new(pipe) as _),
            child.stderr.take().map(|pipe| Box::new(pipe) as _),
        ];
        pipes.into_iter().flatten().for_each(|pipe| tail.follow(pipe));
        Ok(Self { child, home, port, tail })
    }

    /// The folder.
    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    /// How it ended, if it has.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // NoCalls needs what the browser would save, so it is not asked first. Only what is left of
        // the group is reached, as the server's number stays its own until it is waited for.
        emulator::kill_group(&self.child);
        // It has been told so; what the kernel cannot end is left to the testbed.
        let _ = self.child.wait();
        let home = self.home.path().to_owned();
        for _ in 0..KILLING.as_millis() / PAUSE.as_millis() {
            let left = living_in(&home);
            if left.is_empty() {
                return;
            }
            for pid in left {
                // It may have ended meanwhile.
                let _ = kill_process(pid, Signal::KILL);
            }
            sleep(PAUSE);
        }
    }
}

/// A folder for everything that a browser writes, removed when dropped.
fn home() -> Result<TempDir, EmulatorError> {
    let prefix = leftovers::clean_up(&std::env::temp_dir(), FOLDER)?;
    let make = || {
        let home = tempfile::Builder::new().prefix(&prefix).tempdir()?;
        for folder in ["tmp", "run"] {
            fs::create_dir(home.path().join(folder))?;
        }
        Ok(home)
    };
    make()
        .map_err(|error: io::Error| EmulatorError::system("cannot make a browser's folder", error))
}

fn environment(command: &mut Command, home: &Path) {
    command.env_clear().env("HOME", home).env("LANG", "C.UTF-8");
    command.env("TMPDIR", home.join("tmp")).env("XDG_RUNTIME_DIR", home.join("run"));
    for name in INHERITED {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
}

/// A port of the host's loopback that nothing else has.
fn free_port(host: &Host) -> Result<u16, EmulatorError> {
    let bound =
        || Ok::<_, io::Error>(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port());
    let port = host.within(bound)?;
    port.map_err(|error| EmulatorError::system(format!("{}: no free port", host.name()), error))
}

/// The processes whose home this is: crash reporters leave the group of what has started them, not
/// its environment.
fn living_in(home: &Path) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let wanted = format!("HOME={}", home.display());
    let is_ours = |process: PathBuf| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let pids = entries.flatten().filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        is_ours(entry.path()).then_some(pid)
    });
    pids.collect()
}
