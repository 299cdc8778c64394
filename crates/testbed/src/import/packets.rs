//! Records of a call from its packets: event logs and captures, of one endpoint or of both.

use super::{Clock, ImportError};
use crate::event_log::{
    DetectorState, EventLog, RtcpPacket, RtpPacket, Stream, StreamKind as Medium,
};
use crate::replay::{Feedback, Unwrapped};
use cc::SentPacket;
use sim::Recording;
use sim::recording::{Column, Event, Points, StreamKind, StreamRecord};
use std::collections::{BTreeMap, HashMap};
use units::{Bytes, Duration, Time};

/// The sampling interval: ten reports of transport-wide feedback per sample of a page. Our choice.
const INTERVAL: Duration = Duration::from_millis(100);
/// That of recordings of more than an hour, so that a day has as many samples as two hours.
const LONG_INTERVAL: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(3_600);

/// Names of the columns that only packets give.
mod name {
    pub(super) const QUEUE_DELAY: &str = "queueDelay";
    pub(super) const ESTIMATE: &str = "delayBasedEstimate";
    pub(super) const USAGE: &str = "overuse";
    pub(super) const REMB: &str = "receiverLimit";
    pub(super) const LIMITED: &str = "applicationLimited";
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// On the clock of the first endpoint, s.
    at: f64,
    payload: f64,
    header: f64,
    /// The time since it was sent, s, plus a constant.
    delay: Option<f64>,
}

/// Packets in order of arrival, and when packets were lost (s) and how many.
type Reception = (Vec<Arrival>, Vec<(f64, f64)>);
/// Packets that were sent, and their times on the clock of the first endpoint, s.
type Sent<'a> = (&'a Vec<&'a RtpPacket>, &'a dyn Fn(Time) -> f64);

/// The records of a direction and medium.
#[derive(Debug)]
struct Builder {
    record: StreamRecord,
    interval: f64,
    samples: usize,
}

impl Builder {
    fn new(name: String, kind: StreamKind, interval: Duration, samples: usize) -> Self {
        let active = (Time::ZERO, Time::ZERO + interval * samples as u64);
        let record = StreamRecord { name, kind, active, columns: Vec::new(), points: Vec::new() };
        Self { record, interval: interval.as_secs_f64(), samples }
    }

    /// The sample of a time; the last sample for later ones.
    fn index(&self, at: f64) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
        let index = (at / self.interval).max(0.0) as usize;
        index.min(self.samples - 1)
    }

    /// A counter from its increases.
    fn counter(&mut self, name: &'static str, increases: impl Iterator<Item = (f64, f64)>) {
        let mut values = vec![0.0; self.samples];
        for (at, increase) in increases {
            values[self.index(at)] += increase;
        }
        let mut sum = 0.0;
        for value in &mut values {
            sum += *value;
            *value = sum;
        }
        self.record.columns.push(Column { name, values });
    }

    /// The newest value at the end of each sample.
    fn newest(&mut self, name: &'static str, updates: impl Iterator<Item = (f64, f64)>) {
        let mut values = vec![f64::NAN; self.samples];
        let mut any = false;
        for (at, value) in updates {
            values[self.index(at)] = value;
            any = true;
        }
        let mut before = f64::NAN;
        for value in &mut values {
            if value.is_nan() {
                *value = before;
            }
            before = *value;
        }
        if any {
            self.record.columns.push(Column { name, values });
        }
    }

    /// The least value of each sample: that of the packet that waited for no packet of its own
    /// frame.
    fn least(&mut self, name: &'static str, values: impl Iterator<Item = (f64, f64)>) {
        let mut least = vec![f64::NAN; self.samples];
        for (at, value) in values {
            let index = self.index(at);
            least[index] = value.min(least[index]);
        }
        if least.iter().any(|value| value.is_finite()) {
            self.record.columns.push(Column { name, values: least });
        }
    }

    fn points(&mut self, name: &'static str, mut values: Vec<(Time, f64)>) {
        if !values.is_empty() {
            values.sort_by_key(|(at, _)| *at);
            self.newest(name, values.iter().map(|(at, value)| (at.as_secs_f64(), *value)));
            self.record.points.push(Points { name, values });
        }
    }

    fn sent(&mut self, packets: &[&RtpPacket], at: &dyn Fn(Time) -> f64) {
        let counted = |of: fn(&RtpPacket) -> f64| {
            packets.iter().map(move |packet| (at(packet.at), of(packet)))
        };
        self.counter("bytesSent", counted(|packet| bytes(packet.payload)));
        self.counter("headerBytesSent", counted(header));
        self.counter("packetsSent", counted(|_| 1.0));
    }

    fn received(&mut self, arrivals: &[Arrival]) {
        self.counter("bytesReceived", arrivals.iter().map(|one| (one.at, one.payload)));
        self.counter("headerBytesReceived", arrivals.iter().map(|one| (one.at, one.header)));
        self.counter("packetsReceived", arrivals.iter().map(|one| (one.at, 1.0)));
        let delays = arrivals.iter().filter_map(|one| Some((one.at, one.delay?)));
        let least = delays.clone().map(|(_, delay)| delay).fold(f64::INFINITY, f64::min);
        self.least(name::QUEUE_DELAY, delays.map(|(at, delay)| (at, delay - least)));
    }
}

