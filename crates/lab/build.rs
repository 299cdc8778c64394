//! Makes a new experiment or claim file count as a change of this crate, which embeds them.

fn main() {
    println!("cargo::rerun-if-changed=../../experiments");
    println!("cargo::rerun-if-changed=../../claims");
}
