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
        }
    }
}

impl LineConfig {
    /// Whether packets can wait for the line: its rate is limited, or its queue shapes.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        !matches!(self.rate, RateConfig::Unlimited) || self.queue.shapes()
    }

    /// The most bytes of a flow that can wait for the line; `None` if nothing waits or the queue
    /// has no limit. A limit in time is taken at the rate of the beginning, or at a trace's mean.
    #[must_use]
    pub fn buffer(&self) -> Option<Bytes> {
        let rate = match &self.rate {
            RateConfig::Unlimited => None,
            RateConfig::Scheduled(rate) => Some(rate.at(Time::ZERO)),
            RateConfig::Trace(trace) => Some(trace.mean_rate()),
        };
        self.is_limited().then(|| self.queue.buffer(rate))?
    }
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
