//! Metrics, as the papers computed them: pure functions over a [`Recording`], found by name.
//!
//! A metric is either a number of its own (`utilization`, `jain`), or a statistic of a quantity's
//! samples (`rtt_p95` is the statistic `p95` of the quantity `rtt`). To add one: a function, and a
//! line in `SCALARS` or `QUANTITIES`.

mod delays;
mod disturbance;
mod estimate;
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

pub use estimate::Estimate;
pub use estimate::half_width;
pub use quality::SILENCE;
pub use request::matches;
pub use request::{MetricError, Reduce, Request};
pub use rescale::{rescaled, scaled, scaled_nanos};
pub use statistics::{Statistic, deviation, jain_index, mean, percentile};
pub use summary::{StreamSummary, condensed, lines, summary, usual};

use input::Input;
pub use input::column;
pub use rates::whole as rate_series;
use serde::Serialize;
use std::fmt;

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Unit {
    /// bit/s.
    #[serde(rename = "bit/s")]
    BitsPerSecond,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// A share of one.
    #[serde(rename = "1")]
    Share,
    /// How many.
    #[serde(rename = "count")]
    Count,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Pixels.
    #[serde(rename = "px")]
    Pixels,
    /// Frames a second.
    #[serde(rename = "1/s")]
    FramesPerSecond,
    /// Decibels above a milliwatt.
    #[serde(rename = "dBm")]
    Dbm,
    /// Decibels.
    #[serde(rename = "dB")]
    Decibels,
}

/// Which way a metric improves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// It says how things are, not how good.
    Neither,
}

/// A metric of the registry, for listings.
#[derive(Clone, Debug, Serialize)]
pub struct Metric {
    /// Its name, as in a claim: `rtt_p95`.
    pub name: String,
    /// Its unit.
    pub unit: Unit,
    /// Which way it improves.
    pub better: Better,
    /// What it is and who computes it so.
    pub doc: &'static str,
}

/// A number of its own.
struct Scalar {
    name: &'static str,
    unit: Unit,
    better: Better,
    doc: &'static str,
    compute: fn(&Input<'_>) -> Result<f64, MetricError>,
}

/// Samples that statistics are made of.
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
    Scalar { name: "utilization", unit: Share, better: Higher, compute: rates::utilization,
        doc: "received rate (RTP header and payload) of the streams over the mean capacity of `line` (Carlucci 2017 § V); of a wired line, as \
              a channel that is shared has none" },
    Scalar { name: "received_rate", unit: BitsPerSecond, better: Higher, compute: rates::received,
        doc: "RTP header and payload received in the window over its length, summed over the streams; of TCP the payload that \
              is new, as iperf3 counts it" },
    Scalar { name: "sent_rate", unit: BitsPerSecond, better: Higher, compute: rates::sent,
        doc: "RTP header and payload sent in the window over its length, summed over the streams; of TCP the payload, with \
              retransmissions" },
    Scalar { name: "media_rate", unit: BitsPerSecond, better: Higher, compute: rates::payload_received,
        doc: "payload received, without headers, as webrtc-stats' bytesReceived counts it" },
    Scalar { name: "goodput", unit: BitsPerSecond, better: Higher, compute: rates::goodput,
        doc: "payload received without parity: what a decoder can use, and what came by retransmission" },
    Scalar { name: "share", unit: Share, better: Neither, compute: fairness::share,
        doc: "received rate of the first stream over that of all the streams: `streams = [\"main.video\", \"rival.tcp\"]`" },
    Scalar { name: "loss", unit: Share, better: Lower, compute: quality::loss,
        doc: "packets lost over packets sent in the window (Carlucci 2017 § V), without retransmissions" },
    Scalar { name: "loss_peak", unit: Share, better: Lower, compute: quality::loss_peak,
        doc: "the largest fraction lost of a receiver report (RFC 3550 § 6.4.1)" },
    Scalar { name: "jain", unit: Share, better: Higher, compute: fairness::instantaneous,
        doc: "Jain's index of the received rates at each sample, averaged over the window (Carlucci 2017 § V)" },
    Scalar { name: "jain_of_means", unit: Share, better: Higher, compute: fairness::of_means,
        doc: "Jain's index of the streams' mean received rates over the window" },
    Scalar { name: "convergence_time", unit: Seconds, better: Lower, compute: rates::convergence_time,
        doc: "from the window's start until the sent rate is within 10 % of its mean over the window's second half, \
              and the mean of the next 5 s too (Guerrero Viveros 2019 § 5: time to reach a stable sending rate)" },
    Scalar { name: "ramp_time", unit: Seconds, better: Lower, compute: rates::ramp_time,
        doc: "from the window's start until the received rate first reaches `level` of its mean over the window's last quarter" },
    Scalar { name: "tau", unit: Seconds, better: Neither, compute: rates::tau,
        doc: "the time constant of the exponential rise of the controller's rate: pooled least squares of its logarithm over every \
              rise of at least 3 s (Carlucci 2017 eqs. 18, 19)" },
    Scalar { name: "overuse_count", unit: Count, better: Neither, compute: quality::overuse_count,
        doc: "over-use signals of the controller in the window" },
    Scalar { name: "freeze_count", unit: Count, better: Lower, compute: quality::freeze_count,
        doc: "freezes of the video in the window (webrtc-stats freezeCount)" },
    Scalar { name: "freeze_time", unit: Seconds, better: Lower, compute: quality::freeze_time,
        doc: "time frozen in the window (webrtc-stats totalFreezesDuration)" },
    Scalar { name: "freeze_share", unit: Share, better: Lower, compute: quality::freeze_share,
        doc: "the share of the window in which the picture stood: webrtc-stats totalFreezesDuration, and the time since the last frame \
              where that is longer than 2 s, as of a call that was given up" },
    Scalar { name: "disconnections", unit: Count, better: Lower, compute: disturbance::disconnections,
        doc: "times that an end gave the call up in the window: media time-outs and circuit breakers (RFC 8083)" },
    Scalar { name: "recovery_time", unit: Seconds, better: Lower, compute: disturbance::recovery_time,
        doc: "from the end of a TCP flow until the received rate of the call, over 2 s, is above 80 % of its mean before the flow, and \
              stays there for 5 s: `streams = [\"main.video\", \"upload.tcp\"]`" },
    Scalar { name: "retransmissions", unit: Share, better: Lower, compute: tcp::retransmissions,
        doc: "segments that TCP sent again over all that it sent in the window" },
    Scalar { name: "timeouts", unit: Count, better: Lower, compute: tcp::timeouts,
        doc: "expiries of TCP's retransmission timer in the window (RFC 6298)" },
    Scalar { name: "completion_time", unit: Seconds, better: Lower, compute: tcp::completion_time,
        doc: "from the opening of a TCP flow of so many bytes until all are acknowledged; the longest of several" },
    Scalar { name: "airtime", unit: Share, better: Lower, compute: radio::airtime,
        doc: "the share of the window in which `line`, one way of a Wi-Fi station, held the channel" },
    Scalar { name: "resource_blocks", unit: Count, better: Lower, compute: radio::resource_blocks,
        doc: "resource blocks that `line`, one way of an LTE terminal, used in a subframe of 1 ms, as a mean over the window: of 6, 15, 25, \
              50, 75 or 100 by the bandwidth (36.101 table 5.6-1)" },
    Scalar { name: "handovers", unit: Count, better: Neither, compute: radio::handovers,
        doc: "how often the LTE terminal changed its cell in the window; `line` is its way down" },
];

