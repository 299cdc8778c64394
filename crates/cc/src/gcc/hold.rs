//! How long the state Hold may last before the rate rises again, although the queue still drains
//! (Janczukowicz 2017 § 7.5.1).

use units::{Duration, Time};

/// Watches a stay in Hold.
pub(crate) struct LongestHold {
    longest: Duration,
    since: Option<Time>,
}

impl LongestHold {
    /// No longer than `longest`; 0: as long as the machine of the papers holds.
    pub(crate) fn new(longest: Duration) -> Self {
        Self { longest, since: None }
    }

    /// Whether it has lasted long enough, where the machine of the papers says at `now` whether to
    /// hold. It stays so until that machine leaves the state.
    pub(crate) fn is_over(&mut self, now: Time, holds: bool) -> bool {
        if !holds {
            self.since = None;
            return false;
        }
        let since = *self.since.get_or_insert(now);
        self.longest > Duration::ZERO && now.saturating_since(since) >= self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_over_after_the_longest_until_the_state_is_left() {
        let mut hold = LongestHold::new(Duration::from_millis(500));
        let mut at = |ms, holds| hold.is_over(Time::from_millis(ms), holds);
        assert_eq!(
            [at(0, true), at(499, true), at(500, true), at(900, true)],
            [false, false, true, true]
        );
        assert_eq!(
            [at(1000, false), at(1100, true), at(1599, true), at(1600, true)],
            [false, false, false, true]
        );
    }

    #[test]
    fn without_a_longest_it_is_never_over() {
        let mut hold = LongestHold::new(Duration::ZERO);
        assert!(!hold.is_over(Time::ZERO, true));
        assert!(!hold.is_over(Time::from_secs(3600), true));
    }
}
