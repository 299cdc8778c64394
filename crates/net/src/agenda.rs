//! The calendar of the network: what is due, in order of time and then of booking.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use units::Time;

/// An element of the network, by number; fewer than 2^[`ELEMENT_BITS`].
pub(crate) type Element = u32;

/// 65,535 hosts have four elements each ([`crate::network`]), and shared accesses one.
const ELEMENT_BITS: u32 = 20;

/// When each element is next due. Only the newest booking of an element is valid; older ones are
/// skipped when they are reached.
pub(crate) struct Agenda {
    heap: BinaryHeap<Reverse<Booking>>,
    /// Each element's valid booking; [`Booking::NEVER`] if there is none.
    booked: Vec<Booking>,
    bookings: u64,
}

/// A booking in one number, in the order of the agenda: from the highest bit on the time in
/// nanoseconds (64 bits), the booking's number (44) and the element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Booking(u128);

impl Booking {
    const NEVER: Self = Self(u128::MAX);

    #[inline]
    const fn new(at: Time, number: u64, element: Element) -> Self {
        let order = (number << ELEMENT_BITS) | element as u64;
        Self((at.as_nanos() as u128) << 64 | order as u128)
    }

    #[inline]
    const fn time(self) -> Time {
        Time::from_nanos((self.0 >> 64) as u64)
    }

    #[inline]
    const fn element(self) -> Element {
        self.0 as Element & ((1 << ELEMENT_BITS) - 1)
    }
}

impl Agenda {
    pub(crate) fn new(elements: usize) -> Self {
        debug_assert!(elements < 1 << ELEMENT_BITS, "an element has a number");
        Self {
            heap: BinaryHeap::with_capacity(elements),
            booked: vec![Booking::NEVER; elements],
            bookings: 0,
        }
    }

    /// Sets when an element is next due; `None`: not before it is booked again. An element that is
    /// already booked for this time keeps its place among those that are due at the same time.
    #[inline]
    pub(crate) fn book(&mut self, element: Element, due: Option<Time>) {
        let due = due.unwrap_or(Time::MAX);
        if self.booked[element as usize].time() != due {
            let booking = self.next_booking(element, due);
            if due < Time::MAX {
                self.heap.push(Reverse(booking));
            }
        }
    }

    /// Books the element that [`Self::due`] returned, whose booking is used up.
    #[inline]
    pub(crate) fn renew(&mut self, element: Element, due: Option<Time>) {
        let due = due.unwrap_or(Time::MAX);
        let booking = self.next_booking(element, due);
        let Some(mut first) = self.heap.peek_mut() else { return };
        debug_assert_eq!(first.0.element(), element, "it is still the first");
        if due < Time::MAX {
            first.0 = booking;
        } else {
            PeekMut::pop(first);
        }
    }

    #[inline]
    fn next_booking(&mut self, element: Element, due: Time) -> Booking {
        self.bookings += 1;
        let booking = Booking::new(due, self.bookings, element);
        self.booked[element as usize] = booking;
        booking
    }

    /// The earliest time at which something may be due: the booking may be outdated.
    #[inline]
    pub(crate) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(booking)| booking.time())
    }

    /// The first element that is due at or before `now`, and its time. [`Self::renew`] must follow
    /// before anything else is booked.
    #[inline]
    pub(crate) fn due(&mut self, now: Time) -> Option<(Time, Element)> {
        while let Some(&Reverse(booking)) = self.heap.peek()
            && booking.time() <= now
        {
            let element = booking.element();
            if self.booked[element as usize] == booking {
                return Some((booking.time(), element));
            }
            self.heap.pop();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_due_in_order_of_time_then_booking() {
        let at = Time::from_millis;
        let mut agenda = Agenda::new(4);
        for (element, ms) in [(2, 5), (0, 5), (1, 3), (3, 1)] {
            agenda.book(element, Some(at(ms)));
        }
        agenda.book(1, Some(at(7)));
        agenda.book(3, None);
        agenda.book(2, Some(at(5)));
        let mut pop = |now| {
            let due = agenda.due(at(now));
            if let Some((_, element)) = due {
                agenda.renew(element, None);
            }
            (due, agenda.next())
        };
        assert_eq!(pop(4), (None, Some(at(5))));
        assert_eq!(pop(6), (Some((at(5), 2)), Some(at(5))));
        assert_eq!(pop(6), (Some((at(5), 0)), Some(at(7))));
        assert_eq!(pop(6), (None, Some(at(7))));
        assert_eq!(pop(7), (Some((at(7), 1)), None));
        assert_eq!(pop(7), (None, None));
    }
}
