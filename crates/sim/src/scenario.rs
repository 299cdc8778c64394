//! The configuration of a run: the network and the calls and flows over it. The laboratory builds
//! it from an experiment file; a program can build it directly.

use crate::codec::{AudioConfig, EncoderConfig};
use crate::recording::StreamKind;
use crate::tcp::{TcpConfig, TcpStack};
use cc::ControllerConfig;
use net::{Dscp, HostId, NetworkConfig};
use units::{Bitrate, Duration, Seed, Time};

/// The configuration of one run.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Scenario {
    /// The length of the run.
    pub duration: Duration,
    /// The sampling interval.
    pub sample_interval: Duration,
    /// The seed of every random stream.
    pub seed: Seed,
    /// The hosts and their access.
    pub network: NetworkConfig,
    /// The TCP stacks of the hosts, in the order of the hosts; missing entries are the default.
    pub stacks: Vec<TcpStack>,
    /// The calls.
    pub calls: Vec<CallConfig>,
    /// The TCP flows.
    pub tcp: Vec<TcpConfig>,
}

impl Scenario {
    /// The TCP stack of a host.
    #[must_use]
    pub fn stack(&self, host: HostId) -> TcpStack {
        self.stacks.get(usize::from(host.0)).copied().unwrap_or_default()
    }

    /// The name of a host; empty if there is no such host.
    #[must_use]
    pub fn name(&self, host: HostId) -> &str {
        self.network.hosts.get(usize::from(host.0)).map_or("", |host| &host.name)
    }

    /// At least as many values as a run samples: samples × columns of all streams. Points and
    /// events are not counted.
    #[must_use]
    pub fn sampled_values(&self) -> u64 {
        let samples = self.duration.as_nanos() / self.sample_interval.as_nanos().max(1);
        let of = |kind: StreamKind| kind.most_columns();
        let calls = self.calls.iter().map(|call| {
            let video = if call.video.is_some() { of(StreamKind::Video) } else { 0 };
            let audio = if call.audio.is_some() { of(StreamKind::Audio) } else { 0 };
            (video + audio) * if call.two_way { 2 } else { 1 }
        });
        let tcp = of(StreamKind::Tcp) * self.tcp.len() as u64;
        let lines = of(StreamKind::Line) * 2 * self.network.hosts.len() as u64;
        samples.saturating_mul(calls.sum::<u64>() + tcp + lines)
    }

    /// The names of the records of the calls and flows.
    #[must_use]
    pub fn stream_names(&self) -> Vec<String> {
        let calls = self.calls.iter().flat_map(|call| {
            let media = [
                (call.video.is_some(), StreamKind::Video),
                (call.audio.is_some(), StreamKind::Audio),
            ];
            let directions = if call.two_way { &["", ".back"][..] } else { &[""] };
            let names = directions.iter().flat_map(move |suffix| {
                let there = media.into_iter().filter(|(there, _)| *there);
                there.map(move |(_, kind)| format!("{}.{}{suffix}", call.name, kind.as_str()))
            });
            names.collect::<Vec<_>>()
        });
        calls.chain(self.tcp.iter().map(|flow| format!("{}.tcp", flow.name))).collect()
    }
}

/// A call between two hosts.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct CallConfig {
    /// The call's name, unique in the run. Its records are called `NAME.video`, `NAME.audio`, ….
    pub name: String,
    /// The caller, which sends media.
    pub from: HostId,
    /// The callee, which also sends media if the call is two-way.
    pub to: HostId,
    /// The caller's media relay, which all packets of the call pass (TURN, RFC 8656); `None` for a
    /// direct path.
    pub relay: Option<HostId>,
    /// When the ends start to send media.
    pub start: Time,
    /// When the call ends.
    pub stop: Time,
    /// When the ends capture nothing, in order of time: begin and end of each pause. Controllers
    /// and RTCP continue (RFC 8867 § 5.8: media pause and resume).
    pub pauses: Vec<(Time, Time)>,
    /// Whether both ends send media.
    pub two_way: bool,
    /// An end ends the call if it receives nothing for this long, or if a round trip takes longer;
    /// `None` for no limit.
    pub media_timeout: Option<Duration>,
    /// The DSCPs of the call's packets.
    pub dscp: Marks,
    /// The video, if any.
    pub video: Option<VideoConfig>,
    /// The audio, if any. Congestion control does not affect it (Jansen 2016 § 8-1-3).
    pub audio: Option<AudioConfig>,
    /// The role of a Selective Forwarding Unit in this call; `None` for a call between two
    /// endpoints.
    pub sfu: Option<Sfu>,
}

