//! One direction of a call's video or audio, with the columns of a simulated call.

use super::Collected;
use super::grid::Grid;
use super::object::{Object, Report};
use sim::recording::{Column, Event, Points, StreamKind, StreamRecord};
use std::collections::BTreeMap;
use units::Time;

/// How the values of several objects of one type, such as the layers of simulcast, are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aggregation {
    /// A counter that only grows: summed. The count of an object that disappears or starts again is
    /// kept.
    Counter,
    /// A counter that may shrink, as `packetsLost` does when late packets arrive.
    Balance,
    /// A current value: summed.
    Sum,
    /// A current value: the greatest.
    Greatest,
    /// A current value: the greatest; 0 when it is no longer reported (libwebrtc
    /// `pc/rtc_stats_collector.cc` reports framesPerSecond only above 0).
    GreatestOrZero,
}
use Aggregation::{Balance, Counter, Greatest, GreatestOrZero, Sum};

/// The member, the column, and how values are combined.
type ColumnRule = (&'static str, &'static str, Aggregation);

#[rustfmt::skip]
const OUTBOUND: &[ColumnRule] = &[
    ("bytesSent", "bytesSent", Counter),
    ("headerBytesSent", "headerBytesSent", Counter),
    ("packetsSent", "packetsSent", Counter),
    ("retransmittedPacketsSent", "retransmittedPacketsSent", Counter),
    ("retransmittedBytesSent", "retransmittedBytesSent", Counter),
    ("framesEncoded", "framesEncoded", Counter),
    ("keyFramesEncoded", "keyFramesEncoded", Counter),
    ("framesPerSecond", "framesPerSecondSent", GreatestOrZero),
    ("frameWidth", "frameWidthSent", Greatest),
    ("frameHeight", "frameHeightSent", Greatest),
    ("targetBitrate", "targetBitrate", Sum),
];
const PAIR: &[ColumnRule] = &[("availableOutgoingBitrate", "availableOutgoingBitrate", Sum)];
const REMOTE: &[ColumnRule] = &[
    ("roundTripTime", "roundTripTime", Greatest),
    ("fractionLost", "fractionLost", Greatest),
    ("packetsLost", "packetsLostReported", Balance),
];
#[rustfmt::skip]
const INBOUND: &[ColumnRule] = &[
    ("bytesReceived", "bytesReceived", Counter),
    ("headerBytesReceived", "headerBytesReceived", Counter),
    ("packetsReceived", "packetsReceived", Counter),
    ("packetsReceivedWithEct1", "packetsReceivedWithEct1", Counter),
    ("packetsReceivedWithCe", "packetsReceivedWithCe", Counter),
    ("retransmittedPacketsReceived", "retransmittedPacketsReceived", Counter),
    ("packetsLost", "packetsLost", Balance),
    ("jitter", "jitter", Greatest),
    ("framesReceived", "framesReceived", Counter),
    ("framesDecoded", "framesDecoded", Counter),
    ("keyFramesDecoded", "keyFramesDecoded", Counter),
    ("framesPerSecond", "framesPerSecond", GreatestOrZero),
    ("frameWidth", "frameWidth", Greatest),
    ("frameHeight", "frameHeight", Greatest),
    ("freezeCount", "freezeCount", Counter),
    ("totalFreezesDuration", "totalFreezesDuration", Counter),
    ("jitterBufferDelay", "jitterBufferDelay", Counter),
    ("nackCount", "nackCount", Counter),
    ("pliCount", "pliCount", Counter),
    ("fecPacketsReceived", "fecPacketsReceived", Counter),
    ("fecBytesReceived", "fecBytesReceived", Counter),
    ("fecPacketsDiscarded", "fecPacketsDiscarded", Counter),
];

/// The most objects of one type in a direction: simulcast has three, and a renegotiation adds new
/// ones. Further objects are not counted.
const MAX_OBJECTS: usize = 64;
/// The most points and events of a direction: one report every 50 ms for over half a day.
const MAX_POINTS: usize = 1_000_000;
/// The most key frame requests between two reports that become events.
const MAX_REQUESTS: f64 = 100.0;
/// The greatest age of an object in its report, s. RTCP arrives about every second (RFC 3550,
/// section 6.2).
const MAX_AGE: f64 = 60.0;

