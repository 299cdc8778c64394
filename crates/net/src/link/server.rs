//! Serialisation: the time that a packet occupies the line.

use crate::config::RateConfig;
use crate::packet::Packet;
use crate::serialisation::{product, time_for};
use crate::trace::OPPORTUNITY;
use units::{Bitrate, Bytes, Time};

/// Sends one packet at a time at the current rate. A change of rate applies to the remaining bits
/// of the packet in transmission; at a rate of zero they wait.
pub(crate) struct Server {
    rate: RateConfig,
    /// What it sends in addition to each packet.
    overhead: Bytes,
    busy: Option<Busy>,
    /// The end of the last packet, and the capacity left over at that time, in 10⁻⁹ bit. For a
    /// trace of opportunities this is the rest of the opportunity, which small packets share.
    /// Otherwise it is less than a nanosecond's worth; without it, rounding up each packet's end
    /// would reduce the rate. Lost unless the next packet follows at once.
    spare: (Time, u128),
}

struct Busy {
    packet: Packet,
    /// The bits left to send at `since`, in 10⁻⁹ bit: bit/s times nanoseconds, without rounding.
    left: u128,
    since: Time,
    /// The next step: the end of the packet, a change of rate, or an opportunity. `None` if the
    /// rate stays zero.
    plan: Option<Plan>,
}

/// The time of the server's next step, and what it sends until then, in 10⁻⁹ bit.
#[derive(Clone, Copy)]
struct Plan {
    at: Time,
    sends: u128,
}

impl Server {
    pub(crate) fn new(rate: &RateConfig, overhead: Bytes) -> Self {
        Self { rate: rate.clone(), overhead, busy: None, spare: (Time::ZERO, 0) }
    }

    /// Whether the rate is unlimited, so that packets take no time.
    #[inline]
    pub(crate) fn is_unlimited(&self) -> bool {
        matches!(self.rate, RateConfig::Unlimited)
    }

    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.busy.is_none()
    }

    /// The size of the packet in transmission.
    pub(crate) fn bytes(&self) -> Bytes {
        self.busy.as_ref().map_or(Bytes::ZERO, |busy| busy.packet.size)
    }

    /// The current rate; `None` if it is unlimited. For a trace of opportunities, the mean over the
    /// second around `now`.
    pub(crate) fn rate(&self, now: Time) -> Option<Bitrate> {
        match &self.rate {
            RateConfig::Unlimited => None,
            RateConfig::Scheduled(schedule) => Some(schedule.at(now)),
            RateConfig::Trace(trace) => Some(trace.rate_at(now)),
        }
    }

    /// The first rate above zero, which defines a queue limit in time until then.
    pub(crate) fn first_rate(&self) -> Option<Bitrate> {
        match &self.rate {
            RateConfig::Unlimited => None,
            RateConfig::Scheduled(schedule) => schedule.values().find(|&rate| rate > Bitrate::ZERO),
            RateConfig::Trace(trace) => Some(trace.mean_rate()),
        }
    }

    /// Begins to send a packet.
    #[inline]
    pub(crate) fn start(&mut self, now: Time, packet: Packet) {
        debug_assert!(self.busy.is_none(), "one packet at a time");
        let size = u128::from((packet.size + self.overhead).bits()) * 1_000_000_000;
        let spare = if self.spare.0 == now { self.spare.1.min(size) } else { 0 };
        self.spare.1 -= spare;
        let left = size - spare;
        let plan = if left == 0 { Some(Plan { at: now, sends: 0 }) } else { self.plan(now, left) };
        self.busy = Some(Busy { packet, left, since: now, plan });
    }

    /// Changes the rate, also for the remaining bits of the packet in transmission. A packet that
    /// waits for an opportunity of a trace has sent no bits since the last one.
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

    /// No packet follows at once: the capacity left over is lost.
    #[inline]
    pub(crate) fn rest(&mut self) {
        self.spare.1 = 0;
    }

    /// When [`Server::advance`] is due; `None` if the server is idle or the rate stays zero.
    #[inline]
    pub(crate) fn due(&self) -> Option<Time> {
        self.busy.as_ref().and_then(|busy| busy.plan).map(|plan| plan.at)
    }

    /// Performs the step that is due; returns the packet if it has been sent.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time) -> Option<Packet> {
        let Busy { packet, left, plan, .. } = *self.busy.as_ref()?;
        let plan = plan.filter(|plan| plan.at <= now)?;
        if plan.sends >= left {
            if left > 0 {
                self.spare = (plan.at, plan.sends - left);
            }
            self.busy = None;
            return Some(packet);
        }
        let left = left - plan.sends;
        let since = plan.at;
        let plan = self.plan(since, left);
        if let Some(busy) = &mut self.busy {
            (busy.left, busy.since, busy.plan) = (left, since, plan);
        }
        None
    }

    #[inline]
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
        // `Time::MAX` stands for never.
        plan.filter(|plan| plan.at < Time::MAX)
    }
}

/// The step to the end of the packet or to the change of rate, whichever is first.
fn until(now: Time, left: u128, rate: Bitrate, change: Option<Time>) -> Option<Plan> {
    let end = time_for(left, rate).map(|span| now + span);
    let at = match (end, change) {
        (Some(end), Some(change)) => end.min(change),
        (end, change) => end.or(change)?,
    };
    Some(Plan { at, sends: product(rate, at.saturating_since(now)) })
}
