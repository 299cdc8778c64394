//! The round-robin lists of a tin: doubly linked, so that a flow changes its list in constant time.

/// A list of flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// Sparse flows: served first.
    New,
    /// Bulk flows, and sparse flows that have used their quantum.
    Old,
    /// Empty flows whose AQM still has state.
    Decaying,
}

/// The three lists; a flow is in one of them or in none.
pub(super) struct Lists {
    /// The predecessor and successor of each flow, then of the sentinels of the three lists. A flow
    /// in no list points to itself.
    links: Vec<(u16, u16)>,
    flows: u16,
}

impl Lists {
    pub(super) fn new(flows: u16) -> Self {
        Self { links: (0..flows + 3).map(|own| (own, own)).collect(), flows }
    }

    fn end(&self, list: List) -> u16 {
        self.flows + list as u16
    }

    pub(super) fn first(&self, list: List) -> Option<u16> {
        let end = self.end(list);
        let first = self.links[usize::from(end)].1;
        (first != end).then_some(first)
    }

    /// Removes a flow from its list, if it is in one.
    pub(super) fn remove(&mut self, flow: u16) {
        let (before, after) = self.links[usize::from(flow)];
        self.links[usize::from(before)].1 = after;
        self.links[usize::from(after)].0 = before;
        self.links[usize::from(flow)] = (flow, flow);
    }

    /// Moves a flow to the end of a list.
    pub(super) fn append(&mut self, list: List, flow: u16) {
        self.remove(flow);
        let end = self.end(list);
        let last = self.links[usize::from(end)].0;
        self.links[usize::from(last)].1 = flow;
        self.links[usize::from(flow)] = (last, end);
        self.links[usize::from(end)].0 = flow;
    }

    /// The flows of a list, in order.
    pub(super) fn iter(&self, list: List) -> impl Iterator<Item = u16> {
        let end = self.end(list);
        let after = move |flow: u16| (flow != end).then_some(flow);
        std::iter::successors(after(self.links[usize::from(end)].1), move |&flow| {
            after(self.links[usize::from(flow)].1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_in_one_list_and_is_appended_at_its_end() {
        let mut lists = Lists::new(8);
        for flow in [3, 5, 7, 3] {
            lists.append(List::New, flow);
        }
        lists.append(List::Old, 5);
        lists.remove(6);
        assert_eq!(lists.iter(List::New).collect::<Vec<_>>(), [7, 3]);
        assert_eq!(lists.iter(List::Old).collect::<Vec<_>>(), [5]);
        lists.remove(5);
        assert_eq!((lists.first(List::New), lists.first(List::Old)), (Some(7), None));
    }
}
