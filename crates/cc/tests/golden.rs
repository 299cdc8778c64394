//! One golden file per registered profile: target rate and queuing delay over the standard paths,
//! as small tables that a person can review. `UPDATE_GOLDEN=1 cargo test -p weir-cc --test golden`
//! rewrites the files.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

mod common;

use common::{Path, Run, config};
use std::fmt::Write;
use units::{Bitrate, Time};

/// The standard paths.
fn paths() -> [(&'static str, Path); 4] {
    let ceiling = Bitrate::from_kbps(2500);
    [
        ("constant 1 Mbit/s", Path { rate: |_| Bitrate::from_mbps(1), lose_every: 0, ceiling }),
        (
            "2 Mbit/s, 500 kbit/s from 20 s, 2 Mbit/s from 40 s",
            Path { rate: steps, lose_every: 0, ceiling },
        ),
        (
            "10 Mbit/s, every 20th packet lost",
            Path { rate: |_| Bitrate::from_mbps(10), lose_every: 20, ceiling },
        ),
        (
            "10 Mbit/s, every 5th packet lost",
            Path { rate: |_| Bitrate::from_mbps(10), lose_every: 5, ceiling },
        ),
    ]
}

fn steps(now: Time) -> Bitrate {
    let low = now >= Time::from_secs(20) && now < Time::from_secs(40);
    if low { Bitrate::from_kbps(500) } else { Bitrate::from_mbps(2) }
}

/// Target rate in kbit/s and queuing delay in ms every 2 s.
fn table(profile: &str) -> String {
    let mut text = String::new();
    for (name, path) in paths() {
        writeln!(text, "{name}\n  time  target  queue").unwrap();
        let mut run = Run::new(&config(profile), path);
        for second in (2..=60).step_by(2) {
            while run.now() < Time::from_secs(second) {
                run.frame();
            }
            let (target, queue) = (run.target().as_bps() / 1000, run.queue_delay().as_millis());
            writeln!(text, "{second:>4} s  {target:>6}  {queue:>5}").unwrap();
        }
    }
    text
}

#[test]
fn every_profile_matches_its_golden_file() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut changed = Vec::new();
    for profile in cc::profiles() {
        let file = folder.join(format!("{}.txt", profile.name.replace([':', '/'], "-")));
        let table = table(&profile.name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&file, &table).unwrap();
        }
        if std::fs::read_to_string(&file).unwrap_or_default() != table {
            changed.push(format!("{}:\n{table}", profile.name));
        }
    }
    assert!(
        changed.is_empty(),
        "differs from tests/golden (UPDATE_GOLDEN=1 rewrites the files):\n{}",
        changed.join("\n")
    );
}
