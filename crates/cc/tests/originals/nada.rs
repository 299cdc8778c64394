//! `nada@ns3-rmcat` against cisco/ns3-rmcat.

use crate::recording::{Deviation, Recording, head, names, replay, signals};
use std::collections::BTreeMap;

/// Column of the recording, signal, factor from the recording's unit, and the value below which
/// deviations are relative to it.
const COLUMNS: &[(&str, &str, f64, f64)] = &[
    ("r_ref_bps", "r_ref", 1.0, 1000.0),
    ("x_curr_ms", "x_curr", 1.0, 1.0),
    ("d_queue_us", "d_queue", 1e-3, 1.0),
    ("p_loss_smoothed", "p_loss", 1.0, 0.001),
    ("r_recv_bps", "r_recv", 1.0, 1000.0),
    ("rtt_us", "nada_rtt", 1e-3, 1.0),
];
/// A deviation of 1 % counts as equal.
const TOLERANCE: f64 = 0.01;

fn compare(name: &str, profile: &str) -> Vec<Deviation> {
    let recording = Recording::read("nada", name, 1_000_000);
    let mut sender = recording.sender(profile, &[("side", "sender".to_owned())]);
    let mut deviations = vec![Deviation::default(); COLUMNS.len()];
    replay(&recording, sender.as_mut(), |sender, now, real| {
        let own: BTreeMap<_, _> = signals(sender);
        for ((column, signal, factor, floor), deviation) in COLUMNS.iter().zip(&mut deviations) {
            deviation.check(now, [real[column] * factor, own[signal]], *floor, TOLERANCE);
        }
    });
    deviations
}

#[test]
fn the_rules_of_the_code_give_its_rates() {
    println!("{}", head());
    let mut different = Vec::new();
    for name in names("nada") {
        let deviations = compare(&name, "nada@ns3-rmcat");
        for ((column, ..), deviation) in COLUMNS.iter().zip(&deviations) {
            println!("{}", deviation.line(&name, column));
            if let Some(first) = &deviation.first {
                different.push(format!("{name} {column}: {first}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
