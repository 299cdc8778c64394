//! Makes a new experiment or claim file count as a change of this crate, which embeds them; and
//! tells it which model it runs.

use siphasher::sip128::{Hasher128, SipHasher24};
use std::fs;
use std::hash::Hasher;
use std::io;
use std::path::Path;

/// What the outcome of a simulation depends on beside its scenario.
const MODEL: [&str; 5] =
    ["../../Cargo.lock", "../cc/src", "../net/src", "../sim/src", "../units/src"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=../../experiments");
    println!("cargo::rerun-if-changed=../../claims");
    let mut hasher = SipHasher24::new();
    for path in MODEL {
        println!("cargo::rerun-if-changed={path}");
        add(&mut hasher, Path::new(path))?;
    }
    println!("cargo::rustc-env=WEIR_MODEL={:032x}", hasher.finish128().as_u128());
    Ok(())
}

/// A file, or a folder with all that is in it, by name.
fn add(hasher: &mut SipHasher24, path: &Path) -> io::Result<()> {
    if !path.is_dir() {
        let content = fs::read(path)?;
        // With its length, so that where a file ends counts too.
        hasher.write(path.to_string_lossy().as_bytes());
        hasher.write(&(content.len() as u64).to_le_bytes());
        hasher.write(&content);
        return Ok(());
    }
    let entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<io::Result<Vec<_>>>()?;
    paths.sort_unstable();
    paths.iter().try_for_each(|path| add(hasher, path))
}
