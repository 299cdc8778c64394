//! Open-loop replay: the feedback that a real call received, through any controller. The packets
//! stay those of the recording, so a replayed controller cannot change what happens to them.

mod agreement;
mod feedback;
mod send_times;
#[cfg(test)]
mod tests;

pub use agreement::{Agreement, Divergence, Quantity, Share};
pub use send_times::{NotOfThisLog, SendTimes, take_send_times};

use crate::event_log::{DetectorState, EventLog, ProbeRequest, RtpPacket, Stream, StreamKind};
use cc::{Allocation, ControllerConfig, PacketResult, ProbeCluster, SentPacket};
pub(crate) use feedback::{Feedback, Unwrapped};
use std::collections::{HashMap, HashSet, VecDeque};
use units::{Bitrate, Bytes, Duration, Time};

/// The overhead of a packet below RTP, if the log has no network route: IPv4 and UDP (RFC 791, RFC
/// 768). Chromium learns its route before SRTP is active.
const OVERHEAD: Bytes = Bytes::new(20 + 8);
/// The time after which a probe cluster is given up (libwebrtc `modules/pacing/bitrate_prober.cc`,
/// kProbeClusterTimeout).
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// A cluster has a result at each of its packets that arrives, once this share of its packets and
/// bytes has arrived (libwebrtc
/// `modules/congestion_controller/goog_cc/probe_bitrate_estimator.cc`, kMinReceivedProbesRatio,
/// kMinReceivedBytesRatio).
const WITH_RESULT: f64 = 0.8;
/// Packets of a group leave at most this long after each other, in the log's whole milliseconds.
const SAME_GROUP: Duration = Duration::from_millis(1);
/// The signals of a sender that correspond to recorded values.
const ESTIMATE: &str = "delay_based_rate";
const USAGE: &str = "usage";

/// The rate before any feedback and its bounds, as Chromium sets them (libwebrtc
/// `api/transport/bitrate_settings.h`: start at 300 kbit/s; `goog_cc/goog_cc_network_control.cc`:
/// at least 5 kbit/s, at most 1 Gbit/s).
const RATES: [(&str, Bitrate); 3] = [
    ("start_rate", Bitrate::from_kbps(300)),
    ("min_rate", Bitrate::from_kbps(5)),
    ("max_rate", Bitrate::from_mbps(1_000)),
];
/// The allocated minimum of a video (libwebrtc
/// `rtc_base/experiments/min_video_bitrate_experiment.cc`, kDefaultMinVideoBitrateBps), which is a
/// lower bound of the estimate.
const MIN_VIDEO_RATE: Bitrate = Bitrate::from_kbps(30);

/// Why settings are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: \"{value}\" is not a rate; use for example \"1Mbit/s\"")]
pub struct RateError {
    /// The setting.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A controller with these settings, which may include `start_rate`, `min_rate` and `max_rate`, in
/// place of Chromium's.
///
/// # Errors
/// If one of the three is not a rate.
pub fn controller(
    profile: &str,
    settings: &[(String, String)],
) -> Result<ControllerConfig, RateError> {
    let rate = |(wanted, usual): (&str, Bitrate)| {
        let set = settings.iter().rev().find(|(name, _)| name == wanted);
        set.map_or(Ok(usual), |(name, value)| {
            let error = |_| RateError { name: name.clone(), value: value.clone() };
            value.parse().map_err(error)
        })
    };
    let is_other = |(name, _): &&(String, String)| RATES.iter().all(|(rate, _)| rate != name);
    let [start_rate, min_rate, max_rate] = RATES.map(rate);
    Ok(ControllerConfig {
        profile: profile.to_owned(),
        settings: settings.iter().filter(is_other).cloned().collect(),
        start_rate: start_rate?,
        min_rate: min_rate?,
        max_rate: max_rate?,
    })
}

/// What was recorded at a moment, and what the replayed controller has then.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Values {
    /// The target rate.
    pub target: Option<Bitrate>,
    /// The delay-based estimate.
    pub estimate: Option<Bitrate>,
    /// The state of the overuse detector.
    pub state: Option<DetectorState>,
}

/// A feedback message.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// When it was received, since the begin of the log.
    pub at: Time,
    /// The newest recorded values.
    pub recorded: Values,
    /// The values of the replayed controller.
    pub replayed: Values,
    /// The number of recorded updates of the delay-based estimate since the message before.
    pub updates: usize,
    /// All signals of the controller, in the order of [`Replay::signals`].
    pub signals: Vec<f64>,
}

/// A replayed log.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// One per feedback message that reports received packets.
    pub steps: Vec<Step>,
    /// The names of the signals.
    pub signals: Vec<&'static str>,
    /// Packets that the controller was told of.
    pub packets: u64,
    /// RTCP packets that could not be decoded.
    pub undecodable: u64,
}

