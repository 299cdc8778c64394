//! Claims files.

#![no_main]

use lab::claims::Catalogue;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = Catalogue::parse(text, "fuzz.toml");
});
