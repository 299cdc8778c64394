//! An endpoint of a call on `rtc`.

use crate::audio::AudioPacket;
use crate::audio_reports::AudioReports;
use crate::counters::{Counters, Media};
use crate::endpoint::Endpoint;
use crate::rtc_audio::SendingAudio;
use crate::rtc_engine::{codec, connection, engine, extension, feedback};
use crate::sender::EXTENSIONS;
use crate::stats::{PAIR_MEMBERS, with_members};
use crate::video_only::VideoOnly;
use crate::{Clock, Controller, Error, MediaReceiver, MediaSender, Reports};
use bytes::{Bytes, BytesMut};
use cc::Controllers;
use rtc::interceptor::CongestionControlBuilder;
use rtc::media_stream::MediaStreamTrack;
use rtc::peer_connection::RTCPeerConnection;
use rtc::peer_connection::configuration::interceptor_registry::Slot;
use rtc::peer_connection::configuration::media_engine::{MIME_TYPE_VP8, MediaEngine};
use rtc::peer_connection::event::RTCPeerConnectionEvent;
use rtc::peer_connection::message::{RTCMessage, TaggedRTCMessage};
use rtc::peer_connection::sdp::RTCSessionDescription;
use rtc::peer_connection::state::RTCPeerConnectionState;
use rtc::peer_connection::transport::{
    CandidateConfig, CandidateHostConfig, RTCIceCandidate, RTCIceCandidateInit,
};
use rtc::rtp::codec::vp8::Vp8Payloader;
use rtc::rtp::packetizer::{Packetizer, new_packetizer};
use rtc::rtp::sequence::new_fixed_sequencer;
use rtc::rtp_transceiver::RTCRtpSenderId;
use rtc::rtp_transceiver::rtp_sender::{
    RTCRtpCodingParameters, RTCRtpEncodingParameters, RtpCodecKind,
};
use rtc::sansio::Protocol;
use rtc::shared::{TaggedBytesMut, TransportContext, TransportProtocol};
use rtc::statistics::StatsSelector;
use serde_json::{Map, Value};
use sim::codec::Frame;
use std::net::SocketAddr;
use std::time::Instant;
use units::{Bitrate, Seed};

/// The RTP clock rate of video (RFC 7741 § 4.1).
pub(crate) const CLOCK_RATE: u32 = 90_000;

/// The size of the largest RTP packet, bytes: 1200 as in libwebrtc
/// (`media/base/media_constants.h`), minus the extensions that the chain adds.
const MAX_PACKET: usize = 1_200 - EXTENSIONS;

/// A connection of `rtc`, and the media that it sends.
pub(crate) struct RtcEndpoint {
    connection: RTCPeerConnection,
    address: SocketAddr,
    controller: Controller,
    video: Option<SendingVideo>,
    audio: Option<SendingAudio>,
    state: RTCPeerConnectionState,
    key_frame_requested: bool,
}

/// The stream of video that is sent.
struct SendingVideo {
    sender: RTCRtpSenderId,
    ssrc: u32,
    /// `None` before the first frame: it needs the negotiated payload type.
    packetizer: Option<Box<dyn Packetizer>>,
    last_timestamp: u64,
}

impl RtcEndpoint {
    pub(crate) fn new(
        address: SocketAddr,
        controllers: Controllers,
        ssrcs: Media<Option<u32>>,
        seed: Seed,
        counters: Media<Counters>,
        now: Instant,
    ) -> Result<Self, Error> {
        let controller = Controller::new(controllers.sender, now);
        let mut media = MediaEngine::default();
        let mut registry = engine(&mut media, controllers.transport_feedback)?;
        if controllers.receiver.is_some() {
            feedback(&mut media, "goog-remb", "");
            extension(&mut media, rtc::sdp::extmap::ABS_SEND_TIME_URI)?;
        }
        let Media { video: counters, audio: audio_counters } = counters;
        let clock = Clock::new(now);
        let receiver =
            MediaReceiver::with_counters(controllers.receiver, clock, seed, counters.clone());
        registry = registry
            .with(Slot::from(MediaReceiver::SLOT), receiver)
            .with(Slot::from(AudioReports::SLOT), AudioReports::new(clock, seed, audio_counters));
        if ssrcs.video.is_some() {
            let history = CongestionControlBuilder::new(controller.clone()).build();
            // The low 16 of 64 random bits.
            let first = seed.stream("sequence").next_u64() as u16;
            registry = registry
                .with(Slot::CongestionControl, VideoOnly(history))
                .with(
                    Slot::from(Reports::SLOT),
                    Reports::with_counters(controller.clone(), seed, counters),
                )
                .with(Slot::Pacer, MediaSender::new(controller.clone(), first));
        }
        let mut connection = connection(media, registry, now)?;
        let video = ssrcs.video.map(|ssrc| SendingVideo::new(&mut connection, ssrc)).transpose()?;
        // The low 16 of 64 random bits.
        let first = seed.stream("audio.sequence").next_u64() as u16;
        let audio =
            ssrcs.audio.map(|ssrc| SendingAudio::new(&mut connection, ssrc, first)).transpose()?;
        let (state, key_frame_requested) = (RTCPeerConnectionState::New, false);
        Ok(Self { connection, address, controller, video, audio, state, key_frame_requested })
    }

