//! What a program is told and what it answers. Times are seconds, rates bit/s, sizes bytes.

use cc::{Feedback, PacketResult, ProbeCluster, SentPacket};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use units::{Bitrate, Duration, Time};

/// The version of these messages.
pub(super) const VERSION: u32 = 1;

/// A message to the program, which answers each.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Message<'a> {
    /// The first message, before the media start.
    Configure {
        /// The version of the messages: 1.
        version: u32,
        /// The call and its direction: `main`, or `main.back` from the callee.
        call: Cow<'a, str>,
        /// The seed of the run, for a controller that draws random numbers. A controller that uses
        /// another source of randomness makes runs that cannot be repeated.
        seed: u64,
        /// The target rate before any feedback, bit/s.
        start_rate: f64,
        /// The lower bound of the target rate, bit/s.
        min_rate: f64,
        /// The upper bound of the target rate, bit/s.
        max_rate: f64,
    },
    /// Packets left the pacer. Only for a program whose first answer has `"sent": "at-once"`.
    Sent {
        /// The time, in seconds since the start of the run.
        now: f64,
        /// The packets.
        sent: Cow<'a, [Packet]>,
    },
    /// The rates that the media can use have changed, or the call begins.
    Allocation {
        /// The time, in seconds since the start of the run.
        now: f64,
        /// The packets that left since the last message.
        sent: Cow<'a, [Packet]>,
        /// The sum of the least rates of all streams, bit/s.
        min_rate: f64,
        /// The sum of their greatest rates, bit/s; 0 if unknown. The target may be higher, but the
        /// media do not use it.
        max_rate: f64,
    },
    /// Feedback arrived.
    Feedback {
        /// The time, in seconds since the start of the run.
        now: f64,
        /// The packets that left since the last message.
        sent: Cow<'a, [Packet]>,
        /// The feedback.
        feedback: Told,
    },
    /// The time-out of the last answer is reached.
    Timeout {
        /// The time, in seconds since the start of the run.
        now: f64,
        /// The packets that left since the last message.
        sent: Cow<'a, [Packet]>,
    },
}

/// A packet that left the pacer.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Packet {
    /// The transport-wide sequence number, unwrapped.
    pub sequence: u64,
    /// When it left, on the sender's clock.
    pub sent: f64,
    /// RTP header and payload, bytes.
    pub size: u64,
    /// The probe cluster that it belongs to.
    pub probe: Option<u32>,
}

/// Feedback, as decoded from one RTCP packet.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Told {
    /// Transport-wide feedback, or that of RFC 8888.
    Packets {
        /// One result per packet, in order of sequence number; every packet is reported once.
        results: Vec<Arrival>,
        /// The newest known round-trip time.
        rtt: Option<f64>,
    },
    /// A receiver report (RFC 3550 § 6.4.1).
    Report {
        /// The share of the packets that were lost since the last report, 0 to 1.
        fraction_lost: f64,
        /// The packets expected since the last report.
        expected: u64,
        /// The round-trip time that this report measured.
        rtt: Option<f64>,
    },
    /// The maximum rate that the receiver allows (draft-alvestrand-rmcat-remb-03).
    Remb {
        /// The rate, bit/s.
        rate: f64,
    },
}

/// A sent packet and the feedback about it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Arrival {
    /// The transport-wide sequence number, unwrapped.
    pub sequence: u64,
    /// When it left, on the sender's clock.
    pub sent: f64,
    /// RTP header and payload, bytes.
    pub size: u64,
    /// The probe cluster that it belongs to.
    pub probe: Option<u32>,
    /// When it arrived, on the receiver's clock; `null` if it is lost.
    pub arrival: Option<f64>,
    /// The ECN field with which it arrived.
    pub ecn: Ecn,
}

/// The ECN field of a packet (RFC 3168 § 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ecn {
    /// Not ECN-capable.
    NotEct,
    /// ECN-capable, ECT(0).
    Ect0,
    /// ECN-capable, ECT(1).
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// The answer of the program.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The target rate of the encoder, bit/s. It is held within the bounds of the call.
    pub target_rate: f64,
    /// The rate of the pacer, bit/s. If it is missing, 2.5 × the target, as in libwebrtc.
    #[serde(default)]
    pub pacing_rate: Option<f64>,
    /// Probe clusters to send, one after the other.
    #[serde(default)]
    pub probes: Vec<Probe>,
    /// When to send the next `timeout`; it must be later than `now`. If it is missing, no time-out.
    #[serde(default)]
    pub next_timeout: Option<f64>,
    /// Internal values by name; they are recorded at every sample as columns of the call's video.
    /// `null` is no value.
    #[serde(default)]
    pub signals: BTreeMap<String, Option<f64>>,
    /// In the answer to `configure`: how the program learns the packets that leave.
    #[serde(default)]
    pub sent: Option<WhenSent>,
    /// In the answer to `configure`: the form of all following messages and answers. If it is
    /// missing, lines of JSON.
    #[serde(default)]
    pub form: Option<Form>,
}

