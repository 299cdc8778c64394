//! An emulated network with real sockets at its ends, shared by the tests and the benchmark.

#![allow(dead_code, reason = "the tests and the benchmark each use a part")]
#![allow(clippy::unwrap_used, reason = "what cannot be set up fails")]

pub(crate) mod findings;
pub(crate) mod rig;
pub(crate) mod stats;
pub(crate) mod traffic;
pub(crate) mod veth;

use std::process::{Command, Stdio};

/// What is missing to make hosts, if anything is.
pub(crate) fn missing() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("this user is not root".into());
    }
    if let Err(error) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun") {
        return Some(format!("/dev/net/tun: {error}"));
    }
    // Root in a container may lack the right to make namespaces.
    let able = [["unshare", "--net", "--mount", "true"].as_slice(), &["ip", "-V"]];
    able.iter().find_map(|words| {
        let mut command = Command::new(words[0]);
        let quiet = command.args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null());
        let worked = quiet.status().is_ok_and(|status| status.success());
        (!worked).then(|| format!("'{}' does not work", words.join(" ")))
    })
}
