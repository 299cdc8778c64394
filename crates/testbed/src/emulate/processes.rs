//! The programs of a run: each is started and stopped at its time.

use super::live::Live;
use super::process::{ExitReason, OutputLine, Process, ProgramExit, command};
use super::{CallEndpoints, Emulation, EmulationError, HostCommand, host};
use emulator::{Clock, Testbed};
use experiment::{Cell, Program, ProgramKind, servers, upload_of};
use net::{HostId, NetworkConfig};
use sim::Scenario;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;
use units::Time;

/// The time between two checks for what is due and which programs have ended.
const TICK: Duration = Duration::from_millis(5);
/// How long a server may take until it listens.
const START_TIMEOUT: Duration = Duration::from_secs(5);
/// Time that a program with its own end has for its last output; the network still exists.
const FINAL_OUTPUT_TIME: units::Duration = units::Duration::from_secs(2);
/// Ticks between two reports of the progress.
const PROGRESS_TICKS: u32 = 200;

/// The programs that a run starts on its hosts.
pub(super) struct ProcessPlan {
    weir: PathBuf,
    servers: Vec<Program>,
    /// In the order of their start.
    programs: Vec<(Program, Vec<OsString>)>,
}

impl ProcessPlan {
    /// The programs of a cell, uploads for its TCP flows unless a program has the same name, and
    /// the servers that they need.
    pub(super) fn new(
        cell: &Cell,
        scenario: &Scenario,
        weir: &Path,
    ) -> Result<Self, EmulationError> {
        let replaced = |name: &str| cell.programs().iter().any(|program| program.name == name);
        let flows = scenario.tcp.iter().filter(|flow| !replaced(&flow.name)).map(|flow| {
            let name = &flow.name;
            upload_of(flow).ok_or_else(|| EmulationError::WebFlow(name.clone()))
        });
        let flows = flows.collect::<Result<Vec<_>, _>>()?;
        let programs: Vec<Program> =
            flows.into_iter().chain(cell.programs().iter().cloned()).collect();
        let servers = servers(&programs, &scenario.network);
        let programs = programs.into_iter().map(|program| {
            let argv = program.command(weir);
            (program, argv)
        });
        Ok(Self { weir: weir.to_owned(), servers, programs: programs.collect() })
    }

    /// Adds commands that run during the whole run.
    pub(super) fn with_background(
        mut self,
        network: &NetworkConfig,
        more: &[HostCommand],
    ) -> Result<Self, EmulationError> {
        for (number, on) in (1..).zip(more) {
            let words =
                on.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
            let program = Program {
                // An experiment file cannot contain this name.
                name: format!("{}.run-{number}", on.host),
                host: host(network, &on.host)?,
                start: Time::ZERO,
                stop: Time::MAX,
                kind: ProgramKind::Command(words),
            };
            self.programs.push((program, on.command.clone()));
        }
        self.programs.sort_by_key(|(program, _)| program.start);
        Ok(self)
    }

    /// Starts the servers and waits until they listen.
    pub(super) fn start_servers(
        self,
        testbed: &Testbed,
        emulation: &Emulation<'_>,
    ) -> Result<RunningProcesses, EmulationError> {
        let mut running = RunningProcesses {
            processes: Vec::new(),
            scheduled: self.programs.into(),
            not_started: Vec::new(),
        };
        for server in self.servers {
            let argv = server.command(&self.weir);
            running.processes.push(Process::start(testbed.host(server.host), server, &argv)?);
        }
        let mut waited = Duration::ZERO;
        while !emulation.cancel.load(Ordering::Relaxed) {
            let late =
                running.processes.iter_mut().find(|server| !listens(testbed, &server.program));
            let Some(late) = late else { break };
            if waited > START_TIMEOUT || late.has_ended() {
                return Err(late.not_listening_error());
            }
            sleep(TICK);
            waited += TICK;
        }
        Ok(running)
    }
}

/// The port on which a server listens.
fn port(program: &Program) -> Option<u16> {
    match program.kind {
        ProgramKind::Iperf3Server { port } | ProgramKind::UploadServer { port } => Some(port),
        _ => None,
    }
}

fn listens(testbed: &Testbed, server: &Program) -> bool {
    port(server).is_none_or(|port| testbed.host(server.host).listens(port))
}

/// The time of a run, and what its links carry.
#[derive(Clone, Copy)]
pub(super) struct Watched<'a> {
    pub(super) clock: Clock,
    pub(super) end: Time,
    pub(super) live: &'a Live,
}

