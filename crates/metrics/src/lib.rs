//! Metrics, as the papers computed them: pure functions of a [`Recording`](sim::Recording), found by
//! name.
//!
//! A metric is either a single number (`utilization`, `jain`) or a statistic of a quantity's samples
//! (`rtt_p95` is the statistic `p95` of the quantity `rtt`). To add a metric, write a function and
//! add an entry to `SCALARS` or `QUANTITIES`.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod delays;
mod disturbance;
mod error;
mod estimate;
mod every;
mod fairness;
mod input;
mod quality;
mod radio;
mod rates;
mod request;
mod rescale;
mod statistics;
mod summary;
mod tcp;
#[cfg(test)]
mod tests;

pub use error::MetricError;
pub use estimate::{Estimate, half_width};
pub use every::{EveryMetric, StreamMetrics};
pub use quality::SILENCE;
pub use radio::Radio;
pub use request::{Reduce, Request, matches};
pub use rescale::{rescaled, scaled, scaled_nanos};
pub use statistics::{Statistic, deviation, jain_index, mean, percentile};
pub use summary::{LINE_METRICS, StreamSummary, condensed, lines, summarised, summary, usual};

use input::Input;
pub use input::column;
pub use rates::whole as rate_series;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub enum Unit {
    /// bit/s.
    #[serde(rename = "bit/s")]
    BitsPerSecond,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// A share, 1 for all.
    #[serde(rename = "1")]
    Share,
    /// A count.
    #[serde(rename = "count")]
    Count,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Pixels.
    #[serde(rename = "px")]
    Pixels,
    /// Frames per second.
    #[serde(rename = "1/s")]
    FramesPerSecond,
    /// Decibels relative to a milliwatt.
    #[serde(rename = "dBm")]
    Dbm,
    /// Decibels.
    #[serde(rename = "dB")]
    Decibels,
}

/// The direction in which a metric improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// A higher value is better.
    Higher,
    /// A lower value is better.
    Lower,
    /// The metric describes and does not judge.
    Neither,
}

/// A metric of the registry, as `weir list --metrics` shows it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Metric {
    /// The name, as a claim uses it: `rtt_p95`.
    pub name: String,
    /// The unit.
    pub unit: Unit,
    /// The direction in which it improves.
    pub better: Better,
    /// The definition and its source.
    pub doc: &'static str,
}

