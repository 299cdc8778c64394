//! Emulation: a run in real time, with real programs on the hosts and the modelled network between
//! them.
//!
//! ```text
//! cell ─▶ net::Network ───────────▶ emulator (a thread with real-time scheduling) ─▶ samples of the links ─┐
//!      └▶ programs, flows as uploads ─▶ processes in the hosts' namespaces ─▶ their output ───────────────┴▶ Recording
//! ```

mod captures;
mod endpoints;
mod error;
mod live;
mod outcome;
mod process;
mod processes;
mod recorder;

pub use error::EmulationError;
pub use outcome::Emulated;
pub use process::{ExitReason, OutputLine, ProgramExit};

use captures::Captures;
pub use emulator::{Ability, RealTime, Report, abilities, become_root};
use emulator::{Clock, Controls, Emulator, EmulatorError, Testbed};
use endpoints::NoCalls;
pub use endpoints::{CallEndpoints, CallRecords};
use experiment::{Cell, find_host};
pub use live::LinkNow;
use live::Live;
use net::{HostId, Network, NetworkConfig};
use processes::{ProcessPlan, Watched};
use recorder::Recorder;
use server::since_1970;
use sim::{Recording, RunError, Scenario};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Duration, Seed, Time};

/// The options of an emulation.
#[derive(Clone, Copy)]
pub struct Emulation<'a> {
    /// The folder for a packet capture of each host's interface.
    pub captures: Option<&'a Path>,
    /// The path of a control socket that accepts changes to the links.
    pub control: Option<&'a Path>,
    /// A command that uses this terminal; the run lasts until it ends.
    pub foreground: Option<&'a HostCommand>,
    /// Further commands, which run from the start to the end.
    pub background: &'a [HostCommand],
    /// The file of the program `weir`, which also is the upload client and server.
    pub weir: &'a Path,
    /// Set from outside to end the run early; what was recorded until then is kept.
    pub cancel: &'a AtomicBool,
    /// Called with each line that a program writes.
    pub output: &'a (dyn Fn(&OutputLine<'_>) + Sync),
    /// Called about once a second with the elapsed time of the run and what its links carry.
    pub progress: &'a dyn Fn(Duration, &[LinkNow]),
}

/// A command and its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCommand {
    /// The host's name.
    pub host: String,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

/// The longest run with a command in the foreground: one day.
const A_DAY: Duration = Duration::from_secs(86_400);

