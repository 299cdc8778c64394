//! Serialisation: how long a packet occupies the line.

use crate::config::RateConfig;
use crate::packet::Packet;
use crate::trace::OPPORTUNITY;
use units::{Bitrate, Bytes, Duration, Time};

/// Sends one packet at a time, at the rate in force. A change of rate in the middle of a packet
/// holds for its remaining bits; at a rate of zero they wait.
pub(crate) struct Server {
    rate: RateConfig,
    busy: Option<Busy>,
    /// When the last packet had been sent, and what the line could have sent beyond it by then, in
    /// 10⁻⁹ bit: of an opportunity of a trace the rest, which small packets share; otherwise less
    /// than a nanosecond's worth, without which the rounding of each packet's end would slow the
    /// line. Lost if nothing follows at once.
    spare: (Time, u128),
}

struct Busy {
    packet: Packet,
    /// What was left to send then, in 10⁻⁹ bit: bit/s times nanoseconds, so that nothing is rounded
    /// away.
    left: u128,
    since: Time,
    /// What comes first: its end, a change of the rate, or an opportunity. `None`: the rate is zero
    /// for ever.
    plan: Option<Plan>,
}

/// When the server goes on, and what it will have sent by then, in 10⁻⁹ bit.
#[derive(Clone, Copy)]
struct Plan {
    at: Time,
    sends: u128,
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

    /// The rate in force; `None` if there is no limit. Of a trace's opportunities, the mean over
    /// the second around `now`.
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
        let plan = if left == 0 { Some(Plan { at: now, sends: 0 }) } else { self.plan(now, left) };
        self.busy = Some(Busy { packet, left, since: now, plan });
    }

    /// From now on this limits the line, also what is left of the packet that is being sent. Of an
    /// opportunity of a trace that has not come, nothing has been sent.
    pub(crate) fn set_rate(&mut self, now: Time, rate: RateConfig) {
        let old = std::mem::replace(&mut self.rate, rate);
        let Some(busy) = &mut self.busy else { return };
        let before = match &old {
            RateConfig::Scheduled(schedule) => schedule.at(busy.since),
            RateConfig::Trace(trace) if !trace.is_opportunities() => trace.rate_at(busy.since),
            RateConfig::Trace(_) | RateConfig::Unlimited => Bitrate::ZERO,
        };
        let sent = product(before, now.saturating_since(busy.since));
        busy.left = busy.left.saturating_sub(sent);
        busy.since = now;
        let left = busy.left;
        let plan = if left == 0 { Some(Plan { at: now, sends: 0 }) } else { self.plan(now, left) };
        if let Some(busy) = &mut self.busy {
            busy.plan = plan;
        }
    }

    /// Nothing follows the packet that has been sent: what the line could have sent besides is
    /// lost.
    pub(crate) fn rest(&mut self) {
        self.spare.1 = 0;
    }

    /// When something is due.
    pub(crate) fn due(&self) -> Option<Time> {
        self.busy.as_ref().and_then(|busy| busy.plan).map(|plan| plan.at)
    }

    /// Goes on as planned, at [`Server::due`]; returns the packet if it has been sent.
    pub(crate) fn advance(&mut self, now: Time) -> Option<Packet> {
        let Busy { left, plan, .. } = *self.busy.as_ref()?;
        let plan = plan.filter(|plan| plan.at <= now)?;
        if plan.sends >= left {
            if left > 0 {
                self.spare = (plan.at, plan.sends - left);
            }
            return self.busy.take().map(|busy| busy.packet);
        }
        let left = left - plan.sends;
        let since = plan.at;
        let plan = self.plan(since, left);
        if let Some(busy) = &mut self.busy {
            (busy.left, busy.since, busy.plan) = (left, since, plan);
        }
        None
    }

    fn plan(&self, now: Time, left: u128) -> Option<Plan> {
        let plan = match &self.rate {
            RateConfig::Unlimited => Some(Plan { at: now, sends: left }),
            RateConfig::Scheduled(schedule) => {
                until(now, left, schedule.at(now), schedule.next_change(now))
            }
            RateConfig::Trace(trace) => {
                let (at, opportunities) = trace.next_change(now);
                if trace.is_opportunities() {
                    let sends =
                        u128::from(opportunities) * u128::from(OPPORTUNITY.bits()) * 1_000_000_000;
                    Some(Plan { at, sends })
                } else {
                    until(now, left, trace.rate_at(now), Some(at))
                }
            }
        };
        // The end of time never comes.
        plan.filter(|plan| plan.at < Time::MAX)
    }
}

/// Sends at `rate` until the packet's end or the rate's change.
fn until(now: Time, left: u128, rate: Bitrate, change: Option<Time>) -> Option<Plan> {
    let end = time_for(left, rate).map(|span| now + span);
    let at = match (end, change) {
        (Some(end), Some(change)) => end.min(change),
        (end, change) => end.or(change)?,
    };
    Some(Plan { at, sends: product(rate, at.saturating_since(now)) })
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
        assert_eq!(
            time_for(1u128 << 65, Bitrate::from_bps(4)),
            Some(Duration::from_nanos(1 << 63))
        );
        assert_eq!(time_for(9, Bitrate::ZERO), None);
        assert_eq!(time_for(1u128 << 65, Bitrate::ZERO), None);
    }
}
