//! The only place that writes to the terminal: standard output and standard error. Clippy refuses
//! `println!`, `std::io::stdout` and their like elsewhere (`clippy.toml`, the crates' roots).
//!
//! Titles, labels, file names, records and answers come from other people and programs, so every
//! text is printed with its control characters as escapes ([`document::shown`]). Colours and line
//! breaks are the program's own: a colour belongs to a [`Cell`] or to the word "error", and each
//! line is printed separately.

pub(crate) use crate::rows::{Cell, Rows};

use crate::cli::Cli;
use crate::failure::Failure;
use clap::Parser;
use clap::error::ErrorKind;
use document::shown;
use indicatif::ProgressBar;
use serde::Serialize;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt::Display;
use std::io::{BufWriter, IsTerminal, Write};
use std::panic::PanicHookInfo;

/// Standard output, with colours on a terminal. A closed pipe is an error.
pub(crate) struct Output(BufWriter<anstream::AutoStream<std::io::Stdout>>);

impl Output {
    #[expect(clippy::disallowed_methods, reason = "every method of this type escapes its text")]
    pub(crate) fn new() -> Self {
        Self(BufWriter::new(anstream::stdout()))
    }

    /// One line; a line break in `text` is printed as an escape.
    pub(crate) fn line(&mut self, text: impl Display) -> Result<(), Failure> {
        Ok(writeln!(self.0, "{}", shown::escaped(&text.to_string()))?)
    }

    /// As [`line`](Self::line), and flushes.
    pub(crate) fn line_at_once(&mut self, text: impl Display) -> Result<(), Failure> {
        self.line(text)?;
        self.flush()
    }

    /// Several lines, whose line breaks are the program's own: tc commands, a schema.
    pub(crate) fn lines(&mut self, text: &str) -> Result<(), Failure> {
        text.lines().try_for_each(|line| self.line(line))
    }

    /// A table, with its colours.
    pub(crate) fn table(&mut self, rows: &Rows) -> Result<(), Failure> {
        Ok(writeln!(self.0, "{rows}")?)
    }

    /// One JSON object per line, written at once so that a reader sees it.
    pub(crate) fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(value)?;
        writeln!(self.0, "{}", shown::escaped_json(&text))?;
        self.flush()
    }

    /// Text that is generated from the definitions in `cli` alone, unchanged.
    pub(crate) fn script(&mut self, text: &[u8]) -> Result<(), Failure> {
        Ok(self.0.write_all(text)?)
    }

    /// Flushes the output.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.0.flush()?)
    }

    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.flush()
    }
}

/// Prints a line on standard error.
#[expect(clippy::disallowed_methods, reason = "the line is escaped")]
pub(crate) fn eprint(text: &str) {
    // There is no other way to report that this fails.
    let _ = writeln!(anstream::stderr(), "{}", shown::message(text));
}

/// As [`eprint`], above a bar that is in progress.
#[expect(clippy::disallowed_methods, reason = "the line is escaped")]
pub(crate) fn eprint_above(bar: &ProgressBar, text: &str) {
    bar.println(shown::message(text));
}

/// Prints the message of an error, on one line.
#[expect(clippy::disallowed_methods, reason = "the message is escaped")]
pub(crate) fn error(message: &str) {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    // As for `eprint`.
    let _ = writeln!(anstream::stderr(), "{red}error:{red:#} {}", shown::message(message));
}

/// Prints the message of a panic, and the backtrace if RUST_BACKTRACE asks for one.
pub(crate) fn panicked(info: &PanicHookInfo<'_>, trace: &Backtrace) {
    let place = info.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let reason = info.payload_as_str().unwrap_or("no message");
    error(&format!("internal error (panic){place}: {reason}; please report it"));
    if trace.status() == BacktraceStatus::Captured {
        trace.to_string().lines().for_each(eprint);
    }
}

/// Whether a person sees standard error.
#[expect(clippy::disallowed_methods, reason = "nothing is written")]
pub(crate) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

/// Prints help and version to standard output, and errors about arguments to standard error.
#[expect(clippy::disallowed_methods, reason = "only help, and errors about escaped arguments")]
pub(crate) fn usage(fault: &clap::Error) {
    let help_on_missing = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    let is_help = !fault.use_stderr() || fault.kind() == help_on_missing;
    // clap quotes the arguments between its own colours, so it gets them escaped.
    let arguments = std::env::args_os()
        .map(|argument| shown::message(&argument.to_string_lossy()).into_owned());
    // As for `eprint`, failures to print are ignored.
    match Cli::try_parse_from(arguments) {
        _ if is_help => drop(fault.print()),
        Err(same) => drop(same.print()),
        // Only the character that is escaped was wrong.
        Ok(_) => {
            let text = fault.to_string();
            let first = text.lines().next().unwrap_or_default();
            error(first.trim_start_matches("error: "));
        }
    }
}
