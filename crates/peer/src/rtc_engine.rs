//! The codecs and extensions that an endpoint on `rtc` negotiates, and its connection.

use crate::rtc_endpoint::CLOCK_RATE;
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

/// A payload type that browsers use for VP8, from the dynamic range (RFC 3551 § 6). The answerer
/// uses the payload type of the offer.
const PAYLOAD_TYPE: u8 = 96;

/// VP8 without RTX (RFC 4588): `rtc` 0.21 gives packets of an RTX stream neither transport-wide
/// sequence numbers nor an entry in the history, so a controller would not know of them. A packet
/// that is sent again unchanged has both. Its header extensions differ from those of the first
/// transmission, so AES-GCM would use a nonce twice (RFC 7714 § 8.1); therefore the SRTP profile is
/// that of RFC 3711, which every browser supports.
pub(crate) fn codec() -> RTCRtpCodec {
    RTCRtpCodec {
        mime_type: MIME_TYPE_VP8.to_owned(),
        clock_rate: CLOCK_RATE,
        ..Default::default()
    }
}

/// Registers codecs, extensions and feedback, and makes the part of the chain for transport-wide
/// sequence numbers and feedback.
pub(crate) fn engine(media: &mut MediaEngine, transport_feedback: bool) -> Result<Registry, Error> {
    let codec = RTCRtpCodecParameters { rtp_codec: codec(), payload_type: PAYLOAD_TYPE };
    media
        .register_codec(codec, RtpCodecKind::Video)
        .map_err(|error| Error::Rtc("cannot register VP8", error))?;
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
        .map_err(|error| Error::Rtc("cannot create the connection", error))
}

pub(crate) fn feedback(media: &mut MediaEngine, typ: &str, parameter: &str) {
    let feedback = RTCPFeedback { typ: typ.to_owned(), parameter: parameter.to_owned() };
    media.register_feedback(feedback, RtpCodecKind::Video);
}

pub(crate) fn extension(media: &mut MediaEngine, uri: &str) -> Result<(), Error> {
    let extension = RTCRtpHeaderExtensionCapability { uri: uri.to_owned() };
    media
        .register_header_extension(extension, RtpCodecKind::Video, None)
        .map_err(|error| Error::Rtc("cannot register a header extension", error))
}
