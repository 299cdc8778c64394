//! The last lines of the output of a program.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines that are state.
const MAX_LINES: usize = 200;
/// Lines that an error shows.
const MAX_SHOWN: usize = 8;
/// Longer lines are split, bytes.
const MAX_LINE_BYTES: u64 = 500;
/// Lines that headless browsers always write on a machine without a desktop, a system bus and a
/// graphics card, and that carry no information.
const NOISE: [&str; 6] =
    ["dbus", "D-Bus", "vaapi", "RenderCompositorSWGL", "InitializeSandbox()", "OAuth client"];

/// The last lines that were written.
#[derive(Clone, Default)]
pub(super) struct OutputTail(Arc<Mutex<TailState>>);

#[derive(Default)]
struct TailState {
    lines: VecDeque<String>,
    secrets: Vec<String>,
}

impl OutputTail {
    /// Reads a pipe until it ends, on a separate thread.
    pub(super) fn follow(&self, pipe: impl Read + Send + 'static) {
        let tail = self.clone();
        std::thread::spawn(move || tail.read(pipe));
    }

    fn read(&self, pipe: impl Read) {
        let mut pipe = BufReader::new(pipe);
        loop {
            let mut line = Vec::new();
            match pipe.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
                Ok(1..) => self.push(String::from_utf8_lossy(&line).trim_end()),
                _ => return,
            }
        }
    }

    fn push(&self, line: &str) {
        if line.is_empty() || NOISE.iter().any(|noise| line.contains(noise)) {
            return;
        }
        let line = self.without_secrets(line);
        let mut state = self.state();
        if state.lines.len() == MAX_LINES {
            state.lines.pop_front();
        }
        state.lines.push_back(line);
    }

    fn state(&self) -> MutexGuard<'_, TailState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes this word from later output. A secret of letters and digits is also found in URLs,
    /// because percent-encoding keeps them (RFC 3986, section 2.3).
    pub(super) fn hide(&self, secret: &str) {
        if !secret.is_empty() {
            self.state().secrets.push(secret.to_owned());
        }
    }

    /// The text without the hidden words.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        self.state().secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
    }

    /// All lines that are state.
    pub(super) fn lines(&self) -> Vec<String> {
        self.state().lines.iter().cloned().collect()
    }

    /// The last few lines, for an error.
    pub(super) fn last(&self) -> Vec<String> {
        let mut lines = self.lines();
        lines.split_off(lines.len().saturating_sub(MAX_SHOWN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_without_noise() {
        let tail = OutputTail::default();
        let text: String = (0..=MAX_LINES)
            .map(|number| format!("line {number}\r\n\n[1:ERROR:dbus/bus.cc] none\n"))
            .collect();
        tail.read(text.as_bytes());
        let lines = tail.lines();
        assert_eq!(
            (lines.len(), lines[0].as_str(), lines[MAX_LINES - 1].as_str()),
            (MAX_LINES, "line 1", "line 200")
        );
        assert_eq!(tail.last().len(), MAX_SHOWN);
        tail.read("x".repeat(1200).as_bytes());
        assert!(tail.lines().iter().all(|line| line.len() <= 500));
    }

    #[test]
    fn secrets_are_removed() {
        let tail = OutputTail::default();
        tail.hide("");
        tail.hide("5ec4e7");
        tail.read(&b"at http://127.0.0.1:1/call#5ec4e7\nu=http%3A//127.0.0.1%3A1/call%235ec4e7&c=UTF-8"[..]);
        assert_eq!(
            tail.lines(),
            ["at http://127.0.0.1:1/call#…", "u=http%3A//127.0.0.1%3A1/call%23…&c=UTF-8"]
        );
    }
}
