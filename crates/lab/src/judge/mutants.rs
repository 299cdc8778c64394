//! Mutants of `gcc:libwebrtc` with one changed constant each. A suite that does not tell them from
//! the original would not see such a mistake in another controller.

use super::Candidate;

/// The controller that is mutated.
pub const ORIGINAL: &str = "gcc:libwebrtc";

/// The constants that are changed: (what it is, setting, value). Our choice, made before the first
/// run of the suite: constants of every part of the controller.
const MUTANTS: [(&str, &str, &str); 10] = [
    ("back-off 0.85 → 0.95", "aimd.decrease", "0.95"),
    ("back-off 0.85 → 0.6", "aimd.decrease", "0.6"),
    ("window of the trend 20 → 5 packet groups", "trend.window", "5"),
    ("gain of the trend 4 → 1", "trend.gain", "1"),
    ("threshold held at its initial value", "threshold.k_up", "0"),
    ("increase 8 % → 2 % per second", "aimd.increase", "1.02"),
    ("no probes at the start", "probe.first", "0"),
    ("no loss-based estimate", "loss", "false"),
    ("time of over-use 10 → 100 ms", "overuse_time", "100ms"),
    ("pacing factor 2.5 → 1", "pacing.factor", "1"),
];

/// The mutants: what is changed, and the controller.
#[must_use]
pub fn mutants() -> Vec<(&'static str, Candidate)> {
    let candidate = |(what, setting, value): (&'static str, &str, &str)| {
        let settings = vec![(setting.to_owned(), value.to_owned())];
        (what, Candidate { controller: ORIGINAL.to_owned(), settings })
    };
    MUTANTS.into_iter().map(candidate).collect()
}
