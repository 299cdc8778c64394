//! Controllers that are shared libraries. This program starts itself as the *host* of a library: a
//! child process that loads it and answers as any other program, so that a library that crashes
//! costs one run.

mod abi;

use super::messages::{Answer, Form, Message};
use super::program::{read, write};
use abi::{Controller, Event};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The hidden command of this program that is the host of a library; the path follows.
const HOST_COMMAND: &str = "library-host";

/// The program that has the command [`HOST_COMMAND`].
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Says that the running program is the host of libraries, because it has the hidden command
/// `library-host PATH`. Without this call, for example in Python, the host is `weir` of `PATH`.
pub fn run_libraries_here() {
    if let Ok(program) = std::env::current_exe() {
        // A second call changes nothing.
        let _ = PROGRAM.set(program);
    }
}

/// The words that start the host of a library.
///
/// # Errors
/// In words, if there is no such file.
pub(super) fn host_of(path: &str) -> Result<Vec<String>, String> {
    // Without a directory, the path would be searched in those of the system.
    let path = std::fs::canonicalize(path)
        .map_err(|error| format!("cannot open the library: {error}; check its path"))?;
    let program = PROGRAM.get().map_or("weir".to_owned(), |path| path.display().to_string());
    Ok(vec![program, HOST_COMMAND.to_owned(), path.display().to_string()])
}

/// Loads a library and answers the messages of standard input until it ends. What the library
/// itself writes to standard output goes to standard error.
///
/// # Errors
/// In words, if the library cannot be loaded, or its answer is not as the header says.
pub fn host(path: &Path) -> Result<(), String> {
    let unwritable = |error: std::io::Error| format!("cannot write an answer: {error}");
    let (mut input, mut output) =
        (std::io::stdin().lock(), abi::take_output().map_err(unwritable)?);
    let mut controller = None;
    let mut form = Form::Json;
    while let Some(message) = read(&mut input, form)? {
        let message = form.read(&message).map_err(|error| format!("not a message: {error}"))?;
        let answer = match (message, &mut controller) {
            (message, Some(controller)) => handle(controller, message)?,
            (Message::Configure { call, seed, start_rate, min_rate, max_rate, .. }, none) => {
                let rates = [start_rate, min_rate, max_rate];
                let (loaded, answer) = Controller::load(path, &call, seed, rates)?;
                *none = Some(loaded);
                Answer { form: Some(Form::MessagePack), ..answer }
            }
            (_, None) => return Err("the first message is not 'configure'".to_owned()),
        };
        write(&mut output, form, &form.write(&answer)?).map_err(unwritable)?;
        form = answer.form.unwrap_or(form);
    }
    output.flush().map_err(unwritable)
}

fn handle(controller: &mut Controller, message: Message<'_>) -> Result<Answer, String> {
    let (now, sent, event) = match message {
        Message::Configure { .. } => return Err("a second message 'configure'".to_owned()),
        Message::Allocation { now, sent, min_rate, max_rate } => {
            (now, sent, Event::Allocation { min_rate, max_rate })
        }
        Message::Sent { now, sent } => (now, sent, Event::Sent),
        Message::Feedback { now, sent, feedback } => (now, sent, Event::Feedback(feedback)),
        Message::Timeout { now, sent } => (now, sent, Event::Timeout),
    };
    controller.handle(now, &sent, &event)
}
