//! The program as the tests call it, and the turn of those that run it in real time.

#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, reason = "what cannot be set up fails")]

use serde_json::Value;
use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::thread::sleep;
use std::time::Duration;

pub(crate) const WEIR: &str = env!("CARGO_BIN_EXE_weir");

pub(crate) fn weir(args: &[&str]) -> assert_cmd::Command {
    let mut command = assert_cmd::Command::new(WEIR);
    command.args(args);
    command
}

pub(crate) fn in_folder(folder: &Path, args: &[&str]) -> assert_cmd::Command {
    let mut command = weir(args);
    command.current_dir(folder);
    command
}

/// A folder with an experiment, `e.toml`, and the turn: one run in real time after the other.
pub(crate) struct Bench {
    pub(crate) folder: tempfile::TempDir,
    /// The process identifiers of the runs that were started here.
    runs: RefCell<Vec<u32>>,
    _turn: MutexGuard<'static, ()>,
}

impl Bench {
    /// `None`, which it says once, where something is lacking.
    pub(crate) fn new(experiment: &str, lacking: &[String]) -> Option<Self> {
        static ONCE: Once = Once::new();
        static TURN: Mutex<()> = Mutex::new(());
        if !lacking.is_empty() {
            ONCE.call_once(|| note(&format!("skipped: needs {}", lacking.join(", "))));
            return None;
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("e.toml"), experiment).unwrap();
        Some(Self { folder, runs: RefCell::default(), _turn: turn })
    }

    /// The program in the folder.
    pub(crate) fn weir(&self, args: &[&str]) -> Command {
        let mut command = Command::new(WEIR);
        command.current_dir(self.folder.path()).args(args);
        command
    }

    /// Starts a run, whose output is piped. The process must become `weir` itself, as by `exec`.
    pub(crate) fn start(&self, command: &mut Command) -> Child {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = piped.spawn().unwrap();
        self.runs.borrow_mut().push(child.id());
        child
    }

    /// Makes a run, as [`start`](Self::start) starts it.
    pub(crate) fn output(&self, command: &mut Command) -> Output {
        self.start(command).wait_with_output().unwrap()
    }

    /// The processes that runs of this bench have started. Those of other runs, such as runs of
    /// another clone of the repository and what they have left, are not among them.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let runs = self.runs.borrow();
        processes().filter(|process| process.run.is_some_and(|run| runs.contains(&run))).collect()
    }
}

/// Of these programs, those that `weir doctor` misses.
pub(crate) fn missing(needed: &[&str]) -> Vec<String> {
    let output = Command::new(WEIR).args(["doctor", "--json"]).output().unwrap();
    let findings = json_lines(&output.stdout);
    let there = |what: &&&str| {
        findings.iter().any(|finding| finding["what"] == **what && finding["status"] == "good")
    };
    needed.iter().filter(|what| !there(what)).map(|what| (*what).to_owned()).collect()
}

/// What a run in real time needs and this machine lacks.
pub(crate) fn lacking() -> Vec<String> {
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let device = fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun").is_ok();
    // Root in a container may not have the right.
    let mut unshare = Command::new("unshare");
    unshare.args(["--net", "--mount", "true"]).stderr(Stdio::null());
    let namespaces = unshare.status().is_ok_and(|status| status.success());
    let needed = [("root", root), ("/dev/net/tun", device), ("network namespaces", namespaces)];
    needed.into_iter().filter(|(_, there)| !there).map(|(what, _)| what.to_owned()).collect()
}

/// A line that is shown whatever becomes of the test.
#[expect(clippy::disallowed_methods, reason = "printed past the capture of the test runner")]
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The run that was printed, also of a machine that could not keep up; or what was said instead.
pub(crate) fn run_of(output: &Output) -> Result<Value, String> {
    serde_json::from_slice(&output.stdout).map_err(|_| said(output))
}

/// What it wrote to standard error.
pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Objects of JSON, one a line.
pub(crate) fn json_lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A process of this machine.
pub(crate) struct Process {
    pub(crate) pid: u32,
    /// Its command line; a zero byte ends each word.
    pub(crate) command: String,
    /// The process identifier of the run that has started it, from its environment (`WEIR_RUN`).
    run: Option<u32>,
}

fn processes() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let command = fs::read_to_string(entry.path().join("cmdline")).ok()?;
        let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
        Some(Process { pid, command, run: environment.split(|byte| *byte == 0).find_map(run) })
    })
}

/// The process identifier in `WEIR_RUN=PID-START`.
fn run(variable: &[u8]) -> Option<u32> {
    let mark = std::str::from_utf8(variable).ok()?.strip_prefix("WEIR_RUN=")?;
    mark.split('-').next()?.parse().ok()
}

/// Sends a signal, such as `INT`.
pub(crate) fn signal(pid: u32, name: &str) {
    let status = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status();
    assert!(status.unwrap().success());
}

/// Whether it comes true within two minutes: a slow machine makes a camera's pictures and reads a
/// browser from its disk first.
pub(crate) fn wait_for(mut it: impl FnMut() -> bool) -> bool {
    (0..2_400).any(|_| {
        let is = it();
        if !is {
            sleep(Duration::from_millis(50));
        }
        is
    })
}

/// The program under way, once it has printed a line.
pub(crate) struct Running {
    child: Child,
    out: BufReader<ChildStdout>,
    /// That line.
    pub(crate) first: String,
}

impl Running {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::of(Command::new(WEIR).args(args))
    }

    /// As [`start`](Self::start), of a command that becomes the program by `exec`.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        out.read_line(&mut first).unwrap();
        Self { child, out, first }
    }

    /// Stops it by a signal; gives what else it printed, and how it ended.
    pub(crate) fn stop(mut self, name: &str) -> (String, ExitStatus) {
        signal(self.child.id(), name);
        let rest = std::io::read_to_string(self.out).unwrap();
        (rest, self.child.wait().unwrap())
    }

    /// Stops it by a signal; gives what it wrote to standard error, which is piped.
    pub(crate) fn stop_with_errors(self, name: &str) -> String {
        signal(self.child.id(), name);
        let output = self.child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    }
}