/// A metric that is a single number.
struct Scalar {
    name: &'static str,
    unit: Unit,
    better: Better,
    doc: &'static str,
    compute: fn(&Input<'_>) -> Result<f64, MetricError>,
}

/// A quantity with samples, each statistic of which is a metric.
struct Quantity {
    name: &'static str,
    unit: Unit,
    better: Better,
    doc: &'static str,
    samples: fn(&Input<'_>) -> Result<Vec<f64>, MetricError>,
}

use Better::{Higher, Lower, Neither};
use Unit::{BitsPerSecond, Bytes, Count, Dbm, Decibels, FramesPerSecond, Pixels, Seconds, Share};

#[rustfmt::skip]
const SCALARS: &[Scalar] = &[
    Scalar {
        name: "utilization", unit: Share, better: Higher, compute: rates::utilization,
        doc: "received rate (RTP header and payload) of the streams divided by the mean capacity \
              of `line`, which must be wired: a shared channel has no capacity per line (Carlucci \
              2017 § V)",
    },
    Scalar {
        name: "received_rate", unit: BitsPerSecond, better: Higher, compute: rates::received,
        doc: "RTP header and payload received in the window, divided by its length, summed over \
              the streams; for TCP the new payload, as iperf3 counts it",
    },
    Scalar {
        name: "sent_rate", unit: BitsPerSecond, better: Higher, compute: rates::sent,
        doc: "RTP header and payload sent in the window, divided by its length, summed over the \
              streams; for TCP the payload with retransmissions",
    },
    Scalar {
        name: "media_rate", unit: BitsPerSecond, better: Higher, compute: rates::payload_received,
        doc: "payload received without headers (webrtc-stats bytesReceived), divided by the \
              window's length",
    },
    Scalar {
        name: "goodput", unit: BitsPerSecond, better: Higher, compute: rates::goodput,
        doc: "payload received without parity packets and with retransmitted packets, divided by \
              the window's length: what a decoder can use",
    },
    Scalar {
        name: "share", unit: Share, better: Neither, compute: fairness::share,
        doc: "received rate of the first stream divided by the sum of all streams: `streams = \
              [\"main.video\", \"rival.tcp\"]`",
    },
    Scalar {
        name: "loss", unit: Share, better: Lower, compute: quality::loss,
        doc: "packets lost divided by packets sent in the window, without retransmissions \
              (Carlucci 2017 § V)",
    },
    Scalar {
        name: "loss_peak", unit: Share, better: Lower, compute: quality::loss_peak,
        doc: "the largest fraction lost of a receiver report (RFC 3550 § 6.4.1)",
    },
    Scalar {
        name: "jain", unit: Share, better: Higher, compute: fairness::instantaneous,
        doc: "Jain's fairness index of the received rates at each sample, averaged over the window \
              (Carlucci 2017 § V)",
    },
    Scalar {
        name: "jain_of_means", unit: Share, better: Higher, compute: fairness::of_means,
        doc: "Jain's fairness index of the streams' mean received rates over the window",
    },
    Scalar {
        name: "rate_ratio", unit: Share, better: Lower, compute: fairness::ratio,
        doc: "the highest of the streams' mean received rates divided by the lowest; below 3 for \
              flows with similar round-trip times (RFC 8868 § 3, item 7)",
    },
    Scalar {
        name: "oscillations", unit: Count, better: Lower, compute: rates::oscillations,
        doc: "times that the sent rate goes from below half of its mean in the window to above \
              twice that mean, or back, per sample (RFC 8868 § 3, item 9: watermarks a factor of \
              four apart)",
    },
    Scalar {
        name: "convergence_time", unit: Seconds, better: Lower, compute: rates::convergence_time,
        doc: "time from the window's start until the sent rate is within 10 % of its mean over the \
              window's second half, and the mean of the next 5 s is too (Guerrero Viveros 2019 § \
              5: time to reach a stable sending rate)",
    },
    Scalar {
        name: "ramp_time", unit: Seconds, better: Lower, compute: rates::ramp_time,
        doc: "time from the window's start until the received rate first reaches `level` of its \
              mean over the window's last quarter",
    },
    Scalar {
        name: "tau", unit: Seconds, better: Neither, compute: rates::tau,
        doc: "time constant of the exponential rise of the controller's rate: least squares of the \
              rate's logarithm, pooled over every rise of at least 3 s (Carlucci 2017 eqs. 18, 19)",
    },
    Scalar {
        name: "overuse_count", unit: Count, better: Neither, compute: quality::overuse_count,
        doc: "over-use signals of the controller in the window",
    },
    Scalar {
        name: "freeze_count", unit: Count, better: Lower, compute: quality::freeze_count,
        doc: "freezes of the video in the window (webrtc-stats freezeCount)",
    },
    Scalar {
        name: "freeze_time", unit: Seconds, better: Lower, compute: quality::freeze_time,
        doc: "time in which the video was frozen in the window (webrtc-stats totalFreezesDuration)",
    },
    Scalar {
        name: "freeze_share", unit: Share, better: Lower, compute: quality::freeze_share,
        doc: "share of the window in which the video was frozen: webrtc-stats \
              totalFreezesDuration, and the time since the last frame if it is 2 s or more, for \
              example after the call was abandoned",
    },
    Scalar {
        name: "ect1_share", unit: Share, better: Neither, compute: quality::ect1_share,
        doc: "packets of video that arrived with ECT(1) or CE divided by those that arrived \
              (webrtc-stats packetsReceivedWithEct1, packetsReceivedWithCe)",
    },
    Scalar {
        name: "ce_share", unit: Share, better: Neither, compute: quality::ce_share,
        doc: "packets of video that arrived with CE divided by those that arrived (webrtc-stats \
              packetsReceivedWithCe)",
    },
    Scalar {
        name: "feedback_overhead", unit: Share, better: Lower, compute: quality::feedback_overhead,
        doc: "bytes of RTCP that the receiver of the video sent divided by the bytes of the media \
              packets that it received, both with UDP and IPv4 headers (RFC 8867 § 4.1)",
    },
    Scalar {
        name: "disconnections", unit: Count, better: Lower, compute: disturbance::disconnections,
        doc: "times that an endpoint ended the call in the window: media time-outs, circuit \
              breakers (RFC 8083), failed connections",
    },
    Scalar {
        name: "recovery_time", unit: Seconds, better: Lower, compute: disturbance::recovery_time,
        doc: "time from the end of a TCP flow until the call's received rate, averaged over 2 s, \
              is above 80 % of its mean before the flow and stays there for 5 s: `streams = \
              [\"main.video\", \"upload.tcp\"]`",
    },
    Scalar {
        name: "retransmissions", unit: Share, better: Lower, compute: tcp::retransmissions,
        doc: "TCP segments retransmitted divided by all TCP segments sent in the window",
    },
    Scalar {
        name: "timeouts", unit: Count, better: Lower, compute: tcp::timeouts,
        doc: "expiries of TCP's retransmission timer in the window (RFC 6298)",
    },
    Scalar {
        name: "completion_time", unit: Seconds, better: Lower, compute: tcp::completion_time,
        doc: "time from the opening of a TCP flow of a fixed size until all of its bytes are \
              acknowledged; the longest of several flows",
    },
    Scalar {
        name: "airtime", unit: Share, better: Lower, compute: radio::airtime,
        doc: "share of the window in which `line`, one direction of a Wi-Fi station, held the \
              channel",
    },
    Scalar {
        name: "resource_blocks", unit: Count, better: Lower, compute: radio::resource_blocks,
        doc: "resource blocks that `line`, one direction of an LTE terminal, used per subframe of \
              1 ms, averaged over the window; the bandwidth gives 6, 15, 25, 50, 75 or 100 (36.101 \
              table 5.6-1)",
    },
    Scalar {
        name: "handovers", unit: Count, better: Neither, compute: radio::handovers,
        doc: "handovers of an LTE terminal in the window; `line` is its downlink",
    },
];

#[rustfmt::skip]
const QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "rtt", unit: Seconds, better: Lower, samples: delays::rtt,
        doc: "round-trip times that RTCP measured; for TCP one per round trip",
    },
    Quantity {
        name: "target_rate", unit: BitsPerSecond, better: Higher, samples: rates::target,
        doc: "the controller's rate at each sample (webrtc-stats availableOutgoingBitrate)",
    },
    Quantity {
        name: "queuing_delay", unit: Seconds, better: Lower, samples: delays::queuing,
        doc: "RTT minus the stream's minimum RTT of the run, from RTCP's samples (Carlucci 2017 § \
              V; Guerrero Viveros 2019 § 5)",
    },
    Quantity {
        name: "true_queue_delay", unit: Seconds, better: Lower, samples: delays::true_queue,
        doc: "queuing delay inside `line` at each sample, which no endpoint can measure",
    },
    Quantity {
        name: "frame_delay", unit: Seconds, better: Lower, samples: delays::frames,
        doc: "delay from capture until a frame can be decoded, per frame; for audio from capture \
              to arrival, per packet that arrived, silence descriptors included",
    },
    Quantity {
        name: "fps", unit: FramesPerSecond, better: Higher, samples: quality::fps,
        doc: "frames decoded per second, at each sample",
    },
    Quantity {
        name: "width", unit: Pixels, better: Higher, samples: quality::width,
        doc: "width of the received video, at each sample",
    },
    Quantity {
        name: "height", unit: Pixels, better: Higher, samples: quality::height,
        doc: "height of the received video, at each sample",
    },
    Quantity {
        name: "congestion_window", unit: Bytes, better: Neither, samples: tcp::congestion_window,
        doc: "TCP's congestion window (cwnd), at each sample",
    },
    Quantity {
        name: "page_load_time", unit: Seconds, better: Lower, samples: tcp::page_load_time,
        doc: "for a TCP flow of web pages: time from the request of a page until all of it is \
              acknowledged (Kilinc and Andersson 2014 § 4.1); the first page includes the opening \
              of the connection",
    },
    Quantity {
        name: "signal_strength", unit: Dbm, better: Higher, samples: radio::signal_strength,
        doc: "power at the receiver of `line`, one direction of a Wi-Fi station, at each sample \
              (Guerrero Viveros 2019 § 6.3); for an LTE terminal the RSRP, the power of one \
              resource element (36.214 § 5.1.1)",
    },
    Quantity {
        name: "sinr", unit: Decibels, better: Higher, samples: radio::sinr,
        doc: "signal to interference and noise ratio of the last transport block that `line`, one \
              direction of an LTE terminal, carried, at each sample",
    },
    Quantity {
        name: "cqi", unit: Count, better: Higher, samples: radio::cqi,
        doc: "channel quality indicator, 0 to 15 (36.213 table 7.2.3-1), of `line`, one direction \
              of an LTE terminal, at each sample",
    },
    Quantity {
        name: "phy_rate", unit: BitsPerSecond, better: Higher, samples: radio::phy_rate,
        doc: "rate of the modulation and coding scheme that `line`, one direction of a Wi-Fi \
              station or an LTE terminal, used last, at each sample (Guerrero Viveros 2019 § 6.3: \
              MCS bitrate); higher than the throughput",
    },
    Quantity {
        name: "sent_rate", unit: BitsPerSecond, better: Higher, samples: rates::sent_samples,
        doc: "RTP header and payload sent per sampling interval, summed over the streams",
    },
    Quantity {
        name: "received_rate", unit: BitsPerSecond, better: Higher, samples: rates::received_samples,
        doc: "RTP header and payload received per sampling interval, summed over the streams",
    },
];

