//! A packet capture, pcap or pcapng: what is read is imported.

#![no_main]

use libfuzzer_sys::fuzz_target;
use testbed::import::{Kind, join, open};

fuzz_target!(|bytes: &[u8]| {
    let Ok(opened) = open(bytes) else { return };
    if opened.kind != Kind::Capture {
        return;
    }
    let log = opened.log().expect("a capture that is read has a side");
    assert!(log.sent.is_sorted_by_key(|packet| packet.at));
    if let Ok(joined) = join(&[opened], "fuzz") {
        let recording = &joined.imported.recording;
        let samples = recording.duration.as_nanos() / recording.interval.as_nanos();
        for stream in &recording.streams {
            assert!(stream.columns.iter().all(|column| column.values.len() as u64 == samples));
        }
    }
});
