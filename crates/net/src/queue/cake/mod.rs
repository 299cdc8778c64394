//! CAKE: a shaper without bursts, traffic classes by DSCP, one queue per flow with fairness between
//! hosts, each under COBALT (Høiland-Jørgensen, Täht, Morton: Piece of CAKE, LANMAN 2018;
//! tc-cake(8); Linux `net/sched/sch_cake.c`).
//!
//! | where it differs | Linux | here |
//! |---|---|---|
//! | hash | the kernel's flow hash, seeded at boot | [`FlowHash`], seeded by the run |
//! | size | the device's, unless `overhead` is given | the IP packet's, and `overhead` |
//! | memory | what the kernel allocates for a packet | the packet's bytes |
//! | rates | fixed point of 34 bits and less | exact; the shaper carries fractions of a nanosecond over |
//! | a flow's first signal | may come with the second packet above the target, as the inverse root is still 0 | an interval after the first packet above the target |
//! | inverse root | table, and above 15 one Newton step | to a double's precision |
//! | `ingress`, `autorate-ingress`, `ack-filter` | the rate counts drops, follows arrivals; drops ACKs | refused |
//! | `nat`, `split-gso` | looks at addresses before translation; splits super-packets | accepted without effect |
//! | `precedence`, `diffserv8` | 8 classes | refused |

mod cobalt;
mod config;
mod isolation;
mod lists;
#[cfg(test)]
mod tests;
mod tin;

pub(super) use config::USAGE;
pub use config::{CakeClasses, CakeConfig, CakeFraming};
pub use isolation::CakeIsolation;

use super::hash::FlowHash;
use super::{Drops, QueueDiscipline};
use crate::packet::{Dscp, Packet};
use crate::serialisation::{product, time_for};
use tin::Tin;
use units::{Bitrate, Bytes, Duration, Stream, Time};

/// A shaper: a packet may leave when the transmission times of those before it have passed. Idle
/// time earns no credit.
struct Shaper {
    rate: Bitrate,
    next: Time,
    /// The capacity left over by the last packet at `next`, in 10⁻⁹ bit: less than a nanosecond's
    /// worth. Without it, rounding up each packet's time would reduce the rate.
    spare: u128,
}

impl Shaper {
    /// Ends an idle time, which earns no credit.
    fn wake(&mut self, now: Time) {
        if self.next < now {
            (self.next, self.spare) = (now, 0);
        }
    }

    fn charge(&mut self, size: Bytes) {
        let cost = u128::from(size.bits()) * 1_000_000_000;
        let used = self.spare.min(cost);
        let span = time_for(cost - used, self.rate).unwrap_or(Duration::MAX);
        self.spare = (self.spare - used + product(self.rate, span)).saturating_sub(cost - used);
        self.next += span;
    }
}

/// CAKE.
pub(crate) struct Cake {
    config: CakeConfig,
    shaper: Option<Shaper>,
    memory: Bytes,
    hash: FlowHash,
    random: Stream,
    /// Best effort first, then in ascending order of priority.
    tins: Vec<Tin>,
    /// The tin to serve if CAKE does not shape.
    current: usize,
    packets: usize,
    bytes: Bytes,
}

impl Cake {
    pub(crate) fn new(config: &CakeConfig, mut random: Stream) -> Self {
        let tin = |&share: &u32| {
            let rate = config.bandwidth.map(|rate| Bitrate::from_bps(rate.as_bps() >> share));
            Tin::new(config.isolation, config.rtt, rate, config.classes.quantum() >> share)
        };
        Self {
            config: *config,
            shaper: config.bandwidth.map(|rate| Shaper { rate, next: Time::ZERO, spare: 0 }),
            memory: config.memory(),
            hash: FlowHash::new(&mut random),
            random,
            tins: config.classes.shares().iter().map(tin).collect(),
            current: 0,
            packets: 0,
            bytes: Bytes::ZERO,
        }
    }

    /// The tin to serve. There must be packets.
    fn choose(&mut self, now: Time) -> usize {
        if self.shaper.is_none() {
            // Without shaping, the tins are served by deficit round robin.
            loop {
                let tin = &mut self.tins[self.current];
                if tin.deficit >= 0 && tin.is_active() {
                    return self.current;
                }
                if tin.deficit <= 0 {
                    tin.deficit += tin.tin_quantum;
                }
                self.current = (self.current + 1) % self.tins.len();
            }
        }
        // The tin of the highest priority among those within their rate; if there is none, the tin
        // that is first within its rate again.
        let (mut best, mut at) = (0, Time::MAX);
        for (number, tin) in self.tins.iter().enumerate() {
            if tin.is_active() && (tin.next <= now || tin.next <= at) {
                (best, at) = (number, tin.next);
            }
        }
        best
    }

    /// Drops at the heads of the longest queues until memory suffices (Linux `cake_drop`).
    fn drop_from_the_longest(&mut self, now: Time, drops: &mut impl Drops) {
        while self.bytes > self.memory {
            let queues = self.tins.iter().enumerate();
            let longest = queues.filter_map(|(number, tin)| Some((tin.longest()?, number))).max();
            let Some(((_, index), number)) = longest else { return };
            self.bytes -= self.tins[number].overflow(now, index, drops);
            self.packets -= 1;
        }
    }
}

impl QueueDiscipline for Cake {
    fn enqueue(&mut self, now: Time, mut packet: Packet, drops: &mut impl Drops) {
        if self.packets == 0
            && let Some(shaper) = &mut self.shaper
        {
            shaper.wake(now);
        }
        let tin = self.config.classes.tin(packet.dscp);
        if self.config.wash {
            packet.dscp = Dscp::DEFAULT;
        }
        self.packets += 1;
        self.bytes += packet.size;
        self.tins[tin].push(now, packet, &self.hash);
        self.drop_from_the_longest(now, drops);
    }

    fn dequeue(&mut self, now: Time, drops: &mut impl Drops) -> Option<(Packet, Duration)> {
        if self.next_ready(now)? > now {
            return None;
        }
        let mut decays = true;
        loop {
            let chosen = self.choose(now);
            let tin = &mut self.tins[chosen];
            let before = (tin.packets, tin.bytes);
            let Some((packet, sojourn, index)) =
                tin.serve(now, &mut decays, &mut self.random, drops)
            else {
                continue;
            };
            self.packets -= before.0 - tin.packets;
            self.bytes -= before.1 - tin.bytes;
            let size = self.config.on_the_wire(packet.size);
            tin.charge(now, index, size);
            if let Some(shaper) = &mut self.shaper {
                shaper.charge(size);
            }
            return Some((packet, sojourn));
        }
    }

    fn next_ready(&self, now: Time) -> Option<Time> {
        (self.packets > 0).then(|| self.shaper.as_ref().map_or(now, |shaper| shaper.next.max(now)))
    }

    fn oldest(&self) -> Option<Time> {
        self.tins.iter().filter_map(Tin::oldest).min()
    }

    fn packets(&self) -> usize {
        self.packets
    }

    fn bytes(&self) -> Bytes {
        self.bytes
    }
}
