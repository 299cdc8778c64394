//! A program that runs on a host, and what it writes.

use super::EmulationError;
use crate::experiment::{Program, ProgramKind};
use emulator::Host;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

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
    /// Whether a person would read it: not what was written for a program, as uploads and `iperf3 --json` do.
    #[must_use]
    pub fn is_for_people(&self) -> bool {
        matches!(self.program.kind, ProgramKind::Ping { .. } | ProgramKind::Command(_))
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HowEnded {
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
const MOST_KEPT: usize = 64 << 20;
/// A longer line is cut.
const LONGEST_LINE: u64 = 1 << 20;

/// A program under way.
pub(super) struct Process {
    pub(super) program: Program,
    child: Child,
    told: bool,
    how: Option<HowEnded>,
    output: Receiver<String>,
    readers: Vec<JoinHandle<()>>,
    lines: Vec<String>,
}

impl Process {
    /// Starts it on its host, in a process group of its own: Ctrl-C is the run's, which ends it in order.
    pub(super) fn start(host: &Host, program: Program, argv: &[OsString]) -> Result<Self, EmulationError> {
        let mut command = command(argv)?;
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = host.spawn(command)?;
        let (say, output) = channel();
        let pipes: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|pipe| Box::new(pipe) as _),
            child.stderr.take().map(|pipe| Box::new(pipe) as _),
        ];
        let readers = pipes.into_iter().flatten().map(|pipe| {
            let say = say.clone();
            std::thread::spawn(move || lines(pipe, |line| say.send(line).is_ok()))
        });
        let readers = readers.collect();
        Ok(Self { program, child, told: false, how: None, output, readers, lines: Vec::new() })
    }

    /// Passes on what it wrote since the last time, and keeps it.
    pub(super) fn listen(&mut self, mut said: impl FnMut(&Program, &str)) {
        for line in self.output.try_iter() {
            said(&self.program, &line);
            self.lines.push(line);
        }
    }

    /// Whether it has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        if self.how.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.how = Some(if self.told { HowEnded::Told } else { HowEnded::Itself(status) });
        }
        self.how.is_some()
    }

    /// Tells it to end.
    pub(super) fn tell_to_end(&mut self) {
        if !self.has_ended() && !self.told {
            self.told = true;
            emulator::ask_to_end(&self.child);
        }
    }

    /// How it ended, once nothing of it runs, and all that it wrote.
    pub(super) fn finish(mut self) -> Ended {
        let status = self.child.wait();
        for reader in self.readers.drain(..) {
            // A reader that broke off has handed over what it had.
            let _ = reader.join();
        }
        self.lines.extend(self.output.try_iter());
        let how = match (self.how, status) {
            (Some(how), _) => how,
            (None, Ok(status)) if !self.told => HowEnded::Itself(status),
            (None, _) => HowEnded::Told,
        };
        Ended { program: self.program, how, lines: self.lines }
    }
}

/// A command of these words.
pub(super) fn command(argv: &[OsString]) -> Result<Command, EmulationError> {
    let (program, arguments) =
        argv.split_first().ok_or_else(|| EmulationError("an empty command".to_owned()))?;
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
        kept += line.len();
        let text = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
        // Beyond the most, it is still read, so that the program is not held up.
        if kept <= MOST_KEPT && !say(text) {
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
