//! Results of an earlier `weir verify --json`.

#![no_main]

use lab::claims::Baseline;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = Baseline::parse(text, "fuzz.json");
});
