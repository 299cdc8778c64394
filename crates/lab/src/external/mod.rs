//! Controllers outside Weir: programs (`controller = "external:COMMAND"`) and shared libraries
//! (`controller = "library:PATH"`), which a child process loads. A program speaks lines of JSON or
//! MessagePack in lock-step with virtual time: the simulation waits for every answer, so a run
//! repeats exactly if the program is deterministic.

mod decider;
mod library;
mod messages;
mod program;
#[cfg(test)]
mod tests;

pub use decider::{Decider, signal_name};
pub use library::{host, run_libraries_here};
pub use messages::{Answer, Form, Message};

use crate::failure::RunFailure;
use cc::external::Code;
use cc::{Allocation, BuildError, ControllerConfig, Controllers, Feedback, Sender, SignalSink};
use messages::{Packet, Told, VERSION, WhenSent};
use program::Program;
use sim::{MakeControllers, Options, Recording, Scenario};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use units::{Seed, Time};

/// Whether a controller of the scenario is a program.
#[must_use]
pub fn has_program(scenario: &Scenario) -> bool {
    let videos = scenario.calls.iter().filter_map(|call| call.video.as_ref());
    videos
        .map(|video| &video.controller)
        .any(|config| cc::external::code(&config.profile).is_some())
}

/// Runs a scenario and starts the programs that its controllers name.
///
/// # Errors
/// As [`sim::run`], and if a program cannot be started, ends early, gives no answer in time, or
/// gives a wrong answer.
pub fn simulate(scenario: &Scenario, options: Options<'_>) -> Result<Recording, RunFailure> {
    if !has_program(scenario) {
        return Ok(sim::run(scenario, options)?);
    }
    let programs = Programs::new(scenario.seed);
    let started = programs.clone();
    let make: Arc<MakeControllers> = Arc::new(move |call, config| {
        cc::external::code(&config.profile)?;
        started.build(call, config).ok()
    });
    let recording = sim::run(scenario, Options { controllers: Some(make), ..options });
    match programs.fault() {
        Some(message) => Err(RunFailure::Controller(message)),
        None => Ok(recording?),
    }
}

/// The programs of a run.
#[derive(Clone)]
pub struct Programs {
    seed: Seed,
    fault: Arc<Fault>,
}

impl Programs {
    /// Of a run with this seed.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self { seed, fault: Arc::default() }
    }

    /// The controllers of a direction of a call, built in or as a program.
    ///
    /// # Errors
    /// As [`cc::build`]; the faults of a program are those of [`Self::fault`].
    pub fn build(&self, call: &str, config: &ControllerConfig) -> Result<Controllers, BuildError> {
        if cc::external::code(&config.profile).is_none() {
            return cc::build(config);
        }
        let sender = Box::new(External::new(call, config, self.seed.0, Arc::clone(&self.fault)));
        Ok(Controllers { sender, receiver: None, transport_feedback: true })
    }

    /// Makes the run fail with this message, unless it has failed already.
    pub fn fail(&self, message: String) {
        self.fault.set(message);
    }

    /// Why the run has failed; `None` if it has not.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.fault.take()
    }
}

/// The first fault of the programs of a run.
#[derive(Default)]
struct Fault(Mutex<Option<String>>);

impl Fault {
    fn set(&self, message: String) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(message);
    }

    fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A program, as the simulator sees it.
struct External {
    call: String,
    /// The command or the path of the library.
    name: String,
    /// `None` after a fault: the last decision holds, and the run fails at its end.
    program: Option<Program>,
    sent: Vec<Packet>,
    decider: Decider,
    fault: Arc<Fault>,
}

