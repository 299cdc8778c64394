//! A program that runs on a host, and what it writes.

use super::EmulationError;
use emulator::{EmulatorError, Host};
use experiment::{Program, ProgramKind};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};

/// A line that a program wrote.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// The host.
    pub host: &'a str,
    /// The program.
    pub program: &'a Program,
    /// The line.
    pub line: &'a str,
}

impl Said<'_> {
    /// Whether a person would read it: not what was written for a program, as uploads and `iperf3
    /// --json` do.
    #[must_use]
    pub fn is_for_people(&self) -> bool {
        matches!(self.program.kind, ProgramKind::Ping { .. } | ProgramKind::Command(_))
    }
}

/// How a program ended.
#[derive(Clone, Debug)]
pub enum HowEnded {
    /// It could not be started: why.
    NotStarted(EmulationError),
    /// By itself.
    Itself(ExitStatus),
    /// It was told to, at its time or at the end of the run.
    Told,
}

/// A program that has run.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What it was.
    pub program: Program,
    /// How it ended.
    pub how: HowEnded,
    /// What it wrote, to its output and among the errors.
    pub lines: Vec<String>,
}

/// What is kept of a program's output, bytes: minutes of records at ten a second.
const MAX_KEPT: usize = 64 << 20;
/// A longer line is cut.
const LONGEST_LINE: u64 = 1 << 20;

/// A program under way.
pub(super) struct Process {
    pub(super) program: Program,
    child: Child,
    told: bool,
    status: Option<ExitStatus>,
    output: Receiver<String>,
    lines: Vec<String>,
}

impl Process {
    /// Starts it on its host, in a process group of its own: Ctrl-C is the run's, which ends it in
    /// order.
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
        let (say, output) = channel();
        let pipes: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|pipe| Box::new(pipe) as _),
            child.stderr.take().map(|pipe| Box::new(pipe) as _),
        ];
        for pipe in pipes.into_iter().flatten() {
            let say = say.clone();
            std::thread::spawn(move || lines(pipe, |line| say.send(line).is_ok()));
        }
        Ok(Self { program, child, told: false, status: None, output, lines: Vec::new() })
    }

    /// Passes on what it wrote since the last time, and keeps it.
    pub(super) fn listen(&mut self, mut said: impl FnMut(&Program, &str)) {
        for line in self.output.try_iter() {
            said(&self.program, &line);
            self.lines.push(line);
        }
    }

    /// Why a server that should listen does not.
    pub(super) fn does_not_listen(&mut self) -> EmulationError {
        self.lines.extend(self.output.try_iter());
        let last = self.lines.last().map_or("it wrote no output", String::as_str);
        EmulationError::ServerNotListening {
            server: self.program.name.clone(),
            last_line: last.to_owned(),
        }
    }

    /// Whether it has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.child.try_wait().ok().flatten();
        }
        self.status.is_some()
    }

    /// Tells it to end; the second time it has no choice.
    pub(super) fn tell_to_end(&mut self) {
        if self.has_ended() {
            return;
        }
        if self.told {
            emulator::kill_group(&self.child);
        } else {
            self.told = true;
            emulator::terminate_group(&self.child);
        }
    }

    pub(super) fn is_told(&self) -> bool {
        self.told
    }

    /// How it ended, and all that it wrote. Nothing of it runs any more, so its pipes end; one that
    /// something else holds is not waited for.
    pub(super) fn finish(mut self) -> Ended {
        let patience = std::time::Duration::from_millis(500);
        while let Ok(line) = self.output.recv_timeout(patience) {
            self.lines.push(line);
        }
        let how = match self.child.try_wait() {
            Ok(Some(status)) if !self.told => HowEnded::Itself(status),
            _ => HowEnded::Told,
        };
        Ended { program: self.program, how, lines: self.lines }
    }
}

/// A command of these words.
pub(super) fn command(argv: &[OsString]) -> Result<Command, EmulationError> {
    let (program, arguments) = argv.split_first().ok_or(EmulationError::EmptyCommand)?;
    let mut command = Command::new(program);
    command.args(arguments);
    Ok(command)
}

/// Hands a pipe on line by line, until it ends or nobody wants more.
fn lines(pipe: impl Read, mut say: impl FnMut(String) -> bool) {
    let (mut pipe, mut kept) = (BufReader::new(pipe), 0);
    loop {
        let mut line = Vec::new();
        let read = pipe.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) {
            return;
        }
        let is_kept = kept <= MAX_KEPT;
        kept += line.len();
        let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
        // Beyond the most, it is still read, so that the program is not held up.
        let text = if kept <= MAX_KEPT {
            text
        } else {
            format!("… more than {} MB are left out", MAX_KEPT >> 20)
        };
        if is_kept && !say(text) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_one_by_one_whatever_they_hold() {
        let mut seen = Vec::new();
        lines(&b"one\ntwo\r\n\xff\nlast"[..], |line| {
            seen.push(line);
            true
        });
        assert_eq!(seen, ["one", "two", "\u{fffd}", "last"]);
    }
}