fn bytes(size: Bytes) -> f64 {
    size.get() as f64
}

fn header(packet: &RtpPacket) -> f64 {
    bytes(packet.size) - bytes(packet.payload)
}

/// Whether a source is audio, by the streams of the log; an unknown source is of video.
fn is_audio(streams: &[Stream], ssrc: u32) -> bool {
    let of = |stream: &&Stream| stream.ssrc == ssrc || stream.rtx == Some(ssrc);
    streams.iter().find(of).is_some_and(|stream| stream.kind == Medium::Audio)
}

/// Makes the records of a call: `main.video` and `main.audio` are what the first endpoint sends,
/// `….back` what it receives. With the log of the second endpoint, each direction has both ends.
pub(super) fn recording(
    first: &EventLog,
    second: Option<(&EventLog, Clock)>,
) -> Result<Recording, ImportError> {
    let (interval, samples) = grid(first)?;
    let mut recording = Recording {
        interval,
        duration: interval * samples as u64,
        streams: Vec::new(),
        events: Vec::new(),
    };
    let feedback = Reported::of(first);
    let first_time = |at: Time| at.as_secs_f64();
    let second_time = second.map(|(_, clock)| move |at: Time| clock.on_first(at.as_secs_f64()));
    let second_time = |at: Time| second_time.map_or(f64::NAN, |of| of(at));
    for kind in [StreamKind::Video, StreamKind::Audio] {
        let is_of = |packet: &&RtpPacket, log: &EventLog| {
            is_audio(&log.streams, packet.ssrc) == (kind == StreamKind::Audio)
        };
        let name = kind.as_str();
        let sent: Vec<&RtpPacket> = first.sent.iter().filter(|one| is_of(one, first)).collect();
        if !sent.is_empty() {
            let mut way = Builder::new(format!("main.{name}"), kind, interval, samples);
            way.sent(&sent, &first_time);
            if let Some((second, _)) = second {
                let received = second.received.iter().filter(|one| is_of(one, first));
                let (arrivals, lost) = arrivals(received, &second_time, Some((&sent, &first_time)));
                way.received(&arrivals);
                way.counter("packetsLost", lost.into_iter());
            } else if let Some((arrivals, lost)) = feedback.medium(kind) {
                way.received(&arrivals);
                way.counter("packetsLost", lost.into_iter());
            }
            if kind == StreamKind::Video {
                decisions(&mut way, first, &feedback);
            }
            recording.streams.push(way.record);
        }
        let received = first.received.iter().filter(|one| is_of(one, first));
        if received.clone().next().is_some() {
            let mut way = Builder::new(format!("main.{name}.back"), kind, interval, samples);
            let sent: Option<Vec<&RtpPacket>> =
                second.map(|(log, _)| log.sent.iter().filter(|one| is_of(one, first)).collect());
            if let Some(sent) = &sent {
                way.sent(sent, &second_time);
            }
            let pair = sent.as_ref().map(|sent| (sent, &second_time as &dyn Fn(Time) -> f64));
            let (arrivals, lost) = arrivals(received, &first_time, pair);
            way.received(&arrivals);
            way.counter("packetsLost", lost.into_iter());
            recording.streams.push(way.record);
        }
    }
    if recording.streams.is_empty() {
        return Err(ImportError::NoPackets);
    }
    recording.events = events(first);
    Ok(recording)
}

