//! The data exchanged between an endpoint and a controller: plain structs of times, sizes and
//! sequence numbers.

use units::{Bitrate, Bytes, Duration, Time};

/// A cluster of probe packets. The endpoint sends the cluster at `rate` as soon as it has media or
/// padding for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeCluster {
    /// Counts up from 1. An endpoint starts a cluster when it sees a new id.
    pub id: u32,
    /// Sending rate of the cluster.
    pub rate: Bitrate,
    /// Minimum duration of the cluster.
    pub min_duration: Duration,
    /// Minimum number of packets in the cluster.
    pub min_packets: u32,
}

/// What a controller asks of the sender now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Target rate of the encoder, counted over RTP packets of media.
    pub target_rate: Bitrate,
    /// Rate at which the pacer sends packets.
    pub pacing_rate: Bitrate,
    /// The newest probe cluster that was asked for.
    pub probe: Option<ProbeCluster>,
}

/// The rates that the streams of a sender can use in sum, as the bitrate allocator knows them.
/// Zero: unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    /// The least rate of the streams in sum.
    pub min_rate: Bitrate,
    /// The greatest rate of the streams in sum.
    pub max_rate: Bitrate,
}

/// A media packet that left the pacer, with its transport-wide sequence number
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01), unwrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// Unwrapped transport-wide sequence number.
    pub sequence: u64,
    /// Departure time, sender's clock.
    pub sent: Time,
    /// RTP header and payload.
    pub size: Bytes,
    /// The probe cluster that it belongs to.
    pub probe: Option<u32>,
}

/// The ECN field of an IP packet (RFC 3168 § 5, RFC 9331).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// 00: not ECN-capable.
    #[default]
    NotEct,
    /// 01: ECN-capable; L4S.
    Ect1,
    /// 10: ECN-capable.
    Ect0,
    /// 11: congestion experienced.
    Ce,
}

/// A sent packet and the feedback about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketResult {
    /// The packet as it was sent.
    pub packet: SentPacket,
    /// Arrival time, receiver's clock; `None` if the packet was reported lost.
    pub arrival: Option<Time>,
    /// The ECN field with which the packet arrived (RFC 8888); [`Ecn::NotEct`] if the packet is
    /// lost or the feedback carries no ECN (transport-wide feedback).
    pub ecn: Ecn,
}

/// A frame that the encoder added to the pacer's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaFrame {
    /// The RTP payload of the frame.
    pub size: Bytes,
    /// The RTP payload in the pacer's queue, with the frame.
    pub queued: Bytes,
}

/// Feedback to a sender, as decoded from one RTCP packet.
#[derive(Clone, Copy, Debug)]
pub enum Feedback<'a> {
    /// Arrival times per packet: transport-wide feedback or RFC 8888.
    Packets {
        /// In order of sequence number. Every packet is reported once.
        results: &'a [PacketResult],
        /// The newest known round-trip time, if any.
        rtt: Option<Duration>,
    },
    /// Receiver report (RFC 3550 § 6.4.1).
    Report {
        /// Fraction of packets lost since the last report, 0 to 1 in steps of 1/256.
        fraction_lost: f64,
        /// Packets expected since the last report.
        expected: u64,
        /// The round-trip time that this report measured, if any.
        rtt: Option<Duration>,
    },
    /// Receiver estimated maximum bitrate (REMB, draft-alvestrand-rmcat-remb-03).
    Remb {
        /// The maximum rate that the receiver allows.
        rate: Bitrate,
    },
    /// A message that only one controller understands. A sender ignores the names that it does not
    /// know.
    Custom(CustomFeedback),
}

/// A feedback message that one controller defines for itself: the name and the data of an
/// application-defined RTCP packet (APP, RFC 3550 § 6.7). A controller encodes and decodes its
/// message; endpoints carry the message without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomFeedback {
    name: [u8; 4],
    len: u8,
    data: [u8; Self::MAX_DATA],
}

impl CustomFeedback {
    /// Maximum length of the data, in bytes.
    pub const MAX_DATA: usize = 32;

    /// A message from its name (four ASCII characters) and its data. The length of the data is
    /// checked at compile time: at most [`Self::MAX_DATA`] bytes and a multiple of 4 (RFC 3550 §
    /// 6.7).
    #[must_use]
    pub const fn new<const N: usize>(name: [u8; 4], data: [u8; N]) -> Self {
        const { assert!(N <= Self::MAX_DATA && N.is_multiple_of(4)) }
        let mut padded = [0; Self::MAX_DATA];
        padded.split_at_mut(N).0.copy_from_slice(&data);
        Self { name, len: N as u8, data: padded }
    }

    /// A message from data whose length is known only at run time. `None` if the data are longer
    /// than [`Self::MAX_DATA`] bytes or their length is not a multiple of 4.
    #[must_use]
    pub fn from_slice(name: [u8; 4], data: &[u8]) -> Option<Self> {
        let len = u8::try_from(data.len()).ok().filter(|len| len.is_multiple_of(4))?;
        let mut padded = [0; Self::MAX_DATA];
        padded.get_mut(..data.len())?.copy_from_slice(data);
        Some(Self { name, len, data: padded })
    }

