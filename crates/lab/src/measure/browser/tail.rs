//! What a browser and its driver write: the last of it is kept.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// Lines that are kept.
const KEPT: usize = 200;
/// Lines that an error shows.
const SHOWN: usize = 8;
/// Longer lines are cut, bytes.
const LONGEST: u64 = 500;
/// Lines that headless browsers always write on a machine without a desktop, a system bus and a graphics card, and that tell nothing.
const NOISE: [&str; 6] =
    ["dbus", "D-Bus", "vaapi", "RenderCompositorSWGL", "InitializeSandbox()", "OAuth client"];

/// The last lines written.
#[derive(Clone, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    /// Reads a pipe until it ends, on a thread of its own.
    pub(super) fn follow(&self, pipe: impl Read + Send + 'static) {
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
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// All lines that are kept.
    pub(super) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// The last few.
    pub(super) fn last(&self) -> Vec<String> {
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
        let text: String =
            (0..=KEPT).map(|number| format!("line {number}\r\n\n[1:ERROR:dbus/bus.cc] none\n")).collect();
        tail.read(text.as_bytes());
        let lines = tail.lines();
        assert_eq!((lines.len(), lines[0].as_str(), lines[KEPT - 1].as_str()), (KEPT, "line 1", "line 200"));
        assert_eq!(tail.last().len(), SHOWN);
        tail.read("x".repeat(1200).as_bytes());
        assert!(tail.lines().iter().all(|line| line.len() <= 500));
    }
}
