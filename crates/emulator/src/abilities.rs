//! What this machine and this user may do, found by trying.

use crate::device::Device;
use crate::namespace::Namespace;
use crate::rootless::become_root;
use crate::scheduling::{RealTime, real_time};
use rustix::net::{AddressFamily, SocketType, ipproto, socket};

/// Something that an emulation uses: how it is had, or why it is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ability {
    /// What it is.
    pub what: &'static str,
    /// How it is had, or what the system said.
    pub found: Result<String, String>,
    /// How to get it.
    pub mend: &'static str,
}

/// Tries everything that an emulation needs or can use. Makes this process root in a user namespace
/// if it is not root, so it is to be called as early as [`become_root`].
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
    let words = |result: Result<String, crate::EmulatorError>| result.map_err(|error| error.0);
    vec![
        Ability {
            what: "network namespaces",
            found: words(namespace.as_ref().map(|(_, how)| how.clone()).map_err(Clone::clone)),
            mend: "run on Linux as root, or allow unprivileged user namespaces",
        },
        Ability {
            what: "TUN devices",
            found: words(tun.map(|()| "made one".to_owned())),
            mend: "modprobe tun; chmod 666 /dev/net/tun",
        },
        Ability {
            what: "raw sockets",
            found: words(raw.map(|()| "opened one".to_owned())),
            mend: "without them ping needs sysctl net.ipv4.ping_group_range",
        },
        Ability { what: "real-time scheduling", found: scheduling(), mend: REAL_TIME },
    ]
}

const REAL_TIME: &str = "run as root, or give the user 'rtprio 40' in /etc/security/limits.conf; without it packets are up to 0.1 ms later";

fn raw_socket() -> Result<(), crate::EmulatorError> {
    let made = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::ICMP));
    made.map(drop).map_err(|error| crate::EmulatorError::of("socket", error))
}

fn scheduling() -> Result<String, String> {
    // In a thread of its own, which ends at once: this one stays as it is.
    match std::thread::spawn(real_time).join() {
        Ok(RealTime::Fifo) => Ok("SCHED_FIFO".to_owned()),
        Ok(RealTime::Ordinary(reason)) => Err(reason),
        Err(_) => Err("the thread broke off".to_owned()),
    }
}