/// The running programs of a run.
pub(super) struct RunningProcesses {
    processes: Vec<Process>,
    scheduled: VecDeque<(Program, Vec<OsString>)>,
    /// Programs that could not be started.
    not_started: Vec<ProgramExit>,
}

impl RunningProcesses {
    /// Starts a program. A program that cannot be started does not end the run.
    fn start(&mut self, testbed: &Testbed, program: Program, argv: &[OsString]) {
        let host = testbed.host(program.host);
        match Process::start(host, program.clone(), argv) {
            Ok(process) => self.processes.push(process),
            Err(error) => {
                let reason = ExitReason::NotStarted(error);
                self.not_started.push(ProgramExit { program, reason, lines: Vec::new() });
            }
        }
    }

    /// Starts and stops programs at their times, until the run is over or the command in the
    /// foreground has ended. Returns the exit status of that command.
    pub(super) fn run<E: CallEndpoints>(
        &mut self,
        testbed: &Testbed,
        Watched { clock, end, live }: Watched<'_>,
        foreground: Option<(HostId, &HostCommand)>,
        over: impl Fn() -> bool,
        endpoints: &mut E,
        emulation: &Emulation<'_>,
    ) -> Result<Option<ExitStatus>, E::Error> {
        let mut foreground = foreground
            .filter(|_| !over())
            .map(|(host, on)| {
                let command = command(&on.command)?;
                testbed.host(host).spawn(command).map_err(EmulationError::Emulator)
            })
            .transpose()?;
        let mut tick = 0;
        while !over() && !self.is_done(clock.now(), end) {
            self.poll(testbed, clock.now(), emulation.output);
            endpoints.poll(testbed, clock.now())?;
            let status = foreground.as_mut().map(std::process::Child::try_wait).transpose();
            let status =
                status.map_err(|error| EmulationError::Foreground(Arc::new(error)))?.flatten();
            if let Some(status) = status {
                return Ok(Some(status));
            }
            tick += 1;
            if tick % PROGRESS_TICKS == 0 {
                (emulation.progress)(clock.now().saturating_since(Time::ZERO), &live.now());
            }
            sleep(TICK);
        }
        Ok(None)
    }

    /// Whether the time of the run is over, with the time for the last output.
    fn is_done(&mut self, now: Time, end: Time) -> bool {
        now >= end
            && (now >= end + FINAL_OUTPUT_TIME
                || self
                    .processes
                    .iter_mut()
                    .all(|process| process.has_ended() || !knows_its_end(&process.program)))
    }

    /// Starts and stops the programs whose time has come.
    fn poll(&mut self, testbed: &Testbed, now: Time, output: &dyn Fn(&OutputLine<'_>)) {
        while self.scheduled.front().is_some_and(|(program, _)| program.start <= now) {
            let Some((program, argv)) = self.scheduled.pop_front() else { break };
            self.start(testbed, program, &argv);
        }
        for process in &mut self.processes {
            let stop = stops(&process.program);
            if stop <= now && (!process.is_stopping() || stop + FINAL_OUTPUT_TIME <= now) {
                process.stop();
            }
        }
        self.forward_output(testbed, output);
    }

    /// Passes on the output of the programs.
    fn forward_output(&mut self, testbed: &Testbed, output: &dyn Fn(&OutputLine<'_>)) {
        for process in &mut self.processes {
            let host = testbed.host(process.program.host).name();
            process.forward_output(|program, line| output(&OutputLine { host, program, line }));
        }
    }

    /// Ends all programs. Returns their exits and output, and the number of processes that could
    /// not be ended.
    pub(super) fn finish(
        mut self,
        testbed: &Testbed,
        output: &dyn Fn(&OutputLine<'_>),
    ) -> (Vec<ProgramExit>, usize) {
        for process in self.processes.iter_mut().filter(|process| !process.is_stopping()) {
            process.stop();
        }
        let left = testbed.end_programs();
        self.forward_output(testbed, output);
        let ended = self.processes.into_iter().map(Process::finish);
        (ended.chain(self.not_started).collect(), left)
    }
}

/// The time at which a program is stopped. Clients and their servers get time for their last
/// output.
fn stops(program: &Program) -> Time {
    if matches!(program.kind, ProgramKind::Command(_)) {
        program.stop
    } else {
        program.stop + FINAL_OUTPUT_TIME
    }
}

/// Whether a program ends by itself at its stop time.
fn knows_its_end(program: &Program) -> bool {
    matches!(
        program.kind,
        ProgramKind::Ping { .. } | ProgramKind::Iperf3(_) | ProgramKind::Upload(_)
    )
}
