//! Emulation: a run in real time, with real programs on the hosts and the modelled network between
//! them.
//!
//! ```text
//! cell ─▶ net::Network ───────────▶ emulator (a thread with real-time scheduling) ─▶ samples of the lines ─┐
//!      └▶ programs, flows as uploads ─▶ processes in the hosts' namespaces ─▶ their output ───────────────┴▶ Recording
//! ```

mod captures;
mod error;
mod guests;
mod outcome;
mod process;
mod recorder;
mod stage;

pub use error::EmulationError;
pub use outcome::Emulated;
pub use process::{Ended, HowEnded, Said};

use captures::Captures;
pub use emulator::{Ability, RealTime, Report, abilities, become_root};
use emulator::{Clock, Controls, Emulator, EmulatorError, Testbed};
use experiment::{Cell, find_host};
use guests::Nobody;
pub use guests::{Guests, Records};
use net::{HostId, Network, NetworkConfig};
use recorder::Recorder;
use server::since_1970;
use sim::{Recording, RunError, Scenario};
use stage::Stage;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Duration, Seed, Time};

/// How to emulate.
#[derive(Clone, Copy)]
pub struct Emulation<'a> {
    /// Where to put a capture of each host's interface.
    pub captures: Option<&'a Path>,
    /// Where to listen for changes to the lines.
    pub control: Option<&'a Path>,
    /// A command with this terminal; the run lasts as long as it does.
    pub foreground: Option<&'a OnHost>,
    /// Further commands, from the start to the end.
    pub background: &'a [OnHost],
    /// This program's own file, which the uploads are.
    pub weir: &'a Path,
    /// Set from outside to end the run; what was recorded until then is kept.
    pub cancel: &'a AtomicBool,
    /// Told each line that a program writes.
    pub said: &'a (dyn Fn(&Said<'_>) + Sync),
    /// Told about once a second how far the run is.
    pub progress: &'a dyn Fn(Duration),
}

/// A command and its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnHost {
    /// The host's name.
    pub host: String,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

/// A run whose end only its command knows lasts at most a day.
const A_DAY: Duration = Duration::from_secs(86_400);

impl Emulation<'_> {
    /// Emulates a cell: its network, its programs, and its TCP flows as uploads. Calls are left
    /// out.
    ///
    /// # Errors
    /// When the hosts cannot be made, a file cannot be written, or a program cannot be started;
    /// then nothing is left.
    pub fn run(&self, cell: &Cell, seed: Seed) -> Result<Emulated, EmulationError> {
        self.run_with(cell, seed, &mut Nobody)
    }

    /// Emulates a cell with those who make its calls.
    ///
    /// # Errors
    /// As [`Emulation::run`], and those of `guests`.
    pub fn run_with<G: Guests>(
        &self,
        cell: &Cell,
        seed: Seed,
        guests: &mut G,
    ) -> Result<Emulated, G::Error> {
        let scenario = cell.scenario(seed);
        let names: Vec<String> =
            scenario.network.hosts.iter().map(|host| host.name.clone()).collect();
        let foreground = self
            .foreground
            .map(|on| host(&scenario.network, &on.host).map(|host| (host, on)))
            .transpose()?;
        let stage = Stage::new(cell, &scenario, self.weir)?
            .and_background(&scenario.network, self.background)?;
        let network = Network::new(&scenario.network, seed).map_err(EmulationError::Network)?;
        let controls = self.control.map(|path| Controls::listen(path, names.clone())).transpose();
        let controls = controls.map_err(EmulationError::Emulator)?;
        let mut testbed = Testbed::new(&names).map_err(EmulationError::Emulator)?;
        let length = if foreground.is_some() { A_DAY } else { scenario.duration };
        let end = Time::ZERO + length;
        let captures = self.captures.map(|folder| Captures::open(folder, &names));
        let captures = captures.transpose().map_err(EmulationError::Capture)?;
        let mut recorder = Recorder::new(&names, end, captures);
        prepare(&testbed, &scenario)?;
        let mut cast = stage.servers(&testbed, self)?;
        if let Err(error) = guests.arrive(&testbed, self.cancel) {
            // Those who did arrive; what failed first is what matters.
            let _ = guests.leave();
            return Err(error);
        }
        let clock = Clock::start();
        let mut emulator = Emulator::new(network, &mut testbed, controls, clock)
            .map_err(EmulationError::Emulator)?;
        let began = since_1970();
        if let Some(captures) = &mut recorder.captures {
            captures.begin(began);
        }
        guests.begin(began);
        let stop = AtomicBool::new(false);
        let (report, ended) = std::thread::scope(|scope| {
            let loop_ =
                scope.spawn(|| emulator.run(end, scenario.sample_interval, &stop, &mut recorder));
            // Also when what follows breaks off: the loop must not go on for ever.
            let stops = Stops(&stop);
            let over = || loop_.is_finished() || self.cancel.load(Ordering::Relaxed);
            let ended = cast.play(&testbed, (clock, end), foreground, over, guests, self);
            let gone = guests.leave();
            let ended = ended.and_then(|exit| gone.map(|()| exit));
            drop(stops);
            let report = loop_.join().unwrap_or_else(|_| Err(EmulatorError::LoopPanicked));
            (report, ended)
        });
        let (programs, left) = cast.finish(&testbed, self.said);
        // The interfaces have been there until now, so that what ended could say so.
        drop(emulator);
        drop(testbed);
        let (report, exit) = (report.map_err(EmulationError::Emulator)?, ended?);
        let uploads = outcome::records(&scenario, clock, &programs, report.duration)?;
        let calls = guests.records(report.duration);
        Ok(outcome::gather(&scenario, calls, uploads, recorder, report, (programs, left), exit))
    }
}

/// Ends the loop when it goes.
struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Gives hosts what their TCP flows negotiate (Linux Documentation/networking/ip-sysctl.rst,
/// tcp_ecn).
fn prepare(testbed: &Testbed, scenario: &Scenario) -> Result<(), EmulationError> {
    for host in scenario.tcp.iter().filter(|flow| flow.ecn).flat_map(|flow| [flow.from, flow.to]) {
        let set = || std::fs::write("/proc/sys/net/ipv4/tcp_ecn", "1");
        let set = testbed.host(host).within(set)?;
        set.map_err(|error| EmulationError::Ecn(Arc::new(error)))?;
    }
    Ok(())
}

/// A scenario in virtual time, to compare with.
///
/// # Errors
/// When it is refused, or was cancelled.
pub fn simulate(scenario: &Scenario, cancel: &AtomicBool) -> Result<Recording, RunError> {
    let options = sim::Options { cancel: Some(cancel), ..sim::Options::default() };
    sim::run(scenario, options)
}

/// The host of this name.
fn host(network: &NetworkConfig, wanted: &str) -> Result<HostId, EmulationError> {
    find_host(network, wanted).map_err(|problem| EmulationError::UnknownHost {
        reason: problem.reason,
        suggestion: problem.suggestion,
    })
}
