//! Which features of the machine this user can use, found by trying each.

use crate::device::Device;
use crate::error::EmulatorError;
use crate::namespace::Namespace;
use crate::rootless::become_root;
use crate::scheduling::{RealTime, SchedulingError, real_time};
use rustix::net::{AddressFamily, SocketType, ipproto, socket};

/// A feature of the operating system that an emulation needs or can use.
#[derive(Clone, Debug)]
pub struct Ability {
    /// The feature's name.
    pub what: &'static str,
    /// How the feature was obtained, or why it is not available.
    pub found: Result<String, EmulatorError>,
    /// How to make it available.
    pub fix: &'static str,
}

/// Tries every feature that an emulation needs or can use. Makes this process root in a user
/// namespace if it is not root, so call it while the process has one thread (see [`become_root`]).
#[must_use]
pub fn abilities() -> Vec<Ability> {
    let root = rustix::process::geteuid().is_root();
    let rights =
        become_root().map(|()| if root { "as root" } else { "in a user namespace" }.to_owned());
    let namespace = rights.and_then(|how| Ok((Namespace::new("")?, how)));
    let tun = match &namespace {
        Ok((namespace, _)) => {
            namespace.within(|| Device::create(c"eth0").map(drop)).and_then(|made| made)
        }
        Err(error) => Err(error.clone()),
    };
    let raw = match &namespace {
        Ok((namespace, _)) => namespace.within(raw_socket).and_then(|made| made),
        Err(error) => Err(error.clone()),
    };
    vec![
        Ability {
            what: "network namespaces",
            found: namespace.map(|(_, how)| how),
            fix: "run on Linux as root, or allow unprivileged user namespaces",
        },
        Ability {
            what: "TUN devices",
            found: tun.map(|()| "created one".to_owned()),
            fix: "modprobe tun; chmod 666 /dev/net/tun",
        },
        Ability {
            what: "raw sockets",
            found: raw.map(|()| "opened one".to_owned()),
            fix: "without raw sockets, ping needs sysctl net.ipv4.ping_group_range",
        },
        Ability {
            what: "real-time scheduling",
            found: scheduling().map_err(EmulatorError::from),
            fix: FIX_REAL_TIME,
        },
    ]
}

const FIX_REAL_TIME: &str = "run as root, or give the user 'rtprio 40' in /etc/security/limits.conf; without it packets are up to 0.1 ms later";

fn raw_socket() -> Result<(), EmulatorError> {
    let made = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::ICMP));
    made.map(drop).map_err(|error| EmulatorError::system("socket", error))
}

/// Tries it in a short-lived thread, so that the scheduling of the calling thread does not change.
fn scheduling() -> Result<String, SchedulingError> {
    match std::thread::spawn(real_time).join() {
        Ok(RealTime::Fifo) => Ok("SCHED_FIFO".to_owned()),
        Ok(RealTime::Ordinary(reason)) => Err(reason),
        Err(_) => Err(SchedulingError::Panicked),
    }
}
