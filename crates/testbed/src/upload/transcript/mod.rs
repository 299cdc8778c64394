//! Turns the output of an upload client and its server into the record of a TCP flow, with the
//! columns of a simulated flow and the samples of the run.

mod samples;
#[cfg(test)]
mod tests;

use experiment::{Program, ProgramKind};
use samples::Samples;
use serde_json::{Map, Value};
use sim::recording::{Event, Points, StreamKind, StreamRecord};
use sim::tcp::TcpSource;
use std::io::{self, BufRead};
use units::{Duration, Time};

/// The members of a client's samples, in the order of a simulated record.
const SENDER: [&str; 15] = [
    "bytesSent",
    "packetsSent",
    "retransmittedBytesSent",
    "retransmittedPacketsSent",
    "bytesAcknowledged",
    "congestionWindow",
    "slowStartThreshold",
    "bytesInFlight",
    "unackData",
    "receiverWindow",
    "roundTripTime",
    "smoothedRoundTripTime",
    "retransmissionTimeout",
    "pacingRate",
    "timeouts",
];
/// The members of a server's samples.
const RECEIVER: [&str; 2] = ["bytesReceived", "packetsReceived"];
/// The events that end an upload, and whether a simulated flow has the event too.
const ENDS: [(&str, bool); 4] =
    [("completed", true), ("incomplete", true), ("timedOut", true), ("ended", false)];
/// The longest line that is read, bytes; the rest counts as another line.
const MAX_LINE: u64 = 16 << 10;
/// The most round-trip times that are kept: over a day at ten per second.
const MAX_POINTS: usize = 1_000_000;

/// The sample times of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleGrid {
    /// The start of the run: CLOCK_MONOTONIC in ns.
    pub start: u64,
    /// The sampling interval, above zero.
    pub interval: Duration,
    /// The length of the run.
    pub duration: Duration,
}

impl SampleGrid {
    fn samples(&self) -> usize {
        usize::try_from(self.duration.as_nanos() / self.interval.as_nanos().max(1)).unwrap_or(0)
    }

    /// The time of a sample.
    fn time(&self, index: usize) -> Time {
        Time::ZERO + self.interval * (index as u64 + 1)
    }

    /// The first sample at or after a time.
    fn first_from(&self, time: Time) -> Time {
        let interval = self.interval.as_nanos().max(1);
        Time::from_nanos(time.as_nanos().div_ceil(interval).saturating_mul(interval))
    }
}

/// The record of an upload.
#[derive(Clone, Debug, PartialEq)]
pub struct Transcript {
    /// The record of the flow, `NAME.tcp`.
    pub record: StreamRecord,
    /// The event that ends the flow, as of a simulated flow.
    pub events: Vec<Event>,
    /// Lines that are not such output, or are not in order of time.
    pub skipped: usize,
}

/// Makes a record from the output of an upload's client and of its server, which may have served
/// other clients too. A sample has the newest values at or before its time. Other lines are skipped
/// and counted. A finite upload without an end event is incomplete.
///
/// # Errors
/// When the output cannot be read.
pub fn read(
    program: &Program,
    client: impl BufRead,
    server: impl BufRead,
    grid: &SampleGrid,
) -> io::Result<Transcript> {
    let mut sender = Samples::new(&SENDER, grid);
    let mut log = ClientLog::default();
    let mut skipped = lines(client, |object| log.of_client(&object, &mut sender, grid))?;
    let mut receiver = Samples::new(&RECEIVER, grid);
    let mut newest = 0;
    skipped += lines(server, |object| {
        let peer = object.get("peer").and_then(Value::as_str);
        if peer.is_none() || peer != log.address.as_deref() || object.contains_key("event") {
            // A line about another client or the server itself; it counts as known if it has a
            // time.
            return time(&object).is_some();
        }
        let Some(at) = time(&object).filter(|at| *at >= newest) else { return false };
        newest = at;
        receiver.take(since(at, grid), &object)
    })?;
    Ok(log.finish(program, sender, receiver, skipped, grid))
}

