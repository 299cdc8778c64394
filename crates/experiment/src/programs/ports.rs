//! The ports of servers, and which programs would be in each other's way.

use super::{Program, ProgramKind};
use document::{Fault, Location};
use net::HostId;
use std::collections::BTreeSet;

/// Where iperf3 listens if it is told nothing, and the first of the ports that are given out.
pub(super) const IPERF3_PORT: u16 = 5201;

/// Gives the clients of iperf3 that name no port (those in `open`) one of their own, and sees that
/// no two programs are in each other's way. `places`: where each program stands in the file.
pub(super) fn assign(
    programs: &mut [Program],
    open: &[usize],
    places: &[Location],
) -> Result<(), Fault> {
    let is_open: BTreeSet<usize> = open.iter().copied().collect();
    let settled: Vec<usize> =
        (0..programs.len()).filter(|index| !is_open.contains(index)).collect();
    check(programs, &settled, places)?;
    let seats = settled.iter().filter_map(|index| seat(&programs[*index]));
    let mut taken: BTreeSet<(HostId, u16)> = seats.map(|(host, port, _)| (host, port)).collect();
    for index in open {
        if let ProgramKind::Iperf3(client) = &mut programs[*index].kind
            && let Some(free) = (IPERF3_PORT..).find(|port| !taken.contains(&(client.to, *port)))
        {
            client.port = free;
            taken.insert((client.to, free));
        }
    }
    Ok(())
}

fn check(programs: &[Program], settled: &[usize], places: &[Location]) -> Result<(), Fault> {
    for (count, index) in settled.iter().enumerate() {
        let program = &programs[*index];
        let Some((_, port, _)) = seat(program) else { continue };
        let mut earlier = settled[..count].iter().map(|other| &programs[*other]);
        if let Some(rival) = earlier.find(|rival| in_the_way(rival, program)) {
            let reason =
                format!("port {port} is taken at the same time by program '{}'", rival.name);
            let suggestion = "give one of them another port or another time";
            return Err(Fault::new(
                places[*index],
                format!("program.{}", program.name),
                reason,
                suggestion,
            ));
        }
    }
    Ok(())
}

/// How a program takes a port.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// By a client of iperf3, whose server has no time for another one.
    Iperf3Client,
    Iperf3Server,
    Upload,
}

/// The port that a program takes, at which host and how.
fn seat(program: &Program) -> Option<(HostId, u16, Use)> {
    let host = program.host;
    match &program.kind {
        ProgramKind::Iperf3(client) => Some((client.to, client.port, Use::Iperf3Client)),
        ProgramKind::Iperf3Server { port } => Some((host, *port, Use::Iperf3Server)),
        ProgramKind::Upload(client) => Some((client.to, client.port, Use::Upload)),
        ProgramKind::UploadServer { port } => Some((host, *port, Use::Upload)),
        ProgramKind::Ping { .. } | ProgramKind::Command(_) => None,
    }
}

fn in_the_way(one: &Program, other: &Program) -> bool {
    let (Some(a), Some(b)) = (seat(one), seat(other)) else { return false };
    if (a.0, a.1) != (b.0, b.1) {
        return false;
    }
    let at_once = one.start < other.stop && other.start < one.stop;
    match (a.2, b.2) {
        (Use::Upload, Use::Upload)
        | (Use::Iperf3Client, Use::Iperf3Server)
        | (Use::Iperf3Server, Use::Iperf3Client) => false,
        (Use::Iperf3Client, Use::Iperf3Client) | (Use::Iperf3Server, Use::Iperf3Server) => at_once,
        // Their servers are there for the whole run.
        _ => true,
    }
}
