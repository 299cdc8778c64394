//! The inner signals of controllers: which columns they are, and the states as times.

use super::Source;
use crate::messages::Band;
use lab::figures::series_of;
use report::{Role, Series};
use sim::Recording;
use sim::recording::StreamRecord;

/// The columns of a video stream that are not the controller's own (`docs/COLUMNS.md`); a test
/// compares them with those of a run.
const NOT_SIGNALS: [&str; 52] = [
    "availableOutgoingBitrate",
    "bytesReceived",
    "bytesSent",
    "fecBytesReceived",
    "fecBytesSent",
    "fecPacketsDiscarded",
    "fecPacketsReceived",
    "fecPacketsRecovered",
    "fecPacketsSent",
    "fractionLost",
    "frameDelay",
    "frameHeight",
    "frameHeightSent",
    "frameWidth",
    "frameWidthSent",
    "framesDecoded",
    "framesEncoded",
    "framesPerSecond",
    "framesPerSecondSent",
    "framesReceived",
    "freezeCount",
    "headerBytesReceived",
    "headerBytesSent",
    "jitter",
    "jitterBufferDelay",
    "keyFramesDecoded",
    "keyFramesEncoded",
    "mediaPacketsSent",
    "nackCount",
    "packetsDiscarded",
    "packetsLost",
    "packetsLostReported",
    "packetsReceived",
    "packetsReceivedWithCe",
    "packetsReceivedWithEct1",
    "packetsSent",
    "pacingRate",
    "pliCount",
    "qpSum",
    "queueDelay",
    "delayBasedEstimate",
    "overuse",
    "applicationLimited",
    "receiverLimit",
    "retransmittedBytesSent",
    "retransmittedPacketsReceived",
    "retransmittedPacketsSent",
    "rtcpBytesSent",
    "rtcpPacketsSent",
    "roundTripTime",
    "targetBitrate",
    "totalFreezesDuration",
];
/// The column with the state of the rate control.
const STATE: &str = "state";
/// What the controllers of gcc compare with their threshold, in milliseconds, under the names of
/// the profiles (`docs/algorithms`): the first that a stream has is drawn with the threshold.
const GRADIENTS: [&str; 3] = ["scaled_m", "m", "trend"];
const THRESHOLD: &str = "threshold";
/// The heading of their panel.
const GRADIENT_LABEL: &str = "delay gradient and threshold (ms)";
/// The greatest number of panels of other signals that are shown unasked. Our choice.
const MAX_PANELS: usize = 3;

/// Whether a column of a video stream is a signal of the controller.
pub(crate) fn is_signal(name: &str) -> bool {
    !NOT_SIGNALS.contains(&name)
}

/// The panels that show the signals of the streams: of controllers with a delay gradient this and
/// its threshold, of others the first signals.
pub(super) fn panels(
    recording: &Recording,
    streams: &[&StreamRecord],
) -> Vec<(&'static str, Vec<Series>)> {
    let of = |name: &str| -> Vec<Series> {
        streams.iter().filter_map(|one| series_of(recording, one, name)).collect()
    };
    let mut gradients: Vec<Series> = Vec::new();
    for stream in streams.iter().filter(|stream| stream.column(THRESHOLD).is_some()) {
        let gradient = GRADIENTS.into_iter().find(|name| stream.column(name).is_some());
        for name in gradient.into_iter().chain([THRESHOLD]) {
            gradients.extend(series_of(recording, stream, name).map(|series| {
                let role = if name == THRESHOLD { Role::Reference } else { series.role };
                Series { name: format!("{} {name}", series.name), role, ..series }
            }));
        }
    }
    if !gradients.is_empty() {
        return vec![(GRADIENT_LABEL, gradients)];
    }
    let mut names: Vec<&'static str> = Vec::new();
    for column in streams.iter().flat_map(|stream| &stream.columns) {
        if is_signal(column.name) && column.name != STATE && !names.contains(&column.name) {
            names.push(column.name);
        }
    }
    names.into_iter().take(MAX_PANELS).map(|name| (name, of(name))).collect()
}

/// The times in which the controllers of a run were in one state.
pub(super) fn bands(run: usize, source: &Source) -> Vec<Band> {
    let streams = source.recording.streams.iter();
    let with_state = streams.filter_map(|stream| Some((stream, stream.column(STATE)?)));
    with_state.flat_map(|(stream, values)| of_stream(run, source, stream, values)).collect()
}

fn of_stream(run: usize, source: &Source, stream: &StreamRecord, values: &[f64]) -> Vec<Band> {
    let call = stream.name.split('.').next().unwrap_or_default();
    let controller = source.controllers.iter().find(|(name, _)| name == call);
    let controller = controller.map_or("", |(_, profile)| profile.as_str());
    let interval = source.recording.interval.as_secs_f64();
    let mut bands: Vec<Band> = Vec::new();
    for (index, state) in values.iter().enumerate().filter(|(_, state)| state.is_finite()) {
        let (from, to) = (index as f64 * interval, (index + 1) as f64 * interval);
        match bands.last_mut() {
            Some(last)
                if last.state.total_cmp(state).is_eq() && last.to >= from - interval / 2.0 =>
            {
                last.to = to;
            }
            _ => bands.push(Band {
                run,
                stream: stream.name.clone(),
                from,
                to,
                state: *state,
                word: word(controller, *state),
            }),
        }
    }
    bands
}

/// The controller's word for a state (`docs/algorithms`).
fn word(controller: &str, state: f64) -> String {
    let words = if controller.starts_with("gcc") {
        ["decrease", "hold", "increase"]
    } else if controller.starts_with("kilinc-andersson") {
        ["", "under-using", "over-using"]
    } else {
        ["", "", ""]
    };
    let index = [-1.0, 0.0, 1.0].iter().position(|known: &f64| known.total_cmp(&state).is_eq());
    match index.map(|index| words[index]).filter(|word| !word.is_empty()) {
        Some(word) => word.to_owned(),
        None => format!("state {state}"),
    }
}
