//! Round-robin among classes, in the order of their numbers.

/// Classes that are served round-robin.
///
/// As with Linux's pointers into its trees, a class that joins ahead of the current one waits for
/// the next round.
#[derive(Debug)]
pub(super) struct Feed {
    /// Indices of the classes, ascending.
    members: Vec<u16>,
    /// The next class is the first whose index is not below this.
    from: u16,
}

/// Above every index.
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

    pub(super) fn insert(&mut self, index: u16) {
        if let Err(at) = self.members.binary_search(&index) {
            self.members.insert(at, index);
        }
    }

    pub(super) fn remove(&mut self, index: u16) {
        if let Ok(at) = self.members.binary_search(&index) {
            self.members.remove(at);
        }
    }

    /// The class to serve; `None` if all were served since the last rewind, or there are none.
    pub(super) fn current(&self) -> Option<u16> {
        let at = self.members.partition_point(|&index| index < self.from);
        self.members.get(at).copied()
    }

    /// Starts a new round with the first class.
    pub(super) fn rewind(&mut self) {
        self.from = self.members.first().copied().unwrap_or(END);
    }

    /// Goes on to the class after `index`.
    pub(super) fn pass(&mut self, index: u16) {
        let next = self.members.partition_point(|&member| member <= index);
        self.from = self.members.get(next).copied().unwrap_or(END);
    }
}
