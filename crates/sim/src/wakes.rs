//! The wake-up times of the ends. The earliest is available in constant time; a change takes
//! logarithmic time.

use units::Time;

/// A tournament tree: the leaves are the ends, and each node above is the earlier of its two
/// children. At equal times the end with the lower index wins, so the order is total.
pub(crate) struct Wakes {
    /// The layout of a binary heap: the root at 1, the children of `i` at `2i` and `2i + 1`, the
    /// leaves in the second half.
    nodes: Vec<(Time, u32)>,
}

impl Wakes {
    /// A tree with one end per time, in this order.
    pub(crate) fn new(times: &[Time]) -> Self {
        let leaves = times.len().next_power_of_two();
        let mut nodes = vec![(Time::MAX, u32::MAX); 2 * leaves];
        for (index, (time, node)) in times.iter().zip(&mut nodes[leaves..]).enumerate() {
            *node = (*time, u32::try_from(index).unwrap_or(u32::MAX));
        }
        for node in (1..leaves).rev() {
            nodes[node] = earlier(nodes[2 * node], nodes[2 * node + 1]);
        }
        Self { nodes }
    }

    /// The end that is woken next, and when. At equal times it is the one with the lowest index.
    #[inline]
    pub(crate) fn earliest(&self) -> (usize, Time) {
        let (time, index) = self.nodes[1];
        (index as usize, time)
    }

    /// When end `index` is woken.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> Time {
        self.nodes[self.nodes.len() / 2 + index].0
    }

    /// Changes the time at which end `index` is woken.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, time: Time) {
        let mut node = self.nodes.len() / 2 + index;
        if self.nodes[node].0 == time {
            return;
        }
        self.nodes[node].0 = time;
        while node > 1 {
            node /= 2;
            let winner = earlier(self.nodes[2 * node], self.nodes[2 * node + 1]);
            if self.nodes[node] == winner {
                return;
            }
            self.nodes[node] = winner;
        }
    }
}

/// The earlier of two siblings; the left one at equal times, because it has the lower index.
#[inline]
fn earlier(left: (Time, u32), right: (Time, u32)) -> (Time, u32) {
    if right.0 < left.0 { right } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same result by a linear search.
    fn first_of(times: &[Time]) -> (usize, Time) {
        let min = *times.iter().min().unwrap();
        (times.iter().position(|time| *time == min).unwrap(), min)
    }

    proptest! {
        #[test]
        fn the_earliest_end_with_the_lowest_index_is_next(
            count in 1usize..40,
            changes in prop::collection::vec((0usize..40, prop_oneof![0u64..8, Just(u64::MAX)]), 0..200),
        ) {
            let mut times = vec![Time::MAX; count];
            let mut wakes = Wakes::new(&times);
            for (index, nanos) in changes {
                let (index, time) = (index % count, Time::from_nanos(nanos));
                times[index] = time;
                wakes.set(index, time);
                prop_assert_eq!(wakes.at(index), time);
                prop_assert_eq!(wakes.earliest(), first_of(&times));
                prop_assert_eq!(Wakes::new(&times).earliest(), first_of(&times));
            }
        }
    }

    #[test]
    fn without_ends_there_is_no_wake_up() {
        assert_eq!(Wakes::new(&[]).earliest().1, Time::MAX);
    }
}
