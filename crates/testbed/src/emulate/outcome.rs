//! What a run leaves: the same records as a simulated one, how the loop did, and how the programs
//! ended.

use super::EmulationError;
use super::captures::Captures;
use super::guests::Records;
use super::process::{Ended, HowEnded};
use super::recorder::Recorder;
use crate::upload::transcript::{self, Grid, Transcript};
use emulator::{Clock, Lateness, Report};
use experiment::ProgramKind;
use sim::recording::{Event, StreamKind, StreamRecord};
use sim::{Recording, Scenario};
use std::process::ExitStatus;
use std::sync::Arc;
use units::{Duration, Time};

/// How late one packet in a hundred may be.
const PROGRAMS: Duration = Duration::from_millis(1);
/// The same for browsers, which send, and whose controllers group packets, in bursts of 5 ms
/// (draft-ietf-rmcat-gcc-02 § 4 and 5.2).
const BROWSERS: Duration = Duration::from_millis(5);

/// A run that was emulated.
#[derive(Clone, Debug)]
pub struct Emulated {
    /// The records: uploads, then lines.
    pub recording: Recording,
    /// How the loop did: whether the machine kept up.
    pub report: Report,
    /// The programs, servers first, in the order of their start.
    pub programs: Vec<Ended>,
    /// How the command in the foreground ended.
    pub exit: Option<ExitStatus>,
    /// Whether the machine kept up: packets were in time, and the browsers of a measurement had
    /// enough of the processor. What else was recorded is the machine's, not the network's.
    pub kept_up: bool,
    /// What a reader of the result should know, a sentence each.
    pub warnings: Vec<String>,
    /// Facts about the run, as the store keeps them.
    pub notes: Vec<(String, String)>,
}

impl Emulated {
    /// Whether a program of the file ended by itself and says that it failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.programs.iter().any(|program| !program.succeeded())
    }
}

impl Ended {
    /// Whether it did what it was to do: it ended by itself and says so, or was told to end.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        match &self.how {
            HowEnded::Itself(status) => status.success(),
            HowEnded::Told => true,
            HowEnded::NotStarted(_) => false,
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
    programs: &[Ended],
    duration: Duration,
) -> Result<Vec<Transcript>, EmulationError> {
    let grid = Grid { start: clock.origin(), interval: scenario.sample_interval, duration };
    let uploads = programs.iter().filter(|ended| ended.is_upload());
    let read = |client: &Ended| {
        let server = client.program.kind.server();
        let server = programs.iter().find(|other| {
            server.as_ref().is_some_and(|(host, kind)| {
                other.program.host == *host && other.program.kind == *kind
            })
        });
        let text =
            |ended: Option<&Ended>| ended.map(|ended| ended.lines.join("\n")).unwrap_or_default();
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

/// Puts a run together.
pub(super) fn gather(
    scenario: &Scenario,
    calls: Option<Records>,
    uploads: Vec<Transcript>,
    mut recorder: Recorder,
    report: Report,
    (programs, left): (Vec<Ended>, usize),
    exit: Option<ExitStatus>,
) -> Emulated {
    let mut warnings = Vec::new();
    if calls.is_none() && !scenario.calls.is_empty() {
        let names: Vec<&str> = scenario.calls.iter().map(|call| call.name.as_str()).collect();
        warnings.push(format!(
            "calls are left out, their ends are not real programs: {}",
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
            warnings.push(format!("{lost} packets are not in the captures: the disk was too slow"));
        }
        Some(Err(error)) => warnings.push(format!("the captures are not whole: {error}")),
    }
    if left > 0 {
        warnings.push(format!("{left} processes could not be ended; the next run will try again"));
    }
    let skipped: usize = uploads.iter().map(|upload| upload.skipped).sum();
    if skipped > 0 {
        warnings.push(format!("{skipped} lines of the uploads could not be read"));
    }
    let Records { streams: calls, events, warnings: of_calls, mut notes, limited } =
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
    Emulated { recording, report, programs, exit, kept_up, warnings, notes }
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
            "tsq is left out: the queue does not stand on the host itself: {}",
            small_queues.join(", ")
        ));
    }
    for (host, lost) in names.zip(&report.lost_before_entry).filter(|(_, lost)| **lost > 0) {
        warnings.push(format!(
            "OVERLOADED: {lost} packets of {host} were lost before the network saw them: the loop did not come to take them"
        ));
    }
    if report.undeliverable > 0 {
        warnings.push(format!(
            "{} packets could not be given to their host; was its interface down?",
            report.undeliverable
        ));
    }
    for host in &recorder.refused {
        let name =
            scenario.network.hosts.get(usize::from(host.0)).map_or("", |host| host.name.as_str());
        warnings.push(format!(
            "{name} sent packets of more than {} bytes, which were refused: put its interface's MTU back",
            emulator::MTU
        ));
    }
    warnings
}

fn overload(report: &Report) -> String {
    let of = |late: &Lateness, what: &str| {
        format!(
            "one {what} in a hundred was late by {:.1} ms or more, {} of {} by more than 1 ms",
            late.quantile(0.99).as_millis_f64(),
            late.missed(),
            late.count()
        )
    };
    format!(
        "OVERLOADED: {}; {}; what was measured is the machine's, not the network's",
        of(&report.lateness, "packet"),
        of(&report.wakeups, "wake-up")
    )
}
