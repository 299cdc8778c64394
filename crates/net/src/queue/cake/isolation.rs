//! Whom CAKE keeps apart: which flow a packet belongs to, and how many flows its hosts have
//! (tc-cake(8), 'Flow isolation parameters'; Linux `cake_hash`).

use crate::packet::Flow;
use crate::queue::hash::{FlowHash, Key};
use std::fmt;

/// How many queues a tin has (Linux `CAKE_QUEUES`).
pub(super) const FLOWS: u16 = 1_024;
/// How many places a flow can have: it collides with another only if all are taken (Linux
/// `CAKE_SET_WAYS`).
const WAYS: u16 = 8;

/// Among whom the line is shared equally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

    /// What of its addresses makes a packet's flow.
    pub(super) fn key(self) -> Key {
        match self {
            Self::Flowblind => Key::Nothing,
            Self::SrcHost => Key::Source,
            Self::DstHost => Key::Destination,
            Self::Hosts => Key::Hosts,
            Self::Flows | Self::DualSrcHost | Self::DualDstHost | Self::TripleIsolate => Key::Flow,
        }
    }

    /// Whether the flows of a source host share its part.
    pub(super) fn is_fair_to_sources(self) -> bool {
        matches!(self, Self::DualSrcHost | Self::TripleIsolate)
    }

    /// Whether the flows of a destination host share its part.
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

/// Finds the place of a tag in a set-associative table: its own if it has one, or a free one of its
/// set, or, where all are taken, the first, which it then shares. Returns whether it was its own.
pub(super) fn find(tags: &mut [u64], tag: u64, is_free: impl Fn(usize) -> bool) -> (u16, bool) {
    let direct = u16::try_from(tag % u64::from(FLOWS)).unwrap_or_default();
    let set = direct - direct % WAYS;
    let mut places = (0..WAYS).map(|way| set + (direct + way) % WAYS);
    if let Some(own) = places.clone().find(|&place| tags[usize::from(place)] == tag) {
        return (own, true);
    }
    let place = places.find(|&place| is_free(usize::from(place))).unwrap_or(direct);
    tags[usize::from(place)] = tag;
    (place, false)
}

/// The hosts at one end, and how many bulk flows each has.
pub(super) struct Hosts {
    key: Key,
    tags: Vec<u64>,
    bulk: Vec<u16>,
}

impl Hosts {
    pub(super) fn new(key: Key) -> Self {
        Self { key, tags: vec![0; usize::from(FLOWS)], bulk: vec![0; usize::from(FLOWS)] }
    }

    pub(super) fn place(&mut self, hash: &FlowHash, flow: &Flow) -> u16 {
        let Self { key, tags, bulk } = self;
        find(tags, hash.of(flow, *key), |place| bulk[place] == 0).0
    }

    pub(super) fn bulk(&self, place: u16) -> u16 {
        self.bulk[usize::from(place)]
    }

    pub(super) fn add(&mut self, place: u16) {
        self.bulk[usize::from(place)] += 1;
    }

    pub(super) fn remove(&mut self, place: u16) {
        let bulk = &mut self.bulk[usize::from(place)];
        debug_assert!(*bulk > 0, "what is counted out was counted in");
        *bulk = bulk.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_flows_of_a_set_have_places_of_their_own() {
        let mut tags = vec![0; usize::from(FLOWS)];
        let mut taken = Vec::new();
        for tag in (1..=8).map(|number| number * 1_024 + 13) {
            let (place, known) = find(&mut tags, tag, |place| !taken.contains(&place));
            assert!(!known && (8..16).contains(&place) && !taken.contains(&usize::from(place)));
            taken.push(place.into());
        }
        assert_eq!(find(&mut tags, 3 * 1_024 + 13, |_| false), (taken[2] as u16, true));
        assert_eq!(
            find(&mut tags, 9 * 1_024 + 13, |_| false),
            (13, false),
            "the ninth shares the first"
        );
    }
}
