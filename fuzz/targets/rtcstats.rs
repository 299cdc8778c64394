//! A dump of rtcstats: what is read is imported.

#![no_main]

use libfuzzer_sys::fuzz_target;
use testbed::import::{Kind, join, open};

fuzz_target!(|bytes: &[u8]| {
    let Ok(opened) = open(bytes) else { return };
    if opened.kind == Kind::Rtcstats {
        let _ = join(&[opened], "fuzz");
    }
});
