//! Which section of the file made what: `[users.city]` makes `[host.city001]`, `[call.city001]` and
//! `[tcp.city001-web]`, a conference makes calls, and a section of TCP flows makes several.

use document::Fault;
use std::collections::BTreeMap;

/// Sections that are not in the file, by their path, and the path of what made them:
/// `call.city001`, of `users.city.call`.
#[derive(Clone, Debug, Default)]
pub(super) struct Expanded(BTreeMap<String, String>);

impl Expanded {
    pub(super) fn add(&mut self, section: String, origin: String) {
        self.0.insert(section, origin);
    }

    /// What made the section at this path, in the file: itself, if it is there.
    fn origin(&self, section: &str) -> String {
        self.0.get(section).map_or_else(|| section.to_owned(), Clone::clone)
    }

    /// The fault with the key that is in the file.
    pub(super) fn told(&self, fault: Fault) -> Fault {
        // Kind and name.
        let end = fault.key.match_indices('.').nth(1).map_or(fault.key.len(), |(at, _)| at);
        let (section, rest) = fault.key.split_at(end);
        let key = format!("{}{rest}", self.origin(section));
        Fault { key, ..fault }
    }
}

/// The paths of the file's sections from which the calls, TCP flows and hosts of a scenario come,
/// each by the index in the scenario.
#[derive(Clone, Debug)]
pub struct Origins {
    /// The section of each call.
    pub calls: Vec<String>,
    /// The section of each TCP flow.
    pub tcp: Vec<String>,
    /// The section of each host.
    pub hosts: Vec<String>,
}

impl Origins {
    /// From the paths that were read.
    pub(super) fn new(
        expanded: &Expanded,
        calls: &[String],
        tcp: &[String],
        hosts: &[String],
    ) -> Self {
        let of = |paths: &[String]| paths.iter().map(|path| expanded.origin(path)).collect();
        Self { calls: of(calls), tcp: of(tcp), hosts: of(hosts) }
    }
}
