//! The largest value of the last rounds. Linux `lib/win_minmax.c` keeps three values; this filter
//! keeps every value that can still become the largest.

use std::collections::VecDeque;

#[derive(Debug)]
pub(super) struct MaxFilter {
    length: u64,
    /// (round, value), in falling order of value.
    values: VecDeque<(u64, f64)>,
}

impl MaxFilter {
    pub(super) fn new(length: u64) -> Self {
        Self { length, values: VecDeque::new() }
    }

    pub(super) fn update(&mut self, round: u64, value: f64) {
        while self.values.back().is_some_and(|&(_, known)| known <= value) {
            self.values.pop_back();
        }
        // One value per round is enough: the first is the largest.
        if self.values.back().is_none_or(|&(known, _)| known < round) {
            self.values.push_back((round, value));
        }
        while self.values.front().is_some_and(|&(known, _)| known + self.length < round) {
            self.values.pop_front();
        }
    }

    /// The largest value; zero before the first update.
    pub(super) fn max(&self) -> f64 {
        self.values.front().map_or(0.0, |&(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn max_covers_the_last_rounds_only() {
        let mut filter = MaxFilter::new(2);
        let mut values = Vec::new();
        for (round, value) in
            [(1, 5.0), (1, 9.0), (1, 3.0), (2, 4.0), (3, 6.0), (4, 1.0), (6, 2.0), (9, 0.5)]
        {
            filter.update(round, value);
            values.push(filter.max());
        }
        assert_eq!(values, [5.0, 9.0, 9.0, 9.0, 9.0, 6.0, 2.0, 0.5]);
        assert!(filter.values.len() <= 3);
    }
}
