//! The result of a run in real time: the same records as of a simulated run, the timing of the
//! loop, and the exit of each program.

use super::EmulationError;
use super::captures::Captures;
use super::endpoints::CallRecords;
use super::process::{ExitReason, ProgramExit};
use super::recorder::Recorder;
use crate::upload::transcript::{self, SampleGrid, Transcript};
use emulator::{Clock, EmulatorError, Lateness, Report};
use experiment::ProgramKind;
use sim::recording::{Event, StreamKind, StreamRecord};
use sim::{Recording, Scenario};
use std::process::ExitStatus;
use std::sync::Arc;
use units::{Duration, Time};

/// The largest 99th percentile of packet lateness with programs only.
const PROGRAMS: Duration = Duration::from_millis(1);
/// The largest 99th percentile of packet lateness with browsers, which send in bursts of 5 ms and
/// whose controllers group packets in bursts of 5 ms (draft-ietf-rmcat-gcc-02, sections 4 and 5.2).
const BROWSERS: Duration = Duration::from_millis(5);

/// The result of an emulated run.
#[derive(Clone, Debug)]
pub struct Emulated {
    /// The records: calls, uploads, then links.
    pub recording: Recording,
    /// The timing of the loop: whether the machine kept up.
    pub report: Report,
    /// The exits of the programs: servers first, then in the order of their start.
    pub programs: Vec<ProgramExit>,
    /// The exit status of the command in the foreground.
    pub exit: Option<ExitStatus>,
    /// Whether the machine kept up: packets were in time, and the browsers of a measurement had
    /// enough processor time. If not, the records describe the machine and not the network.
    pub kept_up: bool,
    /// Warnings for the reader of the result, one sentence each.
    pub warnings: Vec<String>,
    /// Why hosts of the run could not be removed. The next run retries.
    pub not_removed: Vec<EmulatorError>,
    /// Facts about the run, as the store keeps them.
    pub notes: Vec<(String, String)>,
}

impl Emulated {
    /// Whether a program of the experiment failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.programs.iter().any(|program| !program.succeeded())
    }
}

impl ProgramExit {
    /// Whether the program succeeded: it exited with success, or the run stopped it.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        match &self.reason {
            ExitReason::Exited(status) => status.success(),
            ExitReason::Stopped => true,
            ExitReason::NotStarted(_) => false,
        }
    }

    fn is_upload(&self) -> bool {
        matches!(self.program.kind, ProgramKind::Upload(_))
    }
}

/// The records of the uploads.
pub(super) fn records(
    scenario: &Scenario,
    clock: Clock,
    programs: &[ProgramExit],
    duration: Duration,
) -> Result<Vec<Transcript>, EmulationError> {
    let grid = SampleGrid { start: clock.origin(), interval: scenario.sample_interval, duration };
    let uploads = programs.iter().filter(|ended| ended.is_upload());
    let read = |client: &ProgramExit| {
        let server = client.program.kind.server();
        let server = programs.iter().find(|other| {
            server.as_ref().is_some_and(|(host, kind)| {
                other.program.host == *host && other.program.kind == *kind
            })
        });
        let text = |ended: Option<&ProgramExit>| {
            ended.map(|ended| ended.lines.join("\n")).unwrap_or_default()
        };
        transcript::read(
            &client.program,
            text(Some(client)).as_bytes(),
            text(server).as_bytes(),
            &grid,
        )
        .map_err(|error| EmulationError::Transcript {
            program: client.program.name.clone(),
            source: Arc::new(error),
        })
    };
    uploads.map(read).collect()
}

