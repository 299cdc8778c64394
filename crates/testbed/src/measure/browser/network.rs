//! The network settings that a browser needs on its host.

use super::{BrowserKind, Launch};
use emulator::EmulatorError;
use std::fs;
use std::io::{self, ErrorKind};
use std::process::{Command, Stdio};

/// Firefox gathers no candidates without a route to this address: it takes the source address of
/// that route as its own (nICEr, `nr_ice_get_default_address`). The route leads to the loopback, so
/// that no packet to the address crosses the network.
const LOOKED_UP: &str = "8.8.8.8/32";
/// See Linux Documentation/networking/ip-sysctl.rst.
const DISABLE_IPV6: &str = "/proc/sys/net/ipv6/conf/eth0/disable_ipv6";

/// Why the network of a browser's host cannot be prepared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// The host failed.
    #[error(transparent)]
    Host(#[from] EmulatorError),
    /// IPv6 cannot be disabled.
    #[error("{DISABLE_IPV6}: {0}")]
    Ipv6(io::Error),
    /// `ip` cannot be waited for.
    #[error("ip: {0}")]
    Ip(io::Error),
    /// `ip` failed; its error output.
    #[error("ip cannot add a route: {0}")]
    Route(String),
}

pub(super) fn prepare(launch: Launch<'_>) -> Result<(), NetworkError> {
    if !launch.ipv6 {
        let disabled = launch.host.within(|| fs::write(DISABLE_IPV6, "1"))?;
        disabled.or_else(|error| match error.kind() {
            // The kernel has no IPv6.
            ErrorKind::NotFound => Ok(()),
            _ => Err(NetworkError::Ipv6(error)),
        })?;
    }
    if launch.kind == BrowserKind::Firefox { route(launch) } else { Ok(()) }
}

fn route(launch: Launch<'_>) -> Result<(), NetworkError> {
    let mut command = Command::new("ip");
    command.args(["route", "replace", LOOKED_UP, "dev", "lo"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = launch.host.spawn(command)?;
    let output = child.wait_with_output().map_err(NetworkError::Ip)?;
    if output.status.success() {
        return Ok(());
    }
    Err(NetworkError::Route(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}
