//! RTCP off the wire.

#![no_main]

use store::export::wire::decode_rtcp;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(packets) = decode_rtcp(bytes) {
        let _ = rtc_rtcp::packet::marshal(&packets);
    }
});
