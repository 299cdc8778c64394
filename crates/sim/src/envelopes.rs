//! Payloads of packets under way. The network carries only handles; the payloads are stored here.

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

/// A payload with its session and destination.
pub(crate) struct Envelope {
    pub(crate) session: usize,
    pub(crate) to: End,
    pub(crate) payload: Payload,
}

/// A slab of envelopes: a handle is an index, which is reused once it is free.
#[derive(Default)]
pub(crate) struct Envelopes {
    slots: Vec<Option<Envelope>>,
    free: Vec<usize>,
}

impl Envelopes {
    pub(crate) fn insert(&mut self, envelope: Envelope) -> u64 {
        let index = self.free.pop().unwrap_or(self.slots.len());
        if index == self.slots.len() {
            self.slots.push(Some(envelope));
        } else {
            self.slots[index] = Some(envelope);
        }
        index as u64
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
