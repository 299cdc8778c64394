//! The ports of servers, and programs that need the same port.

use super::{Program, ProgramKind};
use document::{Fault, Location};
use net::HostId;
use std::collections::BTreeSet;

/// The default port of iperf3, and the first port that is assigned.
pub(super) const IPERF3_PORT: u16 = 5201;

/// Assigns a port to each iperf3 client without one; `without_port` are their indices. `locations`
/// are the places of the programs in the file.
///
/// # Errors
/// If two programs need the same port at the same time.
pub(super) fn assign(
    programs: &mut [Program],
    without_port: &[usize],
    locations: &[Location],
) -> Result<(), Fault> {
    let unassigned: BTreeSet<usize> = without_port.iter().copied().collect();
    let assigned: Vec<usize> =
        (0..programs.len()).filter(|index| !unassigned.contains(index)).collect();
    check(programs, &assigned, locations)?;
    let uses = assigned.iter().filter_map(|index| port_use(&programs[*index]));
    let mut taken: BTreeSet<(HostId, u16)> = uses.map(|(host, port, _)| (host, port)).collect();
    for index in without_port {
        if let ProgramKind::Iperf3(client) = &mut programs[*index].kind
            && let Some(free) = (IPERF3_PORT..).find(|port| !taken.contains(&(client.to, *port)))
        {
            client.port = free;
            taken.insert((client.to, free));
        }
    }
    Ok(())
}

fn check(programs: &[Program], assigned: &[usize], locations: &[Location]) -> Result<(), Fault> {
    for (count, index) in assigned.iter().enumerate() {
        let program = &programs[*index];
        let Some((_, port, _)) = port_use(program) else { continue };
        let mut earlier = assigned[..count].iter().map(|other| &programs[*other]);
        if let Some(other) = earlier.find(|other| conflict(other, program)) {
            let reason =
                format!("port {port} is used at the same time by program '{}'", other.name);
            let suggestion = "give one of them another port or another time";
            return Err(Fault::new(
                locations[*index],
                format!("program.{}", program.name),
                reason,
                suggestion,
            ));
        }
    }
    Ok(())
}

/// How a program uses a port.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PortUse {
    /// By a client of iperf3, whose server serves one client at a time.
    Iperf3Client,
    Iperf3Server,
    Upload,
}

/// The host and port that a program uses, and how.
fn port_use(program: &Program) -> Option<(HostId, u16, PortUse)> {
    let host = program.host;
    match &program.kind {
        ProgramKind::Iperf3(client) => Some((client.to, client.port, PortUse::Iperf3Client)),
        ProgramKind::Iperf3Server { port } => Some((host, *port, PortUse::Iperf3Server)),
        ProgramKind::Upload(client) => Some((client.to, client.port, PortUse::Upload)),
        ProgramKind::UploadServer { port } => Some((host, *port, PortUse::Upload)),
        ProgramKind::Ping { .. } | ProgramKind::Command(_) => None,
    }
}

/// Whether two programs need the same port at the same time.
fn conflict(one: &Program, other: &Program) -> bool {
    let (Some(a), Some(b)) = (port_use(one), port_use(other)) else { return false };
    if (a.0, a.1) != (b.0, b.1) {
        return false;
    }
    let overlap = one.start < other.stop && other.start < one.stop;
    match (a.2, b.2) {
        (PortUse::Upload, PortUse::Upload)
        | (PortUse::Iperf3Client, PortUse::Iperf3Server)
        | (PortUse::Iperf3Server, PortUse::Iperf3Client) => false,
        (PortUse::Iperf3Client, PortUse::Iperf3Client)
        | (PortUse::Iperf3Server, PortUse::Iperf3Server) => overlap,
        // The servers of clients run for the whole run.
        _ => true,
    }
}
