//! Turns `getStats` reports into records: the streams of a simulated call, with the same names and
//! units, and every statistics object with all its members (W3C webrtc-stats).
//!
//! The reports of a page are not trusted. Numbers may have any value, names and their number are
//! bounded, and only texts that cannot hold an address or a secret become notes.

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
use server::signalling::{CallRole, StatsReport};
use sim::CallConfig;
use sim::recording::{Event, StreamKind, StreamRecord};
use units::{Duration, Time};

pub use grid::{sample_count, sample_index};

/// The share of missing reports above which there is a warning: a busy page sometimes answers late.
const MAX_MISSED_SHARE: f64 = 0.02;

/// The description of a call whose statistics are collected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallInfo {
    /// Its name; the streams are called `NAME.video`, `NAME.audio`, ….
    pub name: String,
    /// The host of the caller and that of the callee.
    pub hosts: [String; 2],
    /// The time in which media should flow.
    pub active: (Time, Time),
    /// Whether both endpoints send.
    pub two_way: bool,
    /// Whether the call has video.
    pub video: bool,
    /// Whether the call has audio.
    pub audio: bool,
    /// Which endpoints send no statistics, as forwarding units.
    pub silent: [bool; 2],
}

impl CallInfo {
    /// A call of a scenario, between a caller and a callee on hosts of these names.
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

/// The records of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Collected {
    /// The streams of the call as a simulated call has them, then the statistics objects
    /// ([`StreamKind::Stats`]).
    pub streams: Vec<StreamRecord>,
    /// Freezes and key frame requests, in order of time.
    pub events: Vec<Event>,
    /// The texts of the statistics: the encoder, the codec, the type of the path.
    pub notes: Vec<(String, String)>,
    /// Warnings for the reader of the result, one sentence each.
    pub warnings: Vec<String>,
}

/// Collects the reports of both endpoints of a call. Its memory is bounded, whatever the reports
/// hold.
#[derive(Debug)]
pub struct Collector {
    call: CallInfo,
    grid: Grid,
    /// From the caller and from the callee; of each, video and audio.
    directions: [[Direction; 2]; 2],
    raw: [RawObjects; 2],
    newest: [f64; 2],
    /// Whether the call began before the first report of an endpoint.
    is_joined: bool,
    /// The distance of the report of each sample from the sample's time, ms; infinite if there is
    /// none.
    distances: [Vec<f64>; 2],
}

impl Collector {
    /// A collector for a run that began at `start` (milliseconds since 1970), with a sample every
    /// `interval`, of this duration.
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

    /// For a call that may have begun before the run: the counters of an endpoint's first report
    /// are subtracted from the streams. The statistics objects keep the original values.
    #[must_use]
    pub fn joined(self) -> Self {
        Self { is_joined: true, ..self }
    }

    /// Takes a report of an endpoint. Reports outside the run or older than the newest are ignored.
    /// Of several reports for one sample the nearest to its time is used.
    pub fn take(&mut self, end: CallRole, report: &StatsReport) {
        let (this, other) = match end {
            CallRole::Caller => (0, 1),
            CallRole::Callee => (1, 0),
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

    /// Returns the records.
    #[must_use]
    pub fn finish(self) -> Collected {
        let mut collected = Collected { warnings: self.missed(), ..Collected::default() };
        let call = &self.call;
        let active = (call.active.0, call.active.1.min(Time::ZERO + self.grid.duration));
        // For each direction: whether its sender and its receiver send no statistics.
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

    /// Warnings about reports that are missing during the call.
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
