//! Two implementations fed the same feedback: the first decides in a simulated call, the second
//! gets every message too, and its decisions are only compared.

use super::Candidate;
use crate::external::Programs;
use crate::runner::RunFailure;
use cc::{Allocation, ControllerConfig, Controllers, Feedback, MediaFrame, Sender, SentPacket};
use cc::{Decision, Ecn, ProbeCluster, SignalSink};
use schemars::JsonSchema;
use serde::Serialize;
use sim::{MakeControllers, Options, RunError, Scenario};
use std::sync::{Arc, Mutex, PoisonError};
use units::{Bitrate, Bytes, Duration, Seed, Time};

/// How the decisions of two controllers compare in one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Equality {
    /// The number of feedback messages and time-outs after which they were compared.
    pub compared: u64,
    /// The first divergence of each value that diverges, in the order of time.
    pub diverged: Vec<Divergence>,
}

/// The first divergence of a value.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Divergence {
    /// The call and its direction.
    pub call: String,
    /// `target_rate`, `pacing_rate` or `probe_cluster_rate` in bit/s, or the name of a signal that
    /// both controllers have.
    pub value: String,
    /// The time, seconds.
    pub time: f64,
    /// The number of the message, from 1.
    pub message: u64,
    /// The value of the first controller; for a probe 0 if there is none. Not-a-number is `null`.
    pub first: f64,
    /// The value of the second controller.
    pub second: f64,
    /// The greatest difference during the run, as a share of the greater of both values.
    pub greatest: f64,
}

/// Runs the calls of a scenario with the first controller and compares the second with it.
/// Differences of at most `tolerance`, a share of the greater value, do not count.
///
/// # Errors
/// If a controller cannot be built or fails, or only one of both has a receiving half.
pub fn equal(
    scenario: &Scenario,
    both: [&Candidate; 2],
    tolerance: f64,
) -> Result<Equality, RunFailure> {
    let mut scenario = scenario.clone();
    for video in scenario.calls.iter_mut().filter_map(|call| call.video.as_mut()) {
        video.controller = of(both[0], &video.controller);
    }
    let programs = Programs::new(scenario.seed);
    for call in &scenario.calls {
        let Some(video) = &call.video else { continue };
        let second = of(both[1], &video.controller);
        cc::check(&second)
            .map_err(|error| RunError::Controller { call: call.name.clone(), error })?;
    }
    let found = Arc::new(Mutex::new(Equality::default()));
    let (of_run, second, started) = (Arc::clone(&found), both[1].clone(), programs.clone());
    let make: Arc<MakeControllers> = Arc::new(move |call, config| {
        let first = started.build(call, config).ok()?;
        let second = started.build(call, &of(&second, config)).ok()?;
        if first.receiver.is_some() != second.receiver.is_some() {
            started.fail(format!(
                "call '{call}': one of both controllers decides at the receiver; compare two that \
                 decide at the sender"
            ));
        }
        let sender = Box::new(Pair {
            call: call.to_owned(),
            first: first.sender,
            second: second.sender,
            tolerance,
            found: Arc::clone(&of_run),
        });
        Some(Controllers { sender, ..first })
    });
    let recording = sim::run(&scenario, Options { controllers: Some(make), ..Options::default() });
    if let Some(message) = programs.fault() {
        return Err(RunFailure::Controller(message));
    }
    recording?;
    Ok(in_order(&found))
}

/// Compares two controllers on a recorded call: `play` passes it through the sender that it gets,
/// which decides as the first controller does.
///
/// # Errors
/// If a controller cannot be built, fails, or decides at the receiver, or `play` fails.
pub fn equal_recorded<E: std::fmt::Display>(
    both: [&ControllerConfig; 2],
    tolerance: f64,
    play: impl FnOnce(Box<dyn Sender>) -> Result<(), E>,
) -> Result<Equality, RunFailure> {
    // A recording has no seed, and the same recording gives the same answer.
    let programs = Programs::new(Seed(0));
    let call = "recorded".to_owned();
    let build = |config: &ControllerConfig| {
        let built = programs.build(&call, config);
        let built = built.map_err(|error| RunFailure::Controller(error.to_string()))?;
        if built.receiver.is_some() {
            return Err(RunFailure::Controller(format!(
                "{} decides at the receiver, whose packets a recording of the sender does not \
                 contain; use controllers that decide at the sender",
                config.profile
            )));
        }
        Ok(built.sender)
    };
    let (first, second) = (build(both[0])?, build(both[1])?);
    let found = Arc::new(Mutex::new(Equality::default()));
    let of_run = Arc::clone(&found);
    let played = play(Box::new(Pair { call, first, second, tolerance, found: of_run }));
    if let Some(message) = programs.fault() {
        return Err(RunFailure::Controller(message));
    }
    played.map_err(|error| RunFailure::Controller(error.to_string()))?;
    Ok(in_order(&found))
}