/// The sampling interval and the number of samples.
fn grid(log: &EventLog) -> Result<(Duration, usize), ImportError> {
    let rtp = log.sent.iter().chain(&log.received).map(|packet| packet.at);
    let last = rtp.max().ok_or(ImportError::NoPackets)?;
    let duration = last.saturating_since(Time::ZERO);
    if duration > EventLog::MAX_DURATION {
        return Err(ImportError::Times);
    }
    let interval = if duration > LONG { LONG_INTERVAL } else { INTERVAL };
    let samples = duration.as_nanos() / interval.as_nanos() + 1;
    Ok((interval, usize::try_from(samples).map_err(|_| ImportError::Times)?))
}

/// Packets in order of arrival with the times since they were sent, and the numbers that were lost
/// in between: those that the receiver did not get before it got a later one, minus those that it
/// got afterwards.
fn arrivals<'a>(
    received: impl Iterator<Item = &'a RtpPacket>,
    time: &dyn Fn(Time) -> f64,
    sent: Option<Sent<'_>>,
) -> Reception {
    let mut times: HashMap<(u32, u16, u32), f64> = HashMap::new();
    if let Some((sent, time)) = sent {
        times.extend(sent.iter().map(|packet| (key(packet), time(packet.at))));
    }
    let mut numbers: HashMap<u32, (Unwrapped, u64)> = HashMap::new();
    let (mut arrivals, mut lost) = (Vec::new(), Vec::new());
    for packet in received {
        let at = time(packet.at);
        let delay = times.get(&key(packet)).map(|sent| at - sent);
        let (payload, header) = (bytes(packet.payload), header(packet));
        arrivals.push(Arrival { at, payload, header, delay });
        let (unwrapped, newest) = numbers.entry(packet.ssrc).or_default();
        let number = unwrapped.next(packet.sequence);
        if *newest == 0 || number > *newest {
            let gap = if *newest == 0 { 0 } else { number - *newest - 1 };
            if gap > 0 {
                lost.push((at, gap as f64));
            }
            *newest = number;
        } else if number < *newest {
            lost.push((at, -1.0));
        }
    }
    (arrivals, lost)
}

/// What identifies a packet at both endpoints.
fn key(packet: &RtpPacket) -> (u32, u16, u32) {
    (packet.ssrc, packet.sequence, packet.rtp_timestamp)
}

/// What the feedback to an endpoint says.
#[derive(Default)]
struct Reported {
    /// Arrivals and losses by whether they are of audio.
    arrivals: [Vec<Arrival>; 2],
    lost: [Vec<(f64, f64)>; 2],
    round_trips: Vec<(Time, f64)>,
    fractions: Vec<(Time, f64)>,
    limits: Vec<(f64, f64)>,
}

