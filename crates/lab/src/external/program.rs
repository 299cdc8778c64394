//! A child process that answers one line per line, within a limit of real time.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The lines of standard error that are kept, the last ones, and the bytes of each. Our choice: a
/// traceback fits.
const KEPT_LINES: usize = 12;
const KEPT_BYTES: usize = 300;
/// The longest answer, in bytes. Our choice: far longer than any answer needs.
const MAX_ANSWER: u64 = 1 << 20;
/// How long a program whose input is closed may take to end, and how often this is checked.
const FAREWELL: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(2);

/// The last lines of standard error.
type Tail = Arc<Mutex<VecDeque<String>>>;

/// A running program.
pub(super) struct Program {
    child: Child,
    /// `None` when the program has to end.
    questions: Option<Sender<Vec<u8>>>,
    answers: Receiver<Result<String, String>>,
    tail: Tail,
    /// Disconnected when standard error is closed.
    tail_ended: Receiver<()>,
    limit: Duration,
}

impl Program {
    /// Starts a program from its words.
    ///
    /// # Errors
    /// In words, if there is no such program.
    pub(super) fn start(words: &[String], limit: Duration) -> Result<Self, String> {
        let (name, arguments) = words.split_first().ok_or("the command is empty")?;
        let mut child = Command::new(name)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("cannot start '{name}': {error}; check its path"))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("the program has no standard streams".to_owned());
        };
        let (questions, to_ask) = mpsc::channel();
        let (to_answer, answers) = mpsc::channel();
        std::thread::spawn(move || converse(stdin, stdout, &to_ask, &to_answer));
        let tail = Tail::default();
        let (ended, tail_ended) = mpsc::channel();
        let kept = Arc::clone(&tail);
        std::thread::spawn(move || {
            keep_tail(stderr, &kept);
            drop(ended);
        });
        Ok(Self { child, questions: Some(questions), answers, tail, tail_ended, limit })
    }

    /// Sends a line and waits for the answer.
    ///
    /// # Errors
    /// In words, if the program ends, writes no answer in time, or writes something else than text.
    /// The program is then stopped.
    pub(super) fn ask(&mut self, mut line: Vec<u8>) -> Result<String, String> {
        line.push(b'\n');
        let asked = self.questions.as_ref().is_some_and(|questions| questions.send(line).is_ok());
        let answer = if asked {
            self.answers.recv_timeout(self.limit)
        } else {
            Err(RecvTimeoutError::Disconnected)
        };
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(reason)) => Err(self.failed(&reason)),
            Err(RecvTimeoutError::Timeout) => {
                let limit = units::Duration::from_secs_f64(self.limit.as_secs_f64());
                Err(self.failed(&format!("no answer within {limit} of real time (answer_limit)")))
            }
            Err(RecvTimeoutError::Disconnected) => Err(self.failed("no answer")),
        }
    }

    /// Stops the program: the reason with its exit status, if it has ended itself, and its last
    /// lines of standard error.
    pub(super) fn failed(&mut self, reason: &str) -> String {
        self.questions = None;
        let status = self.wait(if reason == ENDED { FAREWELL } else { Duration::ZERO });
        let status = match status.filter(|_| reason == ENDED) {
            Some(status) => format!(", {status}"),
            None => String::new(),
        };
        self.kill();
        // Only a program that has given its streams to another one keeps this open.
        let _ = self.tail_ended.recv_timeout(FAREWELL);
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<&str> = tail.iter().map(String::as_str).collect();
        let last = if lines.is_empty() {
            "it wrote nothing to standard error".to_owned()
        } else {
            format!("last lines of standard error:\n{}", lines.join("\n"))
        };
        format!("{reason}{status}; {last}")
    }

    /// Waits until the program has ended, at most this long.
    fn wait(&mut self, most: Duration) -> Option<std::process::ExitStatus> {
        let mut waited = Duration::ZERO;
        loop {
            match self.child.try_wait() {
                Ok(None) if waited < most => {
                    std::thread::sleep(STEP);
                    waited += STEP;
                }
                status => return status.ok().flatten(),
            }
        }
    }

    fn kill(&mut self) {
        // A program that has ended cannot be killed, which is no fault.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.questions = None;
        if self.wait(FAREWELL).is_none() {
            self.kill();
        }
    }
}

/// The reason if the program closes its output.
const ENDED: &str = "the program ended without an answer";

/// Passes lines to the program and its answers back, until either side ends.
fn converse(
    mut stdin: ChildStdin,
    stdout: ChildStdout,
    questions: &Receiver<Vec<u8>>,
    answers: &Sender<Result<String, String>>,
) {
    let mut stdout = BufReader::new(stdout);
    while let Ok(line) = questions.recv() {
        let answer = exchange(&mut stdin, &mut stdout, &line);
        let failed = answer.is_err();
        if answers.send(answer).is_err() || failed {
            return;
        }
    }
}

fn exchange(
    stdin: &mut ChildStdin,
    stdout: &mut BufReader<ChildStdout>,
    line: &[u8],
) -> Result<String, String> {
    if stdin.write_all(line).and_then(|()| stdin.flush()).is_err() {
        return Err(ENDED.to_owned());
    }
    let mut answer = Vec::new();
    stdout
        .take(MAX_ANSWER)
        .read_until(b'\n', &mut answer)
        .map_err(|error| format!("its answer cannot be read: {error}"))?;
    if answer.last() == Some(&b'\n') {
        return String::from_utf8(answer).map_err(|_| "its answer is not UTF-8".to_owned());
    }
    let too_long = u64::try_from(answer.len()).is_ok_and(|length| length >= MAX_ANSWER);
    Err(if too_long {
        format!("its answer is longer than {MAX_ANSWER} B")
    } else {
        ENDED.to_owned()
    })
}

/// Keeps the last lines of standard error until it is closed.
fn keep_tail(stderr: impl Read, tail: &Tail) {
    let mut stderr = BufReader::new(stderr);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A part of a very long line counts as a line.
        let read = (&mut stderr).take(MAX_ANSWER).read_until(b'\n', &mut line);
        if !read.is_ok_and(|length| length > 0) {
            return;
        }
        let text = String::from_utf8_lossy(&line);
        let text: String = text.trim_end().chars().take(KEPT_BYTES).collect();
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.len() == KEPT_LINES {
            tail.pop_front();
        }
        tail.push_back(text);
    }
}
