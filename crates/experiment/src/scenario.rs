use super::files::Files;
use super::origins::{Expanded, Origins};
use super::programs::{self, Program};
use super::traffic::Defaults;
use super::{calls, hosts, ims, ims::Ims, measure, measure::Measure, strategy, tcp, users};
use document::{Fault, Location, Node, Reader, Table, Value};
use sim::Scenario;
use sim::recording::{MAX_SAMPLES, MAX_VALUES};
use units::{Duration, Seed};

/// The keys at the top of a file that describe a scenario.
pub(super) const KEYS: [&str; 15] = [
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
    "ims",
];

/// The contents of a cell.
pub(super) struct CellContents {
    pub(super) scenario: Scenario,
    /// The sections of the file that its parts come from.
    pub(super) origins: Origins,
    /// The programs that run when the network is emulated.
    pub(super) programs: Vec<Program>,
    /// How its calls are measured.
    pub(super) measure: Measure,
    /// The IMS that its calls pass.
    pub(super) ims: Option<Ims>,
}

/// Reads a document. Its users and its strategy are replaced by the sections that they stand for.
pub(super) fn read(document: Table, files: &Files) -> Result<CellContents, Fault> {
    let (document, expanded) = users::expand(document)?;
    read_expanded(document, &expanded, files).map_err(|fault| expanded.in_file_keys(fault))
}

fn read_expanded(
    document: Table,
    expanded: &Expanded,
    files: &Files,
) -> Result<CellContents, Fault> {
    let document = strategy::expand(document)?;
    let node = Node { value: Value::Table(document), location: Location::Line(1) };
    let mut top = Reader::new(&node, "")?;
    let (duration, sample_interval) = duration_and_interval(&mut top)?;
    let (mut network, stacks) = hosts::read_hosts(&mut top, files)?;
    let defaults = Defaults::read(&mut top)?;
    let (calls, call_paths) = calls::read(&mut top, &defaults.call, &network, duration, files)?;
    let (tcp, tcp_paths) = tcp::read(&mut top, &defaults.tcp, &network, duration)?;
    let programs = programs::read(&mut top, &network, duration, &tcp)?;
    let measure = measure::read(&mut top, &network, sample_interval, files)?;
    let mut ims = ims::read(&mut top, &network, &calls)?;
    if let Some(ims) = &mut ims {
        ims.add_bearers(&mut network, &calls);
    }
    let hosts: Vec<String> =
        network.hosts.iter().map(|host| format!("host.{}", host.name)).collect();
    let origins = Origins::new(expanded, &call_paths, &tcp_paths, &hosts);
    let scenario =
        Scenario { duration, sample_interval, seed: Seed(1), network, stacks, calls, tcp };
    check_values(&top, &scenario)?;
    Ok(CellContents { scenario, origins, programs, measure, ims })
}

fn duration_and_interval(top: &mut Reader<'_>) -> Result<(Duration, Duration), Fault> {
    let duration: Duration = top.required("duration")?;
    let interval: Duration = top.or("sample_interval", Duration::from_millis(500))?;
    if duration == Duration::ZERO {
        return Err(top.fault(
            "duration",
            "it must be greater than 0",
            "write a time such as \"300s\"",
        ));
    }
    if interval == Duration::ZERO {
        return Err(top.fault(
            "sample_interval",
            "it must be greater than 0",
            "write a time such as \"500ms\"",
        ));
    }
    if interval > duration {
        let reason =
            format!("{interval} is longer than the run of {duration}, which would have no sample");
        return Err(top.fault("sample_interval", reason, "write a shorter time"));
    }
    if duration.as_nanos() / interval.as_nanos() > MAX_SAMPLES {
        let reason = format!("there would be more than {MAX_SAMPLES} samples");
        return Err(top.fault("duration", reason, "shorten the run or lengthen sample_interval"));
    }
    Ok((duration, interval))
}

/// Refuses a scenario whose recording would not fit into memory.
fn check_values(top: &Reader<'_>, scenario: &Scenario) -> Result<(), Fault> {
    let values = scenario.sampled_values();
    if values <= MAX_VALUES {
        return Ok(());
    }
    let interval = scenario.sample_interval.as_nanos().saturating_mul(values.div_ceil(MAX_VALUES));
    // In whole milliseconds.
    let step = Duration::from_millis(1).as_nanos();
    let interval = Duration::from_nanos(interval.div_ceil(step) * step);
    let reason = format!(
        "a run would record {values} values (samples × columns of all streams); at most {MAX_VALUES} \
         (512 MiB) are allowed"
    );
    let suggestion = format!(
        "write \"{interval}\" or longer, shorten the run, or use fewer hosts, calls or flows"
    );
    Err(top.fault("sample_interval", reason, suggestion))
}
