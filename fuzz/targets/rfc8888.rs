//! Congestion control feedback (RFC 8888): what is read can be written and read again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sim::wire::congestion_control::Report;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(report) = Report::parse(bytes) {
        assert_eq!(Report::parse(&report.encode()), Ok(report));
    }
});