/// Why a log cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The controller cannot be built.
    #[error(transparent)]
    Controller(#[from] cc::BuildError),
    /// The decisions of the controller are made at the receiver.
    #[error(
        "{0} decides at the receiver, whose packets this log does not contain; use a controller \
         that decides at the sender, such as gcc:libwebrtc"
    )]
    AtReceiver(String),
    /// The log has no packets with transport-wide numbers.
    #[error(
        "no sent packet has a transport-wide sequence number, so there is no feedback to replay; \
         give the log of the endpoint that sends"
    )]
    NoTransportSequence,
    /// The log lasts too long.
    #[error("its times lie more than a day apart; cut it into parts")]
    Times,
}

/// What the sender learns, in the order in which it learns of events of the same millisecond.
enum Event<'a> {
    Stream(&'a Stream),
    RtcpSent(usize),
    RtcpReceived(usize),
    Probe(&'a ProbeRequest),
    Sent(SentPacket, &'a RtpPacket),
}

impl Event<'_> {
    fn order(&self) -> u8 {
        match self {
            Self::Stream(_) => 0,
            Self::RtcpSent(_) => 1,
            Self::RtcpReceived(_) => 2,
            Self::Probe(_) => 3,
            Self::Sent(..) => 4,
        }
    }
}

/// Replays a log.
///
/// # Errors
/// If the controller cannot be built or decides at the receiver, or the log has no feedback for it.
pub fn replay(log: &EventLog, controller: &ControllerConfig) -> Result<Replay, ReplayError> {
    let controllers = cc::build(controller)?;
    if !controllers.transport_feedback {
        return Err(ReplayError::AtReceiver(controller.profile.clone()));
    }
    replay_through(log, controllers.sender)
}

/// Replays a log through the sending half of a controller.
///
/// # Errors
/// If the log has no feedback for it.
pub fn replay_through(log: &EventLog, sender: Box<dyn cc::Sender>) -> Result<Replay, ReplayError> {
    let events = events(log);
    if !events.iter().any(|(_, event)| matches!(event, Event::Sent(..))) {
        return Err(ReplayError::NoTransportSequence);
    }
    if events.last().is_some_and(|(at, _)| *at > Time::ZERO + EventLog::MAX_DURATION) {
        return Err(ReplayError::Times);
    }
    let mut results: HashMap<u32, u32> = HashMap::new();
    for result in &log.probe_results {
        *results.entry(result.id).or_default() += 1;
    }
    let mut player = Player {
        log,
        sender,
        feedback: Feedback::default(),
        arrived: arrived(log, &events),
        results,
        probes: VecDeque::new(),
        videos: Vec::new(),
        replay: Replay::default(),
        delay_based: 0,
        loss_based: 0,
        scream: 0,
    };
    for (at, event) in events {
        player.run_timers(at);
        match event {
            Event::Stream(stream) => player.configure(at, stream),
            Event::RtcpSent(index) => player.feedback.on_rtcp_sent(&log.rtcp_sent[index]),
            Event::RtcpReceived(index) => player.receive(at, index),
            Event::Probe(probe) => player.announce(at, probe),
            Event::Sent(packet, recorded) => player.send(packet, recorded),
        }
    }
    player.replay.undecodable = player.feedback.undecodable;
    Ok(player.replay)
}

/// The events in order.
fn events(log: &EventLog) -> Vec<(Time, Event<'_>)> {
    let mut numbers = Unwrapped::default();
    let has_numbers = log.sent.iter().any(|packet| packet.transport_sequence.is_some());
    let mut routes = log.routes.iter().peekable();
    let mut overhead = None;
    let mut events = Vec::with_capacity(log.sent.len() + log.rtcp_received.len());
    for packet in &log.sent {
        while let Some(route) = routes.next_if(|route| route.at <= packet.at) {
            overhead = Some(route.overhead).filter(|overhead| *overhead > Bytes::ZERO).or(overhead);
        }
        let sequence = match packet.transport_sequence {
            Some(number) => numbers.next(number),
            None if has_numbers => continue,
            // RFC 8888 needs none.
            None => events.len() as u64,
        };
        let size = packet.size + overhead.unwrap_or(OVERHEAD);
        let sent = SentPacket { sequence, sent: packet.at, size, probe: None };
        events.push((packet.at, Event::Sent(sent, packet)));
    }
    let received = log.rtcp_received.iter().enumerate();
    events.extend(received.map(|(index, packet)| (packet.at, Event::RtcpReceived(index))));
    let sent = log.rtcp_sent.iter().enumerate();
    events.extend(sent.map(|(index, packet)| (packet.at, Event::RtcpSent(index))));
    let videos = log.streams.iter().filter(|stream| stream.is_sent);
    events.extend(videos.map(|stream| (stream.at, Event::Stream(stream))));
    events.extend(log.probes.iter().map(|probe| (probe.at, Event::Probe(probe))));
    // Packets of one millisecond are of several sources; their numbers say their order.
    events.sort_by_key(|(at, event)| {
        let number = if let Event::Sent(packet, _) = event { packet.sequence } else { 0 };
        (*at, event.order(), number)
    });
    events
}

/// The packets that the feedback reports as received.
fn arrived(log: &EventLog, events: &[(Time, Event<'_>)]) -> HashSet<u64> {
    let (mut feedback, mut arrived) = (Feedback::default(), HashSet::new());
    for (_, event) in events {
        match event {
            Event::Sent(packet, recorded) => {
                feedback.on_sent(*packet, (recorded.ssrc, recorded.sequence));
            }
            Event::RtcpReceived(index) => {
                let messages = feedback.on_rtcp(&log.rtcp_received[*index]);
                let results = messages.packets.iter().flatten();
                let received = results.filter(|result| result.arrival.is_some());
                arrived.extend(received.map(|result| result.packet.sequence));
            }
            _ => {}
        }
    }
    arrived
}

/// A cluster whose packets are not all sent.
struct Pending {
    cluster: ProbeCluster,
    at: Time,
    min_bytes: Bytes,
    packets: u32,
    bytes: Bytes,
    last: Option<Time>,
    /// The same of packets that arrived.
    arrived: (u32, Bytes),
    /// Results of the cluster that the log has, and those that its packets so far gave.
    results: u32,
    given: u32,
}

impl Pending {
    fn add(&mut self, packet: &SentPacket, has_arrived: bool) {
        self.packets += 1;
        self.bytes += packet.size;
        self.last = Some(packet.sent);
        if has_arrived {
            self.arrived = (self.arrived.0 + 1, self.arrived.1 + packet.size);
            let (packets, bytes) = self.arrived;
            let enough = f64::from(packets)
                >= (f64::from(self.cluster.min_packets) * WITH_RESULT).floor()
                && bytes.get() as f64 >= self.min_bytes.get() as f64 * WITH_RESULT;
            self.given += u32::from(enough);
        }
    }

    /// Whether a packet that is sent now is not of this cluster.
    fn is_over(&self, now: Time) -> bool {
        if now.saturating_since(self.at) > PROBE_TIMEOUT {
            return true;
        }
        if self.results > 0 {
            return self.given == self.results;
        }
        // The pacer sends a cluster in small groups and completes the last one
        // (`modules/pacing/pacing_controller.cc`, ProcessPackets).
        self.packets >= self.cluster.min_packets
            && self.bytes >= self.min_bytes
            && self.last.is_some_and(|last| now.saturating_since(last) > SAME_GROUP)
    }
}

struct Player<'a> {
    log: &'a EventLog,
    sender: Box<dyn cc::Sender>,
    feedback: Feedback,
    /// Packets that arrived, and the number of results of each probe cluster.
    arrived: HashSet<u64>,
    results: HashMap<u32, u32>,
    probes: VecDeque<Pending>,
    /// The sources of the videos that are sent.
    videos: Vec<u32>,
    replay: Replay,
    /// The numbers of recorded updates that have been passed.
    delay_based: usize,
    loss_based: usize,
    scream: usize,
}

impl Player<'_> {
    fn run_timers(&mut self, until: Time) {
        while let Some(due) = self.sender.next_timeout().filter(|due| *due <= until) {
            self.sender.on_timeout(due);
        }
    }

    /// The rates that the streams can use. Their maximum is not in the log.
    fn configure(&mut self, at: Time, stream: &Stream) {
        let is_new = !self.videos.contains(&stream.ssrc);
        if stream.kind == StreamKind::Video && is_new {
            self.videos.push(stream.ssrc);
            let min_rate = MIN_VIDEO_RATE * self.videos.len() as u64;
            let max_rate = Bitrate::ZERO;
            self.sender.on_allocation(at, Allocation { min_rate, max_rate });
        }
    }

    /// A cluster that the recorded controller asked for: the next packets belong to it.
    fn announce(&mut self, at: Time, probe: &ProbeRequest) {
        let ProbeRequest { id, rate, min_packets, min_bytes, .. } = *probe;
        let min_duration = rate.time_to_send(min_bytes).unwrap_or(Duration::ZERO);
        let cluster = ProbeCluster { id, rate, min_duration, min_packets };
        self.sender.on_probe_cluster(&cluster);
        self.probes.push_back(Pending {
            cluster,
            at,
            min_bytes,
            packets: 0,
            bytes: Bytes::ZERO,
            last: None,
            arrived: (0, Bytes::ZERO),
            results: self.results.get(&id).copied().unwrap_or(0),
            given: 0,
        });
    }

    fn send(&mut self, mut packet: SentPacket, recorded: &RtpPacket) {
        packet.probe = recorded.probe.or_else(|| self.probe_of(&packet, recorded.ssrc));
        self.replay.packets += 1;
        self.feedback.on_sent(packet, (recorded.ssrc, recorded.sequence));
        self.sender.on_sent(&packet);
    }

    /// The cluster of a packet, which logs with columns do not contain: the oldest one whose
    /// packets have not given all results that the log has. Without results it is the oldest one
    /// that is not complete (libwebrtc `rtc_tools/rtc_event_log_visualizer/log_simulation.cc`,
    /// OnPacketSent).
    fn probe_of(&mut self, packet: &SentPacket, ssrc: u32) -> Option<u32> {
        while self.probes.front().is_some_and(|probe| probe.is_over(packet.sent)) {
            self.probes.pop_front();
        }
        let is_audio = |stream: &Stream| stream.ssrc == ssrc && stream.kind == StreamKind::Audio;
        let is_video = !self.log.streams.iter().any(is_audio);
        let probe = self.probes.front_mut().filter(|_| is_video)?;
        probe.add(packet, self.arrived.contains(&packet.sequence));
        Some(probe.cluster.id)
    }

    fn receive(&mut self, at: Time, index: usize) {
        let messages = self.feedback.on_rtcp(&self.log.rtcp_received[index]);
        if messages.loss.is_some() || messages.rtt.is_some() {
            let (lost, expected) = messages.loss.unwrap_or((0, 0));
            let fraction_lost = if expected == 0 { 0.0 } else { lost as f64 / expected as f64 };
            let report = cc::Feedback::Report { fraction_lost, expected, rtt: messages.rtt };
            self.sender.on_feedback(at, report);
        }
        if let Some(rate) = messages.remb {
            self.sender.on_feedback(at, cc::Feedback::Remb { rate });
        }
        for results in &messages.packets {
            self.pass(at, results);
        }
    }

    fn pass(&mut self, at: Time, results: &[PacketResult]) {
        self.sender.on_feedback(at, cc::Feedback::Packets { results, rtt: None });
        if results.iter().any(|result| result.arrival.is_some()) {
            let mut step = Step {
                at,
                recorded: Values::default(),
                replayed: Values::default(),
                updates: 0,
                signals: Vec::with_capacity(self.replay.signals.len()),
            };
            let names = &mut self.replay.signals;
            let mut index = 0;
            self.sender.signals(&mut |name, value| {
                if index == names.len() {
                    names.push(name);
                }
                index += 1;
                step.signals.push(value);
                match name {
                    ESTIMATE => step.replayed.estimate = Some(Bitrate::from_bps_f64(value)),
                    USAGE => step.replayed.state = Some(state(value)),
                    _ => {}
                }
            });
            step.replayed.target = Some(self.sender.decision().target_rate);
            self.record(&mut step);
            self.replay.steps.push(step);
        }
    }

    /// Adds what was recorded until a step. libwebrtc logs an RTCP packet after it has processed it
    /// (`call/call.cc`, DeliverRtcpPacket), so the updates that the packet causes are not later.
    fn record(&mut self, step: &mut Step) {
        let passed = |len: usize, before: usize, time: &dyn Fn(usize) -> Time| {
            (before..len).take_while(|&index| time(index) <= step.at).count() + before
        };
        let log = self.log;
        let delay = passed(log.delay_based.len(), self.delay_based, &|i| log.delay_based[i].at);
        let loss = passed(log.loss_based.len(), self.loss_based, &|i| log.loss_based[i].at);
        let scream = passed(log.scream.len(), self.scream, &|i| log.scream[i].at);
        step.updates = delay - self.delay_based;
        (self.delay_based, self.loss_based, self.scream) = (delay, loss, scream);
        if let Some(update) = delay.checked_sub(1).map(|newest| log.delay_based[newest]) {
            step.recorded.estimate = Some(update.rate);
            step.recorded.state = Some(update.state);
        }
        let target = loss.checked_sub(1).map(|newest| log.loss_based[newest].rate);
        let scream = scream.checked_sub(1).map(|newest| log.scream[newest].target);
        step.recorded.target = target.or(scream);
    }
}

/// The state of a detector from the signal: −1, 0 or 1.
fn state(usage: f64) -> DetectorState {
    if usage > 0.0 {
        DetectorState::Overusing
    } else if usage < 0.0 {
        DetectorState::Underusing
    } else {
        DetectorState::Normal
    }
}
