//! Capacity traces.

#![no_main]

use libfuzzer_sys::fuzz_target;
use net::Trace;

fuzz_target!(|text: &str| {
    let _ = Trace::parse(text);
});
