//! What a controller in Python is told and what it answers. Times are seconds, rates bit/s, sizes
//! bytes.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The rates that a call allows, and its name.
#[pyclass(frozen, get_all, module = "weir")]
pub(crate) struct Rates {
    /// The call and its direction: `main`, or `main.back` from the callee.
    call: String,
    /// The target rate before any feedback.
    start_rate: f64,
    /// The least target rate.
    min_rate: f64,
    /// The greatest target rate.
    max_rate: f64,
}

impl Rates {
    pub(crate) fn of(call: &str, config: &cc::ControllerConfig) -> Self {
        Self {
            call: call.to_owned(),
            start_rate: config.start_rate.as_bps_f64(),
            min_rate: config.min_rate.as_bps_f64(),
            max_rate: config.max_rate.as_bps_f64(),
        }
    }
}

/// A packet that left the pacer.
#[pyclass(frozen, get_all, module = "weir")]
pub(crate) struct SentPacket {
    /// The transport-wide sequence number, unwrapped.
    sequence: u64,
    /// When it left, on the sender's clock.
    sent: f64,
    /// RTP header and payload.
    size: u64,
    /// The probe cluster that it belongs to.
    probe: Option<u32>,
}

impl From<&cc::SentPacket> for SentPacket {
    fn from(packet: &cc::SentPacket) -> Self {
        Self {
            sequence: packet.sequence,
            sent: packet.sent.as_secs_f64(),
            size: packet.size.get(),
            probe: packet.probe,
        }
    }
}

/// A sent packet and the feedback about it.
#[pyclass(frozen, get_all, module = "weir")]
pub(crate) struct PacketResult {
    /// The transport-wide sequence number, unwrapped.
    sequence: u64,
    /// When it left, on the sender's clock.
    sent: f64,
    /// RTP header and payload.
    size: u64,
    /// The probe cluster that it belongs to.
    probe: Option<u32>,
    /// When it arrived, on the receiver's clock; `None` if it is lost.
    arrival: Option<f64>,
    /// Whether it arrived with the mark 'congestion experienced' (RFC 3168).
    ce: bool,
}

impl From<&cc::PacketResult> for PacketResult {
    fn from(result: &cc::PacketResult) -> Self {
        let SentPacket { sequence, sent, size, probe } = (&result.packet).into();
        let arrival = result.arrival.map(units::Time::as_secs_f64);
        Self { sequence, sent, size, probe, arrival, ce: result.ecn == cc::Ecn::Ce }
    }
}

/// Transport-wide feedback, or that of RFC 8888.
#[pyclass(frozen, get_all, module = "weir")]
pub(crate) struct PacketFeedback {
    /// A result per packet, in order of sequence number; every packet is reported once.
    results: Vec<Py<PacketResult>>,
    /// The newest known round-trip time.
    rtt: Option<f64>,
}

/// A receiver report (RFC 3550 § 6.4.1).
#[pyclass(frozen, get_all, module = "weir")]
pub(crate) struct ReceiverReport {
    /// The share of the packets that were lost since the last report, 0 to 1.
    fraction_lost: f64,
    /// The packets expected since the last report.
    expected: u64,
    /// The round-trip time that this report measured.
    rtt: Option<f64>,
}

/// The maximum rate that the receiver allows (draft-alvestrand-rmcat-remb-03).
#[pyclass(frozen, get_all, from_py_object, module = "weir")]
#[derive(Clone)]
pub(crate) struct Remb {
    /// The rate.
    rate: f64,
}

#[pymethods]
impl Remb {
    #[new]
    fn new(rate: f64) -> PyResult<Self> {
        if !(rate.is_finite() && rate >= 0.0) {
            return Err(PyValueError::new_err(format!(
                "rate is {rate}; it must be at least 0 bit/s"
            )));
        }
        Ok(Self { rate })
    }
}

/// A message that the halves of one controller define for themselves (APP, RFC 3550 § 6.7).
#[pyclass(frozen, from_py_object, module = "weir")]
#[derive(Clone)]
pub(crate) struct CustomFeedback(cc::CustomFeedback);

#[pymethods]
impl CustomFeedback {
    #[new]
    fn new(name: &str, data: &[u8]) -> PyResult<Self> {
        let ascii = <[u8; 4]>::try_from(name.as_bytes()).ok().filter(|name| name.is_ascii());
        let Some(ascii) = ascii else {
            let reason = format!("name is '{name}'; it must have four ASCII characters");
            return Err(PyValueError::new_err(reason));
        };
        let message = cc::CustomFeedback::from_slice(ascii, data);
        message.map(Self).ok_or_else(|| {
            PyValueError::new_err(format!(
                "data has {} bytes; it must have a multiple of 4, and at most {}",
                data.len(),
                cc::CustomFeedback::MAX_DATA
            ))
        })
    }

    /// The name: four ASCII characters.
    #[getter]
    fn name(&self) -> String {
        self.0.name().iter().copied().map(char::from).collect()
    }

    /// The data.
    #[getter]
    fn data(&self) -> &[u8] {
        self.0.data()
    }
}

/// What the half at the receiver returned; `None` for nothing to send.
pub(crate) fn receiver_feedback(
    message: &Bound<'_, PyAny>,
) -> PyResult<Option<cc::ReceiverFeedback>> {
    if message.is_none() {
        return Ok(None);
    }
    if let Ok(remb) = message.extract::<Remb>() {
        return Ok(Some(cc::ReceiverFeedback::Remb(units::Bitrate::from_bps_f64(remb.rate))));
    }
    let custom: CustomFeedback = message.extract().map_err(|_| {
        PyTypeError::new_err("poll must return weir.Remb, weir.CustomFeedback or None")
    })?;
    Ok(Some(cc::ReceiverFeedback::Custom(custom.0)))
}

