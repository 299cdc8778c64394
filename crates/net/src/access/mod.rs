//! Access networks: what joins a host to the core. One file or folder per kind; the facts about a
//! kind are methods of [`AccessConfig`].

mod hosts;
mod lte;
mod passage;
mod wifi;
mod wired;

pub use hosts::{ConfigError, HostConfig, NetworkConfig};
pub use lte::{
    BearerConfig, BearerError, ChannelBandwidth, FastFading, Handover, Layout, LteConfig, LteError,
    LteProblem, LteTerminal, RlcMode, Scheduler, Shadowing, Start, UrbanLoss,
};
pub(crate) use lte::{Cellular, Terminal};
pub use wifi::{
    Aggregation, Buffer, ChannelAccess, ChannelWidth, DriverOrder, Fading, GuardInterval, PathLoss,
    RateControl, WifiConfig, WifiDevice, WifiError, WifiStation,
};
pub(crate) use wifi::{Cell, Station};
pub(crate) use wired::Wired;

use crate::accounting::Accounting;
use crate::config::LineConfig;
use crate::packet::{Direction, DropReason, HostId, Packet};
use std::fmt;
use units::{Bytes, Duration, Seed, Time};

/// A host's access network.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[expect(clippy::large_enum_variant, reason = "one per host, made once per run")]
pub enum AccessConfig {
    /// Two wired lines, one per direction.
    Wired {
        /// From the host.
        up: LineConfig,
        /// To the host.
        down: LineConfig,
    },
    /// A station of a Wi-Fi cell.
    Wifi(WifiStation),
    /// A terminal of an LTE network.
    Lte(LteTerminal),
}

/// The technology of an access network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// Two wired lines.
    Wired,
    /// Wi-Fi.
    Wifi,
    /// LTE.
    Lte,
}

/// As in "is on …": `a wired line`, `Wi-Fi`, `LTE`.
impl fmt::Display for AccessKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Wired => "a wired line",
            Self::Wifi => "Wi-Fi",
            Self::Lte => "LTE",
        })
    }
}

impl AccessConfig {
    /// Its technology.
    #[must_use]
    pub const fn kind(&self) -> AccessKind {
        match self {
            Self::Wired { .. } => AccessKind::Wired,
            Self::Wifi(_) => AccessKind::Wifi,
            Self::Lte(_) => AccessKind::Lte,
        }
    }

    /// One direction of a wired access; `None` if it is not wired.
    #[must_use]
    pub const fn line(&self, direction: Direction) -> Option<&LineConfig> {
        match (self, direction) {
            (Self::Wired { up, .. }, Direction::Up) => Some(up),
            (Self::Wired { down, .. }, Direction::Down) => Some(down),
            (Self::Wifi(_) | Self::Lte(_), _) => None,
        }
    }

    /// The Wi-Fi cell of a station, as an index into [`NetworkConfig::wifi`].
    #[must_use]
    pub const fn wifi_cell(&self) -> Option<usize> {
        if let Self::Wifi(station) = self { Some(station.cell) } else { None }
    }

    /// The LTE network of a terminal, as an index into [`NetworkConfig::lte`].
    #[must_use]
    pub const fn lte_network(&self) -> Option<usize> {
        if let Self::Lte(terminal) = self { Some(terminal.network) } else { None }
    }

    /// Whether packets can wait in that direction.
    #[must_use]
    pub fn is_limited(&self, direction: Direction) -> bool {
        self.line(direction).is_none_or(LineConfig::is_limited)
    }

    /// The most bytes of a flow that can wait in that direction; of several bearers, in the one
    /// with the smallest buffer. `None` if nothing waits there or there is no limit. `network` is
    /// the configuration that the access is part of.
    #[must_use]
    pub fn buffer(&self, network: &NetworkConfig, direction: Direction) -> Option<Bytes> {
        match (self, direction) {
            (Self::Wired { .. }, _) => self.line(direction)?.buffer(),
            (Self::Wifi(station), Direction::Up) => station.device.buffer.limit(),
            (Self::Wifi(station), Direction::Down) => {
                network.wifi.get(station.cell)?.ap.buffer.limit()
            }
            (Self::Lte(terminal), _) => network.lte.get(terminal.network)?.buffer(direction),
        }
    }
}

/// What joins a host to the core.
pub(crate) enum Access {
    /// A pair of lines that belongs to the host.
    Wired(Box<Wired>),
    /// An access that several hosts share, as an index into [`Shared::all`].
    Shared(usize),
}

