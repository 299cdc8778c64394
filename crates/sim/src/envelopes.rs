//! Payloads of packets under way. The network carries only handles; the payloads are stored here.

use crate::endpoint::End;
use crate::payload::{Rtcp, Rtp};
use crate::tcp::Segment;

/// What a packet carries.
pub(crate) enum Payload {
    Rtp(Rtp),
    Rtcp(Box<Rtcp>),
    Tcp(Segment),
}

/// A payload with its session and destination.
pub(crate) struct Envelope {
    pub(crate) session: usize,
    pub(crate) to: End,
    pub(crate) payload: Payload,
}

/// A slab. A handle is a slot in its lower 32 bits and the slot's generation in its upper 32 bits:
/// slots are reused, and a handle whose envelope was taken finds nothing.
#[derive(Default)]
pub(crate) struct Envelopes {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Default)]
struct Slot {
    /// How many envelopes the slot has had before, modulo 2^32.
    generation: u32,
    envelope: Option<Envelope>,
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half of the handle")]
const fn slot_of(handle: u64) -> u32 {
    handle as u32
}

impl Envelopes {
    #[inline]
    pub(crate) fn insert(&mut self, envelope: Envelope) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 packets are under way")
        });
        let slot = &mut self.slots[index as usize];
        slot.envelope = Some(envelope);
        u64::from(slot.generation) << 32 | u64::from(index)
    }

    #[inline]
    pub(crate) fn get(&self, handle: u64) -> Option<&Envelope> {
        let slot = self.slots.get(slot_of(handle) as usize)?;
        slot.envelope.as_ref().filter(|_| u64::from(slot.generation) == handle >> 32)
    }

    #[inline]
    pub(crate) fn take(&mut self, handle: u64) -> Option<Envelope> {
        self.get(handle)?;
        let index = slot_of(handle);
        let slot = &mut self.slots[index as usize];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
        slot.envelope.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_finds_nothing_once_its_envelope_was_taken() {
        let envelope = |session| Envelope {
            session,
            to: End::Receiver,
            payload: Payload::Rtcp(Box::default()),
        };
        let mut envelopes = Envelopes::default();
        let first = envelopes.insert(envelope(1));
        assert!(envelopes.take(first).is_some_and(|taken| taken.session == 1));
        let second = envelopes.insert(envelope(2));
        assert!(envelopes.get(first).is_none() && envelopes.take(first).is_none());
        assert!(envelopes.take(second).is_some_and(|taken| taken.session == 2));
    }
}
