//! `scream-v1@ericsson` against the authors' code of 2024, and `scream-v1` (RFC 8298), which differs
//! from that code in most rules: only what both define alike must agree.

use crate::recording::{Deviation, Recording, head, names, replay, signals};
use std::collections::BTreeMap;

/// Column of the recording, signal, value below which deviations are relative to it, and whether
/// text and code define it alike.
const TEXT: &[(&str, &str, f64, bool)] = &[
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

/// The same for the rules of the code. All must agree.
const CODE: &[(&str, &str, f64, bool)] = &[
    ("target_bps", "target_bitrate", 1000.0, true),
    ("target_returned_bps", "encoder_rate", 1000.0, true),
    ("target_inflection_bps", "target_bitrate_last_max", 1000.0, true),
    ("cwnd_byte", "cwnd", 1000.0, true),
    ("bytes_in_flight", "bytes_in_flight", 1000.0, true),
    ("fast_increase", "in_fast_increase", 1.0, true),
    ("max_bytes_in_flight", "max_bytes_in_flight", 1000.0, true),
    ("qdelay_s", "qdelay", 0.1, true),
    ("qdelay_target_s", "qdelay_target", 0.1, true),
    ("qdelay_fraction_avg", "qdelay_fraction_avg", 1.0, true),
    ("qdelay_trend", "qdelay_trend", 1.0, true),
    ("srtt_s", "s_rtt", 0.05, true),
    ("l4s_alpha", "l4s_alpha", 0.02, true),
    ("fraction_marked", "fraction_marked", 1.0, true),
    ("post_congestion_scale", "post_congestion_scale", 1.0, true),
    ("rate_transmitted_bps", "rate_transmit", 1000.0, true),
    ("rate_acked_bps", "rate_ack", 1000.0, true),
    ("rate_media_bps", "rate_media", 1000.0, true),
    ("packets_lost_total", "lost_packets", 100.0, true),
    ("mss_byte", "mss", 1000.0, true),
];

type Column = (&'static str, &'static str, f64, bool);

fn compare(name: &str, profile: &str, columns: &[Column]) -> Vec<Deviation> {
    let recording = Recording::read("scream-v1", name, 65_536);
    let mut settings = Vec::new();
    let is_code = profile.contains('@');
    match recording.word("ect:") {
        "ECT(1);" if is_code => settings.push(("ecn", "ect1".to_owned())),
        "ECT(0);" => settings.push(("ecn", "ect0".to_owned())),
        _ => {}
    }
    if is_code {
        let target = recording.parameter("queue delay target");
        settings.push(("qdelay_target.lo", format!("{target}s")));
        settings.push(("beta_ecn", recording.parameter("classic ECN beta").to_string()));
    }
    let mut sender = recording.sender(profile, &settings);
    let mut deviations = vec![Deviation::default(); columns.len()];
    replay(&recording, sender.as_mut(), |sender, now, real| {
        let own: BTreeMap<_, _> = signals(sender);
        for ((column, signal, floor, _), deviation) in columns.iter().zip(&mut deviations) {
            deviation.check(now, [real[column], own[signal]], *floor, TOLERANCE);
        }
    });
    deviations
}

/// Prints the deviations of every recording, and fails where a column that must agree differs.
fn hold(profile: &str, columns: &[Column]) {
    println!("{}", head());
    let mut different = Vec::new();
    for name in names("scream-v1") {
        let deviations = compare(&name, profile, columns);
        for ((column, _, _, alike), deviation) in columns.iter().zip(&deviations) {
            println!("{}", deviation.line(&name, column));
            if let Some(first) = deviation.first.as_ref().filter(|_| *alike) {
                different.push(format!("{name} {column}: {first}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn what_text_and_code_define_alike_agrees() {
    hold("scream-v1", TEXT);
}

#[test]
fn the_rules_of_the_code_give_its_rates() {
    hold("scream-v1@ericsson", CODE);
}
