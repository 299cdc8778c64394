//! What the ends of all sessions have in common.

use units::Time;

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

/// A sink for counters and signals: (name, value).
pub(crate) type Show<'a> = dyn FnMut(&'static str, f64) + 'a;

/// The earlier of two optional instants.
pub(crate) fn earlier(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