/// The collected statistics of one direction.
#[derive(Debug)]
pub(super) struct Direction {
    name: String,
    pub(super) kind: StreamKind,
    grid: Grid,
    columns: Vec<Column>,
    /// The newest value of each counter: by column and object id.
    counters: BTreeMap<(&'static str, String), ObjectCounter>,
    reports: BTreeMap<String, ReportKey>,
    round_trips: Vec<(Time, f64)>,
    fractions: Vec<(Time, f64)>,
    events: Vec<Event>,
    has_reports: [bool; 2],
}

/// `before`: what the object had counted before it started again, minus what it had counted before
/// the run; `newest`: its count since.
#[derive(Clone, Copy, Debug)]
struct ObjectCounter {
    before: f64,
    newest: f64,
}

/// The values that distinguish a new receiver report from one that was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct ReportKey {
    timestamp: f64,
    measurements: f64,
}

impl Direction {
    pub(super) fn new(name: String, kind: StreamKind, grid: Grid) -> Self {
        Self {
            name,
            kind,
            grid,
            columns: Vec::new(),
            counters: BTreeMap::new(),
            reports: BTreeMap::new(),
            round_trips: Vec::new(),
            fractions: Vec::new(),
            events: Vec::new(),
            has_reports: [false; 2],
        }
    }

    /// Takes a report of the sender.
    pub(super) fn sent(&mut self, report: &Report<'_>) {
        let outbound = self.of(report, "outbound-rtp");
        if outbound.is_empty() {
            return;
        }
        self.has_reports[0] = true;
        self.columns(report, &outbound, OUTBOUND);
        if self.kind == StreamKind::Video {
            let pair: Vec<_> = report.selected_pair().into_iter().collect();
            self.columns(report, &pair, PAIR);
            self.media_packets(report);
        }
        let remote = self.of(report, "remote-inbound-rtp");
        self.columns(report, &remote, REMOTE);
        remote.iter().for_each(|object| self.receiver_report(report, object));
    }

    /// Takes a report of the receiver.
    pub(super) fn received(&mut self, report: &Report<'_>) {
        let inbound = self.of(report, "inbound-rtp");
        if inbound.is_empty() {
            return;
        }
        self.has_reports[1] = true;
        let before =
            ["freezeCount", "totalFreezesDuration", "pliCount"].map(|column| self.total(column));
        self.columns(report, &inbound, INBOUND);
        let [freezes, frozen, requests] = before;
        // A freeze is reported at its end; two freezes between two reports become one event with
        // their total duration.
        if self.total("freezeCount") > freezes {
            self.event(report.at, "freeze", self.total("totalFreezesDuration") - frozen);
        }
        let mut left = (self.total("pliCount") - requests).min(MAX_REQUESTS);
        while left >= 1.0 {
            self.event(report.at, "keyFrameRequest", 1.0);
            left -= 1.0;
        }
    }