impl External {
    fn new(call: &str, config: &ControllerConfig, seed: u64, fault: Arc<Fault>) -> Self {
        let ControllerConfig { start_rate, min_rate, max_rate, .. } = *config;
        let name = match cc::external::code(&config.profile) {
            Some(Code::Command(name) | Code::Library(name)) => name,
            None => "",
        };
        let mut this = Self {
            call: call.to_owned(),
            name: name.to_owned(),
            program: None,
            sent: Vec::new(),
            decider: Decider::new(start_rate, (min_rate, max_rate)),
            fault,
        };
        match Self::start(config) {
            Ok(program) => this.program = Some(program),
            Err(reason) => this.fault.set(this.message(Time::ZERO, &reason)),
        }
        this.exchange(Time::ZERO, |_| Message::Configure {
            version: VERSION,
            call: Cow::Owned(call.to_owned()),
            seed,
            start_rate: start_rate.as_bps_f64(),
            min_rate: min_rate.as_bps_f64(),
            max_rate: max_rate.as_bps_f64(),
        });
        this
    }

    fn start(config: &ControllerConfig) -> Result<Program, String> {
        let limit = cc::external::config(config).map_err(|error| error.to_string())?.answer_limit;
        let words = match cc::external::code(&config.profile) {
            Some(Code::Command(command)) => shlex::split(command)
                .ok_or("the command has a quotation mark without a partner".to_owned())?,
            Some(Code::Library(path)) => library::host_of(path)?,
            None => Vec::new(),
        };
        Program::start(&words, std::time::Duration::from_nanos(limit.as_nanos()))
    }

    fn message(&self, now: Time, reason: &str) -> String {
        let Self { call, name, .. } = self;
        format!("controller '{name}' of call '{call}' at {:.3} s: {reason}", now.as_secs_f64())
    }

    /// Sends the message that `message` makes of the packets that left, and takes the answer.
    fn exchange(
        &mut self,
        now: Time,
        message: impl for<'a> FnOnce(Cow<'a, [Packet]>) -> Message<'a>,
    ) {
        let Some(mut program) = self.program.take() else { return };
        let form = self.decider.form;
        let message = form.write(&message(Cow::Borrowed(&self.sent)));
        self.sent.clear();
        let answer = message.and_then(|message| program.ask(form, message));
        let taken = answer.and_then(|answer| {
            self.decider.take(now, &answer).map_err(|reason| program.failed(&reason))
        });
        match taken {
            Ok(()) => self.program = Some(program),
            Err(reason) => {
                self.fault.set(self.message(now, &reason));
                self.decider.next_timeout = None;
            }
        }
    }
}

impl Sender for External {
    fn on_sent(&mut self, packet: &cc::SentPacket) {
        self.decider.on_sent(packet);
        if self.program.is_none() || self.decider.when_sent == WhenSent::Never {
            return;
        }
        self.sent.push(packet.into());
        if self.decider.when_sent == WhenSent::AtOnce {
            let now = packet.sent.as_secs_f64();
            self.exchange(packet.sent, |sent| Message::Sent { now, sent });
        }
    }

    fn on_feedback(&mut self, at: Time, told: Feedback<'_>) {
        let Some(feedback) = Told::of(&told) else { return };
        let now = at.as_secs_f64();
        self.exchange(at, |sent| Message::Feedback { now, sent, feedback });
    }

    fn on_timeout(&mut self, at: Time) {
        self.decider.next_timeout = None;
        let now = at.as_secs_f64();
        self.exchange(at, |sent| Message::Timeout { now, sent });
    }

    fn on_allocation(&mut self, at: Time, allocation: Allocation) {
        let now = at.as_secs_f64();
        let Allocation { min_rate, max_rate } = allocation;
        let (min_rate, max_rate) = (min_rate.as_bps_f64(), max_rate.as_bps_f64());
        self.exchange(at, |sent| Message::Allocation { now, sent, min_rate, max_rate });
    }

    fn next_timeout(&self) -> Option<Time> {
        self.decider.next_timeout
    }

    fn decision(&self) -> cc::Decision {
        self.decider.decision()
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        self.decider.signals(sink);
    }
}
