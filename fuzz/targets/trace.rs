//! Traces of capacity and of fading.

#![no_main]

use libfuzzer_sys::fuzz_target;
use net::{FadingTrace, Trace};

fuzz_target!(|text: &str| {
    let _ = Trace::parse(text);
    let _ = FadingTrace::parse(text);
});