/// How a metric of the registry is computed.
#[derive(Clone, Copy)]
enum Rule {
    Scalar(&'static Scalar),
    Statistic(&'static Quantity, Statistic),
}

/// The rule of the metric called `name`.
fn find(name: &str) -> Option<Rule> {
    if let Some(scalar) = SCALARS.iter().find(|scalar| scalar.name == name) {
        return Some(Rule::Scalar(scalar));
    }
    let (quantity, statistic) = name.rsplit_once('_')?;
    let quantity = QUANTITIES.iter().find(|candidate| candidate.name == quantity)?;
    Some(Rule::Statistic(quantity, Statistic::find(statistic)?))
}

impl Rule {
    fn compute(self, input: &Input<'_>) -> Result<f64, MetricError> {
        match self {
            Self::Scalar(scalar) => (scalar.compute)(input),
            Self::Statistic(quantity, statistic) => Ok(statistic.of((quantity.samples)(input)?)),
        }
    }

    fn samples(self, input: &Input<'_>) -> Result<Vec<f64>, MetricError> {
        match self {
            Self::Scalar(_) => Err(MetricError::NoSamples),
            Self::Statistic(quantity, _) => (quantity.samples)(input),
        }
    }

    fn unit(self) -> Unit {
        match self {
            Self::Scalar(scalar) => scalar.unit,
            Self::Statistic(quantity, _) => quantity.unit,
        }
    }

    fn better(self) -> Better {
        match self {
            Self::Scalar(scalar) => scalar.better,
            // A smaller deviation alone is neither better nor worse.
            Self::Statistic(_, Statistic::Deviation) => Neither,
            Self::Statistic(quantity, _) => quantity.better,
        }
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => f.write_str(scalar.name),
            Self::Statistic(quantity, statistic) => {
                write!(f, "{}_{}", quantity.name, statistic.name())
            }
        }
    }
}

/// Every metric: the single numbers, then each statistic of each quantity.
#[must_use]
pub fn all() -> Vec<Metric> {
    let scalars = SCALARS.iter().map(Rule::Scalar);
    let statistics = QUANTITIES.iter().flat_map(|quantity| {
        Statistic::ALL.iter().map(move |statistic| Rule::Statistic(quantity, *statistic))
    });
    scalars
        .chain(statistics)
        .map(|rule| Metric {
            name: format!("{rule:?}"),
            unit: rule.unit(),
            better: rule.better(),
            doc: rule.doc(),
        })
        .collect()
}

impl Rule {
    fn doc(self) -> &'static str {
        match self {
            Self::Scalar(scalar) => scalar.doc,
            Self::Statistic(quantity, _) => quantity.doc,
        }
    }
}

impl Unit {
    /// A value with its unit: `1.25 Mbit/s`, `33.0 ms`, `86.40 %`; `never` if it is not finite.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        if !value.is_finite() {
            return "never".to_owned();
        }
        match self {
            Self::BitsPerSecond if value.abs() >= 999_500.0 => format!("{:.2} Mbit/s", value / 1e6),
            Self::BitsPerSecond => format!("{:.0} kbit/s", value / 1e3),
            Self::Seconds if value.abs() >= 1.0 => format!("{value:.1} s"),
            Self::Seconds => format!("{:.1} ms", value * 1e3),
            Self::Share => format!("{:.2} %", value * 100.0),
            Self::Count => format!("{value:.1}"),
            Self::Bytes if value.abs() >= 9_999.5 => format!("{:.0} kB", value / 1e3),
            Self::Bytes => format!("{value:.0} B"),
            Self::Pixels => format!("{value:.0} px"),
            Self::FramesPerSecond => format!("{value:.1} fps"),
            Self::Dbm => format!("{value:.1} dBm"),
            Self::Decibels => format!("{value:.1} dB"),
        }
    }
}
