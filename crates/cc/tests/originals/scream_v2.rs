//! `scream-v2@ericsson` against EricssonResearch/scream.

use crate::recording::{Deviation, Recording, head, names, replay, signals};
use std::collections::BTreeMap;

/// Column of the recording, signal, and the value below which deviations are relative to it.
const COLUMNS: &[(&str, &str, f64)] = &[
    ("target_bps", "target_bitrate", 1000.0),
    ("target_returned_bps", "encoder_rate", 1000.0),
    ("ref_wnd_byte", "ref_wnd", 1000.0),
    ("ref_wnd_i_byte", "ref_wnd_i", 1000.0),
    ("bytes_in_flight", "bytes_in_flight", 1000.0),
    ("window_headroom", "ref_wnd_overhead", 1.0),
    ("qdelay_s", "qdelay", 0.1),
    ("qdelay_avg_s", "qdelay_avg", 0.1),
    ("srtt_s", "s_rtt", 0.05),
    ("l4s_alpha", "l4s_alpha", 0.02),
    ("loss_rate", "loss_ratio", 0.01),
    ("rate_adjust_factor", "queue_factor", 1.0),
    ("adaptive_pacing_scale", "pacing_scale", 1.0),
    ("rate_acked_bps", "rate_acked", 1000.0),
    ("rate_media_bps", "rate_media", 1000.0),
    ("packets_lost_total", "lost_packets", 100.0),
];
/// A deviation of 1 % counts as equal.
const TOLERANCE: f64 = 0.01;

fn compare(name: &str) -> Vec<Deviation> {
    let recording = Recording::read("scream-v2", name, 65_536);
    let ecn = match recording.word("ect:") {
        "ECT(1);" => "ect1",
        "ECT(0);" => "ect0",
        _ => "not-ect",
    };
    let number = |key| recording.parameter(key).to_string();
    let settings = [
        ("ecn", ecn.to_owned()),
        ("qdelay_target.lo", format!("{}s", number("queue delay target"))),
        ("beta_ecn", number("classic ECN beta")),
    ];
    let mut sender = recording.sender("scream-v2@ericsson", &settings);
    let mut deviations = vec![Deviation::default(); COLUMNS.len()];
    replay(&recording, sender.as_mut(), |sender, now, real| {
        let own: BTreeMap<_, _> = signals(sender);
        for ((column, signal, floor), deviation) in COLUMNS.iter().zip(&mut deviations) {
            deviation.check(now, [real[column], own[signal]], *floor, TOLERANCE);
        }
    });
    deviations
}

#[test]
fn the_rules_of_the_code_give_its_rates() {
    println!("{}", head());
    let mut different = Vec::new();
    for name in names("scream-v2") {
        let deviations = compare(&name);
        for ((column, ..), deviation) in COLUMNS.iter().zip(&deviations) {
            println!("{}", deviation.line(&name, column));
            if let Some(first) = &deviation.first {
                different.push(format!("{name} {column}: {first}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