impl Reported {
    fn of(log: &EventLog) -> Self {
        let mut reported = Self::default();
        let mut feedback = Feedback::default();
        let mut numbers = Unwrapped::default();
        let mut packets: BTreeMap<u64, (&RtpPacket, bool)> = BTreeMap::new();
        let mut sent = log.sent.iter().peekable();
        let mut reports = log.rtcp_sent.iter().peekable();
        let has_numbers = log.sent.iter().any(|packet| packet.transport_sequence.is_some());
        let mut count = 0;
        for rtcp in &log.rtcp_received {
            while let Some(packet) = sent.next_if(|packet| packet.at <= rtcp.at) {
                count += 1;
                let sequence = match packet.transport_sequence {
                    Some(number) => numbers.next(number),
                    None if has_numbers => continue,
                    None => count,
                };
                packets.insert(sequence, (packet, false));
                let (sent, size) = (packet.at, packet.size);
                feedback.on_sent(
                    SentPacket { sequence, sent, size, probe: None },
                    (packet.ssrc, packet.sequence),
                );
            }
            while let Some(report) = reports.next_if(|report| report.at <= rtcp.at) {
                feedback.on_rtcp_sent(report);
            }
            let messages = feedback.on_rtcp(rtcp);
            let rtt = messages.rtt.map(|rtt| (rtcp.at, rtt.as_secs_f64()));
            reported.round_trips.extend(rtt);
            let share = |(lost, expected): (u64, u64)| lost as f64 / expected as f64;
            reported.fractions.extend(messages.loss.map(|loss| (rtcp.at, share(loss))));
            let limit = messages.remb.map(|limit| (rtcp.at.as_secs_f64(), limit.as_bps_f64()));
            reported.limits.extend(limit);
            for result in messages.packets.iter().flatten() {
                let Some((packet, was_lost)) = packets.get_mut(&result.packet.sequence) else {
                    continue;
                };
                let medium = usize::from(is_audio(&log.streams, packet.ssrc));
                let at = rtcp.at.as_secs_f64();
                match result.arrival {
                    Some(arrival) => {
                        let delay = Some(arrival.as_secs_f64() - result.packet.sent.as_secs_f64());
                        let (payload, header) = (bytes(packet.payload), header(packet));
                        reported.arrivals[medium].push(Arrival { at, payload, header, delay });
                        if *was_lost {
                            reported.lost[medium].push((at, -1.0));
                        }
                        packets.remove(&result.packet.sequence);
                    }
                    None if *was_lost => {}
                    None => {
                        *was_lost = true;
                        reported.lost[medium].push((at, 1.0));
                    }
                }
            }
            // Those older than the history of the feedback are not reported any more.
            while packets.len() > MAX_IN_FLIGHT {
                packets.pop_first();
            }
        }
        let of_ice = log.round_trips.iter().map(|(at, took)| (*at, took.as_secs_f64()));
        reported.round_trips.extend(of_ice);
        reported
    }

    /// Arrivals and losses of a medium; `None` if no packet was reported.
    fn medium(&self, kind: StreamKind) -> Option<Reception> {
        let medium = usize::from(kind == StreamKind::Audio);
        (!self.arrivals[medium].is_empty())
            .then(|| (self.arrivals[medium].clone(), self.lost[medium].clone()))
    }
}

/// The most packets that wait for feedback: those of 60 s (libwebrtc kSendTimeHistoryWindow) at 500
/// per second. Our choice.
const MAX_IN_FLIGHT: usize = 30_000;

/// What the controller decided, and what limited it.
fn decisions(way: &mut Builder, log: &EventLog, reported: &Reported) {
    let at = |time: Time| time.as_secs_f64();
    let targets = log.loss_based.iter().map(|update| (at(update.at), update.rate.as_bps_f64()));
    let scream = log.scream.iter().map(|update| (at(update.at), update.target.as_bps_f64()));
    way.newest("availableOutgoingBitrate", targets.chain(scream));
    let estimates = log.delay_based.iter().map(|one| (at(one.at), one.rate.as_bps_f64()));
    way.newest(name::ESTIMATE, estimates);
    let usage = log.delay_based.iter().map(|update| {
        let usage = match update.state {
            DetectorState::Normal => 0.0,
            DetectorState::Underusing => -1.0,
            DetectorState::Overusing => 1.0,
        };
        (at(update.at), usage)
    });
    way.newest(name::USAGE, usage);
    let limited = log.alr.iter().map(|change| (at(change.at), f64::from(u8::from(change.in_alr))));
    way.newest(name::LIMITED, limited);
    way.newest(name::REMB, reported.limits.iter().copied());
    way.points("roundTripTime", reported.round_trips.clone());
    way.points("fractionLost", reported.fractions.clone());
}

