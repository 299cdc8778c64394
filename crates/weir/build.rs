//! Tells the program the commit that it is built from, for `weir --version`.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    // Without git, or outside a clone, there is no commit to tell.
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    let version = env!("CARGO_PKG_VERSION");
    let told = commit.map_or(version.to_owned(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=WEIR_VERSION={told}");
    for path in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", path]) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}
