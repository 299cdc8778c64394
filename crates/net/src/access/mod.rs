//! Access networks: what joins a host to the core. One file each.

mod wired;

pub(crate) use wired::Wired;

use crate::config::LineConfig;

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