/// Assembles the result of a run.
pub(super) fn gather(
    scenario: &Scenario,
    calls: Option<CallRecords>,
    uploads: Vec<Transcript>,
    mut recorder: Recorder,
    report: Report,
    (programs, left): (Vec<ProgramExit>, usize),
    exit: Option<ExitStatus>,
) -> Emulated {
    let mut warnings = Vec::new();
    if calls.is_none() && !scenario.calls.is_empty() {
        let names: Vec<&str> = scenario.calls.iter().map(|call| call.name.as_str()).collect();
        warnings.push(format!(
            "calls are left out, because their endpoints are not programs: {}",
            names.join(", ")
        ));
    }
    let in_time = report.kept_up_within(if calls.is_some() { BROWSERS } else { PROGRAMS });
    if !in_time {
        warnings.push(overload(&report));
    }
    warnings.extend(self::warnings(scenario, &recorder, &report));
    match recorder.captures.take().map(Captures::finish) {
        None | Some(Ok(0)) => {}
        Some(Ok(lost)) => {
            warnings
                .push(format!("{lost} packets are missing in the captures: the disk was too slow"));
        }
        Some(Err(error)) => warnings.push(format!("the captures are incomplete: {error}")),
    }
    if left > 0 {
        warnings.push(format!("{left} processes could not be ended; the next run tries again"));
    }
    let skipped: usize = uploads.iter().map(|upload| upload.skipped).sum();
    if skipped > 0 {
        warnings.push(format!("{skipped} lines of the upload output could not be read"));
    }
    let CallRecords { streams: calls, events, warnings: of_calls, mut notes, limited } =
        calls.unwrap_or_default();
    warnings.extend(of_calls);
    let kept_up = in_time && !limited;
    let late = |share| report.lateness.quantile(share).as_millis_f64();
    notes.push((
        "lateness".to_owned(),
        format!("median {:.3} ms, p99 {:.1} ms", late(0.5), late(0.99)),
    ));
    let mut events: Vec<Event> =
        events.into_iter().chain(uploads.iter().flat_map(|upload| upload.events.clone())).collect();
    events.sort_by_key(|event| event.at);
    let lines = recorder.finish(Time::ZERO + report.duration);
    let uploads = uploads.into_iter().map(|upload| upload.record);
    let (mut streams, more): (Vec<_>, Vec<_>) =
        calls.into_iter().partition(|stream: &StreamRecord| stream.kind != StreamKind::Stats);
    streams.extend(uploads.chain(lines).chain(more));
    let recording = Recording {
        interval: scenario.sample_interval,
        duration: report.duration,
        streams,
        events,
    };
    Emulated {
        recording,
        report,
        programs,
        exit,
        kept_up,
        warnings,
        not_removed: Vec::new(),
        notes,
    }
}

fn warnings(scenario: &Scenario, recorder: &Recorder, report: &Report) -> Vec<String> {
    let mut warnings = Vec::new();
    let names = scenario.network.hosts.iter().map(|host| host.name.as_str());
    let small_queues: Vec<&str> = names
        .clone()
        .zip(&scenario.stacks)
        .filter(|(_, stack)| stack.tsq)
        .map(|(name, _)| name)
        .collect();
    if !small_queues.is_empty() {
        warnings.push(format!(
            "tsq is left out, because the queue is not on the host: {}",
            small_queues.join(", ")
        ));
    }
    for (host, lost) in names.zip(&report.lost_before_entry).filter(|(_, lost)| **lost > 0) {
        warnings.push(format!(
            "OVERLOADED: {lost} packets of {host} were lost before they entered the network: the loop was too slow"
        ));
    }
    if report.undeliverable > 0 {
        warnings.push(format!(
            "{} packets could not be delivered to their host; was its interface down?",
            report.undeliverable
        ));
    }
    for host in &recorder.refused {
        let name =
            scenario.network.hosts.get(usize::from(host.0)).map_or("", |host| host.name.as_str());
        warnings.push(format!(
            "{name} sent packets of more than {} bytes, which were refused; reset the MTU of its interface",
            emulator::MTU
        ));
    }
    warnings
}

fn overload(report: &Report) -> String {
    let of = |late: &Lateness, what: &str| {
        format!(
            "1 % of the {what}s were late by {:.1} ms or more, {} of {} by more than 1 ms",
            late.quantile(0.99).as_millis_f64(),
            late.missed(),
            late.count()
        )
    };
    format!(
        "OVERLOADED: {}; {}; the records describe the machine, not the network",
        of(&report.lateness, "packet"),
        of(&report.wakeups, "wake-up")
    )
}
