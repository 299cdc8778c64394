//! The hash that assigns flows to queues.

use crate::packet::{Flow, Protocol};
use units::Stream;

/// A hash of the 5-tuple, salted by the run's seed so that no pattern of addresses collides in
/// every run. Linux and RFC 8290 § 4.1.1 use Jenkins's hash; this one is SplitMix64's finaliser
/// (Steele, Lea, Flood 2014).
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
        // The bits above the addresses differ per kind of key, so that a source and a destination
        // never have the same key.
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

    /// The queue of a flow among `count` queues.
    pub(super) fn queue_of(&self, flow: &Flow, count: u32) -> u32 {
        let mixed = self.of(flow, Key::Flow);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "below the count, which is 32 bits wide"
        )]
        let index = (mixed % u64::from(count)) as u32;
        index
    }
}

/// The parts of a flow's addresses that are hashed.
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
        let mut count = [0u32; 16];
        for port in 0..16_000 {
            count[hash.queue_of(&Flow { src_port: port, ..Flow::default() }, 16) as usize] += 1;
        }
        assert!(count.iter().all(|&count| (900..1_100).contains(&count)), "{count:?}");
    }
}
