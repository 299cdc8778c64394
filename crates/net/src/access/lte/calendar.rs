//! A calendar of events by subframe.

/// The number of subframes in the calendar: more than the longest period of scheduling requests (80
/// ms) and the delay of their response.
const AHEAD: usize = 128;

/// The events of the coming subframes, in the order in which they were added per subframe.
pub(super) struct Calendar<T> {
    slots: Vec<Vec<T>>,
    /// The slots that are not empty, one bit each.
    taken: u128,
}

impl<T> Calendar<T> {
    /// The largest distance of an event from the present subframe.
    pub(super) const FURTHEST: u64 = AHEAD as u64 - 1;

    pub(super) fn new() -> Self {
        Self { slots: (0..AHEAD).map(|_| Vec::new()).collect(), taken: 0 }
    }

    /// Adds an event. Its subframe must be after the one that was taken last, and at most
    /// [`Self::FURTHEST`] ahead of it.
    pub(super) fn note(&mut self, subframe: u64, what: T) {
        let slot = slot(subframe);
        self.slots[slot].push(what);
        self.taken |= 1 << slot;
    }

    /// Swaps the events of a subframe with an empty list, whose memory is reused.
    pub(super) fn take(&mut self, subframe: u64, empty: &mut Vec<T>) {
        debug_assert!(empty.is_empty(), "the list must be empty");
        let slot = slot(subframe);
        self.taken &= !(1 << slot);
        std::mem::swap(&mut self.slots[slot], empty);
    }

    /// The first subframe from `from` on that has events; `None` if there are none.
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
    fn events_are_due_by_subframe_in_the_order_of_addition() {
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
