//! The access of a host: a line in each direction, or a place in a Wi-Fi cell or an LTE network. This
//! is the only file that names the technologies side by side; all else about Wi-Fi is in `wifi`, and
//! all else about LTE in `lte`.

use super::files::Files;
use super::technology::Technology;
use super::{lte, wifi, wired};
use document::{Fault, Location, Node, Reader, Table};
use net::{AccessConfig, HostConfig, LineConfig, LteConfig, NetworkConfig, Schedule, WifiConfig};
use units::Duration;

/// The radio technologies.
const TECHNOLOGIES: [Technology; 2] = [wifi::TECHNOLOGY, lte::TECHNOLOGY];

/// The technology whose key this is; `None` if the key is of something else.
pub(super) fn technology(key: &str) -> Option<Technology> {
    TECHNOLOGIES.into_iter().find(|technology| technology.key == key)
}

/// The technology of a host that has no lines; `None` if the host is wired.
pub(super) fn technology_of(host: &Table) -> Option<Technology> {
    TECHNOLOGIES.into_iter().find(|technology| host.get(technology.key).is_some())
}

/// The accesses of a document that several hosts share, and the lines where they were written.
pub(super) struct SharedAccesses {
    wifi: Vec<(WifiConfig, Location)>,
    lte: Vec<(LteConfig, Location)>,
}

impl SharedAccesses {
    /// Reads the Wi-Fi cells and the LTE networks of a document with these hosts.
    pub(super) fn read(top: &mut Reader<'_>, hosts: &[&str], files: &Files) -> Result<Self, Fault> {
        Ok(Self { wifi: wifi::read_cells(top)?, lte: lte::read_networks(top, hosts, files)? })
    }

    /// The access under the keys of a host.
    pub(super) fn access(
        &self,
        host: &mut Reader<'_>,
        files: &Files,
    ) -> Result<AccessConfig, Fault> {
        let (up, down) = (host.node("up"), host.node("down"));
        let (wifi, lte) = (host.node(wifi::TECHNOLOGY.key), host.node(lte::TECHNOLOGY.key));
        let radios = [(wifi, wifi::TECHNOLOGY), (lte, lte::TECHNOLOGY)];
        let radios = radios.into_iter().filter_map(|(node, technology)| node.map(|_| technology));
        let mut given = radios.map(|technology| (technology.key, technology.name));
        match (given.next(), given.next()) {
            (Some((key, name)), _) if up.is_some() || down.is_some() => {
                let reason = format!("a host has one access: {name} or lines");
                return Err(host.fault(key, reason, format!("leave out up and down, or {key}")));
            }
            (Some((_, first)), Some((key, second))) => {
                let reason = format!("a host has one access: {first} or {second}");
                return Err(host.fault(key, reason, "leave out one of them"));
            }
            _ => {}
        }
        let line = |node: Option<&Node>, key| match node {
            Some(node) => wired::read(node, &host.path(key), files),
            None => Ok(LineConfig::default()),
        };
        Ok(match (wifi, lte) {
            (Some(node), _) => {
                AccessConfig::Wifi(wifi::read_station(node, &host.path("wifi"), &self.wifi)?)
            }
            (None, Some(node)) => {
                AccessConfig::Lte(lte::read_terminal(node, &host.path("lte"), &self.lte)?)
            }
            (None, None) => AccessConfig::Wired { up: line(up, "up")?, down: line(down, "down")? },
        })
    }

    /// The network of these hosts. Every cell and LTE network must have a host.
    pub(super) fn into_network(
        self,
        hosts: Vec<HostConfig>,
        core_delay: Schedule<Duration>,
    ) -> Result<NetworkConfig, Fault> {
        wifi::check_used(&self.wifi, &hosts)?;
        lte::check_used(&self.lte, &hosts)?;
        let wifi = self.wifi.into_iter().map(|(cell, _)| cell).collect();
        let lte = self.lte.into_iter().map(|(network, _)| network).collect();
        Ok(NetworkConfig { hosts, wifi, lte, core_delay })
    }
}
