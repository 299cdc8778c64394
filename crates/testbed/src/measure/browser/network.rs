//! What a browser needs of its host's network.

use super::{Kind, Launch};
use std::fs;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

/// Firefox gathers no candidates where this address has no route: it takes the source address of
/// that route for its own (nICEr, `nr_ice_get_default_address`). The route ends on the host, so
/// that nothing meant for it meets the call.
const LOOKED_UP: &str = "8.8.8.8/32";
/// Linux Documentation/networking/ip-sysctl.rst.
const DISABLE_IPV6: &str = "/proc/sys/net/ipv6/conf/eth0/disable_ipv6";

pub(super) fn prepare(launch: Launch<'_>) -> Result<(), String> {
    if !launch.ipv6 {
        let disabled = launch
            .host
            .within(|| fs::write(DISABLE_IPV6, "1"))
            .map_err(|error| error.to_string())?;
        disabled.or_else(|error| match error.kind() {
            // A kernel without IPv6.
            ErrorKind::NotFound => Ok(()),
            _ => Err(format!("{DISABLE_IPV6}: {error}")),
        })?;
    }
    if launch.kind == Kind::Firefox { route(launch) } else { Ok(()) }
}

fn route(launch: Launch<'_>) -> Result<(), String> {
    let mut command = Command::new("ip");
    command.args(["route", "replace", LOOKED_UP, "dev", "lo"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = launch.host.spawn(command).map_err(|error| error.to_string())?;
    let output = child.wait_with_output().map_err(|error| format!("ip: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("ip refuses a route: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
