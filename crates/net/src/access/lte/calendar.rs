//! What is due in which subframe.

/// How far ahead something may be due, in subframes: above the longest period of scheduling
/// requests (80 ms) and what follows it.
const AHEAD: usize = 128;

/// Things due in the subframes to come; each in the order in which they were noted.
pub(super) struct Calendar<T> {
    slots: Vec<Vec<T>>,
    /// Which slots have something.
    taken: u128,
}

impl<T> Calendar<T> {
    /// The furthest that something may be due, in subframes from the present one.
    pub(super) const FURTHEST: u64 = AHEAD as u64 - 1;

    pub(super) fn new() -> Self {
        Self { slots: (0..AHEAD).map(|_| Vec::new()).collect(), taken: 0 }
    }

    /// Notes what is due then, which is after the subframe that was last taken out and at most
    /// [`Self::FURTHEST`] ahead of it.
    pub(super) fn note(&mut self, subframe: u64, what: T) {
        let slot = slot(subframe);
        self.slots[slot].push(what);
        self.taken |= 1 << slot;
    }

    /// Takes out what is due in this subframe, exchanging it for an empty list.
    pub(super) fn take(&mut self, subframe: u64, empty: &mut Vec<T>) {
        debug_assert!(empty.is_empty(), "the list given is kept for later");
        let slot = slot(subframe);
        self.taken &= !(1 << slot);
        std::mem::swap(&mut self.slots[slot], empty);
    }

    /// The first subframe from `from` on that has something.
    pub(super) fn next(&self, from: u64) -> Option<u64> {
        #[expect(clippy::cast_possible_truncation, reason = "below 128")]
        let turned = self.taken.rotate_right(slot(from) as u32);
        (turned != 0).then(|| from + u64::from(turned.trailing_zeros()))
    }
}

fn slot(subframe: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, reason = "below the number of slots")]
    let slot = (subframe % AHEAD as u64) as usize;
    slot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_come_when_they_are_due_in_the_order_of_noting() {
        let mut calendar = Calendar::new();
        for (subframe, what) in [(130, 'a'), (127, 'b'), (130, 'c'), (200, 'd')] {
            calendar.note(subframe, what);
        }
        let mut order = Vec::new();
        let mut from = 100;
        while let Some(next) = calendar.next(from) {
            let mut due = Vec::new();
            calendar.take(next, &mut due);
            order.extend(due.into_iter().map(|what| (next, what)));
            from = next + 1;
        }
        assert_eq!(order, [(127, 'b'), (130, 'a'), (130, 'c'), (200, 'd')]);
    }
}
