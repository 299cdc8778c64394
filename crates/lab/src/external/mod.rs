//! Controllers that are programs outside Weir: `controller = "external:COMMAND"`. A program speaks
//! lines of JSON, in lock-step with virtual time: the simulation waits for every answer, so a run
//! repeats exactly if the program is deterministic.

mod messages;
mod program;
#[cfg(test)]
mod tests;

pub use messages::{Answer, Message};

use crate::failure::RunFailure;
use cc::{BuildError, ControllerConfig, Controllers, Feedback, ProbeQueue, Sender, SignalSink};
use messages::{Packet, Told, VERSION, WhenSent, checked};
use program::Program;
use sim::{MakeControllers, Options, Recording, Scenario};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use units::{Bitrate, Duration, Seed, Time};

/// The pacing rate as a multiple of the target, if the program states none (libwebrtc
/// `goog_cc_network_control.cc`: 2.5).
const PACING: f64 = 2.5;
/// A probe cluster that was not sent after this time is abandoned (libwebrtc
/// `pacing/bitrate_prober.cc`: 5 s).
const PROBE_EXPIRY: Duration = Duration::from_secs(5);
/// The most names of signals of all programs of a process, and the longest of them in bytes. Our
/// choice: `gcc:libwebrtc` has fewer than 20, and names are kept until the process ends.
const MAX_NAMES: usize = 500;
const MAX_NAME: usize = 64;

