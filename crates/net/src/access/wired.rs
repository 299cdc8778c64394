//! A wired access: two independent lines.

use crate::config::LineConfig;
use crate::line::Line;
use crate::packet::Direction;
use units::Seed;

/// The two lines of a wired access.
pub(crate) struct Wired {
    up: Line,
    down: Line,
}

impl Wired {
    /// The random streams are named after the host: `alice.up.loss`.
    pub(crate) fn new(host: &str, up: &LineConfig, down: &LineConfig, seed: Seed) -> Self {
        Self {
            up: Line::new(up, Direction::Up, seed, &format!("{host}.up")),
            down: Line::new(down, Direction::Down, seed, &format!("{host}.down")),
        }
    }

    pub(crate) fn line(&self, direction: Direction) -> &Line {
        match direction {
            Direction::Up => &self.up,
            Direction::Down => &self.down,
        }
    }

    #[inline]
    pub(crate) fn line_mut(&mut self, direction: Direction) -> &mut Line {
        match direction {
            Direction::Up => &mut self.up,
            Direction::Down => &mut self.down,
        }
    }
}
