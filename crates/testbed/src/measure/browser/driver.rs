//! A WebDriver server on a host: the process, its log, and its end with all processes that it has
//! started.

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

/// The time between two checks of what still runs.
const PAUSE: Duration = Duration::from_millis(10);
/// The time that the kernel gets to end killed processes.
const KILLING: Duration = Duration::from_secs(2);
/// The environment variables that a browser inherits. The others, such as those of a desktop or a
/// proxy, do not belong to the run.
const INHERITED: [&str; 2] = ["PATH", "LD_LIBRARY_PATH"];
/// The start of the names of its folders.
const FOLDER: &str = "weir-browser-";

/// A running WebDriver server, and the folder in which it and its browser keep their files.
pub(super) struct Driver {
    child: Child,
    home: TempDir,
    pub(super) port: u16,
    pub(super) tail: OutputTail,
}

impl Driver {
    /// Starts the driver on the host.
    pub(super) fn start(
        kind: BrowserKind,
        host: &Host,
        programs: &Programs,
    ) -> Result<Self, EmulatorError> {
        let home = home()?;
        let port = free_port(host)?;
        let mut command = Command::new(&programs.driver);
        match kind {
            // The log of the browser, and the warnings of the driver.
            BrowserKind::Chromium | BrowserKind::ChromiumScream => command
                .arg(format!("--port={port}"))
                .args(["--enable-chrome-logs", "--log-level=WARNING"]),
            // The second port, which is not used, would be 9222 on every host.
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
        // Its own process group: Ctrl-C goes to Weir only, and the group identifies the browser's
        // processes.
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

    /// The folder of driver and browser.
    pub(super) fn home(&self) -> &Path {
        self.home.path()
    }

    /// The exit status of the driver, if it has ended.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // The browser's state is not needed, so it is killed at once. The group number stays valid
        // until the driver is waited for.
        emulator::kill_group(&self.child);
        // A process that the kernel cannot end is left to the testbed.
        let _ = self.child.wait();
        let home = self.home.path().to_owned();
        for _ in 0..KILLING.as_millis() / PAUSE.as_millis() {
            let left = living_in(&home);
            if left.is_empty() {
                return;
            }
            for pid in left {
                // The process may have ended meanwhile.
                let _ = kill_process(pid, Signal::KILL);
            }
            sleep(PAUSE);
        }
    }
}

/// A folder for all files of a browser, removed when dropped.
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

/// A free port on the host's loopback.
fn free_port(host: &Host) -> Result<u16, EmulatorError> {
    let bound =
        || Ok::<_, io::Error>(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port());
    let port = host.within(bound)?;
    port.map_err(|error| EmulatorError::system(format!("{}: no free port", host.name()), error))
}

/// The processes with this home directory: crash reporters leave the process group, but keep the
/// environment.
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
