//! What passes between an endpoint and a controller: plain structs of times, sizes and sequence
//! numbers.

use units::{Bitrate, Bytes, Duration, Time};

/// One cluster of probe packets that the endpoint is to send at `rate` as soon as it has media or
/// padding for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeCluster {
    /// Counts up from 1; an endpoint starts a cluster when it sees a new id.
    pub id: u32,
    /// The rate at which the cluster is sent.
    pub rate: Bitrate,
    /// The cluster lasts at least this long…
    pub min_duration: Duration,
    /// …and has at least this many packets.
    pub min_packets: u32,
}

/// What a sender is to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The rate for the encoder: RTP bytes of media per second.
    pub target_rate: Bitrate,
    /// The rate at which the pacer lets packets go.
    pub pacing_rate: Bitrate,
    /// The newest probe cluster asked for.
    pub probe: Option<ProbeCluster>,
}

/// A media packet that left the pacer, with its transport-wide sequence number
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01), unwrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// Unwrapped transport-wide sequence number.
    pub sequence: u64,
    /// When it left, sender's clock.
    pub sent: Time,
    /// RTP header and payload.
    pub size: Bytes,
    /// The probe cluster that it belongs to.
    pub probe: Option<u32>,
}

/// A sent packet and what feedback said of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketResult {
    /// As it was sent.
    pub packet: SentPacket,
    /// Arrival by the receiver's clock; `None`: reported lost.
    pub arrival: Option<Time>,
}

/// Feedback to a sender, as it comes out of one RTCP packet.
#[derive(Clone, Copy, Debug)]
pub enum Feedback<'a> {
    /// Per-packet arrival times: transport-wide feedback, or RFC 8888.
    Packets {
        /// In order of sequence number; every packet is reported once.
        results: &'a [PacketResult],
        /// The newest round-trip time known, if any.
        rtt: Option<Duration>,
    },
    /// Receiver report (RFC 3550 § 6.4.1).
    Report {
        /// Share of packets lost since the last report, 0…1 in steps of 1/256.
        fraction_lost: f64,
        /// Packets expected since the last report.
        expected: u64,
        /// The round-trip time that this report measured, if any.
        rtt: Option<Duration>,
    },
    /// Receiver estimated maximum bitrate.
    Remb {
        /// What the receiver allows.
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

/// What a receiver sends back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverFeedback {
    /// Receiver estimated maximum bitrate (draft-alvestrand-rmcat-remb-03), which browsers obey.
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

/// A media packet as the receiver sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivedPacket {
    /// Unwrapped transport-wide sequence number.
    pub sequence: u64,
    /// Departure by the sender's clock (abs-send-time extension).
    pub sent: Time,
    /// Arrival by the receiver's clock.
    pub arrival: Time,
    /// RTP header and payload.
    pub size: Bytes,
    /// RTP timestamp, unwrapped: the same for all packets of a video frame.
    pub rtp_timestamp: u64,
    /// The probe cluster that it belongs to. A real receiver finds clusters by the spacing of
    /// abs-send-time; here they are told.
    pub probe: Option<u32>,
}

/// A sink for inner signals by name, with values as real numbers.
pub type SignalSink<'a> = dyn FnMut(&'static str, f64) + 'a;

/// The half of a controller that lives at the sender.
pub trait Sender: Send {
    /// A packet left the pacer. Packets come in order of time and sequence.
    fn on_sent(&mut self, packet: &SentPacket);
    /// One RTCP message arrived at `now`.
    fn on_feedback(&mut self, now: Time, feedback: Feedback<'_>);
    /// A time-out that [`Sender::next_timeout`] asked for has come (or any later instant).
    fn on_timeout(&mut self, now: Time);
    /// When the controller next wants [`Sender::on_timeout`]; always later than the last call.
    fn next_timeout(&self) -> Option<Time>;
    /// What to do now; cheap, asked after every call above.
    fn decision(&self) -> Decision;
    /// Shows the inner signals (delay gradient, threshold, state, …) to whoever looks.
    fn signals(&self, sink: &mut SignalSink<'_>);
}

/// The half of a controller that lives at the receiver and sends back a rate, or how it sees the
/// path.
pub trait Receiver: Send {
    /// A media packet arrived. `rtt` is the newest round-trip time that the receiver knows
    /// (RFC 3611 receiver reference time and DLRR).
    fn on_packet(&mut self, packet: &ArrivedPacket, rtt: Option<Duration>);
    /// A time-out that [`Receiver::next_timeout`] asked for has come (or any later instant).
    fn on_timeout(&mut self, now: Time);
    /// When the controller next wants [`Receiver::on_timeout`]; always later than the last call.
    fn next_timeout(&self) -> Option<Time>;
    /// The message that is due now, once; asked after every call above.
    fn poll(&mut self, now: Time) -> Option<ReceiverFeedback>;
    /// Whether its messages are REMB, which senders of other make obey.
    fn speaks_remb(&self) -> bool;
    /// Shows the inner signals to whoever looks.
    fn signals(&self, sink: &mut SignalSink<'_>);
}