    /// The name of the message: four ASCII characters.
    #[must_use]
    pub const fn name(&self) -> [u8; 4] {
        self.name
    }

    /// The data of the message.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data[..usize::from(self.len)]
    }
}

/// A message from the receiver half to the sender half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverFeedback {
    /// Receiver estimated maximum bitrate (draft-alvestrand-rmcat-remb-03). Browsers obey this
    /// message.
    Remb(Bitrate),
    /// A message for the sender half of the same controller.
    Custom(CustomFeedback),
}

impl From<ReceiverFeedback> for Feedback<'_> {
    fn from(feedback: ReceiverFeedback) -> Self {
        match feedback {
            ReceiverFeedback::Remb(rate) => Self::Remb { rate },
            ReceiverFeedback::Custom(message) => Self::Custom(message),
        }
    }
}

/// A media packet as it arrives at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivedPacket {
    /// Unwrapped transport-wide sequence number.
    pub sequence: u64,
    /// Departure time, sender's clock (abs-send-time extension).
    pub sent: Time,
    /// Arrival time, receiver's clock.
    pub arrival: Time,
    /// RTP header and payload.
    pub size: Bytes,
    /// Unwrapped RTP timestamp. All packets of a video frame have the same timestamp.
    pub rtp_timestamp: u64,
    /// The probe cluster that the packet belongs to. A real receiver detects clusters by the
    /// spacing of abs-send-time; here the endpoint passes the cluster.
    pub probe: Option<u32>,
    /// The ECN field with which the packet arrived; [`Ecn::NotEct`] if the endpoint does not know.
    pub ecn: Ecn,
}

/// A function that receives the internal signals of a controller: name and value.
pub type SignalSink<'a> = dyn FnMut(&'static str, f64) + 'a;

/// The half of a controller that runs at the sender.
pub trait Sender: Send {
    /// A packet left the pacer. Calls are in order of departure time and sequence number.
    fn on_sent(&mut self, packet: &SentPacket);
    /// One RTCP message arrived at `now`.
    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>);
    /// The time that [`Sender::next_timeout`] returned has been reached or passed.
    fn on_timeout(&mut self, now: Time);
    /// When to call [`Sender::on_timeout`] next; always later than the last call.
    fn next_timeout(&self) -> Option<Time>;
    /// The current decision. Endpoints ask after every call above, so this is cheap.
    fn decision(&self) -> Decision;
    /// The encoder added a frame to the pacer's queue. A controller may ignore it.
    fn on_frame(&mut self, _now: Time, _frame: &MediaFrame) {}
    /// The rates that the streams can use have changed. A controller may ignore them.
    fn on_allocation(&mut self, _now: Time, _allocation: Allocation) {}
    /// The packets take another route through the network; the estimate starts again at `start`.
    /// A controller may ignore the change.
    fn on_route_change(&mut self, _now: Time, _start: Bitrate) {}
    /// The rate up to which the pacer should send padding where media are missing; zero: none.
    fn padding_rate(&self) -> Bitrate {
        Bitrate::ZERO
    }
    /// The time whose worth of packets at the pacing rate may leave at once. `None`: the endpoint
    /// decides.
    fn pacing_burst(&self) -> Option<Duration> {
        None
    }
    /// How many bytes may leave now, whatever the pacing rate, because the congestion window limits
    /// the bytes in flight. A packet that is larger waits. `None`: no limit.
    fn send_window(&self) -> Option<Bytes> {
        None
    }
    /// The ECN field of the media packets that leave.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }
    /// The share of the frames, 0 to 1, that the encoder should drop because too much data are on
    /// their way.
    fn frame_reduction(&self) -> f64 {
        0.0
    }
    /// Passes every internal signal (delay gradient, threshold, state, …) to `sink`.
    fn signals(&self, sink: &mut SignalSink<'_>);
}

/// The half of a controller that runs at the receiver. It sends a rate or another message back.
pub trait Receiver: Send {
    /// A media packet arrived. `rtt` is the newest round-trip time that the receiver knows
    /// (RFC 3611 receiver reference time and DLRR).
    fn on_packet(&mut self, packet: &ArrivedPacket, rtt: Option<Duration>);
    /// The time that [`Receiver::next_timeout`] returned has been reached or passed.
    fn on_timeout(&mut self, now: Time);
    /// When to call [`Receiver::on_timeout`] next; always later than the last call.
    fn next_timeout(&self) -> Option<Time>;
    /// The message to send at `now`, if one is due. Each message is returned once. Endpoints ask
    /// after every call above.
    fn poll(&mut self, now: Time) -> Option<ReceiverFeedback>;
    /// Whether the messages are REMB, which other implementations understand.
    fn speaks_remb(&self) -> bool;
    /// Passes every internal signal to `sink`.
    fn signals(&self, sink: &mut SignalSink<'_>);
}
