//! Whose turn it is among classes, in the order of their numbers.

/// Classes that take turns.
///
/// As Linux's pointers into its trees: a class that joins ahead of the one whose turn it is waits
/// for the next round.
#[derive(Debug)]
pub(super) struct Feed {
    /// Their places, rising.
    members: Vec<u16>,
    /// From here on is looked for the next.
    from: u16,
}

/// Beyond every place.
const END: u16 = u16::MAX;

impl Default for Feed {
    fn default() -> Self {
        Self { members: Vec::new(), from: END }
    }
}

impl Feed {
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(super) fn insert(&mut self, place: u16) {
        if let Err(at) = self.members.binary_search(&place) {
            self.members.insert(at, place);
        }
    }

    pub(super) fn remove(&mut self, place: u16) {
        if let Ok(at) = self.members.binary_search(&place) {
            self.members.remove(at);
        }
    }

    /// Whose turn it is; `None`: all have had theirs since the last rewind, or there are none.
    pub(super) fn current(&self) -> Option<u16> {
        let at = self.members.partition_point(|&place| place < self.from);
        self.members.get(at).copied()
    }

    /// The first one's turn again.
    pub(super) fn rewind(&mut self) {
        self.from = self.members.first().copied().unwrap_or(END);
    }

    /// The turn of the one after `place`.
    pub(super) fn pass(&mut self, place: u16) {
        let next = self.members.partition_point(|&member| member <= place);
        self.from = self.members.get(next).copied().unwrap_or(END);
    }
}
