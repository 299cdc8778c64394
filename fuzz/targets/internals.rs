//! A dump of chrome://webrtc-internals: what is read is imported, written, and read again.

#![no_main]

use testbed::measure::internals::{import, read, write};
use store::{Mode, RunMeta};
use libfuzzer_sys::fuzz_target;
use units::Seed;

fuzz_target!(|bytes: &[u8]| {
    let Ok(dump) = read(bytes) else { return };
    let Ok(imported) = import(&dump, "fuzz") else { return };
    let meta = RunMeta {
        experiment: "fuzz".into(),
        cell: Vec::new(),
        seed: Seed(0),
        index: 0,
        mode: Mode::Measured,
        file: imported.experiment.into(),
        version: String::new(),
        notes: imported.notes,
    };
    let mut again = Vec::new();
    if write(&meta, &imported.recording, &mut again).is_ok() {
        serde_json::from_slice::<serde_json::Value>(&again).expect("a dump is JSON");
    }
});
