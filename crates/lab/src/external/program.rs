//! A child process that answers each message, within a limit of real time.

use super::messages::Form;
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The lines of standard error that are kept, the last ones, and the bytes of each. Our choice: a
/// traceback fits.
const KEPT_LINES: usize = 12;
const KEPT_BYTES: usize = 300;
/// The longest message or answer, in bytes. Our choice: far longer than any of them needs.
const MAX_ANSWER: u64 = 1 << 20;
/// The bytes of the length before a message in the binary form.
const LENGTH: usize = 4;
/// How long a program whose input is closed may take to end, and how often this is checked.
const FAREWELL: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(2);

/// The last lines of standard error.
type Tail = Arc<Mutex<VecDeque<String>>>;

/// A message in this form.
type Question = (Form, Vec<u8>);

/// A running program.
pub(super) struct Program {
    child: Child,
    /// `None` when the program has to end.
    questions: Option<Sender<Question>>,
    answers: Receiver<Result<Vec<u8>, String>>,
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

    /// Sends a message and waits for the answer, which has the same form.
    ///
    /// # Errors
    /// In words, if the program ends, or writes no answer in time or one that is too long. The
    /// program is then stopped.
    pub(super) fn ask(&mut self, form: Form, message: Vec<u8>) -> Result<Vec<u8>, String> {
        let question = (form, message);
        let asked =
            self.questions.as_ref().is_some_and(|questions| questions.send(question).is_ok());
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

/// Passes messages to the program and its answers back, until either side ends.
fn converse(
    mut stdin: ChildStdin,
    stdout: ChildStdout,
    questions: &Receiver<Question>,
    answers: &Sender<Result<Vec<u8>, String>>,
) {
    let mut stdout = BufReader::new(stdout);
    while let Ok((form, message)) = questions.recv() {
        let answer = match write(&mut stdin, form, &message) {
            Ok(()) => read(&mut stdout, form).and_then(|answer| answer.ok_or(ENDED.to_owned())),
            Err(_) => Err(ENDED.to_owned()),
        };
        let failed = answer.is_err();
        if answers.send(answer).is_err() || failed {
            return;
        }
    }
}

/// Writes a message or an answer with the end of its line, or after its length.
pub(super) fn write(to: &mut impl Write, form: Form, bytes: &[u8]) -> std::io::Result<()> {
    let mut whole = Vec::with_capacity(bytes.len() + LENGTH);
    match form {
        Form::Json => {
            whole.extend_from_slice(bytes);
            whole.push(b'\n');
        }
        Form::MessagePack => {
            let length = u32::try_from(bytes.len()).map_err(std::io::Error::other)?;
            whole.extend_from_slice(&length.to_be_bytes());
            whole.extend_from_slice(bytes);
        }
    }
    to.write_all(&whole)?;
    to.flush()
}

/// Reads a message or an answer as [`write`] writes it; `None` if the stream ends before it.
///
/// # Errors
/// In words, if it is longer than [`MAX_ANSWER`], or cannot be read.
pub(super) fn read(from: &mut impl BufRead, form: Form) -> Result<Option<Vec<u8>>, String> {
    let unreadable = |error: std::io::Error| format!("its answer cannot be read: {error}");
    let mut bytes = Vec::new();
    match form {
        Form::Json => {
            from.take(MAX_ANSWER).read_until(b'\n', &mut bytes).map_err(unreadable)?;
            if bytes.last() == Some(&b'\n') {
                return Ok(Some(bytes));
            }
            let is_cut = u64::try_from(bytes.len()).is_ok_and(|length| length >= MAX_ANSWER);
            if is_cut { Err(format!("its answer is longer than {MAX_ANSWER} B")) } else { Ok(None) }
        }
        Form::MessagePack => {
            let mut length = [0; LENGTH];
            match from.read_exact(&mut length) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
                Err(error) => return Err(unreadable(error)),
            }
            let length = u64::from(u32::from_be_bytes(length));
            if length > MAX_ANSWER {
                return Err(format!(
                    "its answer has a length of {length} B; it may have {MAX_ANSWER} B"
                ));
            }
            from.take(length).read_to_end(&mut bytes).map_err(unreadable)?;
            Ok(Some(bytes).filter(|bytes| bytes.len() as u64 == length))
        }
    }
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
