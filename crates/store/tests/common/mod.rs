//! Runs to store and to export.

use sim::Recording;
use sim::recording::{Column, Event, Points, StreamKind, StreamRecord};
use store::{Mode, RunMeta};
use units::Seed;
use units::{Duration, Time};

const NAMES: [&str; 8] = [
    "bytesSent",
    "bytesReceived",
    "packetsLost",
    "targetBitrate",
    "jitter",
    "frameWidth",
    "controller.threshold",
    "controller.state",
];

/// The run with the given index of an experiment with two cells; seeds from the top of their range
/// downwards.
pub(crate) fn meta(index: u32) -> RunMeta {
    let rate = if index.is_multiple_of(2) { "500kbit/s" } else { "1Mbit/s" };
    let cell = [("host.alice.up.rate", rate), ("call.main.controller", "gcc:draft-02")];
    RunMeta {
        experiment: "carlucci-2017/fig11".into(),
        cell: cell.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),
        seed: Seed(u64::MAX - 13 - u64::from(index)),
        index,
        mode: Mode::Simulated,
        file: "title = \"Two hosts\"\n".into(),
        version: "0.1.0".into(),
        notes: Vec::new(),
    }
}

/// A recording with a call's video and a line, `samples` long, with up to eight columns.
pub(crate) fn recording(index: u32, samples: u32, columns: usize) -> Recording {
    let interval = Duration::from_millis(500);
    let duration = interval * u64::from(samples);
    let stream = |name: &str, kind, columns: usize| StreamRecord {
        name: name.into(),
        kind,
        active: (Time::from_millis(1500), Time::ZERO + duration),
        columns: NAMES[..columns]
            .iter()
            .enumerate()
            .map(|(place, name)| column(index, samples, place, name))
            .collect(),
        points: vec![points(index, samples)],
    };
    let event = |at, stream: &str, what, value| Event { at, stream: stream.into(), what, value };
    Recording {
        interval,
        duration,
        streams: vec![
            stream("call1.video", StreamKind::Video, columns),
            stream("alice.up", StreamKind::Line, 1),
        ],
        events: vec![
            event(Time::from_nanos(2_000_000_001), "call1.video", "keyFrameRequest", 0.0),
            event(Time::from_secs(3), "alice.up", "rate", f64::NAN),
            event(Time::from_secs(3), "call1.video", "freeze", 0.1 + f64::from(index)),
        ],
    }
}

/// A counter for even places, thirds for odd ones; nothing before the third sample.
fn column(index: u32, samples: u32, place: usize, name: &'static str) -> Column {
    let value = |sample: u32| match (sample, place % 2) {
        (0..2, _) => f64::NAN,
        (_, 0) => f64::from(sample) * 62_500.0 + f64::from(index),
        _ => f64::from(sample * 7 + index) / 3.0,
    };
    Column { name, values: (0..samples).map(value).collect() }
}

fn points(index: u32, samples: u32) -> Points {
    let point = |sample: u32| {
        let at = Time::from_nanos(u64::from(sample) * 501_000_003 + 7);
        (at, f64::from(sample % 9 + index) / 1000.0)
    };
    Points { name: "roundTripTime", values: (0..samples).map(point).collect() }
}
