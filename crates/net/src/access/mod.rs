//! Access networks: what joins a host to the core. One file each.

mod wired;

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
}

impl AccessConfig {
    /// Whether a queue forms that way.
    #[must_use]
    pub fn is_limited(&self, direction: Direction) -> bool {
        let Self::Wired { up, down } = self;
        let line = if direction == Direction::Up { up } else { down };
        !matches!(line.rate, RateConfig::Unlimited) || line.queue.shapes()
    }
}
