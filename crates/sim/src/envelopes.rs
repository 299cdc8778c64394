//! What is under way: the network carries handles, the contents wait here.

use crate::payload::{Rtcp, Rtp};
use crate::tcp::Segment;

/// What a packet carries.
pub(crate) enum Payload {
    Rtp(Rtp),
    Rtcp(Box<Rtcp>),
    Tcp(Segment),
}

/// An end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Sender,
    Receiver,
}

impl End {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Sender => Self::Receiver,
            Self::Receiver => Self::Sender,
        }
    }
}

/// A payload and whom it is for.
pub(crate) struct Envelope {
    pub(crate) session: usize,
    pub(crate) to: End,
    pub(crate) payload: Payload,
}

/// A slab: handles are places, reused when free.
#[derive(Default)]
pub(crate) struct Envelopes {
    slots: Vec<Option<Envelope>>,
    free: Vec<usize>,
}

impl Envelopes {
    pub(crate) fn insert(&mut self, envelope: Envelope) -> u64 {
        let place = self.free.pop().unwrap_or(self.slots.len());
        if place == self.slots.len() {
            self.slots.push(Some(envelope));
        } else {
            self.slots[place] = Some(envelope);
        }
        place as u64
    }

    pub(crate) fn get(&self, handle: u64) -> Option<&Envelope> {
        self.slots.get(handle as usize)?.as_ref()
    }

    pub(crate) fn take(&mut self, handle: u64) -> Option<Envelope> {
        let envelope = self.slots.get_mut(handle as usize)?.take()?;
        self.free.push(handle as usize);
        Some(envelope)
    }
}