    /// The objects of a type and of this kind of media.
    fn of<'a>(&self, report: &Report<'a>, kind: &str) -> Vec<Object<'a>> {
        let fits =
            |object: &Object<'_>| object.kind == kind && object.media() == Some(self.kind.as_str());
        report.objects().filter(fits).take(MAX_OBJECTS).collect()
    }

    fn columns(&mut self, report: &Report<'_>, objects: &[Object<'_>], rules: &[ColumnRule]) {
        for &(member, column, rule) in rules {
            let told: Vec<(&str, f64)> = objects
                .iter()
                .filter_map(|object| Some((object.id, object.number(member)?)))
                .collect();
            let begun = || self.columns.iter().any(|known| known.name == column);
            let stopped = rule == GreatestOrZero && !objects.is_empty() && begun();
            if told.is_empty() && !stopped {
                continue;
            }
            let values = told.iter().map(|(_, value)| *value);
            let value = match rule {
                Sum => values.sum(),
                Greatest => values.fold(f64::NEG_INFINITY, f64::max),
                GreatestOrZero => values.fold(0.0, f64::max),
                Counter | Balance => {
                    let before = |value: f64| if report.is_before { -value } else { 0.0 };
                    told.iter().for_each(|(id, value)| {
                        self.count(column, id, *value, rule, before(*value));
                    });
                    self.total(column)
                }
            };
            self.set(report, column, value);
        }
    }

    fn count(
        &mut self,
        column: &'static str,
        id: &str,
        value: f64,
        rule: Aggregation,
        before: f64,
    ) {
        let key = (column, id.to_owned());
        let full = self.objects(column).count() >= MAX_OBJECTS;
        if full && !self.counters.contains_key(&key) {
            return;
        }
        let counted = self.counters.entry(key).or_insert(ObjectCounter { before, newest: 0.0 });
        if rule == Counter && value < counted.newest {
            counted.before += counted.newest;
        }
        counted.newest = value;
    }

    fn objects(&self, column: &'static str) -> impl Iterator<Item = &ObjectCounter> {
        let from = (column, String::new());
        self.counters
            .range(from..)
            .take_while(move |((name, _), _)| *name == column)
            .map(|(_, counted)| counted)
    }

    fn total(&self, column: &'static str) -> f64 {
        self.objects(column).map(|counted| counted.before + counted.newest).sum()
    }

    /// Media packets without retransmissions (a column of Weir).
    fn media_packets(&mut self, report: &Report<'_>) {
        let is_told = |name| self.counters.keys().any(|(column, _)| *column == name);
        if is_told("packetsSent") && is_told("retransmittedPacketsSent") {
            let media = self.total("packetsSent") - self.total("retransmittedPacketsSent");
            self.set(report, "mediaPacketsSent", media);
        }
    }

    fn set(&mut self, report: &Report<'_>, name: &'static str, value: f64) {
        let Some(index) = report.index else { return };
        let samples = self.grid.samples();
        let found = self.columns.iter().position(|column| column.name == name);
        let column = found.unwrap_or_else(|| {
            self.columns.push(Column { name, values: vec![f64::NAN; samples] });
            self.columns.len() - 1
        });
        self.columns[column].values[index] = value;
    }

    /// Adds the points of a receiver report that was not seen before.
    fn receiver_report(&mut self, report: &Report<'_>, object: &Object<'_>) {
        let now = ReportKey {
            timestamp: object.number("timestamp").unwrap_or(0.0),
            measurements: object.number("roundTripTimeMeasurements").unwrap_or(-1.0),
        };
        if self.reports.len() >= MAX_OBJECTS && !self.reports.contains_key(object.id) {
            return;
        }
        let before = self.reports.insert(object.id.to_owned(), now).unwrap_or_default();
        if before == now || self.fractions.len().max(self.round_trips.len()) >= MAX_POINTS {
            return;
        }
        let at = self.time_of(report, now.timestamp);
        if let Some(fraction) = object.number("fractionLost") {
            self.fractions.push((at, fraction));
        }
        // A report without a new measurement repeats the last one. If the browser does not count
        // measurements, every report is used.
        let is_measured = now.measurements < 0.0 || now.measurements > before.measurements;
        if let Some(value) =
            object.number("roundTripTime").filter(|value| *value >= 0.0 && is_measured)
        {
            self.round_trips.push((at, value));
        }
    }

    /// The arrival time of a receiver report, if its timestamp is plausible; else the time of the
    /// report.
    fn time_of(&self, report: &Report<'_>, timestamp: f64) -> Time {
        let at = self.grid.time(timestamp).filter(|at| *at <= report.at);
        let is_near = |at: &Time| report.at.saturating_since(*at).as_secs_f64() <= MAX_AGE;
        at.filter(is_near).unwrap_or(report.at)
    }

    fn event(&mut self, at: Time, what: &'static str, value: f64) {
        if self.events.len() < MAX_POINTS {
            self.events.push(Event { at, stream: self.name.clone(), what, value });
        }
    }

    /// Adds the record, if the direction was planned or anything was reported.
    pub(super) fn finish(
        mut self,
        active: (Time, Time),
        wanted: bool,
        silent: [bool; 2],
        collected: &mut Collected,
    ) {
        if !wanted && !self.carried() {
            return;
        }
        let ends = [(self.has_reports[0], "sender"), (self.has_reports[1], "receiver")];
        for ((_, end), _) in
            ends.iter().zip(silent).filter(|((has_reports, _), silent)| !has_reports && !silent)
        {
            collected.warnings.push(format!("{} has no statistics from its {end}", self.name));
        }
        for column in &mut self.columns {
            for (index, value) in column.values.iter_mut().enumerate() {
                let at = self.grid.sample_time(index);
                if at <= active.0 || at > active.1 {
                    *value = f64::NAN;
                }
            }
        }
        self.columns.retain(|column| column.values.iter().any(|value| !value.is_nan()));
        let within = |at: Time| at > active.0 && at <= active.1;
        for points in [&mut self.round_trips, &mut self.fractions] {
            points.retain(|(at, _)| within(*at));
            points.sort_by_key(|(at, _)| *at);
        }
        self.events.retain(|event| within(event.at));
        let points = vec![
            Points { name: "roundTripTime", values: self.round_trips },
            Points { name: "fractionLost", values: self.fractions },
        ];
        collected.events.extend(self.events);
        collected.streams.push(StreamRecord {
            name: self.name,
            kind: self.kind,
            active,
            columns: self.columns,
            points,
        });
    }

    /// Whether anything was sent or received.
    fn carried(&self) -> bool {
        ["packetsSent", "bytesSent", "packetsReceived", "bytesReceived"]
            .iter()
            .any(|name| self.total(name) > 0.0)
    }
}
