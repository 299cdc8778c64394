//! Who appears when: the programs of a run, started and ended at their times.

use super::process::{Ended, Process, Said, command};
use super::{Emulation, EmulationError, OnHost, host};
use crate::experiment::{Cell, Program, ProgramKind, servers, upload_of};
use emulator::{Clock, Testbed};
use net::HostId;
use sim::Scenario;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::thread::sleep;
use std::time::Duration;
use units::Time;

/// Between looks at what is due and who has ended.
const TICK: Duration = Duration::from_millis(5);
/// How long a server may take until it listens.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long those that know their end have for their last report, for which the network is still there.
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
    /// The programs of a cell, its flows as uploads, and the servers that they need.
    pub(super) fn new(cell: &Cell, scenario: &Scenario, weir: &Path) -> Self {
        let flows = scenario.tcp.iter().map(upload_of);
        let programs: Vec<Program> = flows.chain(cell.programs().iter().cloned()).collect();
        let servers = servers(&programs, &scenario.network);
        let programs = programs.into_iter().map(|program| {
            let argv = program.command(weir);
            (program, argv)
        });
        Self { weir: weir.to_owned(), servers, programs: programs.collect() }
    }

    /// And these, for as long as the run lasts.
    pub(super) fn and_background(
        mut self,
        names: &[String],
        more: &[OnHost],
    ) -> Result<Self, EmulationError> {
        for (number, on) in (1..).zip(more) {
            let words = on.command.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
            let program = Program {
                name: format!("run-{number}"),
                host: host(names, &on.host)?,
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
    pub(super) fn servers(self, testbed: &Testbed, said: &dyn Fn(&Said<'_>)) -> Result<Cast, EmulationError> {
        let mut cast = Cast { running: Vec::new(), coming: self.programs.into() };
        for server in self.servers {
            let argv = server.command(&self.weir);
            cast.start(testbed, server, &argv)?;
        }
        let mut waited = Duration::ZERO;
        while !cast.running.iter().all(|server| listens(testbed, &server.program)) {
            sleep(TICK);
            waited += TICK;
            if waited > PATIENCE || cast.running.iter_mut().any(Process::has_ended) {
                cast.listen(testbed, said);
                let late = cast.running.iter().find(|server| !listens(testbed, &server.program));
                let name = late.map_or("", |server| server.program.name.as_str());
                return Err(EmulationError(format!("the server {name} does not come up")));
            }
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
    port(server).is_none_or(|port| testbed.hosts()[usize::from(server.host.0)].listens(port))
}

/// The programs of a run under way.
pub(super) struct Cast {
    running: Vec<Process>,
    coming: VecDeque<(Program, Vec<OsString>)>,
}

impl Cast {
    fn start(
        &mut self,
        testbed: &Testbed,
        program: Program,
        argv: &[OsString],
    ) -> Result<(), EmulationError> {
        let host = &testbed.hosts()[usize::from(program.host.0)];
        self.running.push(Process::start(host, program, argv)?);
        Ok(())
    }

    /// Starts and ends programs at their times, until the run is over or the command in the foreground has ended. Gives how
    /// that ended.
    pub(super) fn play(
        &mut self,
        testbed: &Testbed,
        clock: Clock,
        end: Time,
        foreground: Option<(HostId, &OnHost)>,
        over: impl Fn() -> bool,
        how: &Emulation<'_>,
    ) -> Result<Option<ExitStatus>, EmulationError> {
        let mut foreground = foreground
            .map(|(host, on)| {
                Ok::<_, EmulationError>(testbed.hosts()[usize::from(host.0)].spawn(command(&on.command)?)?)
            })
            .transpose()?;
        let mut tick = 0;
        while !over() && !self.is_done(clock.now(), end) {
            self.turn(testbed, clock.now(), how.said)?;
            let status = foreground.as_mut().map(std::process::Child::try_wait).transpose();
            if let Some(Some(status)) = status.map_err(|error| EmulationError(error.to_string()))? {
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
    fn turn(&mut self, testbed: &Testbed, now: Time, said: &dyn Fn(&Said<'_>)) -> Result<(), EmulationError> {
        while self.coming.front().is_some_and(|(program, _)| program.start <= now) {
            let Some((program, argv)) = self.coming.pop_front() else { break };
            self.start(testbed, program, &argv)?;
        }
        for process in &mut self.running {
            if stops(&process.program) <= now {
                process.tell_to_end();
            }
        }
        self.listen(testbed, said);
        Ok(())
    }

    /// Passes on what was written.
    fn listen(&mut self, testbed: &Testbed, said: &dyn Fn(&Said<'_>)) {
        for process in &mut self.running {
            let host = testbed.hosts()[usize::from(process.program.host.0)].name();
            process.listen(|program, line| said(&Said { host, program, line }));
        }
    }

    /// Ends what still runs, and gives how each ended and what it wrote.
    pub(super) fn finish(mut self, testbed: &Testbed, said: &dyn Fn(&Said<'_>)) -> Vec<Ended> {
        self.running.iter_mut().for_each(Process::tell_to_end);
        testbed.end_programs();
        self.listen(testbed, said);
        self.running.into_iter().map(Process::finish).collect()
    }
}

/// When a program is told to end. Clients and their servers have time for their last words.
fn stops(program: &Program) -> Time {
    if matches!(program.kind, ProgramKind::Command(_)) { program.stop } else { program.stop + LAST_WORDS }
}

/// Whether a program ends at its time by itself.
fn knows_its_end(program: &Program) -> bool {
    matches!(program.kind, ProgramKind::Ping { .. } | ProgramKind::Iperf3(_) | ProgramKind::Upload(_))
}
