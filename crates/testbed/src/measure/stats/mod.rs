//! `getStats` reports made into records: the streams that a simulated call has, by the same names
//! and in the same units, and every statistics object with all its members (W3C webrtc-stats).
//!
//! What a page says is not trusted: its numbers may be anything, its names and their number are
//! bounded, and of its texts only those that are known to hold no address and no secret become
//! notes.

mod direction;
mod grid;
mod object;
mod raw;
#[cfg(test)]
mod tests;

use direction::Direction;
use grid::Grid;
use object::Report;
use raw::RawObjects;
use server::signalling::{Seat, StatsReport};
use sim::CallConfig;
use sim::recording::{Event, StreamKind, StreamRecord};
use units::{Duration, Time};

pub use grid::{sample_count, sample_index};

/// Reports that were missed before it is worth a warning, a share of all: now and then a busy page
/// answers late.
const MAX_MISSED_SHARE: f64 = 0.02;

/// What is to be known of a call whose statistics are collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallInfo {
    /// Its name: the streams are called `NAME.video`, `NAME.audio`, ….
    pub name: String,
    /// The host of the caller and that of the callee.
    pub hosts: [String; 2],
    /// From when until when media is to flow.
    pub active: (Time, Time),
    /// Whether both send.
    pub two_way: bool,
    /// Whether there is to be video.
    pub video: bool,
    /// Whether there is to be audio.
    pub audio: bool,
    /// Which of both tells no statistics, as a forwarding unit does not.
    pub silent: [bool; 2],
}

impl CallInfo {
    /// A call of a scenario, between a caller and a callee of these names.
    #[must_use]
    pub fn new(config: &CallConfig, hosts: [String; 2]) -> Self {
        Self {
            name: config.name.clone(),
            hosts,
            active: (config.start, config.stop),
            two_way: config.two_way,
            video: config.video.is_some(),
            audio: config.audio.is_some(),
            silent: [config.from, config.to].map(|host| config.unit() == Some(host)),
        }
    }
}

/// What was made of the reports of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collected {
    /// The streams of the call as a simulated call has them, then the statistics objects
    /// ([`StreamKind::Stats`]).
    pub streams: Vec<StreamRecord>,
    /// Freezes and requests for key frames, in order of time.
    pub events: Vec<Event>,
    /// What was said in words: the encoder, the codec, the kind of the path.
    pub notes: Vec<(String, String)>,
    /// What a reader of the result should know, a sentence each.
    pub warnings: Vec<String>,
}

/// Collects the reports of both ends of a call. Its memory is bounded, whatever is reported.
#[derive(Debug)]
pub struct Collector {
    call: CallInfo,
    grid: Grid,
    /// Forth and back, each video and audio.
    directions: [[Direction; 2]; 2],
    raw: [RawObjects; 2],
    newest: [f64; 2],
    /// Whether the call was on before the first report of an end.
    is_joined: bool,
    /// How far from its sample's time the report is that counts for it, ms; infinite where there is
    /// none.
    distances: [Vec<f64>; 2],
}

impl Collector {
    /// Of a run that began at `start` (milliseconds since 1970), has a sample every `interval` and
    /// lasts `duration`.
    #[must_use]
    pub fn new(call: CallInfo, start: f64, interval: Duration, duration: Duration) -> Self {
        let grid = Grid { start, interval, duration };
        let directions = ["", ".back"].map(|back| {
            [StreamKind::Video, StreamKind::Audio].map(|kind| {
                let name = format!("{}.{}{back}", call.name, kind.as_str());
                Direction::new(name, kind, grid)
            })
        });
        let raw =
            [0, 1].map(|end| RawObjects::new(format!("{}.{}", call.name, call.hosts[end]), grid));
        let distances = [(); 2].map(|()| vec![f64::INFINITY; grid.samples()]);
        Self {
            call,
            grid,
            directions,
            raw,
            newest: [f64::NEG_INFINITY; 2],
            is_joined: false,
            distances,
        }
    }

    /// Of a call that may have been on before: what the first report of an end has counted is not
    /// of the run. The statistics objects keep it.
    #[must_use]
    pub fn joined(self) -> Self {
        Self { is_joined: true, ..self }
    }

    /// Takes a report of an end. One outside the run, or older than the newest, is passed over; of
    /// several for the same sample the nearest to its time counts.
    pub fn take(&mut self, end: Seat, report: &StatsReport) {
        let (this, other) = match end {
            Seat::Caller => (0, 1),
            Seat::Callee => (1, 0),
        };
        let Some(at) = self.grid.time(report.at).filter(|_| report.at >= self.newest[this]) else {
            return;
        };
        let is_before = self.is_joined && self.newest[this] == f64::NEG_INFINITY;
        self.newest[this] = report.at;
        let distance = |index: &usize| self.grid.distance(*index, report.at);
        let nearer = |index: &usize| distance(index) <= self.distances[this][*index];
        let index = self.grid.index(report.at).filter(nearer);
        if let Some(index) = index {
            self.distances[this][index] = distance(&index);
        }
        let report = Report { at, index, is_before, stats: &report.stats };
        for direction in &mut self.directions[this] {
            direction.sent(&report);
        }
        for direction in &mut self.directions[other] {
            direction.received(&report);
        }
        if let Some(index) = index {
            self.raw[this].take(&report, index);
        }
    }

    /// The records.
    #[must_use]
    pub fn finish(self) -> Collected {
        let mut collected = Collected { warnings: self.missed(), ..Collected::default() };
        let call = &self.call;
        let active = (call.active.0, call.active.1.min(Time::ZERO + self.grid.duration));
        // Of each direction, whether its sender and its receiver tell nothing.
        let [caller, callee] = call.silent;
        let ways = [(true, [caller, callee]), (call.two_way, [callee, caller])];
        for (directions, (there, silent)) in self.directions.into_iter().zip(ways) {
            for direction in directions {
                let wanted = there
                    && if direction.kind == StreamKind::Video { call.video } else { call.audio };
                direction.finish(active, wanted, silent, &mut collected);
            }
        }
        for raw in self.raw {
            raw.finish(active, &mut collected);
        }
        collected.events.sort_by_key(|event| event.at);
        collected
    }

    /// Whose reports are missing while the call was on.
    fn missed(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        for (host, distances) in self.call.hosts.iter().zip(&self.distances) {
            let taken: Vec<bool> = distances.iter().map(|distance| distance.is_finite()).collect();
            let within = taken.iter().enumerate().filter(|(index, _)| {
                let at = self.grid.sample_time(*index);
                at > self.call.active.0 && at <= self.call.active.1
            });
            let (all, there) = within
                .fold((0, 0), |(all, there), (_, taken)| (all + 1, there + usize::from(*taken)));
            let missed = all - there;
            if there > 0 && missed as f64 > MAX_MISSED_SHARE * all as f64 {
                let name = &self.call.name;
                warnings.push(format!(
                    "{missed} of {all} statistics reports of {host} in '{name}' are missing"
                ));
            }
        }
        warnings
    }
}
