//! A program that runs on a host, and its output.

use super::EmulationError;
use emulator::{EmulatorError, Host};
use experiment::{Program, ProgramKind};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

/// One line of a program's output.
#[derive(Clone, Copy, Debug)]
pub struct OutputLine<'a> {
    /// The host.
    pub host: &'a str,
    /// The program.
    pub program: &'a Program,
    /// The line.
    pub line: &'a str,
}

impl OutputLine<'_> {
    /// Whether the line is for people. The output of uploads and of `iperf3 --json` is for
    /// programs.
    #[must_use]
    pub fn is_for_people(&self) -> bool {
        matches!(self.program.kind, ProgramKind::Ping { .. } | ProgramKind::Command(_))
    }
}

/// How a program ended.
#[derive(Clone, Debug)]
pub enum ExitReason {
    /// It could not be started.
    NotStarted(EmulationError),
    /// It exited by itself.
    Exited(ExitStatus),
    /// The run stopped it, at its stop time or at the end of the run.
    Stopped,
}

/// A program that has ended.
#[derive(Clone, Debug)]
pub struct ProgramExit {
    /// The program.
    pub program: Program,
    /// How it ended.
    pub reason: ExitReason,
    /// The lines of its standard output and standard error.
    pub lines: Vec<String>,
}

/// Bytes of a program's output that are kept: minutes of samples at ten per second.
const MAX_KEPT: usize = 64 << 20;
/// A longer line is split, bytes.
const MAX_LINE: u64 = 1 << 20;

/// A running program.
pub(super) struct Process {
    pub(super) program: Program,
    child: Child,
    stopping: bool,
    status: Option<ExitStatus>,
    output: Receiver<String>,
    lines: Vec<String>,
}

impl Process {
    /// Starts the program on its host, in its own process group: Ctrl-C goes to Weir, which ends
    /// the programs in order.
    pub(super) fn start(
        host: &Host,
        program: Program,
        argv: &[OsString],
    ) -> Result<Self, EmulationError> {
        let mut command = command(argv)?;
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = host.spawn(command).map_err(|error| match &error {
            EmulatorError::Spawn { program, source, .. }
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                EmulationError::NotInstalled { program: program.clone(), error }
            }
            _ => error.into(),
        })?;
        let (sender, output) = channel();
        let pipes: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|pipe| Box::new(pipe) as _),
            child.stderr.take().map(|pipe| Box::new(pipe) as _),
        ];
        for pipe in pipes.into_iter().flatten() {
            let sender = sender.clone();
            std::thread::spawn(move || lines(pipe, |line| sender.send(line).is_ok()));
        }
        Ok(Self { program, child, stopping: false, status: None, output, lines: Vec::new() })
    }

    /// Passes the lines that were written since the last call to `output`, and keeps them.
    pub(super) fn forward_output(&mut self, mut output: impl FnMut(&Program, &str)) {
        for line in self.output.try_iter() {
            output(&self.program, &line);
            self.lines.push(line);
        }
    }

    /// The error of a server that does not listen.
    pub(super) fn not_listening_error(&mut self) -> EmulationError {
        self.lines.extend(self.output.try_iter());
        let last = self.lines.last().map_or("it wrote no output", String::as_str);
        EmulationError::ServerNotListening {
            server: self.program.name.clone(),
            last_line: last.to_owned(),
        }
    }

    /// Whether the program has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status.is_some()
    }

    /// Sends SIGTERM to the program and its children; at the second call SIGKILL.
    pub(super) fn stop(&mut self) {
        if self.has_ended() {
            return;
        }
        if self.stopping {
            emulator::kill_group(&self.child);
        } else {
            self.stopping = true;
            emulator::terminate_group(&self.child);
        }
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopping
    }

    /// The exit and all output of the program, which no longer runs. Waits at most 500 ms for
    /// output that another process holds back.
    pub(super) fn finish(mut self) -> ProgramExit {
        let patience = std::time::Duration::from_millis(500);
        while let Ok(line) = self.output.recv_timeout(patience) {
            self.lines.push(line);
        }
        let reason = match self.child.try_wait() {
            Ok(Some(status)) if !self.stopping => ExitReason::Exited(status),
            _ => ExitReason::Stopped,
        };
        ProgramExit { program: self.program, reason, lines: self.lines }
    }
}

/// The command with these words.
pub(super) fn command(argv: &[OsString]) -> Result<Command, EmulationError> {
    let (program, arguments) = argv.split_first().ok_or(EmulationError::EmptyCommand)?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

/// Passes each line of a pipe to `send`, until the pipe ends or `send` returns false.
fn lines(pipe: impl Read, mut send: impl FnMut(String) -> bool) {
    let (mut pipe, mut kept) = (BufReader::new(pipe), 0);
    loop {
        let mut line = Vec::new();
        let read = pipe.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            return;
        }
        let is_kept = kept <= MAX_KEPT;
        kept += line.len();
        let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
        // Output beyond the limit is still read, so that the program does not block.
        let text = if kept <= MAX_KEPT {
            text
        } else {
            format!("… output beyond {} MB is left out", MAX_KEPT >> 20)
        };
        if is_kept && !send(text) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_split_into_lines_also_if_it_is_not_utf8() {
        let mut seen = Vec::new();
        lines(&b"one\ntwo\r\n\xff\nlast"[..], |line| {
            seen.push(line);
            true
        });
        assert_eq!(seen, ["one", "two", "\u{fffd}", "last"]);
    }
}
