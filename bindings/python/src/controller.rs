//! Controllers written in Python: the halves at the sender and at the receiver.
//!
//! The simulator calls a controller for every packet. Python is called once per report: sent packets
//! wait until the next feedback or timeout, and the decision, the next timeout and the other answers
//! are asked for after each of these two. Packets that arrive wait for up to `Receiver.batch`.
//! Optional methods are called only if the class has its own.

use crate::messages::{
    Allocation, ArrivedPacket, Decision, MediaFrame, ProbeCluster, Rates, SentPacket, feedback,
    receiver_feedback,
};
use crate::{errors, results};
use cc::{ControllerConfig, Controllers, Feedback, Receiver, ReceiverFeedback, Sender, SignalSink};
use lab::runner::RunFailure;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::{MakeControllers, Options, Recording, Scenario};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use units::{Bitrate, Bytes, Duration, Time};

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
                Some(halves(name, config, class, &fault))
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

/// The halves of a controller of this class.
fn halves(
    call: &str,
    config: &ControllerConfig,
    class: &Py<PyAny>,
    fault: &Arc<Fault>,
) -> Controllers {
    let sender = InPython::new(call, config, class, Arc::clone(fault));
    let asked = Python::attach(|py| {
        let Some(controller) = &sender.controller else { return Ok((None, true)) };
        let controller = controller.bind(py);
        let feedback: bool = or(controller, "transport_feedback", true)?;
        let half: Option<Py<PyAny>> = or(controller, "receiver", None)?;
        let half = half.map(|half| AtReceiver::new(call, config, half.bind(py), Arc::clone(fault)));
        Ok((half.transpose()?, feedback))
    });
    let (receiver, transport_feedback) = asked.unwrap_or_else(|error: PyErr| {
        Python::attach(|py| fault.set(py, call, &error));
        (None, true)
    });
    let receiver = receiver.map(|half| Box::new(half) as Box<dyn Receiver>);
    Controllers { sender: Box::new(sender), receiver, transport_feedback }
}

/// An attribute, or the default if there is none of this name.
fn or<'py, T: FromPyObjectOwned<'py>>(
    object: &Bound<'py, PyAny>,
    name: &str,
    default: T,
) -> PyResult<T> {
    match object.getattr_opt(name)? {
        Some(value) => value.extract().map_err(Into::into),
        None => Ok(default),
    }
}

/// The optional methods that the class of `object` has of its own: neither missing nor those of
/// `base`, a class of the package.
fn own<const N: usize>(
    object: &Bound<'_, PyAny>,
    base: &str,
    names: [&str; N],
) -> PyResult<[bool; N]> {
    let base = object.py().import("weir")?.getattr(base)?;
    let class = object.get_type();
    let mut own = [false; N];
    for (name, own) in names.into_iter().zip(&mut own) {
        let ours = base.getattr(name)?;
        *own = class.getattr_opt(name)?.is_some_and(|theirs| !theirs.is(&ours));
    }
    Ok(own)
}

/// The optional methods of a sender that are called.
#[derive(Clone, Copy, Default)]
struct Wants {
    sent: bool,
    frames: bool,
    allocation: bool,
    clusters: bool,
    routes: bool,
    padding: bool,
    window: bool,
    ecn: bool,
    reduction: bool,
    signals: bool,
}

impl Wants {
    fn of(controller: &Bound<'_, PyAny>) -> PyResult<Self> {
        const NAMES: [&str; 10] = [
            "on_sent",
            "on_frame",
            "on_allocation",
            "on_probe_cluster",
            "on_route_change",
            "padding_rate",
            "send_window",
            "ecn",
            "frame_reduction",
            "signals",
        ];
        let [sent, frames, allocation, clusters, routes, padding, window, ecn, reduction, signals] =
            own(controller, "Controller", NAMES)?;
        Ok(Self {
            sent,
            frames,
            allocation,
            clusters,
            routes,
            padding,
            window,
            ecn,
            reduction,
            signals,
        })
    }
}

/// What the controller answered last to the optional questions.
#[derive(Clone, Copy)]
struct Answers {
    padding_rate: Bitrate,
    pacing_burst: Option<Duration>,
    /// The bytes that may leave, counted from the time of the answer.
    send_window: Option<Bytes>,
    ecn: cc::Ecn,
    frame_reduction: f64,
}

