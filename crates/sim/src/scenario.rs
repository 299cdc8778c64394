//! What is simulated, as plain data: the network and the calls over it. The laboratory reads it
//! from an experiment file; a program may build it by hand.

use crate::codec::{AudioConfig, EncoderConfig};
use crate::recording::Kind;
use crate::tcp::{Stack, TcpConfig};
use cc::ControllerConfig;
use net::{Dscp, HostId, NetworkConfig};
use units::{Bitrate, Duration, Seed, Time};

/// One run.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// How long it lasts.
    pub duration: Duration,
    /// How often samples are taken.
    pub sample_interval: Duration,
    /// The seed of every random stream.
    pub seed: Seed,
    /// The hosts and their access.
    pub network: NetworkConfig,
    /// What of the hosts' TCP stacks matters, in the order of the hosts; the usual where it is left
    /// out.
    pub stacks: Vec<Stack>,
    /// The calls.
    pub calls: Vec<CallConfig>,
    /// The TCP flows.
    pub tcp: Vec<TcpConfig>,
}

impl Scenario {
    /// The TCP stack of a host.
    #[must_use]
    pub fn stack(&self, host: HostId) -> Stack {
        self.stacks.get(usize::from(host.0)).copied().unwrap_or_default()
    }

    /// The name of a host; empty if there is none.
    #[must_use]
    pub fn name(&self, host: HostId) -> &str {
        self.network.hosts.get(usize::from(host.0)).map_or("", |host| &host.name)
    }

    /// The names of the records of its calls and flows.
    #[must_use]
    pub fn stream_names(&self) -> Vec<String> {
        let calls = self.calls.iter().flat_map(|call| {
            let media = [(call.video.is_some(), Kind::Video), (call.audio.is_some(), Kind::Audio)];
            let backs = if call.two_way { &["", ".back"][..] } else { &[""] };
            let names = backs.iter().flat_map(move |back| {
                let there = media.into_iter().filter(|(there, _)| *there);
                there.map(move |(_, kind)| format!("{}.{}{back}", call.name, kind.as_str()))
            });
            names.collect::<Vec<_>>()
        });
        calls.chain(self.tcp.iter().map(|flow| format!("{}.tcp", flow.name))).collect()
    }
}

/// A call between two hosts.
#[derive(Clone, Debug)]
pub struct CallConfig {
    /// Its name, unique in the run: the records are called `NAME.video`, `NAME.audio`, ….
    pub name: String,
    /// The caller, who sends.
    pub from: HostId,
    /// The callee, who sends too if the call is two-way.
    pub to: HostId,
    /// The media relay that all packets of the call pass, as the caller's (TURN, RFC 8656); `None`:
    /// they go directly.
    pub relay: Option<HostId>,
    /// When media starts to flow.
    pub start: Time,
    /// When the call ends.
    pub stop: Time,
    /// Whether both send.
    pub two_way: bool,
    /// How long an end waits for packets of the other, or for a round trip, before it gives the
    /// call up; `None`: for ever.
    pub media_timeout: Option<Duration>,
    /// The marks on its packets.
    pub dscp: Marks,
    /// Video, if any.
    pub video: Option<VideoConfig>,
    /// Audio, if any; congestion control leaves it alone (Jansen 2016 § 8-1-3).
    pub audio: Option<AudioConfig>,
    /// What a Selective Forwarding Unit has to do with it; nothing between two parties.
    pub sfu: Option<Sfu>,
}

impl CallConfig {
    /// The host of the forwarding unit that is an end of it, if one is.
    #[must_use]
    pub fn unit(&self) -> Option<HostId> {
        self.sfu.as_ref().map(|sfu| match sfu {
            Sfu::Publish { .. } => self.to,
            Sfu::Forward { .. } => self.from,
        })
    }
}

/// The end of a call that is a Selective Forwarding Unit (RFC 7667 § 3.7). Such a call goes one
/// way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sfu {
    /// The callee: it takes a stream in and tells the publisher by REMB how much it wants.
    Publish {
        /// The most that it wants of the publisher, the room's bitrate.
        bitrate: Bitrate,
    },
    /// The caller: it passes on what it receives in another call, and has no encoder and no
    /// congestion control.
    Forward {
        /// The name of the call whose stream it passes on.
        call: String,
    },
}

/// The marks on a call's packets. RTCP, which is about the video, has the video's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// On audio.
    pub audio: Dscp,
    /// On video, its retransmissions and RTCP.
    pub video: Dscp,
}

/// The video of a call: what is sent, by which controller, with which feedback.
#[derive(Clone, Debug)]
pub struct VideoConfig {
    /// The source and encoder.
    pub encoder: EncoderConfig,
    /// The controller.
    pub controller: ControllerConfig,
    /// The sending engine's interval: a group of packets leaves every burst time
    /// (5 ms: draft-ietf-rmcat-gcc-02 § 4; Guerrero Viveros 2019 § 2.2.1).
    pub burst_time: Duration,
    /// Whether lost packets are asked for again (RFC 4585 NACK, RFC 4588 retransmission).
    pub nack: bool,
    /// Whether the RTP circuit breakers may stop the sender (RFC 8083). Browsers have none.
    pub circuit_breaker: bool,
    /// Whether parity packets go with the media.
    pub fec: Fec,
    /// What the controller's estimate is of.
    pub estimate: Estimate,
    /// Time between RTCP reports of either side, randomised by half as in RFC 3550 § 6.2
    /// (1 s for video: libwebrtc `modules/rtp_rtcp/source/rtcp_sender.cc`).
    pub report_interval: Duration,
    /// Time between transport-wide feedback packets (100 ms: libwebrtc
    /// `modules/remote_bitrate_estimator/transport_sequence_number_feedback_generator.cc`).
    pub feedback_interval: Duration,
    /// Whether all RTCP of the receiver reaches the sender in the instant in which it is sent,
    /// without crossing the network (Kilinc, Andersson § 3.2C). No capture shows it.
    pub ideal_feedback: bool,
}

/// What a controller estimates the bandwidth for: which packets it hears of, and how long they are
/// to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimate {
    /// The RTP packets of the video: audio runs beside the estimate (Jansen 2016 § 8-1-3), and
    /// headers below RTP do not count. The published forms of GCC.
    #[default]
    Video,
    /// All packets of the call's 5-tuple with the headers of UDP and IP: audio has transport-wide
    /// sequence numbers too, and takes its rate first; what is left, less the headers, is the
    /// encoder's, up to its ceiling (libwebrtc `audio/audio_send_stream.cc`,
    /// ConfigureBitrateObserver; `call/rtp_video_sender.cc`, OnBitrateUpdated;
    /// `modules/congestion_controller/rtp/transport_feedback_adapter.cc`, AddPacket).
    Transport,
}

/// Forward error correction of video.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fec {
    /// None.
    #[default]
    Off,
    /// Parity packets (RFC 5109) when the round-trip time is long and packets are lost, beside
    /// retransmission (Holmer et al. 2013, "Handling packet loss in WebRTC").
    Hybrid,
}
