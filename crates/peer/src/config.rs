//! A peer as data, and what `rtc` is told of it.

use crate::{Controller, Error, Remb, Reports};
use cc::Controllers;
use rtc::dtls::extension::extension_use_srtp::SrtpProtectionProfile;
use rtc::interceptor::{BandwidthEstimator, CongestionControlBuilder, PACER_MIN_BURST_BITS, PacerBuilder};
use rtc::peer_connection::configuration::interceptor_registry::{
    Registry, Slot, configure_nack, configure_rtcp_reports, configure_twcc,
};
use rtc::peer_connection::configuration::media_engine::{MIME_TYPE_VP8, MediaEngine};
use rtc::peer_connection::configuration::setting_engine::SettingEngineBuilder;
use rtc::peer_connection::transport::RTCDtlsRole;
use rtc::peer_connection::{RTCPeerConnection, RTCPeerConnectionBuilder};
use rtc::rtp_transceiver::rtp_sender::{
    RTCPFeedback, RTCRtpCodec, RTCRtpCodecParameters, RTCRtpHeaderExtensionCapability, RtpCodecKind,
};
use sim::codec::EncoderConfig;
use std::net::SocketAddr;
use std::time::Instant;
use units::Seed;

/// The clock rate of video (RFC 7741 § 4.1).
pub(crate) const CLOCK_RATE: u32 = 90_000;

/// A payload type that browsers give VP8, from the dynamic range (RFC 3551 § 6); the answerer takes the offerer's.
const PAYLOAD_TYPE: u8 = 96;

/// An end of a call.
pub struct PeerConfig {
    /// Where its socket is bound: the only candidate.
    pub address: SocketAddr,
    /// Both halves of a controller: what this end sends with, and how it answers to what it receives. `cc::build` makes them of a profile.
    pub controllers: Controllers,
    /// What this end sends; nothing if left out.
    pub video: Option<EncoderConfig>,
    /// Of the frame sizes and the stream's numbers. `rtc` has random numbers of its own besides.
    pub seed: Seed,
}

/// VP8 without retransmission payload: `rtc` 0.21 gives packets of an RTX stream (RFC 4588) neither transport-wide numbers nor a place
/// in the history, so a controller would not know of them. Retransmitted as they were, they have both. As their extensions differ, AES-GCM would
/// use a nonce twice (RFC 7714 § 8.1); so the SRTP profile is the one of RFC 3711, which every browser has.
pub(crate) fn codec() -> RTCRtpCodec {
    RTCRtpCodec { mime_type: MIME_TYPE_VP8.to_owned(), clock_rate: CLOCK_RATE, ..Default::default() }
}

/// The connection of an end, and the controller if it sends.
pub(crate) fn connection(
    controllers: Controllers,
    sends: bool,
    now: Instant,
) -> Result<(RTCPeerConnection, Option<Controller>), Error> {
    let Controllers { sender, receiver, transport_feedback } = controllers;
    let mut media = MediaEngine::default();
    let codec = RTCRtpCodecParameters { rtp_codec: codec(), payload_type: PAYLOAD_TYPE };
    media.register_codec(codec, RtpCodecKind::Video).map_err(|error| Error::Rtc("VP8", error))?;
    feedback(&mut media, "ccm", "fir");
    let mut registry = configure_rtcp_reports(configure_nack(Registry::new(), &mut media));
    if transport_feedback {
        registry = configure_twcc(registry, &mut media)
            .map_err(|error| Error::Rtc("transport-wide feedback", error))?;
    }
    if let Some(receiver) = receiver {
        feedback(&mut media, "goog-remb", "");
        let uri = rtc::sdp::extmap::ABS_SEND_TIME_URI.to_owned();
        media
            .register_header_extension(RTCRtpHeaderExtensionCapability { uri }, RtpCodecKind::Video, None)
            .map_err(|error| Error::Rtc("the absolute send time", error))?;
        registry = registry.with(Slot::from(Remb::SLOT), Remb::new(receiver, now));
    }
    let controller = sends.then(|| Controller::new(sender, now));
    if let Some(controller) = &controller {
        registry = steered(registry, controller);
    }
    let settings = SettingEngineBuilder::new()
        .with_answering_dtls_role(RTCDtlsRole::Client)
        .with_srtp_protection_profiles(vec![SrtpProtectionProfile::Srtp_Aes128_Cm_Hmac_Sha1_80])
        .with_multicast_dns_mode(rtc::ice::mdns::MulticastDnsMode::Disabled)
        .build();
    let connection = RTCPeerConnectionBuilder::new()
        .with_setting_engine(settings)
        .with_media_engine(media)
        .with_interceptor_registry(registry)
        .build(now)
        .map_err(|error| Error::Rtc("the connection", error))?;
    Ok((connection, controller))
}

/// As `configure_congestion_control` does, with a pacer that lets single packets go: its own lets a tenth of a second's worth.
fn steered(registry: Registry, controller: &Controller) -> Registry {
    let pacer = PacerBuilder::new()
        .with_target_bitrate(controller.target_bitrate())
        .with_burst_bits(PACER_MIN_BURST_BITS)
        .build();
    registry
        .with(Slot::CongestionControl, CongestionControlBuilder::new(controller.clone()).build())
        .with(Slot::from(Reports::SLOT), Reports::new(controller.clone()))
        .with(Slot::Pacer, pacer)
}

fn feedback(media: &mut MediaEngine, typ: &str, parameter: &str) {
    let feedback = RTCPFeedback { typ: typ.to_owned(), parameter: parameter.to_owned() };
    media.register_feedback(feedback, RtpCodecKind::Video);
}
