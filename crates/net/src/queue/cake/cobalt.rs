//! COBALT: a CoDel whose signalling rate falls gradually once the queue is short again, combined
//! with BLUE for unresponsive flows (Linux `cobalt_should_drop`).

use crate::packet::Packet;
use crate::queue::mark;
use units::{Bitrate, Bytes, Duration, Stream, Time};

/// The largest packet of a link (Linux `psched_mtu` of an Ethernet device).
pub(super) const MTU: Bytes = Bytes::new(1_514);
/// The ratio of the interval to the target (tc-cake(8): the target is 5 %).
const TARGET_SHARE: u64 = 20;
/// The smallest target that tc sets.
const MIN_TARGET: Duration = Duration::from_micros(1);
/// BLUE's steps in units of 2⁻³²: up at a full queue, down at an empty one (Linux `cake_set_rate`:
/// 1/256 and 1/4096).
const BLUE_UP: u32 = 1 << 24;
const BLUE_DOWN: u32 = 1 << 20;

/// The parameters of the control law of a tin (Linux `cake_set_rate`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parameters {
    /// The target sojourn time: at least one and a half packets at the tin's rate.
    pub(super) target: Duration,
    /// The time in which a sender can react, extended by as much as the target was raised.
    pub(super) interval: Duration,
    /// The transmission time of the largest packet at the tin's rate.
    pub(super) mtu_time: Duration,
}

impl Parameters {
    pub(super) fn new(rtt: Duration, rate: Option<Bitrate>) -> Self {
        let mtu_time = rate.and_then(|rate| rate.time_to_send(MTU)).unwrap_or(Duration::ZERO);
        let base = (rtt / TARGET_SHARE).max(MIN_TARGET);
        let target = base.max(mtu_time * 3 / 2);
        Self { target, interval: (rtt + target.saturating_sub(base)).max(target * 2), mtu_time }
    }
}

/// The state of a flow's AQM.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cobalt {
    /// The time between signals is interval / √count.
    count: u32,
    /// When the next signal is due; with a count of zero, when the state may be forgotten.
    next: Time,
    dropping: bool,
    /// BLUE's drop probability, in 2⁻³².
    blue: u32,
    blue_changed: Time,
}

impl Cobalt {
    /// Decides about a packet at the head: marks it if a signal is due and it is ECN-capable, or
    /// returns that it is to be dropped.
    pub(super) fn drops(
        &mut self,
        parameters: &Parameters,
        now: Time,
        sojourn: Duration,
        packet: &mut Packet,
        random: &mut Stream,
    ) -> bool {
        let over = sojourn > parameters.target && sojourn > parameters.mtu_time * 4;
        let due = self.count > 0 && now >= self.next;
        if over && !self.dropping {
            self.next = now + self.gap(parameters);
        }
        if over {
            self.count = self.count.max(1);
        }
        self.dropping = over;
        let mut drop = false;
        if due && over {
            drop = !mark(packet);
            self.count = self.count.saturating_add(1);
            self.next += self.gap(parameters);
        } else if due {
            while self.count > 0 && now >= self.next {
                self.relax(parameters);
            }
        }
        // BLUE drops ECN-capable packets too: an unresponsive flow ignores marks.
        if self.blue > 0 && !drop {
            drop = random.next_u64() >> 32 < u64::from(self.blue);
        }
        if self.count == 0 {
            self.next = now + parameters.interval;
        } else if !drop {
            // A signal that was late does not shorten the time to the next one.
            self.next = self.next.max(now);
        }
        drop
    }