/// A controller in Python, as the simulator sees it.
struct InPython {
    call: String,
    /// `None` after an exception: the last decision holds, and the run fails at its end.
    controller: Option<Py<PyAny>>,
    wants: Wants,
    sent: Vec<cc::SentPacket>,
    /// The bytes that left since the last answers.
    left: Bytes,
    decision: cc::Decision,
    next_timeout: Option<Time>,
    answers: Answers,
    limits: (Bitrate, Bitrate),
    fault: Arc<Fault>,
}

impl InPython {
    fn new(call: &str, config: &ControllerConfig, class: &Py<PyAny>, fault: Arc<Fault>) -> Self {
        let start = config.start_rate;
        let mut this = Self {
            call: call.to_owned(),
            controller: None,
            wants: Wants::default(),
            sent: Vec::new(),
            left: Bytes::ZERO,
            decision: cc::Decision {
                target_rate: start,
                pacing_rate: start.scale(PACING),
                probe: None,
            },
            next_timeout: None,
            answers: Answers {
                padding_rate: Bitrate::ZERO,
                pacing_burst: None,
                send_window: None,
                ecn: cc::Ecn::NotEct,
                frame_reduction: 0.0,
            },
            limits: (config.min_rate, config.max_rate),
            fault,
        };
        Python::attach(|py| {
            let made = class.bind(py).call1((Rates::of(call, config),));
            let made = made.and_then(|controller| {
                this.wants = Wants::of(&controller)?;
                if own(&controller, "Controller", ["pacing_burst"])? == [true] {
                    let burst: Option<f64> = controller.call_method0("pacing_burst")?.extract()?;
                    this.answers.pacing_burst =
                        burst.map(|span| seconds(span, "pacing_burst")).transpose()?;
                }
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
            controller.call_method1(intern!(py, "on_sent"), (packets.collect::<Vec<_>>(),))?;
        }
        tell(py, controller)?;
        let timeout: Option<f64> =
            controller.call_method0(intern!(py, "next_timeout"))?.extract()?;
        self.next_timeout = later(timeout, now)?;
        let decision: Decision = controller.call_method0(intern!(py, "decision"))?.extract()?;
        self.decision = self.decided(&decision)?;
        self.ask(py, controller)
    }

    /// Asks for the optional answers.
    fn ask(&mut self, py: Python<'_>, controller: &Bound<'_, PyAny>) -> PyResult<()> {
        self.left = Bytes::ZERO;
        if self.wants.padding {
            let bps = controller.call_method0(intern!(py, "padding_rate"))?.extract()?;
            self.answers.padding_rate = rate("padding_rate", bps)?;
        }
        if self.wants.window {
            let window: Option<u64> =
                controller.call_method0(intern!(py, "send_window"))?.extract()?;
            self.answers.send_window = window.map(Bytes::new);
        }
        if self.wants.ecn {
            let word = controller.call_method0(intern!(py, "ecn"))?;
            self.answers.ecn = match word.extract()? {
                "not-ect" => cc::Ecn::NotEct,
                "ect0" => cc::Ecn::Ect0,
                "ect1" => cc::Ecn::Ect1,
                other => {
                    let reason = format!("ecn is '{other}'; write 'not-ect', 'ect0' or 'ect1'");
                    return Err(wrong(reason));
                }
            };
        }
        if self.wants.reduction {
            let share: f64 = controller.call_method0(intern!(py, "frame_reduction"))?.extract()?;
            if !(0.0..=1.0).contains(&share) {
                return Err(wrong(format!("frame_reduction is {share}; it must be from 0 to 1")));
            }
            self.answers.frame_reduction = share;
        }
        Ok(())
    }

    /// The decision within the limits of the call.
    fn decided(&self, decision: &Decision) -> PyResult<cc::Decision> {
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

/// A rate that a controller returned.
fn rate(what: &str, bps: f64) -> PyResult<Bitrate> {
    match bps.is_finite() && bps >= 0.0 {
        true => Ok(Bitrate::from_bps_f64(bps)),
        false => Err(wrong(format!("{what} is {bps}; it must be at least 0 bit/s"))),
    }
}

/// A span that a controller returned.
fn seconds(span: f64, what: &str) -> PyResult<Duration> {
    match span.is_finite() && span >= 0.0 {
        true => Ok(Duration::from_secs_f64(span)),
        false => Err(wrong(format!("{what} is {span}; it must be at least 0 s"))),
    }
}

/// The time of `next_timeout`, which must be later than `now`.
fn later(timeout: Option<f64>, now: Time) -> PyResult<Option<Time>> {
    let later = |at: f64| match at.is_finite() && at >= 0.0 {
        true if Time::from_secs_f64(at) > now => Ok(Time::from_secs_f64(at)),
        _ => Err(wrong(format!(
            "next_timeout returned {at}, which is not after the time of the call, {}",
            now.as_secs_f64()
        ))),
    };
    timeout.map(later).transpose()
}

/// Passes the signals that `signals` of a half returns.
fn show(half: &Bound<'_, PyAny>, sink: &mut SignalSink<'_>) -> PyResult<()> {
    let signals: BTreeMap<String, f64> =
        half.call_method0(intern!(half.py(), "signals"))?.extract()?;
    for (name, value) in signals {
        sink(lab::external::signal_name(&name).map_err(wrong)?, value);
    }
    Ok(())
}

impl Sender for InPython {
    fn on_sent(&mut self, packet: &cc::SentPacket) {
        self.left += packet.size;
        if self.wants.sent && self.controller.is_some() {
            self.sent.push(*packet);
        }
    }

    fn on_feedback(&mut self, now: Time, told: Feedback<'_>) {
        self.call(now, |py, controller| {
            let arguments = (now.as_secs_f64(), feedback(py, &told)?);
            controller.call_method1(intern!(py, "on_feedback"), arguments).map(drop)
        });
    }

    fn on_timeout(&mut self, now: Time) {
        self.call(now, |py, controller| {
            let arguments = (now.as_secs_f64(),);
            controller.call_method1(intern!(py, "on_timeout"), arguments).map(drop)
        });
    }

    fn next_timeout(&self) -> Option<Time> {
        self.next_timeout
    }

    fn decision(&self) -> cc::Decision {
        self.decision
    }

    fn on_frame(&mut self, now: Time, frame: &cc::MediaFrame) {
        if !self.wants.frames {
            return;
        }
        let frame = MediaFrame::from(frame);
        self.call(now, |py, controller| {
            controller.call_method1(intern!(py, "on_frame"), (now.as_secs_f64(), frame)).map(drop)
        });
    }

    fn on_allocation(&mut self, now: Time, allocation: cc::Allocation) {
        if !self.wants.allocation {
            return;
        }
        let arguments = (now.as_secs_f64(), Allocation::from(allocation));
        self.call(now, |py, controller| {
            controller.call_method1(intern!(py, "on_allocation"), arguments).map(drop)
        });
    }

    fn on_probe_cluster(&mut self, cluster: &cc::ProbeCluster) {
        if !self.wants.clusters {
            return;
        }
        let cluster = ProbeCluster::from(cluster);
        // The call has no time; the decision is asked for at the next one that has.
        let Some(controller) = self.controller.take() else { return };
        Python::attach(|py| {
            let told = controller.call_method1(py, intern!(py, "on_probe_cluster"), (cluster,));
            match told {
                Ok(_) => self.controller = Some(controller),
                Err(error) => self.fault.set(py, &self.call, &error),
            }
        });
    }

    fn on_route_change(&mut self, now: Time, start: Bitrate) {
        if !self.wants.routes {
            return;
        }
        let arguments = (now.as_secs_f64(), start.as_bps_f64());
        self.call(now, |py, controller| {
            controller.call_method1(intern!(py, "on_route_change"), arguments).map(drop)
        });
    }

    fn padding_rate(&self) -> Bitrate {
        self.answers.padding_rate
    }

    fn pacing_burst(&self) -> Option<Duration> {
        self.answers.pacing_burst
    }

    fn send_window(&self) -> Option<Bytes> {
        self.answers.send_window.map(|window| window.saturating_sub(self.left))
    }

    fn ecn(&self) -> cc::Ecn {
        self.answers.ecn
    }

    fn frame_reduction(&self) -> f64 {
        self.answers.frame_reduction
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        let Some(controller) = self.controller.as_ref().filter(|_| self.wants.signals) else {
            return;
        };
        Python::attach(|py| {
            if let Err(error) = show(controller.bind(py), sink) {
                self.fault.set(py, &self.call, &error);
            }
        });
    }
}

/// The half of a controller in Python at the receiver.
struct AtReceiver {
    call: String,
    /// `None` after an exception: nothing more is sent back, and the run fails at its end.
    half: Option<Py<PyAny>>,
    wants_signals: bool,
    speaks_remb: bool,
    /// How long packets may wait.
    batch: Duration,
    waiting: Vec<cc::ArrivedPacket>,
    rtt: Option<Duration>,
    /// When the half wants to be called.
    next_timeout: Option<Time>,
    due: Option<ReceiverFeedback>,
    fault: Arc<Fault>,
}

impl AtReceiver {
    /// The half that `class` makes.
    ///
    /// # Errors
    /// What the class raises.
    fn new(
        call: &str,
        config: &ControllerConfig,
        class: &Bound<'_, PyAny>,
        fault: Arc<Fault>,
    ) -> PyResult<Self> {
        let half = class.call1((Rates::of(call, config),))?;
        let timeout: Option<f64> = half.call_method0("next_timeout")?.extract()?;
        // The default of `weir.Receiver`, for a class that is not derived from it.
        let batch = or(&half, "batch", 0.05)?;
        Ok(Self {
            call: call.to_owned(),
            wants_signals: own(&half, "Receiver", ["signals"])? == [true],
            speaks_remb: half.call_method0("speaks_remb")?.extract()?,
            batch: seconds(batch, "batch")?,
            waiting: Vec::new(),
            rtt: None,
            next_timeout: later(timeout, Time::ZERO)?,
            due: None,
            half: Some(half.unbind()),
            fault,
        })
    }

    /// When the waiting packets are passed on.
    fn passes_at(&self) -> Option<Time> {
        self.waiting.first().map(|packet| packet.arrival + self.batch)
    }

    /// Passes on the waiting packets, calls `on_timeout` if that is due, and asks for a message.
    fn call(&mut self, now: Time) {
        let Some(half) = self.half.take() else { return };
        Python::attach(|py| match self.exchange(half.bind(py), now) {
            Ok(()) => self.half = Some(half),
            Err(error) => {
                self.fault.set(py, &self.call, &error);
                (self.next_timeout, self.due) = (None, None);
                self.waiting.clear();
            }
        });
    }

    fn exchange(&mut self, half: &Bound<'_, PyAny>, now: Time) -> PyResult<()> {
        let py = half.py();
        if !self.waiting.is_empty() {
            let packets: Vec<_> = self.waiting.drain(..).map(ArrivedPacket::from).collect();
            let rtt = self.rtt.map(units::Duration::as_secs_f64);
            half.call_method1(intern!(py, "on_packets"), (packets, rtt))?;
        }
        if self.next_timeout.is_some_and(|at| at <= now) {
            half.call_method1(intern!(py, "on_timeout"), (now.as_secs_f64(),))?;
        }
        let timeout = half.call_method0(intern!(py, "next_timeout"))?.extract()?;
        self.next_timeout = later(timeout, now)?;
        let message = half.call_method1(intern!(py, "poll"), (now.as_secs_f64(),))?;
        if let Some(message) = receiver_feedback(&message)? {
            self.due = Some(message);
        }
        Ok(())
    }
}

impl Receiver for AtReceiver {
    fn on_packet(&mut self, packet: &cc::ArrivedPacket, rtt: Option<Duration>) {
        if self.half.is_none() {
            return;
        }
        self.waiting.push(*packet);
        self.rtt = rtt;
        if self.batch == Duration::ZERO {
            self.call(packet.arrival);
        }
    }

    fn on_timeout(&mut self, now: Time) {
        self.call(now);
    }

    fn next_timeout(&self) -> Option<Time> {
        let both = [self.passes_at(), self.next_timeout];
        both.into_iter().flatten().min()
    }

    fn poll(&mut self, _now: Time) -> Option<ReceiverFeedback> {
        self.due.take()
    }

    fn speaks_remb(&self) -> bool {
        self.speaks_remb
    }

    fn signals(&self, sink: &mut SignalSink<'_>) {
        let Some(half) = self.half.as_ref().filter(|_| self.wants_signals) else { return };
        Python::attach(|py| {
            if let Err(error) = show(half.bind(py), sink) {
                self.fault.set(py, &self.call, &error);
            }
        });
    }
}
