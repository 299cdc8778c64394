//! What a browser and its driver write: the last of it is kept.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lines that are kept.
const KEPT: usize = 200;
/// Lines that an error shows.
const SHOWN: usize = 8;
/// Longer lines are cut, bytes.
const LONGEST: u64 = 500;
/// Lines that headless browsers always write on a machine without a desktop, a system bus and a
/// graphics card, and that tell nothing.
const NOISE: [&str; 6] =
    ["dbus", "D-Bus", "vaapi", "RenderCompositorSWGL", "InitializeSandbox()", "OAuth client"];

/// The last lines written.
#[derive(Clone, Default)]
pub(in crate::measure) struct Tail(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    lines: VecDeque<String>,
    secrets: Vec<String>,
}

impl Tail {
    /// Reads a pipe until it ends, on a thread of its own.
    pub(in crate::measure) fn follow(&self, pipe: impl Read + Send + 'static) {
        let tail = self.clone();
        std::thread::spawn(move || tail.read(pipe));
    }

    fn read(&self, pipe: impl Read) {
        let mut pipe = BufReader::new(pipe);
        loop {
            let mut line = Vec::new();
            match pipe.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
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
        let mut kept = self.kept();
        if kept.lines.len() == KEPT {
            kept.lines.pop_front();
        }
        kept.lines.push_back(line);
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves this word out of what is written from now on. Addresses encode letters and digits as
    /// themselves (RFC 3986, section 2.3): a secret of these is found there too.
    pub(in crate::measure) fn hide(&self, secret: &str) {
        if !secret.is_empty() {
            self.kept().secrets.push(secret.to_owned());
        }
    }

    /// The text without the words that are to be hidden.
    pub(in crate::measure) fn without_secrets(&self, text: &str) -> String {
        self.kept().secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "…"))
    }

    /// All lines that are kept.
    pub(in crate::measure) fn lines(&self) -> Vec<String> {
        self.kept().lines.iter().cloned().collect()
    }

    /// The last few.
    pub(in crate::measure) fn last(&self) -> Vec<String> {
        let mut lines = self.lines();
        lines.split_off(lines.len().saturating_sub(SHOWN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_without_noise_and_bounded() {
        let tail = Tail::default();
        let text: String = (0..=KEPT)
            .map(|number| format!("line {number}\r\n\n[1:ERROR:dbus/bus.cc] none\n"))
            .collect();
        tail.read(text.as_bytes());
        let lines = tail.lines();
        assert_eq!(
            (lines.len(), lines[0].as_str(), lines[KEPT - 1].as_str()),
            (KEPT, "line 1", "line 200")
        );
        assert_eq!(tail.last().len(), SHOWN);
        tail.read("x".repeat(1200).as_bytes());
        assert!(tail.lines().iter().all(|line| line.len() <= 500));
    }

    #[test]
    fn secrets_are_left_out() {
        let tail = Tail::default();
        tail.hide("");
        tail.hide("5ec4e7");
        tail.read(&b"at http://127.0.0.1:1/call#5ec4e7\nu=http%3A//127.0.0.1%3A1/call%235ec4e7&c=UTF-8"[..]);
        assert_eq!(
            tail.lines(),
            ["at http://127.0.0.1:1/call#…", "u=http%3A//127.0.0.1%3A1/call%23…&c=UTF-8"]
        );
    }
}
