//! What was measured, and what of it is out of bounds.

use std::fmt;

/// A machine that stands still for a moment spoils an attempt; a wrong model spoils all.
const ATTEMPTS: usize = 10;

/// Figures of an attempt.
#[derive(Default)]
pub(crate) struct Findings {
    lines: Vec<String>,
    wrong: Vec<String>,
}

impl Findings {
    /// Notes a figure, and whether it is within its bounds.
    pub(crate) fn add(&mut self, line: String, within: bool) {
        if !within {
            self.wrong.push(line.clone());
        }
        self.lines.push(line);
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines.iter().try_for_each(|line| writeln!(f, "  {line}"))?;
        self.wrong.iter().try_for_each(|line| writeln!(f, "  out of bounds: {line}"))
    }
}

/// Measures until everything is within its bounds.
pub(crate) fn attempts(name: &str, mut measure: impl FnMut() -> Findings) {
    for attempt in 1..=ATTEMPTS {
        let findings = measure();
        eprintln!("{name}, attempt {attempt}:\n{findings}");
        if findings.wrong.is_empty() {
            return;
        }
        assert!(attempt < ATTEMPTS, "{name}, {ATTEMPTS} times out of bounds:\n{}", findings.wrong.join("\n"));
    }
}
