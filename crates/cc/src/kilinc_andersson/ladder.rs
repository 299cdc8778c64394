//! The ladder of rates (§ 3.3B, Fig. 4): one step up, or one or more steps down.

use units::Bitrate;

/// The ladder and its current level.
pub(crate) struct Ladder {
    /// At least one level, in increasing order.
    levels: Vec<Bitrate>,
    index: usize,
}

impl Ladder {
    /// Begins at the lowest of `levels`, which must not be empty.
    pub(crate) fn new(levels: Vec<Bitrate>) -> Self {
        debug_assert!(!levels.is_empty(), "a ladder has a level");
        Self { levels, index: 0 }
    }

    /// The rate of the current level.
    pub(crate) fn rate(&self) -> Bitrate {
        self.levels[self.index]
    }

    /// The current level, counted from 1.
    pub(crate) fn level(&self) -> usize {
        self.index + 1
    }

    /// At over-use, or if the rate is above the bound T_TFRC, goes one step down, and further down
    /// while the rate is above the bound. Otherwise, if the rate is below the bound, goes one step
    /// up.
    pub(crate) fn step(&mut self, overusing: bool, bound: Option<Bitrate>) {
        let is_above = |rate: Bitrate| bound.is_some_and(|bound| rate > bound);
        if overusing || is_above(self.rate()) {
            self.index = self.index.saturating_sub(1);
            while self.index > 0 && is_above(self.rate()) {
                self.index -= 1;
            }
        } else if bound.is_none_or(|bound| bound > self.rate()) {
            self.index = (self.index + 1).min(self.levels.len() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(level: usize) -> Ladder {
        let levels = [200, 300, 400, 500, 800, 1000].map(Bitrate::from_kbps).to_vec();
        Ladder { levels, index: level - 1 }
    }

    fn after(level: usize, overusing: bool, bound: Option<u64>) -> usize {
        let mut ladder = ladder(level);
        ladder.step(overusing, bound.map(Bitrate::from_kbps));
        ladder.level()
    }

    #[test]
    fn under_use_below_the_bound_is_one_step_up() {
        assert_eq!(after(3, false, None), 4);
        assert_eq!(after(3, false, Some(401)), 4);
        assert_eq!(after(3, false, Some(400)), 3, "the bound is not greater");
        assert_eq!(after(6, false, None), 6);
    }

    #[test]
    fn over_use_is_one_step_down_for_any_bound() {
        assert_eq!(after(6, true, None), 5);
        assert_eq!(after(3, true, Some(2000)), 2);
        assert_eq!(after(1, true, None), 1);
    }

    #[test]
    fn the_bound_can_require_several_steps_down() {
        assert_eq!(after(3, false, Some(399)), 2);
        assert_eq!(after(6, false, Some(450)), 3);
        assert_eq!(after(6, true, Some(450)), 3);
        assert_eq!(after(6, false, Some(10)), 1);
    }
}