    fn set_remote_description(
        &mut self,
        now: Instant,
        description: Result<RTCSessionDescription, rtc::shared::error::Error>,
        action: &'static str,
    ) -> Result<(), Error> {
        description
            .and_then(|description| self.connection.set_remote_description(now, description))
            .map_err(|error| Error::Rtc(action, error))
    }

    /// Sets the local description, and returns it with the candidate.
    fn describe(
        &mut self,
        now: Instant,
        description: RTCSessionDescription,
    ) -> Result<String, Error> {
        self.connection
            .set_local_description(now, description)
            .and_then(|()| self.add_own_candidate())
            .map_err(|error| Error::Rtc("cannot set the local description", error))?;
        Ok(self
            .connection
            .local_description()
            .map(|description| description.sdp)
            .unwrap_or_default())
    }

    fn add_own_candidate(&mut self) -> Result<(), rtc::shared::error::Error> {
        let base_config = CandidateConfig {
            network: "udp".to_owned(),
            address: self.address.ip().to_string(),
            port: self.address.port(),
            component: 1,
            ..Default::default()
        };
        let candidate =
            CandidateHostConfig { base_config, ..Default::default() }.new_candidate_host()?;
        self.connection.add_local_candidate(RTCIceCandidate::from(&candidate).to_json()?)?;
        self.connection.add_local_candidate(RTCIceCandidateInit::default())
    }

    /// Reads the events and messages of the connection: state changes and requests for key frames.
    /// Media are counted in the chain.
    fn drain(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            if let RTCPeerConnectionEvent::OnConnectionStateChangeEvent(state) = event {
                self.state = state;
            }
        }
        while let Some(TaggedRTCMessage { message, .. }) = self.connection.poll_read() {
            // The only RTCP packets that `Reports` passes on are requests for key frames.
            self.key_frame_requested |= matches!(message, RTCMessage::RtcpPacket(..));
        }
    }
}

impl Endpoint for RtcEndpoint {
    fn offer(&mut self, now: Instant) -> Result<String, Error> {
        if self.video.is_none() {
            self.connection
                .add_transceiver_from_kind(RtpCodecKind::Video, None)
                .map_err(|error| Error::Rtc("cannot add video to receive", error))?;
        }
        let offer = self
            .connection
            .create_offer(None)
            .map_err(|error| Error::Rtc("cannot create an offer", error))?;
        self.describe(now, offer)
    }

    fn answer(&mut self, now: Instant, offer: String) -> Result<String, Error> {
        self.set_remote_description(
            now,
            RTCSessionDescription::offer(offer),
            "cannot apply the remote offer",
        )?;
        let answer = self
            .connection
            .create_answer(None)
            .map_err(|error| Error::Rtc("cannot create an answer", error))?;
        self.describe(now, answer)
    }

    fn accept(&mut self, now: Instant, answer: String) -> Result<(), Error> {
        self.set_remote_description(
            now,
            RTCSessionDescription::answer(answer),
            "cannot apply the remote answer",
        )
    }

    fn add_candidate(&mut self, _now: Instant, candidate: String) -> Result<(), Error> {
        let candidate = RTCIceCandidateInit { candidate, ..Default::default() };
        self.connection
            .add_remote_candidate(candidate)
            .map_err(|error| Error::Rtc("cannot add the remote candidate", error))
    }