/// The divergences in the order of time.
fn in_order(found: &Mutex<Equality>) -> Equality {
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner).clone();
    found.diverged.sort_by(|one, other| one.time.total_cmp(&other.time));
    found
}

fn of(candidate: &Candidate, config: &ControllerConfig) -> ControllerConfig {
    ControllerConfig {
        profile: candidate.controller.clone(),
        settings: candidate.settings.clone(),
        ..config.clone()
    }
}

/// Passes every call to both controllers, and the decisions of the first to the endpoint.
struct Pair {
    call: String,
    first: Box<dyn Sender>,
    second: Box<dyn Sender>,
    tolerance: f64,
    found: Arc<Mutex<Equality>>,
}

impl Pair {
    fn compare(&self, now: Time) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        found.compared += 1;
        let (first, second) = (named(&*self.first), named(&*self.second));
        for (name, one) in &first {
            let Some((_, other)) = second.iter().find(|(other, _)| other == name) else { continue };
            let larger = one.abs().max(other.abs());
            let share = if one == other || one.is_nan() && other.is_nan() {
                0.0
            } else {
                (one - other).abs() / larger
            };
            if share <= self.tolerance {
                continue;
            }
            let message = found.compared;
            let known = found
                .diverged
                .iter_mut()
                .find(|known| known.call == self.call && known.value == *name);
            match known {
                Some(known) => known.greatest = known.greatest.max(share),
                None => found.diverged.push(Divergence {
                    call: self.call.clone(),
                    value: (*name).to_owned(),
                    time: now.as_secs_f64(),
                    message,
                    first: *one,
                    second: *other,
                    greatest: share,
                }),
            }
        }
    }
}

/// The decision and the signals by name.
fn named(sender: &dyn Sender) -> Vec<(&'static str, f64)> {
    let Decision { target_rate, pacing_rate, probe } = sender.decision();
    let probe = probe.map_or(Bitrate::ZERO, |probe| probe.rate);
    let mut values = vec![
        ("target_rate", target_rate.as_bps_f64()),
        ("pacing_rate", pacing_rate.as_bps_f64()),
        ("probe_cluster_rate", probe.as_bps_f64()),
    ];
    sender.signals(&mut |name, value| {
        if values.iter().all(|(known, _)| *known != name) {
            values.push((name, value));
        }
    });
    values
}

impl Sender for Pair {
    fn on_sent(&mut self, packet: &SentPacket) {
        self.first.on_sent(packet);
        self.second.on_sent(packet);
    }

    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>) {
        self.first.on_feedback(now, feedback);
        self.second.on_feedback(now, feedback);
        self.compare(now);
    }

    fn on_timeout(&mut self, now: Time) {
        for sender in [&mut self.first, &mut self.second] {
            if sender.next_timeout().is_some_and(|at| at <= now) {
                sender.on_timeout(now);
            }
        }
        self.compare(now);
    }

    fn next_timeout(&self) -> Option<Time> {
        self.first.next_timeout().into_iter().chain(self.second.next_timeout()).min()
    }

    fn decision(&self) -> Decision {
        self.first.decision()
    }

    fn on_frame(&mut self, now: Time, frame: &MediaFrame) {
        self.first.on_frame(now, frame);
        self.second.on_frame(now, frame);
    }

    fn on_allocation(&mut self, now: Time, allocation: Allocation) {
        self.first.on_allocation(now, allocation);
        self.second.on_allocation(now, allocation);
    }

    fn on_probe_cluster(&mut self, cluster: &ProbeCluster) {
        self.first.on_probe_cluster(cluster);
        self.second.on_probe_cluster(cluster);
    }

    fn on_route_change(&mut self, now: Time, start: Bitrate) {
        self.first.on_route_change(now, start);
        self.second.on_route_change(now, start);
    }

    fn padding_rate(&self) -> Bitrate {
        self.first.padding_rate()
    }

    fn pacing_burst(&self) -> Option<Duration> {
        self.first.pacing_burst()
    }

    fn send_window(&self) -> Option<Bytes> {
        self.first.send_window()
    }

    fn ecn(&self) -> Ecn {
        self.first.ecn()
    }

    fn frame_reduction(&self) -> f64 {
        self.first.frame_reduction()
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        self.first.signals(sink);
    }
}
