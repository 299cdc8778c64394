//! Anchors: names for links in the page. They consist of letters, digits and hyphens and are
//! unique.

use crate::model::Report;
use std::collections::{BTreeMap, BTreeSet};

/// Anchors of sections and figures, in the order of the report.
pub(super) struct Anchors {
    sections: Vec<String>,
    figures: Vec<Vec<String>>,
    by_id: BTreeMap<String, String>,
}

impl Anchors {
    pub(super) fn of(report: &Report) -> Self {
        let mut used = BTreeSet::new();
        let mut by_id = BTreeMap::new();
        let mut name = |id: &str, prefix: &str| {
            let anchor = unique(&slug(id, prefix), &mut used);
            by_id.entry(id.to_owned()).or_insert_with(|| anchor.clone());
            anchor
        };
        // Figures first: if a figure and a section share an id, a claim links to the figure.
        let figures: Vec<Vec<String>> = report
            .sections
            .iter()
            .map(|section| section.figures.iter().map(|figure| name(&figure.id, "fig")).collect())
            .collect();
        let sections = report.sections.iter().map(|section| name(&section.id, "sec")).collect();
        Self { sections, figures, by_id }
    }

    pub(super) fn section(&self, index: usize) -> &str {
        self.sections.get(index).map_or("", String::as_str)
    }

    pub(super) fn figure(&self, section: usize, index: usize) -> &str {
        self.figures.get(section).and_then(|f| f.get(index)).map_or("", String::as_str)
    }

    /// The anchor of the figure or section with this id, if there is one.
    pub(super) fn find(&self, id: &str) -> Option<&str> {
        self.by_id.get(id).map(String::as_str)
    }
}

/// The words of an id after a prefix: `prefix-words-of-the-id`.
fn slug(id: &str, prefix: &str) -> String {
    let words = id.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    std::iter::once(prefix).chain(words).collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

fn unique(base: &str, used: &mut BTreeSet<String>) -> String {
    let mut name = base.to_owned();
    let mut n = 1;
    while !used.insert(name.clone()) {
        n += 1;
        name = format!("{base}-{n}");
    }
    name
}
