//! Maximum time in the state Hold before the rate increases again, even if the queue is still
//! draining (Janczukowicz 2017 § 7.5.1).

use units::{Duration, Time};

/// Measures the time in the state Hold.
pub(crate) struct HoldTimer {
    longest: Duration,
    since: Option<Time>,
}

impl HoldTimer {
    /// `longest` is the maximum time; 0 means no maximum, as in the papers.
    pub(crate) fn new(longest: Duration) -> Self {
        Self { longest, since: None }
    }

    /// Whether Hold has lasted its maximum time at `now`. `holds` tells whether the state machine
    /// of the papers is in the state Hold; the result stays true until `holds` is false.
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
    fn hold_is_over_after_the_maximum_until_the_state_is_left() {
        let mut hold = HoldTimer::new(Duration::from_millis(500));
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
    fn without_a_maximum_hold_is_never_over() {
        let mut hold = HoldTimer::new(Duration::ZERO);
        assert!(!hold.is_over(Time::ZERO, true));
        assert!(!hold.is_over(Time::from_secs(3600), true));
    }
}
