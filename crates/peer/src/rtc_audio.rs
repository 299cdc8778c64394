//! The audio of an endpoint on `rtc`.

use crate::Error;
use crate::audio::{AudioPacket, CLOCK_RATE};
use rtc::media_stream::MediaStreamTrack;
use rtc::peer_connection::RTCPeerConnection;
use rtc::peer_connection::configuration::media_engine::{MIME_TYPE_OPUS, MediaEngine};
use rtc::rtp_transceiver::RTCRtpSenderId;
use rtc::rtp_transceiver::rtp_sender::{
    RTCRtpCodec, RTCRtpCodecParameters, RTCRtpCodingParameters, RTCRtpEncodingParameters,
    RtpCodecKind,
};
use std::time::Instant;

/// A payload type that browsers use for Opus, from the dynamic range (RFC 3551 § 6). The answerer
/// uses the payload type of the offer.
const PAYLOAD_TYPE: u8 = 111;

/// The stream of audio that is sent.
pub(crate) struct SendingAudio {
    sender: RTCRtpSenderId,
    ssrc: u32,
    sequence: u16,
}

/// Registers Opus without transport-wide sequence numbers, because the bandwidth estimate covers
/// only the video.
pub(crate) fn register(media: &mut MediaEngine) -> Result<(), Error> {
    let codec = RTCRtpCodecParameters { rtp_codec: codec(), payload_type: PAYLOAD_TYPE };
    media
        .register_codec(codec, RtpCodecKind::Audio)
        .map_err(|error| Error::Rtc("cannot register Opus", error))
}

/// Always two channels at 48 kHz (RFC 7587 § 7).
fn codec() -> RTCRtpCodec {
    let mime_type = MIME_TYPE_OPUS.to_owned();
    RTCRtpCodec { mime_type, clock_rate: CLOCK_RATE, channels: 2, ..Default::default() }
}

impl SendingAudio {
    /// Sequence numbers begin with `first`, which should be random (RFC 3550 § 5.1).
    pub(crate) fn new(
        connection: &mut RTCPeerConnection,
        ssrc: u32,
        first: u16,
    ) -> Result<Self, Error> {
        let encoding = RTCRtpEncodingParameters {
            rtp_coding_parameters: RTCRtpCodingParameters {
                ssrc: Some(ssrc),
                ..Default::default()
            },
            codec: codec(),
            active: true,
            ..Default::default()
        };
        let [stream, track, label] = ["weir", "audio", "audio"].map(str::to_owned);
        let track =
            MediaStreamTrack::new(stream, track, label, RtpCodecKind::Audio, vec![encoding]);
        let sender = connection
            .add_track(track)
            .map_err(|error| Error::Rtc("cannot add audio to send", error))?;
        Ok(Self { sender, ssrc, sequence: first })
    }

    /// Sends a packet, if the remote endpoint accepts audio.
    pub(crate) fn send(
        &mut self,
        connection: &mut RTCPeerConnection,
        now: Instant,
        packet: AudioPacket,
    ) -> Result<(), Error> {
        let Some(payload_type) = self.payload_type(connection) else { return Ok(()) };
        let Some(mut sender) = connection.rtp_sender(self.sender) else { return Ok(()) };
        let header = rtc::rtp::header::Header {
            version: 2,
            payload_type,
            sequence_number: self.sequence,
            // The RTP timestamp wraps at 32 bits.
            timestamp: packet.timestamp as u32,
            ssrc: self.ssrc,
            ..Default::default()
        };
        self.sequence = self.sequence.wrapping_add(1);
        let packet = rtc::rtp::Packet { header, payload: packet.payload };
        sender
            .write_rtp(now, packet)
            .map_err(|error| Error::Rtc("cannot send an audio packet", error))
    }

    /// The negotiated payload type of Opus, if audio is sent at all.
    fn payload_type(&self, connection: &mut RTCPeerConnection) -> Option<u8> {
        let transceivers: Vec<_> = connection.get_transceivers().collect();
        let sends = transceivers.into_iter().any(|id| {
            let transceiver = connection.rtp_transceiver(id);
            transceiver.is_some_and(|transceiver| {
                transceiver.sender() == Some(self.sender)
                    && transceiver.current_direction().has_send()
            })
        });
        let mut sender = connection.rtp_sender(self.sender).filter(|_| sends)?;
        let codecs = &sender.get_parameters().rtp_parameters.codecs;
        let opus = codecs
            .iter()
            .find(|codec| codec.rtp_codec.mime_type.eq_ignore_ascii_case(MIME_TYPE_OPUS))?;
        Some(opus.payload_type)
    }
}