    fn receive(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Result<(), Error> {
        let transport = TransportContext {
            local_addr: self.address,
            peer_addr: from,
            transport_protocol: TransportProtocol::UDP,
            ecn: None,
        };
        let message = BytesMut::from(datagram);
        self.connection
            .handle_read(TaggedBytesMut { now, transport, message })
            .map_err(|error| Error::Rtc("cannot process a datagram", error))?;
        self.drain();
        Ok(())
    }

    fn poll_transmit(&mut self) -> Option<(SocketAddr, BytesMut)> {
        let message = self.connection.poll_write()?;
        Some((message.transport.peer_addr, message.message))
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        self.connection.poll_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        self.connection
            .handle_timeout(now)
            .map_err(|error| Error::Rtc("cannot process a timeout", error))?;
        self.drain();
        Ok(())
    }

    fn send(&mut self, now: Instant, frame: Frame, bytes: &Bytes) -> Result<(), Error> {
        match &mut self.video {
            Some(stream) => stream.send(&mut self.connection, now, frame, bytes),
            None => Ok(()),
        }
    }

    fn send_audio(&mut self, now: Instant, packet: AudioPacket) -> Result<(), Error> {
        match &mut self.audio {
            Some(stream) => stream.send(&mut self.connection, now, packet),
            None => Ok(()),
        }
    }

    fn take_key_frame_request(&mut self) -> bool {
        std::mem::take(&mut self.key_frame_requested)
    }

    fn state(&self) -> RTCPeerConnectionState {
        self.state
    }

    fn target_rate(&self) -> Bitrate {
        self.controller.decision().target_rate
    }

    fn controller(&self) -> Option<&Controller> {
        self.video.as_ref().map(|_| &self.controller)
    }

    fn transport_stats(
        &mut self,
        now: Instant,
    ) -> Result<Vec<Map<String, Value>>, serde_json::Error> {
        use rtc::statistics::report::RTCStatsReportEntry::{
            IceCandidatePair, LocalCandidate, RemoteCandidate,
        };
        let report = self.connection.get_stats(now, StatsSelector::None);
        let objects = report.iter().filter_map(|entry| match entry {
            IceCandidatePair(pair) => Some(serde_json::to_value(pair)),
            LocalCandidate(candidate) | RemoteCandidate(candidate) => {
                Some(serde_json::to_value(candidate))
            }
            _ => None,
        });
        objects.map(|object| Ok(with_members(object?, PAIR_MEMBERS))).collect()
    }

    fn close(&mut self, _now: Instant) -> Result<(), Error> {
        self.connection.close().map_err(|error| Error::Rtc("cannot close the connection", error))
    }
}

impl SendingVideo {
    fn new(connection: &mut RTCPeerConnection, ssrc: u32) -> Result<Self, Error> {
        let encoding = RTCRtpEncodingParameters {
            rtp_coding_parameters: RTCRtpCodingParameters {
                ssrc: Some(ssrc),
                ..Default::default()
            },
            codec: codec(),
            active: true,
            ..Default::default()
        };
        let [stream, track, label] = ["weir", "video", "video"].map(str::to_owned);
        let track =
            MediaStreamTrack::new(stream, track, label, RtpCodecKind::Video, vec![encoding]);
        let sender = connection
            .add_track(track)
            .map_err(|error| Error::Rtc("cannot add video to send", error))?;
        Ok(Self { sender, ssrc, packetizer: None, last_timestamp: 0 })
    }

    fn send(
        &mut self,
        connection: &mut RTCPeerConnection,
        now: Instant,
        frame: Frame,
        bytes: &Bytes,
    ) -> Result<(), Error> {
        let mut sender = connection.rtp_sender(self.sender).ok_or(Error::NoVp8)?;
        let packetizer = match &mut self.packetizer {
            Some(packetizer) => packetizer,
            none => {
                let codecs = &sender.get_parameters().rtp_parameters.codecs;
                let codec = codecs
                    .iter()
                    .find(|codec| codec.rtp_codec.mime_type.eq_ignore_ascii_case(MIME_TYPE_VP8))
                    .ok_or(Error::NoVp8)?;
                none.insert(packetizer(now, codec.payload_type, self.ssrc))
            }
        };
        // The RTP timestamp wraps at 32 bits.
        packetizer.skip_samples(frame.rtp_timestamp.saturating_sub(self.last_timestamp) as u32);
        self.last_timestamp = frame.rtp_timestamp;
        let packets = packetizer
            .packetize(now, bytes, 0)
            .map_err(|error| Error::Rtc("cannot packetize a frame", error))?;
        for packet in packets {
            sender
                .write_rtp(now, packet)
                .map_err(|error| Error::Rtc("cannot send a video packet", error))?;
        }
        Ok(())
    }
}

/// A packetizer. Sequence numbers are set when packets leave.
fn packetizer(now: Instant, payload_type: u8, ssrc: u32) -> Box<dyn Packetizer> {
    // Picture identifiers let the receiver of libwebrtc detect lost frames (RFC 7741 § 4.2).
    let mut payloader = Vp8Payloader::default();
    payloader.enable_picture_id = true;
    let sequencer = Box::new(new_fixed_sequencer(0));
    Box::new(new_packetizer(
        now,
        MAX_PACKET,
        payload_type,
        ssrc,
        Box::new(payloader),
        sequencer,
        CLOCK_RATE,
    ))
}
