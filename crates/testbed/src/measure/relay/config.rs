//! The configuration file of coturn. Only the owner can read it: a secret must not appear in the
//! list of processes.

use server::Secret;
use sim::relay::TURN_PORT;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The authentication realm (RFC 8489, section 9.2).
pub(super) const REALM: &str = "weir";
/// The ports of relayed transport addresses (RFC 8656, section 7.2).
const PORTS: (u16, u16) = (49_152, 65_535);
/// Addresses that peers must not have: the relay's own loopback and addresses that lead there (RFC
/// 1122, section 3.2.1.3; RFC 4291, section 2.5.3), to protect the services of its host. Relayed
/// addresses are IPv4, so there are no IPv6 peers; for coturn 4.6 a range that begins at `::` would
/// include all of IPv4.
const DENIED: [&str; 3] = ["0.0.0.0-0.255.255.255", "127.0.0.0-127.255.255.255", "::1"];

/// Writes the file for a relay at this address, which keeps its own files in the same folder.
pub(super) fn write(path: &Path, address: Ipv4Addr, secret: &Secret) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text(path.parent().unwrap_or(path), address, secret).as_bytes())
}

fn text(folder: &Path, address: Ipv4Addr, secret: &Secret) -> String {
    let (first, last) = PORTS;
    let (folder, secret) = (folder.display(), secret.expose());
    let mut text = format!(
        "listening-ip={address}\nrelay-ip={address}\nlistening-port={TURN_PORT}\nmin-port={first}\nmax-port={last}\n\
         realm={REALM}\nuse-auth-secret\nstatic-auth-secret={secret}\n\
         userdb={folder}/turndb\npidfile={folder}/pid\nlog-file=stdout\nsimple-log\n\
         no-tls\nno-dtls\nno-cli\nno-tcp-relay\nno-rfc5780\nno-multicast-peers\n"
    );
    for range in DENIED {
        text.push_str(&format!("denied-peer-ip={range}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_the_owner_can_read_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("turnserver.conf");
        write(&path, Ipv4Addr::new(10, 0, 0, 3), &Secret::new("north")).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let text = std::fs::read_to_string(&path).unwrap();
        for line in [
            "use-auth-secret",
            "static-auth-secret=north",
            "no-cli",
            "relay-ip=10.0.0.3",
            "no-multicast-peers",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}");
        }
        assert!(!text.contains("allow-loopback-peers") && !text.contains("no-auth\n"));
    }
}