/// A packet as it arrived at the receiver.
#[pyclass(frozen, get_all, module = "weir")]
pub(crate) struct ArrivedPacket {
    /// The transport-wide sequence number, unwrapped.
    sequence: u64,
    /// When it left, on the sender's clock.
    sent: f64,
    /// When it arrived, on the receiver's clock.
    arrival: f64,
    /// RTP header and payload.
    size: u64,
    /// The RTP timestamp, unwrapped. All packets of a video frame have the same one.
    rtp_timestamp: u64,
    /// The probe cluster that it belongs to.
    probe: Option<u32>,
    /// Whether it arrived with the mark 'congestion experienced' (RFC 3168).
    ce: bool,
}

impl From<cc::ArrivedPacket> for ArrivedPacket {
    fn from(packet: cc::ArrivedPacket) -> Self {
        Self {
            sequence: packet.sequence,
            sent: packet.sent.as_secs_f64(),
            arrival: packet.arrival.as_secs_f64(),
            size: packet.size.get(),
            rtp_timestamp: packet.rtp_timestamp,
            probe: packet.probe,
            ce: packet.ecn == cc::Ecn::Ce,
        }
    }
}

/// A frame that the encoder added to the pacer's queue.
#[pyclass(frozen, get_all, module = "weir")]
pub(crate) struct MediaFrame {
    /// The RTP payload of the frame.
    size: u64,
    /// The RTP payload in the pacer's queue, with the frame.
    queued: u64,
}

impl From<&cc::MediaFrame> for MediaFrame {
    fn from(frame: &cc::MediaFrame) -> Self {
        Self { size: frame.size.get(), queued: frame.queued.get() }
    }
}

/// The rates that the streams of a sender can use in sum; 0 if they are not known.
#[pyclass(frozen, get_all, module = "weir")]
pub(crate) struct Allocation {
    /// The least rate of the streams in sum.
    min_rate: f64,
    /// The greatest rate of the streams in sum.
    max_rate: f64,
}

impl From<cc::Allocation> for Allocation {
    fn from(allocation: cc::Allocation) -> Self {
        let cc::Allocation { min_rate, max_rate } = allocation;
        Self { min_rate: min_rate.as_bps_f64(), max_rate: max_rate.as_bps_f64() }
    }
}

/// The feedback as an object of Python.
pub(crate) fn feedback<'py>(
    py: Python<'py>,
    feedback: &cc::Feedback<'_>,
) -> PyResult<Bound<'py, PyAny>> {
    let seconds = |span: &Option<units::Duration>| span.map(units::Duration::as_secs_f64);
    Ok(match feedback {
        cc::Feedback::Packets { results, rtt } => {
            let results = results.iter().map(|result| Py::new(py, PacketResult::from(result)));
            let results = results.collect::<PyResult<_>>()?;
            Bound::new(py, PacketFeedback { results, rtt: seconds(rtt) })?.into_any()
        }
        cc::Feedback::Report { fraction_lost, expected, rtt } => {
            let (fraction_lost, expected) = (*fraction_lost, *expected);
            Bound::new(py, ReceiverReport { fraction_lost, expected, rtt: seconds(rtt) })?
                .into_any()
        }
        cc::Feedback::Remb { rate } => Bound::new(py, Remb { rate: rate.as_bps_f64() })?.into_any(),
        cc::Feedback::Custom(message) => Bound::new(py, CustomFeedback(*message))?.into_any(),
    })
}

/// A cluster of probe packets that a controller asks for.
#[pyclass(frozen, get_all, from_py_object, module = "weir")]
#[derive(Clone)]
pub(crate) struct ProbeCluster {
    /// Counts up from 1. A new id starts a cluster.
    pub(crate) id: u32,
    /// Sending rate of the cluster.
    pub(crate) rate: f64,
    /// Minimum duration of the cluster.
    pub(crate) min_duration: f64,
    /// Minimum number of packets in the cluster.
    pub(crate) min_packets: u32,
}

#[pymethods]
impl ProbeCluster {
    // libwebrtc `modules/congestion_controller/goog_cc/probe_controller.cc`: 15 ms, 5 packets.
    #[new]
    #[pyo3(signature = (id, rate, min_duration=0.015, min_packets=5))]
    fn new(id: u32, rate: f64, min_duration: f64, min_packets: u32) -> Self {
        Self { id, rate, min_duration, min_packets }
    }
}

impl From<&cc::ProbeCluster> for ProbeCluster {
    fn from(cluster: &cc::ProbeCluster) -> Self {
        Self {
            id: cluster.id,
            rate: cluster.rate.as_bps_f64(),
            min_duration: cluster.min_duration.as_secs_f64(),
            min_packets: cluster.min_packets,
        }
    }
}

/// What a controller asks of the sender.
#[pyclass(frozen, get_all, from_py_object, module = "weir")]
#[derive(Clone)]
pub(crate) struct Decision {
    /// The target rate of the encoder.
    pub(crate) target_rate: f64,
    /// The rate of the pacer; `None` for 2.5 × the target.
    pub(crate) pacing_rate: Option<f64>,
    /// The newest probe cluster that was asked for.
    pub(crate) probe: Option<ProbeCluster>,
}

#[pymethods]
impl Decision {
    #[new]
    #[pyo3(signature = (target_rate, pacing_rate=None, probe=None))]
    fn new(target_rate: f64, pacing_rate: Option<f64>, probe: Option<ProbeCluster>) -> Self {
        Self { target_rate, pacing_rate, probe }
    }
}
