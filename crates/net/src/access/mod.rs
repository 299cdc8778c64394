//! Access networks: what joins a host to the core. One file each.

mod lte;
mod wifi;
mod wired;

pub use lte::{
    BearerConfig, ChannelBandwidth, FadingTrace, FastFading, Handover, Layout, LteConfig, LteTerminal,
    RlcMode, Scheduler, Shadowing, Start, UrbanLoss,
};
pub use wifi::{
    Aggregation, Buffer, ChannelAccess, ChannelWidth, Fading, GuardInterval, PathLoss, RateControl,
    WifiConfig, WifiDevice, WifiStation,
};
pub(crate) use wifi::{Cell, CellEvents, Seat};
pub(crate) use wired::Wired;

use crate::config::{LineConfig, RateConfig};
use crate::packet::Direction;

/// A host's access network.
#[derive(Clone, Debug)]
pub enum AccessConfig {
    /// A wired line; each direction its own.
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

impl AccessConfig {
    /// Whether a queue forms that way.
    #[must_use]
    pub fn is_limited(&self, direction: Direction) -> bool {
        let line = match (self, direction) {
            (Self::Wired { up, .. }, Direction::Up) => up,
            (Self::Wired { down, .. }, Direction::Down) => down,
            (Self::Wifi(_) | Self::Lte(_), _) => return true,
        };
        !matches!(line.rate, RateConfig::Unlimited) || line.queue.shapes()
    }
}