/// Whether a controller of the scenario is a program.
#[must_use]
pub fn has_program(scenario: &Scenario) -> bool {
    let videos = scenario.calls.iter().filter_map(|call| call.video.as_ref());
    videos
        .map(|video| &video.controller)
        .any(|config| cc::external::command(&config.profile).is_some())
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
        cc::external::command(&config.profile)?;
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
        if cc::external::command(&config.profile).is_none() {
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
    command: String,
    /// `None` after a fault: the last decision holds, and the run fails at its end.
    program: Option<Program>,
    when_sent: WhenSent,
    sent: Vec<Packet>,
    decision: cc::Decision,
    probes: ProbeQueue,
    last_probe: u32,
    next_timeout: Option<Time>,
    signals: Vec<(&'static str, f64)>,
    limits: (Bitrate, Bitrate),
    fault: Arc<Fault>,
}

impl External {
    fn new(call: &str, config: &ControllerConfig, seed: u64, fault: Arc<Fault>) -> Self {
        let start = config.start_rate;
        let command = cc::external::command(&config.profile).unwrap_or_default();
        let mut this = Self {
            call: call.to_owned(),
            command: command.to_owned(),
            program: None,
            when_sent: WhenSent::default(),
            sent: Vec::new(),
            decision: cc::Decision {
                target_rate: start,
                pacing_rate: start.scale(PACING),
                probe: None,
            },
            probes: ProbeQueue::new(PROBE_EXPIRY),
            last_probe: 0,
            next_timeout: None,
            signals: Vec::new(),
            limits: (config.min_rate, config.max_rate),
            fault,
        };
        match Self::start(command, config) {
            Ok(program) => this.program = Some(program),
            Err(reason) => this.fault.set(this.message(Time::ZERO, &reason)),
        }
        let call = this.call.clone();
        this.exchange(Time::ZERO, |_| {
            line(&Message::Configure {
                version: VERSION,
                call: &call,
                seed,
                start_rate: start.as_bps_f64(),
                min_rate: config.min_rate.as_bps_f64(),
                max_rate: config.max_rate.as_bps_f64(),
            })
        });
        this
    }

    fn start(command: &str, config: &ControllerConfig) -> Result<Program, String> {
        let limit = cc::external::config(config).map_err(|error| error.to_string())?.answer_limit;
        let words = shlex::split(command)
            .ok_or("the command has a quotation mark without a partner".to_owned())?;
        Program::start(&words, std::time::Duration::from_nanos(limit.as_nanos()))
    }

    fn message(&self, now: Time, reason: &str) -> String {
        let Self { call, command, .. } = self;
        format!("controller '{command}' of call '{call}' at {:.3} s: {reason}", now.as_secs_f64())
    }

    /// Sends the line that `line` makes of the packets that left, and takes the answer.
    fn exchange(&mut self, now: Time, line: impl FnOnce(&[Packet]) -> Result<Vec<u8>, String>) {
        let Some(mut program) = self.program.take() else { return };
        let asked = line(&self.sent).and_then(|line| program.ask(line));
        self.sent.clear();
        let taken = asked.and_then(|answer| {
            self.take(now, &answer).map_err(|reason| {
                let shown: String = answer.trim_end().chars().take(SHOWN).collect();
                program.failed(&format!("{reason}; its answer was {shown}"))
            })
        });
        match taken {
            Ok(()) => self.program = Some(program),
            Err(reason) => {
                self.fault.set(self.message(now, &reason));
                self.next_timeout = None;
            }
        }
    }

    /// Checks an answer and decides by it.
    fn take(&mut self, now: Time, answer: &str) -> Result<(), String> {
        let answer: Answer = serde_json::from_str(answer)
            .map_err(|error| format!("this is not an answer: {error}"))?;
        let rate =
            |what: &str, value: f64| checked(what, "bit/s", value).map(Bitrate::from_bps_f64);
        let (min, max) = self.limits;
        let target_rate = rate("target_rate", answer.target_rate)?.max(min).min(max);
        let pacing_rate = match answer.pacing_rate {
            Some(bps) => rate("pacing_rate", bps)?,
            None => target_rate.scale(PACING),
        };
        for probe in &answer.probes {
            if probe.id <= self.last_probe {
                let (id, last) = (probe.id, self.last_probe);
                return Err(format!("the probe {id} is not after the probe {last}; count up"));
            }
            self.probes.push(Some(now), probe.cluster()?);
            self.last_probe = probe.id;
        }
        self.next_timeout = match answer.next_timeout {
            None => None,
            Some(at) => {
                let time = Time::from_secs_f64(checked("next_timeout", "s", at)?);
                if time <= now {
                    let now = now.as_secs_f64();
                    return Err(format!(
                        "next_timeout is {at} s, which is not after the time of the message, {now} s"
                    ));
                }
                Some(time)
            }
        };
        if let Some(when) = answer.sent {
            self.when_sent = when;
        }
        self.signals.clear();
        for (name, value) in &answer.signals {
            self.signals.push((signal_name(name)?, *value));
        }
        self.decision = cc::Decision { target_rate, pacing_rate, probe: self.probes.offered() };
        Ok(())
    }
}

/// The most characters of a wrong answer that an error shows.
const SHOWN: usize = 200;

/// A name of a signal that lives as long as the process, as the names of recorded columns do.
///
/// # Errors
/// If the name is empty or longer than 64 bytes, or the process has 500 other names already.
pub fn signal_name(name: &str) -> Result<&'static str, String> {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return Ok(known);
    }
    if name.is_empty() || name.len() > MAX_NAME {
        return Err(format!("the name of the signal '{name}' does not have 1 to {MAX_NAME} bytes"));
    }
    if names.len() == MAX_NAMES {
        return Err(format!("there are more than {MAX_NAMES} names of signals; use fixed names"));
    }
    let name: &'static str = Box::leak(name.to_owned().into_boxed_str());
    names.insert(name);
    Ok(name)
}

/// A message as a line.
fn line(message: &Message<'_>) -> Result<Vec<u8>, String> {
    serde_json::to_vec(message).map_err(|error| error.to_string())
}

impl Sender for External {
    fn on_sent(&mut self, packet: &cc::SentPacket) {
        self.probes.on_sent(packet);
        self.decision.probe = self.probes.offered();
        if self.program.is_none() || self.when_sent == WhenSent::Never {
            return;
        }
        self.sent.push(packet.into());
        if self.when_sent == WhenSent::AtOnce {
            let now = packet.sent.as_secs_f64();
            self.exchange(packet.sent, |sent| line(&Message::Sent { now, sent }));
        }
    }

    fn on_feedback(&mut self, at: Time, told: Feedback<'_>) {
        let Some(feedback) = Told::of(&told) else { return };
        let now = at.as_secs_f64();
        self.exchange(at, |sent| line(&Message::Feedback { now, sent, feedback }));
    }

    fn on_timeout(&mut self, at: Time) {
        self.next_timeout = None;
        let now = at.as_secs_f64();
        self.exchange(at, |sent| line(&Message::Timeout { now, sent }));
    }

    fn next_timeout(&self) -> Option<Time> {
        self.next_timeout
    }

    fn decision(&self) -> cc::Decision {
        self.decision
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        self.signals.iter().for_each(|(name, value)| sink(name, *value));
    }
}
