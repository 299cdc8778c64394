//! `scream-v1` (RFC 8298) against the authors' code of 2024, which differs from the text in most
//! rules. Only what both define alike must agree.

use crate::recording::{Deviation, Recording, head, names, replay, signals};
use std::collections::BTreeMap;

/// Column of the recording, signal, value below which deviations are relative to it, and whether
/// text and code define it alike.
const COLUMNS: &[(&str, &str, f64, bool)] = &[
    ("qdelay_s", "qdelay", 0.1, true),
    ("qdelay_target_s", "qdelay_target", 0.1, false),
    ("bytes_in_flight", "bytes_in_flight", 1000.0, true),
    ("srtt_s", "s_rtt", 0.05, false),
    ("qdelay_trend", "qdelay_trend", 1.0, false),
    ("fast_increase", "in_fast_increase", 1.0, false),
    ("cwnd_byte", "cwnd", 1000.0, false),
    ("target_bps", "target_bitrate", 1000.0, false),
];
/// A deviation of 1 % counts as equal.
const TOLERANCE: f64 = 0.01;

fn compare(name: &str) -> Vec<Deviation> {
    let recording = Recording::read("scream-v1", name, 65_536);
    let ecn = if recording.word("ect:") == "ECT(0);" { "ect0" } else { "not-ect" };
    let mut sender = recording.sender("scream-v1", &[("ecn", ecn.to_owned())]);
    let mut deviations = vec![Deviation::default(); COLUMNS.len()];
    replay(&recording, sender.as_mut(), |sender, now, real| {
        let own: BTreeMap<_, _> = signals(sender);
        for ((column, signal, floor, _), deviation) in COLUMNS.iter().zip(&mut deviations) {
            deviation.check(now, [real[column], own[signal]], *floor, TOLERANCE);
        }
    });
    deviations
}

#[test]
fn what_text_and_code_define_alike_agrees() {
    println!("{}", head());
    let mut different = Vec::new();
    for name in names("scream-v1") {
        let deviations = compare(&name);
        for ((column, _, _, alike), deviation) in COLUMNS.iter().zip(&deviations) {
            println!("{}", deviation.line(&name, column));
            if let Some(first) = deviation.first.as_ref().filter(|_| *alike) {
                different.push(format!("{name} {column}: {first}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
