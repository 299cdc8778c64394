//! A wired access: two lines that do not know of each other.

use crate::config::LineConfig;
use crate::line::Line;
use units::Seed;

/// The two lines of a wired access.
pub(crate) struct Wired {
    pub(crate) up: Line,
    pub(crate) down: Line,
}

impl Wired {
    /// `host` names the random streams: `alice.up.loss`.
    pub(crate) fn new(host: &str, up: &LineConfig, down: &LineConfig, seed: Seed) -> Self {
        Self {
            up: Line::new(up, seed, &format!("{host}.up")),
            down: Line::new(down, seed, &format!("{host}.down")),
        }
    }
}
