//! Rebuilds this crate when an experiment or claim file changes, because the crate embeds them, and
//! sets `WEIR_MODEL` to a hash of the source of the model.

use blake3::Hasher;
use std::fs;
use std::io;
use std::path::Path;

/// The files and folders that determine the result of a simulation, apart from its scenario.
const MODEL: [&str; 5] =
    ["../../Cargo.lock", "../cc/src", "../net/src", "../sim/src", "../units/src"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=../../experiments");
    println!("cargo::rerun-if-changed=../../claims");
    println!("cargo::rerun-if-changed=../../sweeps");
    let mut hasher = Hasher::new();
    for path in MODEL {
        println!("cargo::rerun-if-changed={path}");
        add(&mut hasher, Path::new(path))?;
    }
    println!("cargo::rustc-env=WEIR_MODEL={}", hasher.finalize().to_hex());
    Ok(())
}

/// Adds a file, or all files of a folder in the order of their names.
fn add(hasher: &mut Hasher, path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        let content = fs::read(path)?;
        // The lengths separate one field from the next.
        let name = path.to_string_lossy();
        for field in [name.as_bytes(), &content] {
            hasher.update(&(field.len() as u64).to_le_bytes());
            hasher.update(field);
        }
        return Ok(());
    }
    let entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    paths.iter().try_for_each(|path| add(hasher, path))
}
