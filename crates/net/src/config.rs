//! The configuration of a network.

use crate::access::{AccessConfig, LteConfig, LteError, WifiConfig, WifiError};
use crate::impair::{JitterConfig, LossConfig};
use crate::packet::{Direction, HostId};
use crate::queue::QueueConfig;
use crate::schedule::Schedule;
use crate::trace::Trace;
use std::sync::Arc;
use units::{Bitrate, Bytes, Duration, Time};

/// Hosts, the accesses that they share, and the core.
#[derive(Clone, Debug)]
pub struct NetworkConfig {
    /// The hosts; [`HostId`] is the index in this list.
    pub hosts: Vec<HostConfig>,
    /// The Wi-Fi cells, which hosts refer to by index.
    pub wifi: Vec<WifiConfig>,
    /// The LTE networks, which hosts refer to by index.
    pub lte: Vec<LteConfig>,
    /// The one-way delay of the core, the same between any two accesses.
    pub core_delay: Schedule<Duration>,
}

impl NetworkConfig {
    /// The host of this name; `None` if there is none.
    #[must_use]
    pub fn host_named(&self, name: &str) -> Option<HostId> {
        (0..).zip(&self.hosts).find(|(_, host)| host.name == name).map(|(index, _)| HostId(index))
    }

    /// The most bytes of a flow that can wait in one direction of a host's access: see
    /// [`AccessConfig::buffer`]. `None` also if there is no such host.
    #[must_use]
    pub fn buffer(&self, host: HostId, direction: Direction) -> Option<Bytes> {
        self.hosts.get(usize::from(host.0))?.access.buffer(self, direction)
    }
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            wifi: Vec::new(),
            lte: Vec::new(),
            core_delay: Schedule::constant(Duration::ZERO),
        }
    }
}

/// A host.
#[derive(Clone, Debug)]
pub struct HostConfig {
    /// Its unique name.
    pub name: String,
    /// Its access network.
    pub access: AccessConfig,
}

/// One direction of a wired access.
#[derive(Clone, Debug)]
pub struct LineConfig {
    /// The limit of the rate.
    pub rate: RateConfig,
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
#[derive(Clone, Debug)]
pub enum RateConfig {
    /// No limit: packets pass at once.
    Unlimited,
    /// A rate over time; at a rate of zero packets wait until it rises.
    Scheduled(Schedule<Bitrate>),
    /// A recorded or generated capacity, which repeats.
    Trace(Arc<Trace>),
}

/// A change to a line while it is in use.
#[derive(Clone, Debug)]
pub enum Change {
    /// The rate from now on, also for the packet in transmission.
    Rate(RateConfig),
    /// The propagation delay of packets that are sent from now on.
    Delay(Duration),
    /// The loss of packets that enter from now on. It draws from a new random stream.
    Loss(LossConfig),
}

/// Why a network cannot be built: what is wrong and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A [`HostId`] has 16 bits.
    #[error("{0} hosts are more than the 65535 that there can be")]
    TooManyHosts(usize),
    /// Two hosts have this name.
    #[error("two hosts are called '{0}'; give one another name")]
    SameName(String),
    /// A Wi-Fi cell, or a station of one.
    #[error(transparent)]
    Wifi(#[from] WifiError),
    /// An LTE network, or a terminal of one.
    #[error(transparent)]
    Lte(#[from] LteError),
}
