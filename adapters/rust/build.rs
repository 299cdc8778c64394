//! Finds the source of str0m, which Cargo has downloaded. str0m does not export its estimator, so
//! `src/bin/adapter-str0m.rs` compiles these files of it.

use serde_json::Value;
use std::process::Command;
use std::{env, fs, path::Path};

const MODULES: [(&str, &str); 3] = [
    ("bwe_", "bwe/mod.rs"),
    ("average", "util/average.rs"),
    ("time_tricks", "util/time_tricks.rs"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    let done = Command::new(env::var("CARGO")?).args(arguments).output()?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into());
    }
    let metadata: Value = serde_json::from_slice(&done.stdout)?;
    let packages = metadata["packages"].as_array().ok_or("no packages")?;
    let str0m = packages.iter().find(|package| package["name"] == "str0m");
    let manifest = str0m.and_then(|package| package["manifest_path"].as_str()).ok_or("no str0m")?;
    let source = Path::new(manifest).with_file_name("src");
    let module = |(name, file): (&str, &str)| {
        let path = source.join(file);
        format!("#[allow(warnings)]\n#[path = {path:?}]\npub(crate) mod {name};\n")
    };
    let modules: String = MODULES.map(module).concat();
    fs::write(Path::new(&env::var("OUT_DIR")?).join("str0m.rs"), modules)?;
    Ok(())
}
