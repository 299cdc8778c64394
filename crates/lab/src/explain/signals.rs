//! What is known of a call in each second.

use sim::Recording;
use sim::recording::{StreamKind, StreamRecord};

/// The length of a step, s: pages poll their statistics once per second, and receiver reports come
/// about once per second (RFC 3550 § 6.2).
pub const STEP: f64 = 1.0;
/// A round-trip time is that of the call until the next one is measured, but for at most this many
/// steps: a report can be lost, five in a row are rarely. Our choice.
const HELD: usize = 5;
/// IPv4 and UDP per packet, bytes (RFC 791, RFC 768): the capacity of a path counts them.
const OVERHEAD: f64 = 28.0;

/// At over-use libwebrtc sets its delay-based estimate to this share of the rate at which packets
/// arrived, minus this (`modules/remote_bitrate_estimator/aimd_rate_control.cc`).
const DECREASE: f64 = 0.85;
const DECREASE_EXTRA: f64 = 5_000.0;

/// Series of a direction of a call, one value per step; not-a-number where nothing is known.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    /// The name of the video stream.
    pub stream: String,
    /// The first step in which the stream exists.
    pub begin: usize,
    /// Steps.
    pub len: usize,
    /// RTP of the video sent, bit/s.
    pub sent: Vec<f64>,
    /// RTP of the video received, or reported as received, bit/s.
    pub received: Vec<f64>,
    /// Video and audio with IP and UDP received, bit/s; sent, if nothing is known of the receiver.
    pub carried: Vec<f64>,
    /// The controller's target, bit/s.
    pub target: Vec<f64>,
    /// Round-trip time, s.
    pub rtt: Vec<f64>,
    /// Share of packets lost.
    pub loss: Vec<f64>,
    /// Queuing delay, s: from one-way times if the recording has packets, else the round-trip time
    /// minus the least of the call.
    pub queue: Vec<f64>,
    /// The least queuing delay of each step, s: a queue that stood for the whole step, and not the
    /// waiting of a burst's packets for each other. The same as `queue` if one value per step is
    /// known.
    pub standing: Vec<f64>,
    /// The rate at which packets arrived when the detector of libwebrtc saw over-use, from the
    /// recorded decreases of the delay-based estimate, bit/s: a queue was filling.
    pub overused: Vec<f64>,
    /// The limit that the receiver states (REMB), bit/s.
    pub receiver_limit: Vec<f64>,
    /// Share of the frames that arrived but were not decoded.
    pub undecoded: Vec<f64>,
    /// Share of the step in which the encoder was limited by the processor.
    pub cpu: Vec<f64>,
    /// Whether the controller says that its application limits it, 0 or 1.
    pub limited: Vec<f64>,
    /// Failed probes per step, if the recording has results of probes.
    pub failed_probes: Vec<f64>,
    /// The least round-trip time of the call, s.
    pub base_rtt: f64,
}

impl Signals {
    /// The signals of every video that is sent, in the order of the recording. A stream about which
    /// only the receiver tells has no rate that is sent.
    #[must_use]
    pub fn all(recording: &Recording) -> Vec<Self> {
        let videos = recording.streams.iter().filter(|stream| stream.kind == StreamKind::Video);
        videos.map(|stream| Self::of(recording, stream)).collect()
    }