#[rustfmt::skip]
const QUANTITIES: &[Quantity] = &[
    Quantity { name: "rtt", unit: Seconds, better: Lower, samples: delays::rtt,
        doc: "round-trip times that RTCP measured; of TCP one a round" },
    Quantity { name: "queuing_delay", unit: Seconds, better: Lower, samples: delays::queuing,
        doc: "RTT less the least RTT of the stream in the run, over RTCP's samples (Carlucci 2017 § V; Guerrero Viveros 2019 § 5)" },
    Quantity { name: "true_queue_delay", unit: Seconds, better: Lower, samples: delays::true_queue,
        doc: "the queuing delay that `line` itself knows, at each sample: not what an end could measure" },
    Quantity { name: "frame_delay", unit: Seconds, better: Lower, samples: delays::frames,
        doc: "capture to decodable, each frame; of audio capture to arrival, each packet that came, silence descriptors too" },
    Quantity { name: "fps", unit: FramesPerSecond, better: Higher, samples: quality::fps,
        doc: "frames decoded a second, at each sample" },
    Quantity { name: "width", unit: Pixels, better: Higher, samples: quality::width,
        doc: "width of the picture received, at each sample" },
    Quantity { name: "height", unit: Pixels, better: Higher, samples: quality::height,
        doc: "height of the picture received, at each sample" },
    Quantity { name: "congestion_window", unit: Bytes, better: Neither, samples: tcp::congestion_window,
        doc: "TCP's congestion window, at each sample" },
    Quantity { name: "page_load_time", unit: Seconds, better: Lower, samples: tcp::page_load_time,
        doc: "of a TCP flow of pages, from when a page is asked for, its first byte given to TCP, until all of it is acknowledged \
              (Kilinc and Andersson 2014 § 4.1); of the first the opening of the connection too" },
    Quantity { name: "signal_strength", unit: Dbm, better: Higher, samples: radio::signal_strength,
        doc: "the power that the receiver of `line` gets, one way of a Wi-Fi station, at each sample (Guerrero Viveros 2019 § 6.3); of an \
              LTE terminal its RSRP, of one resource element (36.214 § 5.1.1)" },
    Quantity { name: "sinr", unit: Decibels, better: Higher, samples: radio::sinr,
        doc: "signal over interference and noise of the transport block that `line`, one way of an LTE terminal, carried last, at each sample" },
    Quantity { name: "cqi", unit: Count, better: Higher, samples: radio::cqi,
        doc: "the channel quality indicator, 0 to 15 (36.213 table 7.2.3-1), of `line`, one way of an LTE terminal, at each sample" },
    Quantity { name: "phy_rate", unit: BitsPerSecond, better: Higher, samples: radio::phy_rate,
        doc: "the rate of the modulation and coding scheme that `line`, one way of a Wi-Fi station or an LTE terminal, used last, at each sample (Guerrero \
              Viveros 2019 § 6.3: MCS bitrate); not what gets through" },
    Quantity { name: "sent_rate", unit: BitsPerSecond, better: Higher, samples: rates::sent_samples,
        doc: "RTP header and payload sent, by sampling interval, summed over the streams" },
    Quantity { name: "received_rate", unit: BitsPerSecond, better: Higher, samples: rates::received_samples,
        doc: "RTP header and payload received, by sampling interval, summed over the streams" },
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
            Self::Scalar(_) => Err(MetricError("it is a number, without samples".to_owned())),
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
            // A smaller spread is neither better nor worse by itself.
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

/// Every metric, numbers first and then each statistic of each quantity.
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
    /// A value of this unit for people: `1.25 Mbit/s`, `33 ms`, `86.4 %`.
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
