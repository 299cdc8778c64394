//! Calls whose rate an agent sets, advanced together in steps of 60 ms.
//!
//! The agent sits at the receiver, as in the bandwidth estimation challenge: it sees the packets
//! that arrive, and its rate goes back to the sender as REMB
//! (draft-alvestrand-rmcat-remb-03), across the simulated network and once per step.

use crate::errors;
use crate::experiment::Experiment;
use crate::features::{Arrived, Observer, SHORT, VALUES};
use cc::{
    ArrivedPacket, ControllerConfig, Controllers, Feedback, Receiver, ReceiverFeedback, Sender,
    SentPacket, SignalSink,
};
use lab::remedies::delay_factor;
use net::{HostId, Packet};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use sim::{Content, MakeControllers, Scenario, Simulation, Tap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::{Bitrate, Duration, Seed, Time};

/// The pacing rate as a multiple of the target (libwebrtc `goog_cc_network_control.cc`: 2.5).
const PACING: f64 = 2.5;

/// The facts of a step, in this order: bits of the frames that the far end played; the same with
/// each frame multiplied by the usability of a conversation with its delay (ITU-T G.107, see
/// `lab::remedies::delay_factor`); their number; the sum of their delays in seconds; bits of the
/// packets that arrived; packets found missing.
const FACTS: usize = 6;

/// A network with the direction of the call in it that the agent controls.
struct Place {
    scenario: Scenario,
    direction: usize,
    call: String,
    active: (Time, Time),
}

/// A call that is advanced.
struct Call {
    simulation: Simulation<'static>,
    heard: Arc<Mutex<Heard>>,
    rate: Arc<AtomicU64>,
    direction: usize,
    /// The frames that are counted already.
    frames: usize,
    now: Time,
    stop: Time,
}

/// What the receiver has of the call.
#[derive(Default)]
struct Heard {
    /// The receiving host and its port.
    to: Option<(HostId, u16)>,
    observer: Observer,
    /// The next sequence number of each RTP stream, by SSRC.
    next: Vec<(u32, u64)>,
    /// Bits that arrived and packets found missing in the present step.
    arrived: f64,
    lost: f64,
}

/// Listens at the interface of the receiver.
struct Listener(Arc<Mutex<Heard>>);

impl Tap for Listener {
    fn packet(&mut self, at: Time, host: HostId, packet: &Packet, content: Content<'_>) {
        let mut heard = lock(&self.0);
        let Content::Rtp(rtp) = content else { return };
        if heard.to != Some((host, packet.flow.dst_port)) || packet.flow.dst != host {
            return;
        }
        let place = match heard.next.iter().position(|(ssrc, _)| *ssrc == rtp.ssrc) {
            Some(place) => place,
            None => {
                heard.next.push((rtp.ssrc, 0));
                heard.next.len() - 1
            }
        };
        let expected = &mut heard.next[place].1;
        let lost = rtp.sequence.saturating_sub(*expected) as f64;
        *expected = (*expected).max(rtp.sequence + 1);
        let size = sim::wire::rtp_size(rtp).get() as f64;
        heard.arrived += size * 8.0;
        heard.lost += lost;
        heard.observer.add(&Arrived {
            at,
            delay_ms: at.saturating_since(rtp.sent).as_millis_f64(),
            size,
            // An audio packet is a whole frame, which has no parts.
            is_audio: rtp.frame.count == 0,
            is_probe: rtp.probe.is_some(),
            lost,
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The sender half: obeys REMB.
struct Obedient {
    rate: Bitrate,
    limits: (Bitrate, Bitrate),
}

impl Sender for Obedient {
    fn on_sent(&mut self, _packet: &SentPacket) {}

    fn on_feedback(&mut self, _now: Time, feedback: Feedback<'_>) {
        if let Feedback::Remb { rate } = feedback {
            self.rate = rate.max(self.limits.0).min(self.limits.1);
        }
    }

    fn on_timeout(&mut self, _now: Time) {}

    fn next_timeout(&self) -> Option<Time> {
        None
    }

    fn decision(&self) -> cc::Decision {
        let pacing_rate = self.rate.scale(PACING);
        cc::Decision { target_rate: self.rate, pacing_rate, probe: None }
    }

    fn signals(&self, _sink: &mut SignalSink<'_>) {}
}

/// The receiver half: sends the agent's rate once per step.
struct Messenger {
    rate: Arc<AtomicU64>,
    next: Time,
    is_due: bool,
}

impl Receiver for Messenger {
    fn on_packet(&mut self, _packet: &ArrivedPacket, _rtt: Option<Duration>) {}

    fn on_timeout(&mut self, now: Time) {
        self.is_due = true;
        while self.next <= now {
            self.next += SHORT;
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        Some(self.next)
    }

    fn poll(&mut self, _now: Time) -> Option<ReceiverFeedback> {
        let rate = Bitrate::from_bps(self.rate.load(Ordering::Relaxed));
        std::mem::take(&mut self.is_due).then_some(ReceiverFeedback::Remb(rate))
    }

    fn speaks_remb(&self) -> bool {
        true
    }

    fn signals(&self, _sink: &mut SignalSink<'_>) {}
}

impl Place {
    fn of(cell: &experiment::Cell, experiment: &str, name: &str) -> PyResult<Self> {
        let mut scenario = cell.scenario(Seed(0));
        // Nothing is sampled before the end.
        scenario.sample_interval = scenario.duration;
        let calls = scenario.calls.iter();
        let before = calls.clone().take_while(|call| call.name != name);
        let direction = before.map(|call| if call.two_way { 2 } else { 1 }).sum();
        let Some(call) = calls.clone().find(|call| call.name == name && call.video.is_some())
        else {
            let known: Vec<&str> = calls.map(|call| call.name.as_str()).collect();
            return Err(errors::other(format!(
                "{experiment}: there is no call '{name}' with video; the calls are {}",
                known.join(", ")
            )));
        };
        if call.relay.is_some() || call.sfu.is_some() {
            return Err(errors::other(format!(
                "{experiment}: call '{name}' goes through a relay or a forwarding unit; an agent \
                 controls only direct calls"
            )));
        }
        let active = (call.start, call.stop.min(Time::ZERO + scenario.duration));
        if active.1.saturating_since(active.0) < SHORT {
            return Err(errors::other(format!(
                "{experiment}: call '{name}' is shorter than 60 ms"
            )));
        }
        Ok(Self { direction, call: name.to_owned(), active, scenario })
    }

    /// The call before its first step.
    fn begin(&self, seed: u64) -> PyResult<Call> {
        let scenario = Scenario { seed: Seed(seed), ..self.scenario.clone() };
        let (rate, heard) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Heard::default())));
        let (wanted, start, sent) = (self.call.clone(), self.active.0, Arc::clone(&rate));
        let make: Arc<MakeControllers> = Arc::new(move |name, config: &ControllerConfig| {
            let limits = (config.min_rate, config.max_rate);
            let messenger = Messenger { rate: Arc::clone(&sent), next: start, is_due: false };
            (name == wanted).then(|| Controllers {
                sender: Box::new(Obedient { rate: config.start_rate, limits }),
                receiver: Some(Box::new(messenger)),
                transport_feedback: false,
            })
        });
        let listener = Box::new(Listener(Arc::clone(&heard)));
        let mut simulation =
            Simulation::observed(&scenario, listener, Some(&make)).map_err(errors::other)?;
        let flow = simulation.flow(self.direction);
        lock(&heard).to = flow.map(|flow| (flow.dst, flow.dst_port));
        simulation.advance(start).map_err(errors::other)?;
        let (now, stop) = self.active;
        Ok(Call { simulation, heard, rate, direction: self.direction, frames: 0, now, stop })
    }
}

impl Call {
    /// Advances by one step with this rate. Returns whether the call has no time for another.
    fn step(
        &mut self,
        rate: f64,
        observation: &mut [f32],
        facts: &mut [f64],
    ) -> Result<bool, sim::RunError> {
        self.rate.store(Bitrate::from_bps_f64(rate).as_bps(), Ordering::Relaxed);
        self.now += SHORT;
        self.simulation.advance(self.now)?;
        let [mut played, mut useful, mut delays, mut count] = [0.0; 4];
        for (_, delay, payload) in self.simulation.decoded(self.direction, self.frames) {
            let bits = payload.get() as f64 * 8.0;
            played += bits;
            useful += bits * delay_factor(delay);
            delays += delay;
            count += 1.0;
        }
        self.frames += count as usize;
        let mut heard = lock(&self.heard);
        heard.observer.observe(observation);
        let (arrived, lost) = (std::mem::take(&mut heard.arrived), std::mem::take(&mut heard.lost));
        facts.copy_from_slice(&[played, useful, count, delays, arrived, lost]);
        Ok(self.now + SHORT > self.stop)
    }
}

/// Calls in one or several networks, advanced together. `weir.gym` makes environments of them.
#[pyclass(frozen, module = "weir")]
pub(crate) struct Calls {
    places: Vec<Place>,
    calls: Mutex<Vec<Option<Call>>>,
}

#[pymethods]
impl Calls {
    /// `count` calls. Each cell of each experiment is a network; `call` is the name of the call in
    /// all of them.
    #[new]
    fn new(experiments: Vec<PyRef<'_, Experiment>>, call: &str, count: usize) -> PyResult<Self> {
        let cells = experiments.iter().flat_map(|experiment| {
            let Experiment(experiment) = &**experiment;
            experiment.cells().iter().map(|cell| Place::of(cell, &experiment.name, call))
        });
        let places: Vec<Place> = cells.collect::<PyResult<_>>()?;
        if places.is_empty() || count == 0 {
            return Err(errors::other("an environment needs at least one network and one call"));
        }
        Ok(Self { places, calls: Mutex::new((0..count).map(|_| None).collect()) })
    }

    /// The number of networks.
    #[getter]
    fn networks(&self) -> usize {
        self.places.len()
    }

    /// Begins a call in a network, with a seed.
    fn begin(&self, index: usize, network: usize, seed: u64) -> PyResult<()> {
        let place = self.places.get(network);
        let place = place.ok_or_else(|| errors::other(format!("there is no network {network}")))?;
        let begun = place.begin(seed)?;
        let mut calls = lock(&self.calls);
        let slot = calls.get_mut(index);
        *slot.ok_or_else(|| errors::other(format!("there is no call {index}")))? = Some(begun);
        Ok(())
    }

    /// Advances the calls by one step of 60 ms. `rates` has the target rate of each call in bit/s;
    /// not-a-number leaves a call where it is, and its row unchanged. Writes a row per call into
    /// the buffers: `observations` (float32), `facts` (float64) and `over` (uint8, whether a call
    /// has no time for another step).
    fn step(
        &self,
        py: Python<'_>,
        rates: PyBuffer<f64>,
        observations: PyBuffer<f32>,
        facts: PyBuffer<f64>,
        over: PyBuffer<u8>,
    ) -> PyResult<()> {
        let rates = rates.to_vec(py)?;
        let (mut seen, mut known) = (observations.to_vec(py)?, facts.to_vec(py)?);
        let mut ended = over.to_vec(py)?;
        py.detach(|| {
            let mut calls = lock(&self.calls);
            let count = calls.len();
            let sizes = [rates.len(), ended.len(), seen.len() / VALUES, known.len() / FACTS];
            if sizes.iter().any(|&size| size != count) {
                return Err(errors::other(format!("each buffer must have {count} rows")));
            }
            let rows = seen.chunks_exact_mut(VALUES).zip(known.chunks_exact_mut(FACTS));
            for (((call, rate), row), over) in
                calls.iter_mut().zip(&rates).zip(rows).zip(&mut ended)
            {
                let Some(call) = call.as_mut().filter(|_| !rate.is_nan()) else { continue };
                *over = u8::from(call.step(*rate, row.0, row.1).map_err(errors::other)?);
            }
            Ok(())
        })?;
        observations.copy_from_slice(py, &seen)?;
        facts.copy_from_slice(py, &known)?;
        over.copy_from_slice(py, &ended)
    }
}
