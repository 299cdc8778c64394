//! The ladder of rates (§ 3.3B, Fig. 4): one step up, or several down.

use units::Bitrate;

/// A level of the ladder.
pub(crate) struct Ladder {
    /// At least one, rising.
    levels: Vec<Bitrate>,
    place: usize,
}

impl Ladder {
    /// Begins at the lowest of `levels`, of which there is at least one.
    pub(crate) fn new(levels: Vec<Bitrate>) -> Self {
        debug_assert!(!levels.is_empty(), "a ladder has a level");
        Self { levels, place: 0 }
    }

    /// The rate of the present level.
    pub(crate) fn rate(&self) -> Bitrate {
        self.levels[self.place]
    }

    /// The present level, from 1.
    pub(crate) fn level(&self) -> usize {
        self.place + 1
    }

    /// Under over-use, or above the bound T_TFRC: a step down, and on until the bound is kept.
    /// Else, below the bound: a step up.
    pub(crate) fn step(&mut self, overusing: bool, bound: Option<Bitrate>) {
        let is_above = |rate: Bitrate| bound.is_some_and(|bound| rate > bound);
        if overusing || is_above(self.rate()) {
            self.place = self.place.saturating_sub(1);
            while self.place > 0 && is_above(self.rate()) {
                self.place -= 1;
            }
        } else if bound.is_none_or(|bound| bound > self.rate()) {
            self.place = (self.place + 1).min(self.levels.len() - 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(level: usize) -> Ladder {
        let levels = [200, 300, 400, 500, 800, 1000].map(Bitrate::from_kbps).to_vec();
        Ladder { levels, place: level - 1 }
    }

    fn after(level: usize, overusing: bool, bound: Option<u64>) -> usize {
        let mut ladder = ladder(level);
        ladder.step(overusing, bound.map(Bitrate::from_kbps));
        ladder.level()
    }

    #[test]
    fn under_use_is_a_step_up_below_the_bound() {
        assert_eq!(after(3, false, None), 4);
        assert_eq!(after(3, false, Some(401)), 4);
        assert_eq!(after(3, false, Some(400)), 3, "the bound is not greater");
        assert_eq!(after(6, false, None), 6);
    }

    #[test]
    fn over_use_is_a_step_down_whatever_the_bound() {
        assert_eq!(after(6, true, None), 5);
        assert_eq!(after(3, true, Some(2000)), 2);
        assert_eq!(after(1, true, None), 1);
    }

    #[test]
    fn the_bound_may_take_several_steps_down() {
        assert_eq!(after(3, false, Some(399)), 2);
        assert_eq!(after(6, false, Some(450)), 3);
        assert_eq!(after(6, true, Some(450)), 3);
        assert_eq!(after(6, false, Some(10)), 1);
    }
}
