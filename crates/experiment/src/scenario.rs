use super::ends::Defaults;
use super::files::Files;
use super::origins::{Expanded, Origins};
use super::programs::{self, Program};
use super::{calls, hosts, measure, measure::Measure, strategy, tcp, users};
use document::{Fault, Location, Node, Reader, Table, Value};
use sim::Scenario;
use units::{Duration, Seed};

/// The keys at the top of a file that make a scenario.
pub(super) const KEYS: [&str; 14] = [
    "duration",
    "sample_interval",
    "core_delay",
    "host",
    "wifi",
    "lte",
    "call",
    "conference",
    "tcp",
    "program",
    "users",
    "strategy",
    "defaults",
    "measure",
];
/// The most samples of a stream: over a day at one in 10 ms.
const MAX_SAMPLES: u64 = 10_000_000;

/// What a document says is to be simulated.
pub(super) struct Read {
    pub(super) scenario: Scenario,
    /// What made it.
    pub(super) origins: Origins,
    /// Which programs run besides if the network is emulated.
    pub(super) programs: Vec<Program>,
    /// How it is measured.
    pub(super) measure: Measure,
}

/// Reads a document, with its users and its strategy written out.
pub(super) fn read(document: Table, files: &Files) -> Result<Read, Fault> {
    let (document, expanded) = users::expand(document)?;
    read_expanded(document, &expanded, files).map_err(|fault| expanded.told(fault))
}

fn read_expanded(document: Table, expanded: &Expanded, files: &Files) -> Result<Read, Fault> {
    let document = strategy::expand(document)?;
    let node = Node { value: Value::Table(document), location: Location::Line(1) };
    let mut top = Reader::new(&node, "")?;
    let (duration, sample_interval) = times(&mut top)?;
    let (network, stacks) = hosts::read_hosts(&mut top, files)?;
    let defaults = Defaults::read(&mut top)?;
    let (calls, call_paths) = calls::read(&mut top, &defaults.call, &network, duration, files)?;
    let (tcp, tcp_paths) = tcp::read(&mut top, &defaults.tcp, &network, duration)?;
    let programs = programs::read(&mut top, &network, duration, &tcp)?;
    let measure = measure::read(&mut top, &network, sample_interval, files)?;
    if calls.is_empty() && tcp.is_empty() && programs.is_empty() {
        let suggestion = "add [call.main] or [tcp.upload] with from = \"…\" and to = \"…\"";
        return Err(top.fault(
            "call",
            "there is no call and no TCP flow: nobody would send",
            suggestion,
        ));
    }
    let hosts: Vec<String> =
        network.hosts.iter().map(|host| format!("host.{}", host.name)).collect();
    let origins = Origins::new(expanded, &call_paths, &tcp_paths, &hosts);
    let scenario =
        Scenario { duration, sample_interval, seed: Seed(1), network, stacks, calls, tcp };
    Ok(Read { scenario, origins, programs, measure })
}

fn times(top: &mut Reader<'_>) -> Result<(Duration, Duration), Fault> {
    let duration: Duration = top.required("duration")?;
    let interval: Duration = top.or("sample_interval", Duration::from_millis(500))?;
    if duration == Duration::ZERO {
        return Err(top.fault("duration", "a run of no length", "write a time such as \"300s\""));
    }
    if interval == Duration::ZERO {
        return Err(top.fault(
            "sample_interval",
            "samples without end",
            "write a time such as \"500ms\"",
        ));
    }
    if interval > duration {
        let reason =
            format!("{interval} is longer than the run of {duration}: there would be no sample");
        return Err(top.fault("sample_interval", reason, "write a shorter one"));
    }
    if duration.as_nanos() / interval.as_nanos() > MAX_SAMPLES {
        let reason = format!("more than {MAX_SAMPLES} samples");
        return Err(top.fault("duration", reason, "shorten the run or lengthen sample_interval"));
    }
    Ok((duration, interval))
}
