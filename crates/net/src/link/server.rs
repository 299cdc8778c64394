//! Serialisation: how long a packet occupies the line.

use crate::config::RateConfig;
use crate::packet::Packet;
use crate::trace::Trace;
use units::{Bitrate, Duration, Time};

/// Sends one packet at a time, at the rate in force. A change of rate in the middle of a packet holds for
/// its remaining bits; at a rate of zero they wait.
pub(crate) struct Server {
    rate: RateConfig,
    busy: Option<Busy>,
    /// What the last opportunity of a trace left over, and when: several small packets share one.
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

    /// The rate in force; `None` if there is no limit. For opportunities of a trace, the mean of the trace.
    pub(crate) fn rate(&self, now: Time) -> Option<Bitrate> {
        match &self.rate {
            RateConfig::Unlimited => None,
            RateConfig::Scheduled(schedule) => Some(schedule.at(now)),
            RateConfig::Trace(trace) => Some(trace.rate_at(now)),
        }
    }

    /// Begins to send a packet.
    pub(crate) fn start(&mut self, now: Time, packet: Packet) {
        debug_assert!(self.busy.is_none(), "one packet at a time");
        let size = u128::from(packet.size.bits()) * 1_000_000_000;
        let spare = if self.spare.0 == now { self.spare.1.min(size) } else { 0 };
        self.spare.1 -= spare.min(self.spare.1);
        let left = size - spare;
        let due = if left == 0 { Some(now) } else { self.plan(now, left) };
        self.busy = Some(Busy { packet, left, since: now, due });
    }

    /// When something is due.
    pub(crate) fn due(&self) -> Option<Time> {
        self.busy.as_ref().and_then(|busy| busy.due)
    }

    /// Goes on at `now`; returns the packet if it has been sent.
    pub(crate) fn advance(&mut self, now: Time) -> Option<Packet> {
        let mut busy = self.busy.take()?;
        let done = self.sent(busy.since, now);
        if done >= busy.left {
            if self.trace().is_some_and(Trace::is_opportunities) && done > 0 {
                self.spare = (now, done - busy.left);
            }
            return Some(busy.packet);
        }
        (busy.left, busy.since) = (busy.left - done, now);
        busy.due = self.plan(now, busy.left);
        self.busy = Some(busy);
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

    /// When to advance next.
    fn plan(&self, now: Time, left: u128) -> Option<Time> {
        let change = match &self.rate {
            RateConfig::Unlimited => return Some(now),
            RateConfig::Scheduled(schedule) => schedule.next_change(now),
            RateConfig::Trace(trace) => Some(trace.next_change(now)),
        };
        let rate = match &self.rate {
            RateConfig::Trace(trace) if trace.is_opportunities() => Bitrate::ZERO,
            _ => self.rate(now).unwrap_or(Bitrate::MAX),
        };
        let done = (rate > Bitrate::ZERO).then(|| {
            let nanos = left.div_ceil(u128::from(rate.as_bps()));
            now + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        });
        match (done, change) {
            (Some(done), Some(change)) => Some(done.min(change)),
            (done, change) => done.or(change),
        }
    }

    fn trace(&self) -> Option<&Trace> {
        match &self.rate {
            RateConfig::Trace(trace) => Some(trace),
            _ => None,
        }
    }
}

pub(crate) fn product(rate: Bitrate, span: Duration) -> u128 {
    u128::from(rate.as_bps()) * u128::from(span.as_nanos())
}