impl Access {
    /// # Errors
    /// If the access's configuration is impossible, or that of the cell or network it is in.
    pub(crate) fn new(
        host: &HostConfig,
        network: &NetworkConfig,
        seed: Seed,
    ) -> Result<Self, ConfigError> {
        match &host.access {
            AccessConfig::Wired { up, down } => {
                Ok(Self::Wired(Box::new(Wired::new(&host.name, up, down, seed))))
            }
            AccessConfig::Wifi(station) => {
                station.check(&host.name, &network.wifi)?;
                Ok(Self::Shared(station.cell))
            }
            AccessConfig::Lte(terminal) => {
                terminal.check(&host.name, &network.lte)?;
                Ok(Self::Shared(network.wifi.len() + terminal.network))
            }
        }
    }
}

/// Receives what an access that hosts share does with packets.
pub(crate) trait CellEvents {
    /// A packet came out of the access in that direction.
    fn arrived(&mut self, direction: Direction, packet: Packet);
    /// A packet was dropped.
    fn dropped(&mut self, direction: Direction, packet: Packet, reason: DropReason);
    /// A packet left its device, `sojourn` after it had arrived there.
    fn departed(&mut self, direction: Direction, packet: &Packet, sojourn: Duration);
}

/// An access that hosts share.
pub(crate) enum Shared {
    /// A Wi-Fi cell.
    Wifi(Box<Cell>),
    /// An LTE network.
    Lte(Box<Cellular>),
}

/// Calls a method of whichever access it is.
macro_rules! each {
    ($shared:expr, $name:ident => $call:expr) => {
        match $shared {
            Shared::Wifi($name) => $call,
            Shared::Lte($name) => $call,
        }
    };
}

impl Shared {
    /// The Wi-Fi cells of a network, then the LTE networks.
    pub(crate) fn all(network: &NetworkConfig, seed: Seed) -> Vec<Self> {
        let hosts = || (0..).map(HostId).zip(&network.hosts);
        let cells = network.wifi.iter().enumerate().map(|(index, cell)| {
            let stations = hosts().filter_map(|(id, host)| match &host.access {
                AccessConfig::Wifi(station) if station.cell == index => {
                    Some((id, host.name.as_str(), station))
                }
                _ => None,
            });
            Self::Wifi(Box::new(Cell::new(cell, &stations.collect::<Vec<Station<'_>>>(), seed)))
        });
        let networks = network.lte.iter().enumerate().map(|(index, lte)| {
            let terminals = hosts().filter_map(|(id, host)| match &host.access {
                AccessConfig::Lte(terminal) if terminal.network == index => {
                    Some((id, host.name.as_str(), terminal))
                }
                _ => None,
            });
            let terminals = terminals.collect::<Vec<Terminal<'_>>>();
            Self::Lte(Box::new(Cellular::new(lte, &terminals, seed)))
        });
        cells.chain(networks).collect()
    }

    /// The LTE network, if it is one.
    pub(crate) fn lte(&mut self) -> Option<&mut Cellular> {
        if let Self::Lte(network) = self { Some(network) } else { None }
    }

    /// Its technology.
    pub(crate) const fn kind(&self) -> AccessKind {
        match self {
            Self::Wifi(_) => AccessKind::Wifi,
            Self::Lte(_) => AccessKind::Lte,
        }
    }

    /// Lets a packet in: up at the host's device, down at its access point or base station.
    pub(crate) fn enter(
        &mut self,
        now: Time,
        direction: Direction,
        packet: Packet,
        events: &mut impl CellEvents,
    ) {
        each!(self, shared => shared.enter(now, direction, packet, events));
    }

    /// When [`Self::advance`] is next due; `None` if nothing is.
    pub(crate) fn due(&self) -> Option<Time> {
        each!(self, shared => shared.due())
    }

    /// Does everything that is due at `now`.
    pub(crate) fn advance(&mut self, now: Time, events: &mut impl CellEvents) {
        each!(self, shared => shared.advance(now, events));
    }

    /// Passes the state of one direction of a host's access to `sink`, by name.
    pub(crate) fn show(
        &self,
        host: HostId,
        direction: Direction,
        sink: &mut dyn FnMut(&'static str, f64),
    ) {
        each!(self, shared => shared.show(host, direction, sink));
    }

    /// The packet counts of one direction of a host's access.
    pub(crate) fn accounting(&self, host: HostId, direction: Direction) -> Accounting {
        each!(self, shared => shared.accounting(host, direction))
    }
}