/// The form of messages and answers. The first message and its answer are lines of JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// One JSON object per line.
    #[default]
    Json,
    /// The same objects as MessagePack maps, each after its length in bytes: 32 bits, big-endian.
    MessagePack,
}

/// How a program learns the packets that leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WhenSent {
    /// With the next feedback or time-out, which costs the least time.
    #[default]
    WithNext,
    /// At once, by a message `sent` per packet.
    AtOnce,
    /// Not at all.
    Never,
}

/// A cluster of probe packets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Must be greater than the number of every cluster before.
    pub id: u32,
    /// The sending rate of the cluster, bit/s.
    pub rate: f64,
    /// The minimum duration of the cluster, seconds. Default: 0.015, as in libwebrtc.
    #[serde(default = "min_duration")]
    pub min_duration: f64,
    /// The minimum number of packets. Default: 5, as in libwebrtc.
    #[serde(default = "min_packets")]
    pub min_packets: u32,
}

// libwebrtc `modules/congestion_controller/goog_cc/probe_controller.cc`: 15 ms, 5 packets.
fn min_duration() -> f64 {
    0.015
}

fn min_packets() -> u32 {
    5
}

impl From<&SentPacket> for Packet {
    fn from(packet: &SentPacket) -> Self {
        Self {
            sequence: packet.sequence,
            sent: packet.sent.as_secs_f64(),
            size: packet.size.get(),
            probe: packet.probe,
        }
    }
}

impl From<&PacketResult> for Arrival {
    fn from(result: &PacketResult) -> Self {
        let Packet { sequence, sent, size, probe } = (&result.packet).into();
        let ecn = match result.ecn {
            cc::Ecn::NotEct => Ecn::NotEct,
            cc::Ecn::Ect0 => Ecn::Ect0,
            cc::Ecn::Ect1 => Ecn::Ect1,
            cc::Ecn::Ce => Ecn::Ce,
        };
        Self { sequence, sent, size, probe, arrival: result.arrival.map(Time::as_secs_f64), ecn }
    }
}

impl Told {
    /// The feedback; `None` for the message of one built-in controller.
    pub(super) fn of(feedback: &Feedback<'_>) -> Option<Self> {
        let seconds = |span: &Option<Duration>| span.map(Duration::as_secs_f64);
        Some(match feedback {
            Feedback::Packets { results, rtt } => Self::Packets {
                results: results.iter().map(Arrival::from).collect(),
                rtt: seconds(rtt),
            },
            Feedback::Report { fraction_lost, expected, rtt } => Self::Report {
                fraction_lost: *fraction_lost,
                expected: *expected,
                rtt: seconds(rtt),
            },
            Feedback::Remb { rate } => Self::Remb { rate: rate.as_bps_f64() },
            Feedback::Custom(_) => return None,
        })
    }
}

impl Form {
    /// A message or an answer in this form, without the end of the line or the length.
    ///
    /// # Errors
    /// In words, if it cannot be expressed.
    pub(super) fn write<T: Serialize>(self, value: &T) -> Result<Vec<u8>, String> {
        match self {
            Self::Json => serde_json::to_vec(value).map_err(|error| error.to_string()),
            Self::MessagePack => rmp_serde::to_vec_named(value).map_err(|error| error.to_string()),
        }
    }

    /// Reads a message or an answer of this form.
    ///
    /// # Errors
    /// In words, if the bytes are something else.
    pub fn read<T: DeserializeOwned>(self, bytes: &[u8]) -> Result<T, String> {
        match self {
            Self::Json => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
            Self::MessagePack => {
                let mut rest = bytes;
                let value = rmp_serde::from_read(&mut rest).map_err(|error| error.to_string())?;
                match rest.len() {
                    0 => Ok(value),
                    more => Err(format!("{more} B follow the object")),
                }
            }
        }
    }
}

impl Probe {
    /// The cluster.
    ///
    /// # Errors
    /// In words, if the rate or the duration is not a number from 0 up.
    pub(super) fn cluster(&self) -> Result<ProbeCluster, String> {
        let min_duration = checked("min_duration of a probe", "s", self.min_duration)?;
        Ok(ProbeCluster {
            id: self.id,
            rate: Bitrate::from_bps_f64(checked("rate of a probe", "bit/s", self.rate)?),
            min_duration: Duration::from_secs_f64(min_duration),
            min_packets: self.min_packets,
        })
    }
}

/// A number that must be finite and at least 0.
pub(super) fn checked(what: &str, unit: &str, value: f64) -> Result<f64, String> {
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(format!("{what} is {value}; write a number from 0 {unit} up"))
}