/// The results of probes: `probe` with the measured rate in bit/s, or `probeFailed` with the
/// number of the cluster. Decreases of the delay-based estimate at over-use: `overuse` with the
/// estimate after it in bit/s.
fn events(log: &EventLog) -> Vec<Event> {
    let event = |result: &crate::event_log::ProbeResult| {
        let (what, value) = match result.rate {
            Some(rate) => ("probe", rate.as_bps_f64()),
            None => ("probeFailed", f64::from(result.id)),
        };
        Event { at: result.at, stream: "main.video".to_owned(), what, value }
    };
    let probes = log.probe_results.iter().map(event);
    let decreases = log
        .delay_based
        .windows(2)
        .filter(|pair| pair[1].state == DetectorState::Overusing && pair[1].rate < pair[0].rate);
    let decreases = decreases.map(|pair| Event {
        at: pair[1].at,
        stream: "main.video".to_owned(),
        what: "overuse",
        value: pair[1].rate.as_bps_f64(),
    });
    let mut events: Vec<Event> = probes.chain(decreases).collect();
    events.sort_by_key(|event| event.at);
    events
}

/// The clock of the second endpoint against the first, from the packets that both have. `None` if
/// they have no common packets in both directions.
pub(super) fn clock(first: &EventLog, second: &EventLog) -> Option<Clock> {
    let there = common((&first.sent, &first.rtcp_sent), (&second.received, &second.rtcp_received));
    let back = common((&second.sent, &second.rtcp_sent), (&first.received, &first.rtcp_received));
    let there: Vec<_> = there.into_iter().map(|(sent, arrived)| (sent, arrived - sent)).collect();
    let back: Vec<_> = back.into_iter().map(|(sent, arrived)| (arrived, arrived - sent)).collect();
    Clock::estimate(&there, &back)
}

/// When each packet that both lists have was sent and when it arrived, each on its own clock, s. A
/// call in one direction has only RTCP in the other.
fn common(
    (sent, reports_sent): (&[RtpPacket], &[RtcpPacket]),
    (received, reports): (&[RtpPacket], &[RtcpPacket]),
) -> Vec<(f64, f64)> {
    let times: HashMap<_, _> = sent.iter().map(|packet| (key(packet), packet.at)).collect();
    let rtp = received.iter().filter_map(|packet| Some((*times.get(&key(packet))?, packet.at)));
    // Requests such as PLI repeat byte by byte: only packets that are unique tell when they
    // arrived.
    let times = unique(reports_sent);
    let arrivals = unique(reports);
    let rtcp = arrivals.iter().filter_map(|(bytes, at)| Some((*times.get(bytes)?, *at)));
    let seconds = |(sent, arrived): (Time, Time)| (sent.as_secs_f64(), arrived.as_secs_f64());
    rtp.chain(rtcp).map(seconds).collect()
}

/// The times of the packets whose bytes occur once.
fn unique(packets: &[RtcpPacket]) -> BTreeMap<&[u8], Time> {
    let mut times: BTreeMap<&[u8], Option<Time>> = BTreeMap::new();
    for packet in packets {
        let is_new = !times.contains_key(&packet.bytes[..]);
        times.insert(&packet.bytes, is_new.then_some(packet.at));
    }
    times.into_iter().filter_map(|(bytes, at)| Some((bytes, at?))).collect()
}
