//! The configuration of a wired line.

use crate::impair::{JitterConfig, LossConfig};
use crate::queue::QueueConfig;
use crate::schedule::Schedule;
use crate::trace::Trace;
use std::sync::Arc;
use units::{Bitrate, Bytes, Duration, Time};

/// One direction of a wired access.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LineConfig {
    /// The limit of the rate.
    pub rate: RateConfig,
    /// The bytes that may leave at once, if a token bucket keeps the rate (tc-tbf); `None`: the
    /// line sends one packet after the other. Without effect on a rate that is unlimited or a
    /// trace.
    pub burst: Option<Bytes>,
    /// One-way propagation delay.
    pub delay: Schedule<Duration>,
    /// Random delay in addition; never reorders packets.
    pub jitter: JitterConfig,
    /// Random loss, before the queue.
    pub loss: LossConfig,
    /// The queue in front of the line.
    pub queue: QueueConfig,
    /// A shaper in another device: for packets that go up in front of the line, as in a home
    /// gateway before its modem; for packets that come down behind it, as on an ifb device. `None`:
    /// there is none. A discipline that does not shape passes all packets on at once.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub shaper: Option<QueueConfig>,
    /// What the line sends in addition to each packet, such as the header of PPPoE and the frame of
    /// the modem (tc-stab(8)). Queues do not count it. Without effect on a token bucket and on a
    /// line of unlimited rate.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_none"))]
    pub overhead: Bytes,
}

impl Default for LineConfig {
    fn default() -> Self {
        Self {
            rate: RateConfig::Unlimited,
            burst: None,
            delay: Schedule::constant(Duration::ZERO),
            jitter: JitterConfig::None,
            loss: LossConfig::None,
            queue: QueueConfig::default(),
            shaper: None,
            overhead: Bytes::ZERO,
        }
    }
}

impl LineConfig {
    /// Whether packets can wait for the line: its rate is limited, its queue shapes, or it has a
    /// shaper.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        !matches!(self.rate, RateConfig::Unlimited) || self.queue.shapes() || self.shaper.is_some()
    }

    /// The most bytes of a flow that can wait for the line; `None` if nothing waits or the queue
    /// has no limit. A limit in time is taken at the rate of the beginning, or at a trace's mean.
    /// With a shaper, the bytes that can wait there.
    #[must_use]
    pub fn buffer(&self) -> Option<Bytes> {
        let rate = match &self.rate {
            RateConfig::Unlimited => None,
            RateConfig::Scheduled(rate) => Some(rate.at(Time::ZERO)),
            RateConfig::Trace(trace) => Some(trace.mean_rate()),
        };
        let queue = self.shaper.as_ref().filter(|shaper| shaper.shapes()).unwrap_or(&self.queue);
        self.is_limited().then(|| queue.buffer(rate))?
    }
}

/// Whether there is no overhead, which then is not written: stores of before have none.
#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(overhead: &Bytes) -> bool {
    *overhead == Bytes::ZERO
}

/// The limit of a line's rate.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum RateConfig {
    /// No limit: packets pass at once.
    Unlimited,
    /// A rate over time; at a rate of zero packets wait until it rises.
    Scheduled(Schedule<Bitrate>),
    /// A recorded or generated capacity, which repeats.
    Trace(Arc<Trace>),
}

/// A change of a line in use.
#[derive(Clone, Debug)]
pub enum Change {
    /// The rate from now on, also for the packet in transmission.
    Rate(RateConfig),
    /// The propagation delay of packets that are sent from now on.
    Delay(Duration),
    /// The loss of packets that enter from now on. It draws from a new random stream.
    Loss(LossConfig),
}