    fn of(recording: &Recording, video: &StreamRecord) -> Self {
        let interval = recording.interval.as_secs_f64();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
        let len = (recording.duration.as_secs_f64() / STEP).ceil() as usize;
        let steps = Steps { interval, len };
        let audio = recording.stream(&video.name.replacen(".video", ".audio", 1));
        let rate = |stream: &StreamRecord, end: &str| {
            let columns = [format!("bytes{end}"), format!("headerBytes{end}")];
            steps.rate(columns.iter().filter_map(|column| stream.column(column)), 8.0)
        };
        let packets = |stream: &StreamRecord, end: &str| {
            steps.rate(stream.column(&format!("packets{end}")).into_iter(), 8.0 * OVERHEAD)
        };
        let (sent, received) = (rate(video, "Sent"), rate(video, "Received"));
        let end = if received.iter().any(|rate| rate.is_finite()) { "Received" } else { "Sent" };
        let mut carried = rate(video, end);
        for more in [Some(packets(video, end)), audio.map(|audio| rate(audio, end))]
            .into_iter()
            .chain([audio.map(|audio| packets(audio, end))])
            .flatten()
        {
            carried.iter_mut().zip(more).for_each(|(sum, more)| *sum += more.max(0.0));
        }
        let value = |name: &str| steps.mean(video.column(name));
        let points = video.points("roundTripTime").map(|points| {
            points.iter().map(|(at, value)| (at.as_secs_f64(), *value)).collect::<Vec<_>>()
        });
        let rtt = match points {
            Some(points) => steps.held(&points),
            None => value("roundTripTime"),
        };
        let base_rtt = rtt.iter().copied().filter(|rtt| *rtt > 0.0).fold(f64::NAN, f64::min);
        let one_way = value("queueDelay");
        let (queue, standing) = if one_way.iter().any(|delay| delay.is_finite()) {
            (one_way, steps.least(video.column("queueDelay")))
        } else {
            let queue: Vec<f64> = rtt.iter().map(|rtt| rtt - base_rtt).collect();
            (queue.clone(), queue)
        };
        let lost = steps.rate(video.column("packetsLost").into_iter(), 1.0);
        let got = steps.rate(video.column("packetsReceived").into_iter(), 1.0);
        let counted = lost.iter().any(|lost| lost.is_finite());
        let loss = if counted {
            // Without packets nothing is known.
            let share = |(lost, got): (&f64, &f64)| {
                let lost = lost.max(0.0);
                if lost + got > 0.0 { lost / (lost + got) } else { f64::NAN }
            };
            lost.iter().zip(&got).map(share).collect()
        } else {
            let points = video.points("fractionLost").unwrap_or_default();
            let points: Vec<_> =
                points.iter().map(|(at, lost)| (at.as_secs_f64(), *lost)).collect();
            steps.held(&points)
        };
        let decoded = steps.rate(video.column("framesDecoded").into_iter(), 1.0);
        let frames = steps.rate(video.column("framesReceived").into_iter(), 1.0);
        let undecoded = frames.iter().zip(&decoded).map(|(all, decoded)| 1.0 - decoded / all);
        let call = video.name.split(".video").next().unwrap_or_default();
        let is_back = video.name.ends_with(".back");
        let has_probes = recording.events.iter().any(|event| event.what.starts_with("probe"));
        let mut failed_probes = vec![if has_probes { 0.0 } else { f64::NAN }; len];
        for event in recording.events.iter().filter(|event| event.what == "probeFailed") {
            if let Some(step) = steps.index(event.at.as_secs_f64()).filter(|_| !is_back) {
                failed_probes[step] += 1.0;
            }
        }
        let mut overused = vec![f64::NAN; len];
        for event in recording.events.iter().filter(|event| event.what == "overuse") {
            if let Some(step) = steps.index(event.at.as_secs_f64()).filter(|_| !is_back) {
                overused[step] = (event.value + DECREASE_EXTRA) / DECREASE;
            }
        }
        let begin =
            sent.iter().chain(&received).position(|rate| *rate > 0.0).unwrap_or(0) % len.max(1);
        Self {
            stream: video.name.clone(),
            begin,
            len,
            target: value("availableOutgoingBitrate"),
            receiver_limit: value("receiverLimit"),
            limited: value("applicationLimited"),
            cpu: steps.rate(cpu(recording, call, is_back).into_iter(), 1.0),
            undecoded: undecoded.collect(),
            sent,
            received,
            carried,
            rtt,
            loss,
            queue,
            standing,
            overused,
            failed_probes,
            base_rtt,
        }
    }

    /// The mean of a series between two steps; not-a-number if nothing is known there.
    #[must_use]
    pub fn mean(series: &[f64], from: usize, to: usize) -> f64 {
        let known = known(series, from, to);
        if known.is_empty() { f64::NAN } else { known.iter().sum::<f64>() / known.len() as f64 }
    }

    /// A quantile (0 to 1) of the known values between two steps; not-a-number without any.
    #[must_use]
    pub fn quantile(series: &[f64], from: usize, to: usize, share: f64) -> f64 {
        let mut known = known(series, from, to);
        known.sort_by(f64::total_cmp);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1")]
        let index = ((known.len() as f64 - 1.0).max(0.0) * share).round() as usize;
        known.get(index).copied().unwrap_or(f64::NAN)
    }
}

/// Whether a value is known and exceeds a limit.
pub(super) fn exceeds(value: f64, limit: f64) -> bool {
    value > limit
}

fn known(series: &[f64], from: usize, to: usize) -> Vec<f64> {
    let part = series.get(from..to.min(series.len())).unwrap_or_default();
    part.iter().copied().filter(|value| value.is_finite()).collect()
}

