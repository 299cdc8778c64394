//! Which queue a flow has, where flows are kept apart.

use crate::packet::{Flow, Protocol};
use units::Stream;

/// A hash of the 5-tuple, salted by the run's seed so that no pattern of addresses is always
/// unlucky. Linux and RFC 8290 § 4.1.1 take Jenkins's; here it is SplitMix64's finaliser (Steele,
/// Lea, Flood 2014).
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowHash {
    salt: u64,
}

impl FlowHash {
    pub(super) fn new(random: &mut Stream) -> Self {
        Self { salt: random.next_u64() }
    }

    /// The hash of a part of a flow's addresses.
    pub(super) fn of(&self, flow: &Flow, key: Key) -> u64 {
        let (source, destination) = (u64::from(flow.src.0) << 16, u64::from(flow.dst.0));
        // The kinds of key are told apart above the addresses, so that a source never counts as a
        // destination.
        match key {
            Key::Nothing => 0,
            Key::Source => mix(self.salt ^ (1 << 32 | source)),
            Key::Destination => mix(self.salt ^ (2 << 32 | destination)),
            Key::Hosts => mix(self.salt ^ (3 << 32 | source | destination)),
            Key::Flow => {
                let protocol = match flow.protocol {
                    Protocol::Tcp => 6,
                    Protocol::Udp => 17,
                    Protocol::Other(number) => number,
                };
                let ports = u64::from(flow.src_port) << 16 | u64::from(flow.dst_port);
                mix(mix(self.salt ^ (source | destination)) ^ (ports << 8 | u64::from(protocol)))
            }
        }
    }

    /// The place of a flow among `places`.
    pub(super) fn place(&self, flow: &Flow, places: u32) -> u32 {
        let mixed = self.of(flow, Key::Flow);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "below the number of places, which is 32 bits wide"
        )]
        let place = (mixed % u64::from(places)) as u32;
        place
    }
}

/// What of a flow's addresses is hashed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key {
    Nothing,
    Source,
    Destination,
    Hosts,
    /// The 5-tuple.
    Flow,
}

fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn flows_spread_evenly() {
        let hash = FlowHash::new(&mut Seed(1).stream("queue"));
        let mut places = [0u32; 16];
        for port in 0..16_000 {
            places[hash.place(&Flow { src_port: port, ..Flow::default() }, 16) as usize] += 1;
        }
        assert!(places.iter().all(|&count| (900..1_100).contains(&count)), "{places:?}");
    }
}
