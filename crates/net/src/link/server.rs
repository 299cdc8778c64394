//! Serialisation: how long a packet occupies the line.

use crate::config::RateConfig;
use crate::packet::Packet;
use units::{Bitrate, Bytes, Duration, Time};

/// Sends one packet at a time, at the rate in force. A change of rate in the middle of a packet holds for
/// its remaining bits; at a rate of zero they wait.
pub(crate) struct Server {
    rate: RateConfig,
    busy: Option<Busy>,
    /// When the last packet had been sent, and what the line could have sent beyond it by then, in 10⁻⁹ bit: of an
    /// opportunity of a trace the rest, which small packets share; otherwise less than a nanosecond's worth, without
    /// which the rounding of each packet's end would slow the line. Lost if nothing follows at once.
    spare: (Time, u128),
}

struct Busy {
    packet: Packet,
    /// What is left to send, in 10⁻⁹ bit: bit/s times nanoseconds, so that nothing is rounded away.
    left: u128,
    since: Time,
    /// When it will have been sent, or the rate changes, whichever comes first.
    due: Option<Time>,
}

impl Server {
    pub(crate) fn new(rate: &RateConfig) -> Self {
        Self { rate: rate.clone(), busy: None, spare: (Time::ZERO, 0) }
    }

    /// Whether packets pass at once.
    pub(crate) fn is_unlimited(&self) -> bool {
        matches!(self.rate, RateConfig::Unlimited)
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.busy.is_none()
    }

    /// The size of the packet that is being sent.
    pub(crate) fn bytes(&self) -> Bytes {
        self.busy.as_ref().map_or(Bytes::ZERO, |busy| busy.packet.size)
    }

    /// The rate in force; `None` if there is no limit. Of a trace's opportunities, the mean over the second around `now`.
    pub(crate) fn rate(&self, now: Time) -> Option<Bitrate> {
        match &self.rate {
            RateConfig::Unlimited => None,
            RateConfig::Scheduled(schedule) => Some(schedule.at(now)),
            RateConfig::Trace(trace) => Some(trace.rate_at(now)),
        }
    }

    /// The first rate above zero: what a limit in time means before that rate is in force.
    pub(crate) fn first_rate(&self) -> Option<Bitrate> {
        match &self.rate {
            RateConfig::Unlimited => None,
            RateConfig::Scheduled(schedule) => schedule.values().find(|&rate| rate > Bitrate::ZERO),
            RateConfig::Trace(trace) => Some(trace.mean_rate()),
        }
    }

    /// Begins to send a packet.
    pub(crate) fn start(&mut self, now: Time, packet: Packet) {
        debug_assert!(self.busy.is_none(), "one packet at a time");
        let size = u128::from(packet.size.bits()) * 1_000_000_000;
        let spare = if self.spare.0 == now { self.spare.1.min(size) } else { 0 };
        self.spare.1 -= spare;
        let left = size - spare;
        let due = if left == 0 { Some(now) } else { self.plan(now, left) };
        self.busy = Some(Busy { packet, left, since: now, due });
    }

    /// Nothing follows the packet that has been sent: what the line could have sent besides is lost.
    pub(crate) fn rest(&mut self) {
        self.spare.1 = 0;
    }

    /// When something is due.
    pub(crate) fn due(&self) -> Option<Time> {
        self.busy.as_ref().and_then(|busy| busy.due)
    }

    /// Goes on at `now`; returns the packet if it has been sent.
    pub(crate) fn advance(&mut self, now: Time) -> Option<Packet> {
        let busy = self.busy.as_ref()?;
        let (left, since) = (busy.left, busy.since);
        if left == 0 {
            return self.busy.take().map(|busy| busy.packet);
        }
        let done = self.sent(since, now);
        if done >= left {
            self.spare = (now, done - left);
            return self.busy.take().map(|busy| busy.packet);
        }
        let due = self.plan(now, left - done);
        if let Some(busy) = &mut self.busy {
            (busy.left, busy.since, busy.due) = (left - done, now, due);
        }
        None
    }

    /// What is sent between two instants, between which the rate does not change.
    fn sent(&self, from: Time, to: Time) -> u128 {
        match &self.rate {
            RateConfig::Unlimited => u128::MAX,
            RateConfig::Scheduled(schedule) => product(schedule.at(from), to.saturating_since(from)),
            RateConfig::Trace(trace) => trace.sent(from, to),
        }
    }

    /// When to advance next: at the packet's end or at a change of the rate.
    fn plan(&self, now: Time, left: u128) -> Option<Time> {
        let (rate, change) = match &self.rate {
            RateConfig::Unlimited => return Some(now),
            RateConfig::Scheduled(schedule) => (schedule.at(now), schedule.next_change(now)),
            // Between opportunities nothing passes.
            RateConfig::Trace(trace) if trace.is_opportunities() => {
                (Bitrate::ZERO, Some(trace.next_change(now)))
            }
            RateConfig::Trace(trace) => (trace.rate_at(now), Some(trace.next_change(now))),
        };
        let end = time_for(left, rate).map(|span| now + span);
        let due = match (end, change) {
            (Some(end), Some(change)) => Some(end.min(change)),
            (end, change) => end.or(change),
        };
        // The end of time never comes.
        due.filter(|&due| due < Time::MAX)
    }
}

pub(crate) fn product(rate: Bitrate, span: Duration) -> u128 {
    u128::from(rate.as_bps()) * u128::from(span.as_nanos())
}

/// How long `left` (10⁻⁹ bit) takes, rounded up to the next nanosecond; `None` at a rate of zero.
pub(crate) fn time_for(left: u128, rate: Bitrate) -> Option<Duration> {
    // Packets below 2 GB fit 64 bits, where division is several times faster.
    let nanos = match u64::try_from(left) {
        Ok(left) if rate > Bitrate::ZERO => left.div_ceil(rate.as_bps()),
        _ => {
            let nanos = left
                .checked_add(u128::from(rate.as_bps()))?
                .checked_sub(1)?
                .checked_div(u128::from(rate.as_bps()))?;
            u64::try_from(nanos).unwrap_or(u64::MAX)
        }
    };
    Some(Duration::from_nanos(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_round_up_and_a_zero_rate_takes_for_ever() {
        let rate = Bitrate::from_bps(3);
        assert_eq!(time_for(10, rate), Some(Duration::from_nanos(4)));
        assert_eq!(time_for(9, rate), Some(Duration::from_nanos(3)));
        assert_eq!(time_for(3u128 << 64, rate), Some(Duration::MAX));
        assert_eq!(time_for(1u128 << 65, Bitrate::from_bps(4)), Some(Duration::from_nanos(1 << 63)));
        assert_eq!(time_for(9, Bitrate::ZERO), None);
        assert_eq!(time_for(1u128 << 65, Bitrate::ZERO), None);
    }
}