impl Emulation<'_> {
    /// Emulates a cell: its network, its programs, and its TCP flows as uploads. Calls are left
    /// out.
    ///
    /// # Errors
    /// When the hosts cannot be created, a file cannot be written, or a program cannot be started.
    /// The hosts are then removed again.
    pub fn run(&self, cell: &Cell, seed: Seed) -> Result<Emulated, EmulationError> {
        self.run_with(cell, seed, &mut NoCalls)
    }

    /// Emulates a cell, with these endpoints for its calls.
    ///
    /// # Errors
    /// Those of [`Emulation::run`] and of `endpoints`.
    pub fn run_with<E: CallEndpoints>(
        &self,
        cell: &Cell,
        seed: Seed,
        endpoints: &mut E,
    ) -> Result<Emulated, E::Error> {
        let scenario = cell.scenario(seed);
        let names: Vec<String> =
            scenario.network.hosts.iter().map(|host| host.name.clone()).collect();
        let foreground = self
            .foreground
            .map(|on| host(&scenario.network, &on.host).map(|host| (host, on)))
            .transpose()?;
        let plan = ProcessPlan::new(cell, &scenario, self.weir)?
            .with_background(&scenario.network, self.background)?;
        let network = Network::new(&scenario.network, seed).map_err(EmulationError::Network)?;
        let controls = self.control.map(|path| Controls::listen(path, names.clone())).transpose();
        let controls = controls.map_err(EmulationError::Emulator)?;
        let mut testbed = Testbed::new(&names).map_err(EmulationError::Emulator)?;
        let length = if foreground.is_some() { A_DAY } else { scenario.duration };
        let end = Time::ZERO + length;
        let captures = self.captures.map(|folder| Captures::open(folder, &names));
        let captures = captures.transpose().map_err(EmulationError::from)?;
        let live = Arc::new(Live::default());
        let mut recorder = Recorder::new(&names, end, captures, Arc::clone(&live));
        prepare(&testbed, &scenario)?;
        let mut running = plan.start_servers(&testbed, self)?;
        if let Err(error) = endpoints.start(&testbed, self.cancel) {
            // The first error is reported; a second one, of the endpoints that did start, is not.
            let _ = endpoints.stop();
            return Err(error);
        }
        let clock = Clock::start();
        let mut emulator = Emulator::new(network, &mut testbed, controls, clock)
            .map_err(EmulationError::Emulator)?;
        let began = since_1970();
        if let Some(captures) = &mut recorder.captures {
            captures.begin(began);
        }
        endpoints.begin(began);
        let stop = AtomicBool::new(false);
        let (report, ended) = std::thread::scope(|scope| {
            let loop_ =
                scope.spawn(|| emulator.run(end, scenario.sample_interval, &stop, &mut recorder));
            // Stops the loop also if the code below panics.
            let stops = Stops(&stop);
            let over = || loop_.is_finished() || self.cancel.load(Ordering::Relaxed);
            let watched = Watched { clock, end, live: &live };
            let ended = running.run(&testbed, watched, foreground, over, endpoints, self);
            let gone = endpoints.stop();
            let ended = ended.and_then(|exit| gone.map(|()| exit));
            drop(stops);
            let report = loop_.join().unwrap_or(Err(EmulatorError::LoopPanicked));
            (report, ended)
        });
        let (programs, left) = running.finish(&testbed, self.output);
        // The programs have ended; the interfaces may now be removed.
        drop(emulator);
        let not_swept: Vec<String> = testbed.not_swept().iter().map(ToString::to_string).collect();
        let not_removed = testbed.remove();
        let (report, exit) = (report.map_err(EmulationError::Emulator)?, ended?);
        let uploads = outcome::records(&scenario, clock, &programs, report.duration)?;
        let calls = endpoints.records(report.duration);
        let programs = (programs, left);
        let mut emulated =
            outcome::gather(&scenario, calls, uploads, recorder, report, programs, exit);
        emulated.warnings.extend(not_swept);
        emulated.not_removed = not_removed;
        Ok(emulated)
    }
}

/// Stops the loop when dropped.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Enables ECN on the hosts whose TCP flows use it (Linux Documentation/networking/ip-sysctl.rst,
/// tcp_ecn).
fn prepare(testbed: &Testbed, scenario: &Scenario) -> Result<(), EmulationError> {
    for host in scenario.tcp.iter().filter(|flow| flow.ecn).flat_map(|flow| [flow.from, flow.to]) {
        let set = || std::fs::write("/proc/sys/net/ipv4/tcp_ecn", "1");
        let set = testbed.host(host).within(set)?;
        set.map_err(|error| EmulationError::Ecn(Arc::new(error)))?;
    }
    Ok(())
}

/// Simulates a scenario in virtual time, for a comparison.
///
/// # Errors
/// When the scenario cannot be run, or `cancel` is set.
pub fn simulate(scenario: &Scenario, cancel: &AtomicBool) -> Result<Recording, RunError> {
    let options = sim::Options { cancel: Some(cancel), ..sim::Options::default() };
    sim::run(scenario, options)
}

/// The host with this name.
fn host(network: &NetworkConfig, wanted: &str) -> Result<HostId, EmulationError> {
    find_host(network, wanted).map_err(|problem| EmulationError::UnknownHost {
        reason: problem.reason,
        suggestion: problem.suggestion,
    })
}
