//! Who appears when: the programs of a run, started and ended at their times.

use super::process::{Ended, HowEnded, Process, Said, command};
use super::{Emulation, EmulationError, Guests, OnHost, host};
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

/// Between looks at what is due and who has ended.
const TICK: Duration = Duration::from_millis(5);
/// How long a server may take until it listens.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long those that know their end have for their last report, for which the network is still
/// there.
const LAST_WORDS: units::Duration = units::Duration::from_secs(2);
/// Ticks between two tellings of how far the run is.
const TELL: u32 = 200;

/// What is to be run on the hosts.
pub(super) struct Stage {
    weir: PathBuf,
    servers: Vec<Program>,
    /// In the order of their start.
    programs: Vec<(Program, Vec<OsString>)>,
}

impl Stage {
    /// The programs of a cell, its flows as uploads where no program takes their place, and the
    /// servers that they need.
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

    /// And these, for as long as the run lasts.
    pub(super) fn and_background(
        mut self,
        network: &NetworkConfig,
        more: &[OnHost],
    ) -> Result<Self, EmulationError> {
        for (number, on) in (1..).zip(more) {
            let words =
                on.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
            let program = Program {
                // A name that no program of a file can have.
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
    pub(super) fn servers(
        self,
        testbed: &Testbed,
        how: &Emulation<'_>,
    ) -> Result<Cast, EmulationError> {
        let mut cast =
            Cast { running: Vec::new(), coming: self.programs.into(), missing: Vec::new() };
        for server in self.servers {
            let argv = server.command(&self.weir);
            cast.running.push(Process::start(testbed.host(server.host), server, &argv)?);
        }
        let mut waited = Duration::ZERO;
        while !how.cancel.load(Ordering::Relaxed) {
            let late = cast.running.iter_mut().find(|server| !listens(testbed, &server.program));
            let Some(late) = late else { break };
            if waited > PATIENCE || late.has_ended() {
                return Err(late.does_not_listen());
            }
            sleep(TICK);
            waited += TICK;
        }
        Ok(cast)
    }
}

/// Where a server listens.
fn port(program: &Program) -> Option<u16> {
    match program.kind {
        ProgramKind::Iperf3Server { port } | ProgramKind::UploadServer { port } => Some(port),
        _ => None,
    }
}

fn listens(testbed: &Testbed, server: &Program) -> bool {
    port(server).is_none_or(|port| testbed.host(server.host).listens(port))
}

/// The programs of a run under way.
pub(super) struct Cast {
    running: Vec<Process>,
    coming: VecDeque<(Program, Vec<OsString>)>,
    /// Those that could not be started.
    missing: Vec<Ended>,
}

impl Cast {
    /// Starts one. What was recorded so far is not lost when it cannot be.
    fn start(&mut self, testbed: &Testbed, program: Program, argv: &[OsString]) {
        let host = testbed.host(program.host);
        match Process::start(host, program.clone(), argv) {
            Ok(process) => self.running.push(process),
            Err(error) => {
                let how = HowEnded::NotStarted(error);
                self.missing.push(Ended { program, how, lines: Vec::new() });
            }
        }
    }

    /// Starts and ends programs at their times, until the run is over or the command in the
    /// foreground has ended. Gives how that ended.
    pub(super) fn play<G: Guests>(
        &mut self,
        testbed: &Testbed,
        (clock, end): (Clock, Time),
        foreground: Option<(HostId, &OnHost)>,
        over: impl Fn() -> bool,
        guests: &mut G,
        how: &Emulation<'_>,
    ) -> Result<Option<ExitStatus>, G::Error> {
        let mut foreground = foreground
            .filter(|_| !over())
            .map(|(host, on)| {
                let command = command(&on.command)?;
                testbed.host(host).spawn(command).map_err(EmulationError::Emulator)
            })
            .transpose()?;
        let mut tick = 0;
        while !over() && !self.is_done(clock.now(), end) {
            self.turn(testbed, clock.now(), how.said);
            guests.turn(clock.now())?;
            let status = foreground.as_mut().map(std::process::Child::try_wait).transpose();
            let status =
                status.map_err(|error| EmulationError::Foreground(Arc::new(error)))?.flatten();
            if let Some(status) = status {
                return Ok(Some(status));
            }
            tick += 1;
            if tick % TELL == 0 {
                (how.progress)(clock.now().saturating_since(Time::ZERO));
            }
            sleep(TICK);
        }
        Ok(None)
    }

    /// Whether the run's time is over, also that for last words.
    fn is_done(&mut self, now: Time, end: Time) -> bool {
        now >= end
            && (now >= end + LAST_WORDS
                || self
                    .running
                    .iter_mut()
                    .all(|process| process.has_ended() || !knows_its_end(&process.program)))
    }

    /// Does what is due.
    fn turn(&mut self, testbed: &Testbed, now: Time, said: &dyn Fn(&Said<'_>)) {
        while self.coming.front().is_some_and(|(program, _)| program.start <= now) {
            let Some((program, argv)) = self.coming.pop_front() else { break };
            self.start(testbed, program, &argv);
        }
        for process in &mut self.running {
            let stop = stops(&process.program);
            if stop <= now && (!process.is_told() || stop + LAST_WORDS <= now) {
                process.tell_to_end();
            }
        }
        self.listen(testbed, said);
    }

    /// Passes on what was written.
    fn listen(&mut self, testbed: &Testbed, said: &dyn Fn(&Said<'_>)) {
        for process in &mut self.running {
            let host = testbed.host(process.program.host).name();
            process.listen(|program, line| said(&Said { host, program, line }));
        }
    }

    /// Ends what still runs. Gives how each ended and what it wrote, and how many processes could
    /// not be ended.
    pub(super) fn finish(
        mut self,
        testbed: &Testbed,
        said: &dyn Fn(&Said<'_>),
    ) -> (Vec<Ended>, usize) {
        for process in self.running.iter_mut().filter(|process| !process.is_told()) {
            process.tell_to_end();
        }
        let left = testbed.end_programs();
        self.listen(testbed, said);
        let ended = self.running.into_iter().map(Process::finish);
        (ended.chain(self.missing).collect(), left)
    }
}

/// When a program is told to end. Clients and their servers have time for their last words.
fn stops(program: &Program) -> Time {
    if matches!(program.kind, ProgramKind::Command(_)) {
        program.stop
    } else {
        program.stop + LAST_WORDS
    }
}

/// Whether a program ends at its time by itself.
fn knows_its_end(program: &Program) -> bool {
    matches!(
        program.kind,
        ProgramKind::Ping { .. } | ProgramKind::Iperf3(_) | ProgramKind::Upload(_)
    )
}