impl CallConfig {
    /// The host of the forwarding unit, if one is an end of this call.
    #[must_use]
    pub fn unit(&self) -> Option<HostId> {
        self.sfu.as_ref().map(|sfu| match sfu {
            Sfu::Publish { .. } => self.to,
            Sfu::Forward { .. } => self.from,
        })
    }
}

/// The end of a call that is a Selective Forwarding Unit (RFC 7667 § 3.7). Such a call is one-way.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Sfu {
    /// The unit is the callee: it receives a stream and sets the publisher's rate by REMB.
    Publish {
        /// The maximum bitrate of the publisher, which is the room's bitrate.
        bitrate: Bitrate,
    },
    /// The unit is the caller: it forwards what it receives in another call. It has no encoder and
    /// no congestion control.
    Forward {
        /// The name of the call whose stream is forwarded.
        call: String,
    },
}

/// The DSCPs of a call's packets. RTCP, which concerns the video, has the video's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Marks {
    /// The DSCP of audio.
    pub audio: Dscp,
    /// The DSCP of video, its retransmissions and RTCP.
    pub video: Dscp,
}

/// The video of a call: source, controller and feedback.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct VideoConfig {
    /// The source and encoder.
    pub encoder: EncoderConfig,
    /// The controller.
    pub controller: ControllerConfig,
    /// The pacer's interval: one group of packets leaves per burst time. `None`: that of the
    /// controller ([`cc::Sender::pacing_burst`]), else 5 ms (draft-ietf-rmcat-gcc-02 § 4; Guerrero
    /// Viveros 2019 § 2.2.1).
    pub burst_time: Option<Duration>,
    /// Whether the receiver requests retransmission of lost packets (RFC 4585 NACK, RFC 4588).
    pub nack: bool,
    /// Whether RTP circuit breakers can stop the sender (RFC 8083). Browsers have none.
    pub circuit_breaker: bool,
    /// Forward error correction.
    pub fec: Fec,
    /// The packets that the controller's estimate covers.
    pub estimate: Estimate,
    /// Time between RTCP reports of either end, randomised by half as in RFC 3550 § 6.2 (1 s for
    /// video: libwebrtc `modules/rtp_rtcp/source/rtcp_sender.cc`).
    pub report_interval: Duration,
    /// Time between transport-wide feedback packets (100 ms: libwebrtc
    /// `modules/remote_bitrate_estimator/transport_sequence_number_feedback_generator.cc`).
    pub feedback_interval: Duration,
    /// Whether all RTCP of the receiver reaches the sender at once, without crossing the network
    /// (Kilinc, Andersson § 3.2C). Captures do not contain it.
    pub ideal_feedback: bool,
}

/// The packets that a controller's bandwidth estimate covers, and the size that counts for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Estimate {
    /// The RTP packets of the video. Audio is not part of the estimate (Jansen 2016 § 8-1-3), and
    /// headers below RTP do not count. Used by the published forms of GCC.
    #[default]
    Video,
    /// All packets of the call's 5-tuple with UDP and IP headers. Audio has transport-wide sequence
    /// numbers too and gets its rate first. The encoder gets the rest minus the headers, up to its
    /// maximum (libwebrtc `audio/audio_send_stream.cc`, ConfigureBitrateObserver;
    /// `call/rtp_video_sender.cc`, OnBitrateUpdated;
    /// `modules/congestion_controller/rtp/transport_feedback_adapter.cc`, AddPacket).
    Transport,
}

/// Forward error correction (FEC) of video.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Fec {
    /// No FEC.
    #[default]
    Off,
    /// Parity packets (RFC 5109) in addition to retransmission if the round-trip time is long and
    /// packets are lost (Holmer et al. 2013, "Handling packet loss in WebRTC").
    Hybrid,
}
