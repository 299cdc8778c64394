//! Numbers and marks in words, for the descriptions of figures.

use crate::plot::{Mark, si};

/// `One panel`, `3 panels`.
pub(super) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("One {noun}") } else { format!("{n} {noun}s") }
}

/// The marks with their values; empty if there are none.
pub(super) fn marked(marks: &[Mark]) -> String {
    let texts: Vec<String> =
        marks.iter().map(|mark| format!("{} at {}", mark.text(), number(mark.value()))).collect();
    if texts.is_empty() { String::new() } else { format!("Marked: {}.", texts.join("; ")) }
}

/// A number with three significant digits; `–` if it is not finite.
pub(super) fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value.is_finite() { "0".to_owned() } else { "–".to_owned() };
    }
    si(value, libm::exp10(libm::floor(libm::log10(value.abs())) - 2.0))
}
