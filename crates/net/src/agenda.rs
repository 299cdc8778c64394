//! The calendar of the network: what is due, in order of time and then of booking.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use units::Time;

/// An element of the network, by number.
pub(crate) type Element = u32;

/// When each element is next due. Only the newest booking of an element is valid; older ones are
/// skipped when they are reached.
pub(crate) struct Agenda {
    heap: BinaryHeap<Reverse<(Time, u64, Element)>>,
    /// Time and sequence number of each element's valid booking; `Time::MAX` if there is none.
    booked: Vec<(Time, u64)>,
    bookings: u64,
}

impl Agenda {
    pub(crate) fn new(elements: usize) -> Self {
        Self {
            heap: BinaryHeap::with_capacity(elements),
            booked: vec![(Time::MAX, 0); elements],
            bookings: 0,
        }
    }

    /// Sets when an element is next due; `None`: not before it is booked again.
    pub(crate) fn book(&mut self, element: Element, due: Option<Time>) {
        let booked = &mut self.booked[element as usize];
        let due = due.unwrap_or(Time::MAX);
        if booked.0 == due {
            return;
        }
        self.bookings += 1;
        *booked = (due, self.bookings);
        if due < Time::MAX {
            self.heap.push(Reverse((due, self.bookings, element)));
        }
    }

    /// The earliest time at which something may be due: the booking may be outdated.
    pub(crate) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// Removes the first element that is due at or before `now`; returns it and its time.
    pub(crate) fn pop(&mut self, now: Time) -> Option<(Time, Element)> {
        while let Some(&Reverse((at, booking, element))) = self.heap.peek()
            && at <= now
        {
            self.heap.pop();
            let booked = &mut self.booked[element as usize];
            if *booked == (at, booking) {
                booked.0 = Time::MAX;
                return Some((at, element));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_due_in_order_of_time_then_booking_and_outdated_bookings_are_skipped() {
        let at = Time::from_millis;
        let mut agenda = Agenda::new(4);
        for (element, ms) in [(2, 5), (0, 5), (1, 3), (3, 1)] {
            agenda.book(element, Some(at(ms)));
        }
        agenda.book(1, Some(at(7)));
        agenda.book(3, None);
        agenda.book(2, Some(at(5)));
        let order: Vec<_> = std::iter::from_fn(|| agenda.pop(at(6))).collect();
        assert_eq!(order, [(at(5), 2), (at(5), 0)]);
        assert_eq!(agenda.next(), Some(at(7)));
        assert_eq!(
            (agenda.pop(at(7)), agenda.pop(at(7)), agenda.next()),
            (Some((at(7), 1)), None, None)
        );
    }
}
