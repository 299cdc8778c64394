//! A Diameter message: what can be read is written as the same message.

#![no_main]

use libfuzzer_sys::fuzz_target;
use testbed::diameter::{Avp, Message};

fn look(avps: &[Avp], depth: u8) {
    for avp in avps {
        let _ = (avp.as_number(), avp.as_text(), avp.as_address());
        if let Ok(inner) = avp.avps()
            && depth > 0
        {
            look(&inner, depth - 1);
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(message) = Message::decode(bytes) else { return };
    look(&message.avps, 4);
    assert_eq!(Message::decode(&message.encode()), Ok(message));
});
