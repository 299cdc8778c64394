//! The arrows between the crates, exactly as docs/ARCHITECTURE.md draws them.

use std::collections::{BTreeMap, BTreeSet};

#[test]
fn crates_depend_on_each_other_as_drawn() {
    let metadata = cargo_metadata::MetadataCommand::new().no_deps().exec().expect("cargo metadata");
    let names: BTreeSet<&str> =
        metadata.packages.iter().map(|package| package.name.as_str()).collect();
    let edges: BTreeMap<&str, BTreeSet<&str>> = metadata
        .packages
        .iter()
        .map(|package| {
            let all = package.dependencies.iter().map(|dependency| dependency.name.as_str());
            (package.name.as_str(), all.filter(|name| names.contains(name)).collect())
        })
        .collect();
    let drawn: BTreeMap<&str, BTreeSet<&str>> = [
        ("weir-units", vec![]),
        ("weir-cc", vec!["weir-units"]),
        ("weir-net", vec!["weir-units"]),
        ("weir-sim", vec!["weir-cc", "weir-net", "weir-units"]),
        ("weir-emulator", vec!["weir-net", "weir-units"]),
        (
            "weir-lab",
            vec!["weir-cc", "weir-emulator", "weir-net", "weir-peer", "weir-sim", "weir-units"],
        ),
        ("weir-peer", vec!["weir-cc", "weir-net", "weir-sim", "weir-units"]),
        ("weir", vec!["weir-lab"]),
    ]
    .into_iter()
    .map(|(name, to)| (name, to.into_iter().collect()))
    .collect();
    assert_eq!(edges, drawn);
}
