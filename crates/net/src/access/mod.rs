//! Access networks: what joins a host to the core. One file or folder each.

mod lte;
mod passage;
mod wifi;
mod wired;

pub use lte::{
    BearerConfig, ChannelBandwidth, FadingTrace, FastFading, Handover, Layout, LteConfig,
    LteTerminal, RlcMode, Scheduler, Shadowing, Start, UrbanLoss,
};
pub(crate) use lte::{Cellular, Terminal};
pub use wifi::{
    Aggregation, Buffer, ChannelAccess, ChannelWidth, Fading, GuardInterval, PathLoss, RateControl,
    WifiConfig, WifiDevice, WifiStation,
};
pub(crate) use wifi::{Cell, Seat};
pub(crate) use wired::Wired;

use crate::accounting::Accounting;
use crate::config::{LineConfig, RateConfig};
use crate::packet::{Direction, DropReason, HostId, Packet};
use units::{Duration, Time};

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

/// Told of what an access that hosts share does with packets.
pub(crate) trait CellEvents {
    /// A packet came out of it that way.
    fn arrived(&mut self, direction: Direction, packet: Packet);
    /// A packet was given up.
    fn dropped(&mut self, direction: Direction, packet: Packet, reason: DropReason);
    /// A packet left its device, where it had been for so long.
    fn departed(&mut self, direction: Direction, packet: &Packet, sojourn: Duration);
}

/// An access that hosts share.
pub(crate) enum Shared {
    /// A Wi-Fi cell.
    Wifi(Box<Cell>),
    /// An LTE network.
    Lte(Box<Cellular>),
}

/// Hands a call on to the access at hand.
macro_rules! each {
    ($shared:expr, $name:ident => $call:expr) => {
        match $shared {
            Shared::Wifi($name) => $call,
            Shared::Lte($name) => $call,
        }
    };
}

impl Shared {
    /// A packet comes to whoever sends it there: a host's own, or its base station or access point.
    pub(crate) fn enter(
        &mut self,
        now: Time,
        direction: Direction,
        packet: Packet,
        events: &mut impl CellEvents,
    ) {
        each!(self, shared => shared.enter(now, direction, packet, events));
    }

    /// When it next wants to be woken.
    pub(crate) fn due(&self) -> Option<Time> {
        each!(self, shared => shared.due())
    }

    /// Does what is due.
    pub(crate) fn advance(&mut self, now: Time, events: &mut impl CellEvents) {
        each!(self, shared => shared.advance(now, events));
    }

    /// Shows the truth about one direction of a host.
    pub(crate) fn show(
        &self,
        host: HostId,
        direction: Direction,
        sink: &mut dyn FnMut(&'static str, f64),
    ) {
        each!(self, shared => shared.show(host, direction, sink));
    }

    /// What went through one direction of a host.
    pub(crate) fn accounting(&self, host: HostId, direction: Direction) -> Accounting {
        each!(self, shared => shared.accounting(host, direction))
    }
}
