//! The dependencies between the crates, exactly as docs/ARCHITECTURE.md draws them.

use std::collections::{BTreeMap, BTreeSet};

/// Each crate and the crates of this workspace that it depends on, in builds or in tests.
const EDGES: &[(&str, &[&str])] = &[
    ("units", &[]),
    ("cc", &["units"]),
    ("net", &["units"]),
    ("sim", &["cc", "net", "units"]),
    ("emulator", &["net", "units"]),
    ("peer", &["cc", "net", "sim", "units"]),
    ("document", &["units"]),
    ("metrics", &["document", "sim", "units"]),
    ("experiment", &["cc", "document", "metrics", "net", "sim", "units"]),
    ("store", &["document", "net", "sim", "units"]),
    ("report", &["document", "metrics"]),
    ("lab", &["cc", "document", "experiment", "metrics", "net", "report", "sim", "store", "units"]),
    ("server", &["document", "net", "sim", "units"]),
    (
        "dashboard",
        &[
            "document",
            "experiment",
            "lab",
            "metrics",
            "net",
            "report",
            "server",
            "sim",
            "store",
            "units",
        ],
    ),
    ("python", &["cc", "document", "experiment", "lab", "metrics", "net", "sim", "store", "units"]),
    (
        "testbed",
        &[
            "cc",
            "emulator",
            "experiment",
            "metrics",
            "net",
            "peer",
            "server",
            "sim",
            "store",
            "units",
        ],
    ),
];

#[test]
fn crates_depend_on_each_other_as_drawn() {
    let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().expect("cargo metadata");
    let short = |name: &str| name.strip_prefix("weir-").unwrap_or(name).to_owned();
    let ours: BTreeSet<&str> =
        metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in &metadata.packages {
        let to = package.dependencies.iter().filter(|to| ours.contains(to.name.as_str()));
        found.insert(short(&package.name), to.map(|to| short(&to.name)).collect());
    }
    // The command line may use every crate.
    found.remove("weir");
    let drawn = EDGES.iter().map(|(from, to)| {
        ((*from).to_owned(), to.iter().map(|to| (*to).to_owned()).collect::<BTreeSet<_>>())
    });
    assert_eq!(found, drawn.collect());
}
