//! An RtcEventLog: what is read is replayed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use testbed::event_log::read;
use testbed::replay::{Agreement, controller, replay};

fuzz_target!(|bytes: &[u8]| {
    let Ok(log) = read(bytes) else { return };
    assert!(log.bytes <= bytes.len() as u64);
    assert!(log.sent.is_sorted_by_key(|packet| packet.at));
    let config = controller("gcc:libwebrtc", &[]).expect("the rates are usual");
    if let Ok(replay) = replay(&log, &config) {
        let agreement = Agreement::of(&replay);
        assert!(agreement.state.agree <= agreement.state.compared);
    }
});
