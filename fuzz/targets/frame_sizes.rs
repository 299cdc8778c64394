//! Frame sizes from a CSV file.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sim::codec::FrameSizes;

fuzz_target!(|text: &str| {
    let _ = FrameSizes::parse(text);
});