/// Seconds of processor limitation: the statistics of the sender (W3C webrtc-stats,
/// qualityLimitationDurations). The sender of the way back is the second host of the call.
fn cpu<'a>(recording: &'a Recording, call: &str, is_back: bool) -> Option<&'a [f64]> {
    let prefix = format!("{call}.");
    let of = recording.streams.iter().filter(|stream| {
        stream.kind == StreamKind::Stats
            && stream.name.starts_with(&prefix)
            && stream.name.contains("outbound-rtp.video")
            && !stream.name.contains("remote-")
    });
    of.filter_map(|stream| stream.column("qualityLimitationDurations.cpu"))
        .nth(usize::from(is_back))
}

/// Converts samples to steps.
#[derive(Clone, Copy)]
struct Steps {
    interval: f64,
    len: usize,
}

impl Steps {
    /// The step of a time, s.
    fn index(self, at: f64) -> Option<usize> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
        let step = (at / STEP).max(0.0) as usize;
        (step < self.len).then_some(step)
    }

    /// The sum of counters, per second and times `factor`. A counter whose value is missing in a
    /// sample has grown linearly, as in metrics.
    fn rate<'a>(self, counters: impl Iterator<Item = &'a [f64]>, factor: f64) -> Vec<f64> {
        let mut rates = vec![f64::NAN; self.len];
        for counter in counters {
            let mut before = (0.0, 0.0);
            let mut sums = vec![f64::NAN; self.len];
            for (index, value) in counter.iter().enumerate().filter(|(_, value)| value.is_finite())
            {
                let at = (index + 1) as f64 * self.interval;
                let per_second = (value - before.1) / (at - before.0);
                self.spread(&mut sums, before.0, at, per_second);
                before = (at, *value);
            }
            for (rate, sum) in rates.iter_mut().zip(sums) {
                if sum.is_finite() {
                    *rate = if rate.is_nan() { 0.0 } else { *rate } + factor * sum / STEP;
                }
            }
        }
        rates
    }

    /// Adds a rate to the steps between two times.
    fn spread(self, sums: &mut [f64], from: f64, to: f64, per_second: f64) {
        let Some(first) = self.index(from) else { return };
        for (step, sum) in sums.iter_mut().enumerate().skip(first) {
            let (begin, end) = (step as f64 * STEP, (step + 1) as f64 * STEP);
            let part = to.min(end) - from.max(begin);
            if begin >= to {
                return;
            }
            if part > 0.0 {
                *sum = if sum.is_nan() { 0.0 } else { *sum } + part * per_second;
            }
        }
    }

    fn mean(self, column: Option<&[f64]>) -> Vec<f64> {
        let mut sums = vec![(0.0, 0u32); self.len];
        for (index, value) in column.unwrap_or_default().iter().enumerate() {
            // A sample describes the interval that ends with it.
            let at = (index as f64 + 0.5) * self.interval;
            if let Some(step) = self.index(at).filter(|_| value.is_finite()) {
                sums[step] = (sums[step].0 + value, sums[step].1 + 1);
            }
        }
        sums.into_iter().map(|(sum, count)| sum / f64::from(count)).collect()
    }

    /// The least sample of each step.
    fn least(self, column: Option<&[f64]>) -> Vec<f64> {
        let mut least = vec![f64::NAN; self.len];
        for (index, value) in column.unwrap_or_default().iter().enumerate() {
            let at = (index as f64 + 0.5) * self.interval;
            if let Some(step) = self.index(at) {
                least[step] = least[step].min(*value);
            }
        }
        least
    }

    /// The mean of the points of each step, held for a while.
    fn held(self, points: &[(f64, f64)]) -> Vec<f64> {
        let mut sums = vec![(0.0, 0u32); self.len];
        for (at, value) in points {
            if let Some(step) = self.index(*at).filter(|_| value.is_finite()) {
                sums[step] = (sums[step].0 + value, sums[step].1 + 1);
            }
        }
        let mut newest: Option<(usize, f64)> = None;
        let mut values = vec![f64::NAN; self.len];
        for (step, (sum, count)) in sums.into_iter().enumerate() {
            if count > 0 {
                newest = Some((step, sum / f64::from(count)));
            }
            if let Some((at, value)) = newest.filter(|(at, _)| step - at < HELD) {
                let _ = at;
                values[step] = value;
            }
        }
        values
    }
}
