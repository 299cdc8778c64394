//! Answers of a controller that is a program never panic, and what they decide is within bounds.

#![no_main]

use lab::external::Decider;
use libfuzzer_sys::fuzz_target;
use units::{Bitrate, Time};

const LIMITS: (Bitrate, Bitrate) = (Bitrate::from_kbps(30), Bitrate::from_mbps(5));

// The first line is the answer to the configuration. If it asks for MessagePack, the rest is one
// answer; else each line is one.
fuzz_target!(|data: &[u8]| {
    let mut decider = Decider::new(Bitrate::from_kbps(300), LIMITS);
    let mut parts = data.splitn(2, |byte| *byte == b'\n');
    let (first, rest) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let _ = decider.take(Time::ZERO, first);
    let whole = decider.take(Time::from_secs(1), rest);
    if whole.is_err() {
        for (second, line) in (2..).zip(rest.split(|byte| *byte == b'\n')) {
            let _ = decider.take(Time::from_secs(second), line);
        }
    }
    let decision = decider.decision();
    assert!((LIMITS.0..=LIMITS.1).contains(&decision.target_rate), "{decision:?}");
    decider.signals(&mut |name, _| assert!(!name.is_empty()));
});
