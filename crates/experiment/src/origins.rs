//! The section of the file that each host, call and TCP flow comes from: `[users.city]` makes
//! `[host.city001]`, `[call.city001]` and `[tcp.city001-web]`, a conference makes calls, and a
//! section with `flows` makes several TCP flows.

use document::Fault;
use std::collections::BTreeMap;

/// The paths of generated sections, each with the path of the section of the file that made it:
/// `call.city001` and `users.city.call`.
#[derive(Clone, Debug, Default)]
pub(super) struct Expanded(BTreeMap<String, String>);

impl Expanded {
    pub(super) fn add(&mut self, section: String, origin: String) {
        self.0.insert(section, origin);
    }

    /// The path in the file of the section that made the section at this path; the path itself if
    /// the section is in the file.
    fn origin(&self, section: &str) -> String {
        self.0.get(section).map_or_else(|| section.to_owned(), Clone::clone)
    }

    /// The fault with the key as it is in the file.
    pub(super) fn in_file_keys(&self, fault: Fault) -> Fault {
        // The first two parts are the kind of section and its name.
        let end = fault.key.match_indices('.').nth(1).map_or(fault.key.len(), |(dot, _)| dot);
        let (section, rest) = fault.key.split_at(end);
        let key = format!("{}{rest}", self.origin(section));
        Fault { key, ..fault }
    }
}

/// The paths of the file's sections from which the calls, TCP flows and hosts of a scenario come,
/// in the order of the scenario.
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
    /// The origins of sections with these paths.
    pub(super) fn new(
        expanded: &Expanded,
        calls: &[String],
        tcp: &[String],
        hosts: &[String],
    ) -> Self {
        let origins = |paths: &[String]| paths.iter().map(|path| expanded.origin(path)).collect();
        Self { calls: origins(calls), tcp: origins(tcp), hosts: origins(hosts) }
    }
}