/// The output of a client besides its samples.
#[derive(Default)]
struct ClientLog {
    address: Option<String>,
    end: Option<(Time, &'static str, bool, f64)>,
    round_trips: Vec<(Time, f64)>,
    newest: u64,
}

impl ClientLog {
    /// Takes a line of the client; returns false if it is not one.
    fn of_client(
        &mut self,
        object: &Map<String, Value>,
        samples: &mut Samples<'_>,
        grid: &SampleGrid,
    ) -> bool {
        let Some(at) = time(object).filter(|at| *at >= self.newest) else { return false };
        let when = since(at, grid);
        let known = match object.get("event").and_then(Value::as_str) {
            None => samples.take(when, object),
            Some("connected") => {
                self.address = object.get("address").and_then(Value::as_str).map(str::to_owned);
                true
            }
            Some(event) => self.end(event, when, object),
        };
        if !known {
            return false;
        }
        self.newest = at;
        if let Some(value) = number(object, "roundTripTime")
            && self.round_trips.len() < MAX_POINTS
            && when <= Time::ZERO + grid.duration
        {
            self.round_trips.push((when, value));
        }
        true
    }

    fn end(&mut self, event: &str, when: Time, object: &Map<String, Value>) -> bool {
        let known = ENDS.iter().find(|(name, _)| *name == event);
        let (Some((name, is_event)), Some(value)) = (known, number(object, "value")) else {
            return false;
        };
        self.end.get_or_insert((when, name, *is_event, value));
        true
    }

    fn finish(
        self,
        program: &Program,
        sender: Samples<'_>,
        receiver: Samples<'_>,
        skipped: usize,
        grid: &SampleGrid,
    ) -> Transcript {
        let stream = format!("{}.tcp", program.name);
        let stop = program.stop.min(Time::ZERO + grid.duration);
        let finite = matches!(&program.kind, ProgramKind::Upload(upload) if matches!(upload.source, TcpSource::Finite(_)));
        let cut = || (stop, "incomplete", finite, sender.newest("bytesAcknowledged"));
        let (at, what, is_event, value) = self.end.unwrap_or_else(cut);
        // An upload that ends after the run is incomplete.
        let (at, what, value) = if at <= Time::ZERO + grid.duration {
            (at, what, value)
        } else {
            (stop, "incomplete", sender.newest("bytesAcknowledged"))
        };
        let is_event = is_event && (what != "incomplete" || finite);
        let events = is_event.then(|| Event { at, stream: stream.clone(), what, value });
        let active = (program.start, stop.min(grid.first_from(at)));
        let columns = sender.columns(active).into_iter().chain(receiver.columns(active)).collect();
        let points = vec![Points { name: "roundTripTime", values: self.round_trips }];
        let record = StreamRecord { name: stream, kind: StreamKind::Tcp, active, columns, points };
        Transcript { record, events: events.into_iter().collect(), skipped }
    }
}

/// Passes every line that is a JSON object to `take`, and counts the other lines and those that
/// `take` refuses. Memory is bounded by one line.
fn lines(
    mut reader: impl BufRead,
    mut take: impl FnMut(Map<String, Value>) -> bool,
) -> io::Result<usize> {
    let (mut buffer, mut skipped) = (Vec::new(), 0);
    loop {
        buffer.clear();
        if io::Read::take(&mut reader, MAX_LINE).read_until(b'\n', &mut buffer)? == 0 {
            return Ok(skipped);
        }
        let known = match serde_json::from_slice(&buffer) {
            Ok(Value::Object(object)) => take(object),
            _ => false,
        };
        skipped += usize::from(!known);
    }
}

fn time(object: &Map<String, Value>) -> Option<u64> {
    object.get("at")?.as_u64()
}

/// The time since the start of the run; zero for times before the start.
fn since(at: u64, grid: &SampleGrid) -> Time {
    Time::from_nanos(at.saturating_sub(grid.start))
}

/// The number of this name; `None` below zero, as no quantity is negative.
fn number(object: &Map<String, Value>, name: &str) -> Option<f64> {
    object.get(name)?.as_f64().filter(|value| value.is_finite() && *value >= 0.0)
}
