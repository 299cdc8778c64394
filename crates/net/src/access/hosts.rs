//! The configuration of a network: its hosts, and the accesses that they share.

use super::{AccessConfig, LteConfig, LteError, WifiConfig, WifiError};
use crate::packet::{Direction, HostId};
use crate::schedule::Schedule;
use units::{Bytes, Duration};

/// Hosts, the accesses that they share, and the core.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
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
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct HostConfig {
    /// Its unique name.
    pub name: String,
    /// Its access network.
    pub access: AccessConfig,
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
