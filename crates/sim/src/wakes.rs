//! When the ends want to be woken: the earliest is known at once, a change costs the logarithm of
//! how many there are.

use units::Time;

/// A tournament: the leaves are the ends, each node above is the earlier of the two below it. At
/// equal times the end with the lower index goes first, so the order is total.
pub(crate) struct Wakes {
    /// A binary heap's layout: the root at 1, the children of `i` at `2i` and `2i + 1`, the leaves
    /// in the second half.
    nodes: Vec<(Time, u32)>,
}

impl Wakes {
    /// One a time, in this order.
    pub(crate) fn new(times: &[Time]) -> Self {
        let leaves = times.len().next_power_of_two();
        let mut nodes = vec![(Time::MAX, u32::MAX); 2 * leaves];
        for (index, (time, node)) in times.iter().zip(&mut nodes[leaves..]).enumerate() {
            *node = (*time, u32::try_from(index).unwrap_or(u32::MAX));
        }
        for place in (1..leaves).rev() {
            nodes[place] = earlier(nodes[2 * place], nodes[2 * place + 1]);
        }
        Self { nodes }
    }

    /// The first of the earliest, and when that is.
    #[inline]
    pub(crate) fn earliest(&self) -> (usize, Time) {
        let (time, index) = self.nodes[1];
        (index as usize, time)
    }

    /// When one wants to be woken.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> Time {
        self.nodes[self.nodes.len() / 2 + index].0
    }

    /// One wants to be woken at another time.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, time: Time) {
        let mut place = self.nodes.len() / 2 + index;
        if self.nodes[place].0 == time {
            return;
        }
        self.nodes[place].0 = time;
        while place > 1 {
            place /= 2;
            let winner = earlier(self.nodes[2 * place], self.nodes[2 * place + 1]);
            if self.nodes[place] == winner {
                return;
            }
            self.nodes[place] = winner;
        }
    }
}

/// The winner of two neighbours; the left one at equal times, as it has the lower index.
#[inline]
fn earlier(left: (Time, u32), right: (Time, u32)) -> (Time, u32) {
    if right.0 < left.0 { right } else { left }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The same by looking at all.
    fn first_of(times: &[Time]) -> (usize, Time) {
        let least = *times.iter().min().unwrap();
        (times.iter().position(|time| *time == least).unwrap(), least)
    }

    proptest! {
        #[test]
        fn the_first_of_the_earliest_is_next(
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
    fn without_ends_nobody_is_ever_woken() {
        assert_eq!(Wakes::new(&[]).earliest().1, Time::MAX);
    }
}
