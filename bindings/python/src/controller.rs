//! Controllers written in Python.
//!
//! The simulator calls a controller for every packet. Python is called once per report: sent packets
//! wait until the next feedback or timeout, and the decision and the next timeout are asked for
//! after each of these two.

use crate::messages::{Decision, Rates, SentPacket, feedback};
use crate::{errors, results};
use cc::{ControllerConfig, Controllers, Feedback, Sender, SignalSink};
use lab::runner::RunFailure;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::{MakeControllers, Options, Recording, Scenario};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use units::{Bitrate, Duration, Time};

/// The pacing rate as a multiple of the target, if the controller has none of its own (libwebrtc
/// `goog_cc_network_control.cc`: 2.5).
pub(crate) const PACING: f64 = 2.5;

/// The classes of the controllers of an experiment.
pub(crate) struct Source {
    every: Option<Py<PyAny>>,
    by_call: BTreeMap<String, Py<PyAny>>,
}

impl Source {
    /// The class for every call, or a dictionary of classes by the name of the call.
    pub(crate) fn of(
        experiment: &experiment::Experiment,
        given: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let Ok(classes) = given.cast::<PyDict>() else {
            if !given.is_callable() {
                return Err(errors::other(
                    "controller must be a class with the methods of weir.Controller, or a \
                     dictionary of classes by the name of the call",
                ));
            }
            return Ok(Self { every: Some(given.clone().unbind()), by_call: BTreeMap::new() });
        };
        let by_call: BTreeMap<String, Py<PyAny>> = classes.extract()?;
        let streams = experiment.streams();
        let is_call = |name: &str| streams.iter().any(|stream| *stream == format!("{name}.video"));
        if let Some(name) = by_call.keys().find(|name| !is_call(name)) {
            let calls = streams.iter().filter_map(|stream| stream.strip_suffix(".video"));
            let calls: Vec<&str> = calls.collect();
            return Err(errors::other(format!(
                "controller: there is no call '{name}' with video; there are {}",
                calls.join(", ")
            )));
        }
        Ok(Self { every: None, by_call })
    }

    /// The class for a direction of a call.
    fn class(&self, direction: &str) -> Option<&Py<PyAny>> {
        let call = direction.strip_suffix(".back").unwrap_or(direction);
        self.by_call.get(direction).or_else(|| self.by_call.get(call)).or(self.every.as_ref())
    }

    /// Simulates a scenario with these controllers.
    ///
    /// # Errors
    /// If a controller raises, with the traceback.
    pub(crate) fn simulate(
        &self,
        scenario: &Scenario,
        options: Options<'_>,
    ) -> Result<Recording, RunFailure> {
        let fault = Arc::new(Fault::default());
        // The thread stays known to the interpreter during the whole run; becoming known again for
        // each call would cost more than most calls.
        let recording = Python::attach(|py| {
            let classes: Vec<(String, Option<Py<PyAny>>)> = scenario
                .calls
                .iter()
                .flat_map(|call| [call.name.clone(), format!("{}.back", call.name)])
                .map(|name| {
                    let class = self.class(&name).map(|class| class.clone_ref(py));
                    (name, class)
                })
                .collect();
            let fault = Arc::clone(&fault);
            let make: Arc<MakeControllers> = Arc::new(move |name, config| {
                let (_, class) = classes.iter().find(|(known, _)| known == name)?;
                let class = class.as_ref()?;
                let sender = InPython::new(name, config, class, Arc::clone(&fault));
                Some(Controllers {
                    sender: Box::new(sender),
                    receiver: None,
                    transport_feedback: true,
                })
            });
            py.detach(|| sim::run(scenario, Options { controllers: Some(make), ..options }))
        });
        match fault.take() {
            Some(traceback) => Err(results::failed(traceback)),
            None => Ok(recording?),
        }
    }
}

/// The first exception of the controllers of a run, as text.
#[derive(Default)]
struct Fault(Mutex<Option<String>>);

impl Fault {
    fn set(&self, py: Python<'_>, call: &str, error: &PyErr) {
        let text = traceback(py, error).unwrap_or_else(|_| error.to_string());
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(format!("the controller of call '{call}' raised:\n{text}"));
    }

    fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// The text that the interpreter would print.
fn traceback(py: Python<'_>, error: &PyErr) -> PyResult<String> {
    let parts = (error.get_type(py), error.value(py), error.traceback(py));
    let lines = py.import("traceback")?.call_method1("format_exception", parts)?;
    Ok(lines.extract::<Vec<String>>()?.concat().trim_end().to_owned())
}

/// A controller in Python, as the simulator sees it.
struct InPython {
    call: String,
    /// `None` after an exception: the last decision holds, and the run fails at its end.
    controller: Option<Py<PyAny>>,
    /// Whether it wants to know the packets that left.
    wants_sent: bool,
    sent: Vec<cc::SentPacket>,
    decision: cc::Decision,
    next_timeout: Option<Time>,
    limits: (Bitrate, Bitrate),
    fault: Arc<Fault>,
}

impl InPython {
    fn new(call: &str, config: &ControllerConfig, class: &Py<PyAny>, fault: Arc<Fault>) -> Self {
        let start = config.start_rate;
        let mut this = Self {
            call: call.to_owned(),
            controller: None,
            wants_sent: true,
            sent: Vec::new(),
            decision: cc::Decision {
                target_rate: start,
                pacing_rate: start.scale(PACING),
                probe: None,
            },
            next_timeout: None,
            limits: (config.min_rate, config.max_rate),
            fault,
        };
        Python::attach(|py| {
            let made = class.bind(py).call1((Rates::of(call, config),));
            let made = made.and_then(|controller| {
                let ours = py.import("weir")?.getattr("Controller")?.getattr("on_sent")?;
                this.wants_sent = !class.bind(py).getattr("on_sent").is_ok_and(|own| own.is(&ours));
                Ok(controller.unbind())
            });
            match made {
                Ok(controller) => this.controller = Some(controller),
                Err(error) => this.fault.set(py, call, &error),
            }
            this.call(Time::ZERO, |_, _| Ok(()));
        });
        this
    }

    /// Tells the controller what happened at `now`, and asks for its decision.
    fn call(
        &mut self,
        now: Time,
        tell: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>,
    ) {
        let Some(controller) = self.controller.take() else { return };
        Python::attach(|py| {
            let bound = controller.bind(py);
            match self.exchange(py, now, bound, tell) {
                Ok(()) => self.controller = Some(controller),
                Err(error) => {
                    self.fault.set(py, &self.call, &error);
                    self.next_timeout = None;
                }
            }
        });
    }

    fn exchange(
        &mut self,
        py: Python<'_>,
        now: Time,
        controller: &Bound<'_, PyAny>,
        tell: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<()>,
    ) -> PyResult<()> {
        if !self.sent.is_empty() {
            let packets = self.sent.drain(..).map(|packet| SentPacket::from(&packet));
            controller
                .call_method1(pyo3::intern!(py, "on_sent"), (packets.collect::<Vec<_>>(),))?;
        }
        tell(py, controller)?;
        let timeout: Option<f64> =
            controller.call_method0(pyo3::intern!(py, "next_timeout"))?.extract()?;
        self.next_timeout = timeout
            .map(|at| match at.is_finite() && at >= 0.0 {
                true if Time::from_secs_f64(at) > now => Ok(Time::from_secs_f64(at)),
                _ => Err(wrong(format!(
                    "next_timeout returned {at}, which is not after the time of the call, {}",
                    now.as_secs_f64()
                ))),
            })
            .transpose()?;
        let decision: Decision =
            controller.call_method0(pyo3::intern!(py, "decision"))?.extract()?;
        self.decision = self.decided(&decision)?;
        Ok(())
    }

    /// The decision within the limits of the call.
    fn decided(&self, decision: &Decision) -> PyResult<cc::Decision> {
        let rate = |what: &str, bps: f64| match bps.is_finite() && bps >= 0.0 {
            true => Ok(Bitrate::from_bps_f64(bps)),
            false => Err(wrong(format!("{what} is {bps}; it must be at least 0 bit/s"))),
        };
        let (min, max) = self.limits;
        let target_rate = rate("target_rate", decision.target_rate)?.max(min).min(max);
        let pacing_rate = match decision.pacing_rate {
            Some(bps) => rate("pacing_rate", bps)?,
            None => target_rate.scale(PACING),
        };
        let probe = decision.probe.as_ref().map(|probe| {
            Ok::<_, PyErr>(cc::ProbeCluster {
                id: probe.id,
                rate: rate("the rate of the probe", probe.rate)?,
                min_duration: Duration::from_secs_f64(probe.min_duration.max(0.0)),
                min_packets: probe.min_packets,
            })
        });
        Ok(cc::Decision { target_rate, pacing_rate, probe: probe.transpose()? })
    }
}

/// An error in what a controller returned.
fn wrong(message: String) -> PyErr {
    pyo3::exceptions::PyValueError::new_err(message)
}

impl Sender for InPython {
    fn on_sent(&mut self, packet: &cc::SentPacket) {
        if self.wants_sent && self.controller.is_some() {
            self.sent.push(*packet);
        }
    }

    fn on_feedback(&mut self, now: Time, told: Feedback<'_>) {
        self.call(now, |py, controller| {
            let Some(message) = feedback(py, &told)? else { return Ok(()) };
            let arguments = (now.as_secs_f64(), message);
            controller.call_method1(pyo3::intern!(py, "on_feedback"), arguments).map(drop)
        });
    }

    fn on_timeout(&mut self, now: Time) {
        self.call(now, |py, controller| {
            let arguments = (now.as_secs_f64(),);
            controller.call_method1(pyo3::intern!(py, "on_timeout"), arguments).map(drop)
        });
    }

    fn next_timeout(&self) -> Option<Time> {
        self.next_timeout
    }

    fn decision(&self) -> cc::Decision {
        self.decision
    }

    fn signals(&self, _sink: &mut SignalSink<'_>) {}
}
