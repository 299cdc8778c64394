//! Which queue a flow has, where flows are kept apart.

use crate::packet::{Flow, Protocol};
use units::Stream;

/// A hash of the 5-tuple, salted by the run's seed so that no pattern of addresses is always unlucky. Linux and RFC 8290
/// § 4.1.1 take Jenkins's; here it is SplitMix64's finaliser (Steele, Lea, Flood 2014).
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowHash {
    salt: u64,
}

impl FlowHash {
    pub(super) fn new(random: &mut Stream) -> Self {
        Self { salt: random.next_u64() }
    }

    /// The place of a flow among `places`.
    pub(super) fn place(&self, flow: &Flow, places: u32) -> u32 {
        let protocol = match flow.protocol {
            Protocol::Tcp => 6,
            Protocol::Udp => 17,
            Protocol::Other(number) => number,
        };
        let hosts = u64::from(flow.src.0) << 16 | u64::from(flow.dst.0);
        let ports = u64::from(flow.src_port) << 16 | u64::from(flow.dst_port);
        let mixed = mix(mix(self.salt ^ hosts) ^ (ports << 8 | u64::from(protocol)));
        #[expect(
            clippy::cast_possible_truncation,
            reason = "below the number of places, which is 32 bits wide"
        )]
        let place = (mixed % u64::from(places)) as u32;
        place
    }
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
