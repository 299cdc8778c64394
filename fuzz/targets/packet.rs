//! Packets of real programs: reading their headers and coalescing them does not panic, and no byte
//! of payload is lost.
#![no_main]

use emulator::{MTU, coalesce, read_header};
use libfuzzer_sys::fuzz_target;
use net::HostId;

/// The size of the header that a TUN device expects, bytes.
const HEADROOM: usize = 10;

fuzz_target!(|data: &[u8]| {
    let packets: Vec<&[u8]> =
        data.split(|byte| *byte == 0xA5).filter(|packet| packet.len() <= MTU).collect();
    for packet in &packets {
        if let Some(seen) = read_header(packet, HostId(0)) {
            assert_eq!((seen.size.get(), seen.flow.src), (packet.len() as u64, HostId(0)));
        }
    }
    let written = coalesce(&packets);
    assert!(written.len() <= packets.len());
    let bytes: usize = written.iter().map(|bytes| bytes.len() - HEADROOM).sum();
    let joined = packets.len() - written.len();
    let before: usize = packets.iter().map(|packet| packet.len()).sum();
    // Each coalesced packet has lost its headers: 28 bytes (UDP over IPv4) to 100 bytes (TCP with
    // all options over IPv6).
    assert!(before - bytes >= 28 * joined && before - bytes <= 100 * joined);
});
