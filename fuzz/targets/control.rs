//! Requests to a run in progress: any text is a request, or is answered with a reason.
#![no_main]

use emulator::parse_request;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let hosts = ["alice", "bob"].map(str::to_owned);
    if let Err(error) = parse_request(text, &hosts) {
        assert!(!error.to_string().is_empty());
    }
});
