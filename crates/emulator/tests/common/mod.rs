//! An emulated network with real sockets on its hosts, shared by the tests and the benchmark.

#![allow(dead_code, reason = "the tests and the benchmark each use a part of it")]
#![allow(clippy::unwrap_used, reason = "a set-up that fails must fail the test")]

pub(crate) mod findings;
pub(crate) mod rig;
pub(crate) mod stats;
pub(crate) mod traffic;
pub(crate) mod veth;

use std::process::{Command, Stdio};

/// What is missing to make hosts; `None` if nothing is.
pub(crate) fn missing() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("this user is not root".into());
    }
    if let Err(error) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun") {
        return Some(format!("/dev/net/tun: {error}"));
    }
    // Root in a container may lack the right to make namespaces.
    let commands = [["unshare", "--net", "--mount", "true"].as_slice(), &["ip", "-V"]];
    commands.iter().find_map(|words| {
        let mut command = Command::new(words[0]);
        let quiet = command.args(&words[1..]).stdout(Stdio::null()).stderr(Stdio::null());
        let worked = quiet.status().is_ok_and(|status| status.success());
        (!worked).then(|| format!("'{}' does not work", words.join(" ")))
    })
}
