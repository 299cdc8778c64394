//! A network as data.

use crate::access::{AccessConfig, LteConfig, LteError, WifiConfig, WifiError};
use crate::impair::{JitterConfig, LossConfig};
use crate::packet::{Direction, HostId};
use crate::queue::QueueConfig;
use crate::schedule::Schedule;
use crate::trace::Trace;
use std::sync::Arc;
use units::{Bitrate, Bytes, Duration, Time};

/// The hosts and what joins them.
#[derive(Clone, Debug)]
pub struct NetworkConfig {
    /// Hosts; [`HostId`](crate::HostId) is the place in this list.
    pub hosts: Vec<HostConfig>,
    /// Wi-Fi cells, which hosts name by their place in this list.
    pub wifi: Vec<WifiConfig>,
    /// LTE networks, which hosts name by their place in this list.
    pub lte: Vec<LteConfig>,
    /// The delay of the core, one way between any two accesses.
    pub core_delay: Schedule<Duration>,
}

impl NetworkConfig {
    /// The host of this name.
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
    /// Its name, unique.
    pub name: String,
    /// Its access network.
    pub access: AccessConfig,
}

/// One direction of a wired access.
#[derive(Clone, Debug)]
pub struct LineConfig {
    /// What limits it.
    pub rate: RateConfig,
    /// Propagation delay, one way.
    pub delay: Schedule<Duration>,
    /// Random delay on top; never reorders.
    pub jitter: JitterConfig,
    /// Random loss, before the queue.
    pub loss: LossConfig,
    /// Where packets wait for the line.
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

/// What limits a line.
#[derive(Clone, Debug)]
pub enum RateConfig {
    /// Nothing: packets pass at once.
    Unlimited,
    /// A rate over time; zero holds everything until the rate returns.
    Scheduled(Schedule<Bitrate>),
    /// A recorded or generated capacity, which repeats.
    Trace(Arc<Trace>),
}

/// A change to a line while it is in use.
#[derive(Clone, Debug)]
pub enum Change {
    /// From now on this limits it.
    Rate(RateConfig),
    /// Packets that begin to propagate from now on take so long.
    Delay(Duration),
    /// Packets that come from now on are lost so. The random numbers are those of a new stream.
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
