//! What an end on `rtc` can agree on, and its connection.

use crate::rtc_end::CLOCK_RATE;
use crate::{Error, rtc_audio};
use rtc::dtls::extension::extension_use_srtp::SrtpProtectionProfile;
use rtc::interceptor::{TwccReceiverBuilder, TwccSenderBuilder};
use rtc::peer_connection::configuration::interceptor_registry::{Registry, Slot};
use rtc::peer_connection::configuration::media_engine::{MIME_TYPE_VP8, MediaEngine};
use rtc::peer_connection::configuration::setting_engine::SettingEngineBuilder;
use rtc::peer_connection::transport::RTCDtlsRole;
use rtc::peer_connection::{RTCPeerConnection, RTCPeerConnectionBuilder};
use rtc::rtp_transceiver::rtp_sender::{
    RTCPFeedback, RTCRtpCodec, RTCRtpCodecParameters, RTCRtpHeaderExtensionCapability, RtpCodecKind,
};
use std::time::Instant;

/// A payload type that browsers give VP8, from the dynamic range (RFC 3551 § 6); the answerer takes
/// the offerer's.
const PAYLOAD_TYPE: u8 = 96;

/// VP8 without retransmission payload: `rtc` 0.21 gives packets of an RTX stream (RFC 4588) neither
/// transport-wide numbers nor a place in the history, so a controller would not know of them.
/// Retransmitted as they were, they have both. As their extensions differ, AES-GCM would use a
/// nonce twice (RFC 7714 § 8.1); so the SRTP profile is the one of RFC 3711, which every browser
/// has.
pub(crate) fn codec() -> RTCRtpCodec {
    RTCRtpCodec {
        mime_type: MIME_TYPE_VP8.to_owned(),
        clock_rate: CLOCK_RATE,
        ..Default::default()
    }
}

/// What can be agreed on, and what rtc's chain does for it: transport-wide numbers and feedback.
pub(crate) fn engine(media: &mut MediaEngine, transport_feedback: bool) -> Result<Registry, Error> {
    let codec = RTCRtpCodecParameters { rtp_codec: codec(), payload_type: PAYLOAD_TYPE };
    media.register_codec(codec, RtpCodecKind::Video).map_err(|error| Error::Rtc("VP8", error))?;
    for (typ, parameter) in [("nack", ""), ("nack", "pli"), ("ccm", "fir")] {
        feedback(media, typ, parameter);
    }
    rtc_audio::register(media)?;
    let mut registry = Registry::new();
    if transport_feedback {
        feedback(media, "transport-cc", "");
        extension(media, rtc::sdp::extmap::TRANSPORT_CC_URI)?;
        registry = registry
            .with(Slot::TwccSender, TwccSenderBuilder::new().build())
            .with(Slot::TwccReceiver, TwccReceiverBuilder::new().build());
    }
    Ok(registry)
}

pub(crate) fn connection(
    media: MediaEngine,
    registry: Registry,
    now: Instant,
) -> Result<RTCPeerConnection, Error> {
    let settings = SettingEngineBuilder::new()
        .with_answering_dtls_role(RTCDtlsRole::Client)
        .with_srtp_protection_profiles(vec![SrtpProtectionProfile::Srtp_Aes128_Cm_Hmac_Sha1_80])
        .with_multicast_dns_mode(rtc::ice::mdns::MulticastDnsMode::Disabled)
        .build();
    RTCPeerConnectionBuilder::new()
        .with_setting_engine(settings)
        .with_media_engine(media)
        .with_interceptor_registry(registry)
        .build(now)
        .map_err(|error| Error::Rtc("the connection", error))
}

pub(crate) fn feedback(media: &mut MediaEngine, typ: &str, parameter: &str) {
    let feedback = RTCPFeedback { typ: typ.to_owned(), parameter: parameter.to_owned() };
    media.register_feedback(feedback, RtpCodecKind::Video);
}

pub(crate) fn extension(media: &mut MediaEngine, uri: &str) -> Result<(), Error> {
    let extension = RTCRtpHeaderExtensionCapability { uri: uri.to_owned() };
    media
        .register_header_extension(extension, RtpCodecKind::Video, None)
        .map_err(|error| Error::Rtc("a header extension", error))
}
