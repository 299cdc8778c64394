//! Flow isolation: the queue of a packet, and the number of flows of its hosts (tc-cake(8), 'Flow
//! isolation parameters'; Linux `cake_hash`).

use crate::packet::Flow;
use crate::queue::hash::{FlowHash, Key};
use std::fmt;

/// The number of queues of a tin (Linux `CAKE_QUEUES`).
pub(super) const FLOWS: u16 = 1_024;
/// The number of queues that a flow can be assigned to: it shares one only if all are taken (Linux
/// `CAKE_SET_WAYS`).
const WAYS: u16 = 8;

/// What gets an equal share of the line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum CakeIsolation {
    /// One queue for all.
    Flowblind,
    /// Source hosts.
    SrcHost,
    /// Destination hosts.
    DstHost,
    /// Pairs of hosts.
    Hosts,
    /// 5-tuples.
    Flows,
    /// Source hosts, and the flows of each.
    DualSrcHost,
    /// Destination hosts, and the flows of each.
    DualDstHost,
    /// Hosts at either end, and the flows of each.
    #[default]
    TripleIsolate,
}

const WORDS: [(&str, CakeIsolation); 8] = [
    ("flowblind", CakeIsolation::Flowblind),
    ("srchost", CakeIsolation::SrcHost),
    ("dsthost", CakeIsolation::DstHost),
    ("hosts", CakeIsolation::Hosts),
    ("flows", CakeIsolation::Flows),
    ("dual-srchost", CakeIsolation::DualSrcHost),
    ("dual-dsthost", CakeIsolation::DualDstHost),
    ("triple-isolate", CakeIsolation::TripleIsolate),
];

impl CakeIsolation {
    pub(super) fn named(word: &str) -> Option<Self> {
        WORDS.iter().find(|(name, _)| *name == word).map(|&(_, isolation)| isolation)
    }

    /// The parts of the addresses that identify a flow.
    pub(super) fn key(self) -> Key {
        match self {
            Self::Flowblind => Key::Nothing,
            Self::SrcHost => Key::Source,
            Self::DstHost => Key::Destination,
            Self::Hosts => Key::Hosts,
            Self::Flows | Self::DualSrcHost | Self::DualDstHost | Self::TripleIsolate => Key::Flow,
        }
    }

    /// Whether source hosts get equal shares, divided among each host's flows.
    pub(super) fn is_fair_to_sources(self) -> bool {
        matches!(self, Self::DualSrcHost | Self::TripleIsolate)
    }

    /// Whether destination hosts get equal shares, divided among each host's flows.
    pub(super) fn is_fair_to_destinations(self) -> bool {
        matches!(self, Self::DualDstHost | Self::TripleIsolate)
    }
}

impl fmt::Display for CakeIsolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = WORDS.iter().find(|(_, isolation)| isolation == self).map(|&(name, _)| name);
        f.write_str(name.unwrap_or_default())
    }
}

/// Finds the entry of a tag in a set-associative table: its present entry, or a free one of its
/// set, or, if all are taken, the first one tried, which it then shares. Returns the index, and
/// whether the entry had this tag before.
pub(super) fn find(tags: &mut [u64], tag: u64, is_free: impl Fn(usize) -> bool) -> (u16, bool) {
    let direct = u16::try_from(tag % u64::from(FLOWS)).unwrap_or_default();
    let set = direct - direct % WAYS;
    let mut ways = (0..WAYS).map(|way| set + (direct + way) % WAYS);
    if let Some(own) = ways.clone().find(|&index| tags[usize::from(index)] == tag) {
        return (own, true);
    }
    let index = ways.find(|&index| is_free(usize::from(index))).unwrap_or(direct);
    tags[usize::from(index)] = tag;
    (index, false)
}

/// The hosts at one end, with the number of bulk flows of each.
pub(super) struct Hosts {
    key: Key,
    tags: Vec<u64>,
    bulk: Vec<u16>,
}

impl Hosts {
    pub(super) fn new(key: Key) -> Self {
        Self { key, tags: vec![0; usize::from(FLOWS)], bulk: vec![0; usize::from(FLOWS)] }
    }

    pub(super) fn index(&mut self, hash: &FlowHash, flow: &Flow) -> u16 {
        let Self { key, tags, bulk } = self;
        find(tags, hash.of(flow, *key), |index| bulk[index] == 0).0
    }

    pub(super) fn bulk(&self, index: u16) -> u16 {
        self.bulk[usize::from(index)]
    }

    pub(super) fn add(&mut self, index: u16) {
        self.bulk[usize::from(index)] += 1;
    }

    pub(super) fn remove(&mut self, index: u16) {
        let bulk = &mut self.bulk[usize::from(index)];
        debug_assert!(*bulk > 0, "the flow was counted before");
        *bulk = bulk.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_flows_of_a_set_have_separate_queues() {
        let mut tags = vec![0; usize::from(FLOWS)];
        let mut taken = Vec::new();
        for tag in (1..=8).map(|number| number * 1_024 + 13) {
            let (index, known) = find(&mut tags, tag, |index| !taken.contains(&index));
            assert!(!known && (8..16).contains(&index) && !taken.contains(&usize::from(index)));
            taken.push(index.into());
        }
        assert_eq!(find(&mut tags, 3 * 1_024 + 13, |_| false), (taken[2] as u16, true));
        assert_eq!(
            find(&mut tags, 9 * 1_024 + 13, |_| false),
            (13, false),
            "the ninth shares the first"
        );
    }
}