    /// The flow lost a packet because memory was full (Linux `cobalt_queue_full`).
    pub(super) fn overflowed(&mut self, parameters: &Parameters, now: Time) {
        if now.saturating_since(self.blue_changed) > parameters.target {
            self.blue = self.blue.saturating_add(BLUE_UP);
            self.blue_changed = now;
        }
        self.dropping = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// The flow was served and had no packet (Linux `cobalt_queue_empty`).
    pub(super) fn emptied(&mut self, parameters: &Parameters, now: Time) {
        if self.blue > 0 && now.saturating_since(self.blue_changed) > parameters.target {
            self.blue = self.blue.saturating_sub(BLUE_DOWN);
            self.blue_changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.next {
            self.relax(parameters);
        }
    }

    /// Whether the state equals the initial state and may be forgotten.
    pub(super) fn rests(&self, now: Time) -> bool {
        self.blue == 0 && self.count == 0 && now >= self.next
    }

    fn relax(&mut self, parameters: &Parameters) {
        self.count -= 1;
        self.next += self.gap(parameters);
    }

    /// The time between signals: interval / √count.
    fn gap(&self, parameters: &Parameters) -> Duration {
        if self.count <= 1 {
            return parameters.interval;
        }
        Duration::from_secs_f64(parameters.interval.as_secs_f64() / f64::from(self.count).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use units::Seed;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// One packet leaves per millisecond after `sojourn` ms. Returns the times of drops and of
    /// marks in ms.
    fn signals(ecn: Ecn, sojourn: u64, until: u64) -> (Vec<u64>, Vec<u64>) {
        let parameters = Parameters::new(ms(100), None);
        let (mut cobalt, mut random) = (Cobalt::default(), Seed(1).stream("queue"));
        let (mut dropped, mut marked) = (Vec::new(), Vec::new());
        for now in 0..until {
            let mut packet = Packet { ecn, ..Packet::default() };
            if cobalt.drops(
                &parameters,
                Time::from_millis(now),
                ms(sojourn),
                &mut packet,
                &mut random,
            ) {
                dropped.push(now);
            }
            if packet.ecn == Ecn::Ce {
                marked.push(now);
            }
        }
        (dropped, marked)
    }

    #[test]
    fn signals_follow_the_control_law_above_the_target() {
        // One interval after the first packet, then after 100 ms / √2, / √3, / √4.
        let times = vec![100, 171, 229, 279];
        assert_eq!(signals(Ecn::NotEct, 6, 300), (times.clone(), vec![]));
        assert_eq!(signals(Ecn::Ect0, 6, 300), (vec![], times));
        assert_eq!(signals(Ecn::NotEct, 5, 10_000), (vec![], vec![]));
    }

    #[test]
    fn target_and_interval_grow_at_low_rates() {
        let fast = Parameters::new(ms(100), Some(Bitrate::from_mbps(100)));
        assert_eq!((fast.target, fast.interval), (ms(5), ms(100)));
        // A packet of 1514 bytes takes 12.112 ms at 1 Mbit/s, one and a half 18.168 ms.
        let slow = Parameters::new(ms(100), Some(Bitrate::from_mbps(1)));
        assert_eq!((slow.target.as_micros(), slow.interval.as_micros()), (18_168, 113_168));
        let lan = Parameters::new(ms(1), None);
        assert_eq!((lan.target, lan.interval), (Duration::from_micros(50), ms(1)));
    }

    #[test]
    fn the_state_is_forgotten_after_the_queue_was_short() {
        let parameters = Parameters::new(ms(100), None);
        let (mut cobalt, mut random) = (Cobalt::default(), Seed(1).stream("queue"));
        let mut packet = Packet::default();
        for now in 0..300 {
            cobalt.drops(&parameters, Time::from_millis(now), ms(6), &mut packet, &mut random);
        }
        let mut now = 300;
        while !cobalt.rests(Time::from_millis(now)) {
            cobalt.emptied(&parameters, Time::from_millis(now));
            now += 1;
        }
        // From a count of 5 down to 0, after the gaps at counts of 5, 4, 3, 2 and 1.
        assert!((550..750).contains(&now), "{now} ms");
    }

    #[test]
    fn blue_drops_even_ecn_capable_packets_of_a_flow_that_keeps_overflowing() {
        let parameters = Parameters::new(ms(100), None);
        let (mut cobalt, mut random) = (Cobalt::default(), Seed(1).stream("queue"));
        for now in 1..=64 {
            cobalt.overflowed(&parameters, Time::from_millis(now * 6));
        }
        let mut dropped = 0;
        for now in 0..10_000 {
            let mut packet = Packet { ecn: Ecn::Ect0, ..Packet::default() };
            let now = Time::from_millis(400 + now);
            dropped += u32::from(cobalt.drops(&parameters, now, ms(1), &mut packet, &mut random));
        }
        assert!((2_400..2_600).contains(&dropped), "64 steps of 1/256 are a quarter: {dropped}");
    }
}
