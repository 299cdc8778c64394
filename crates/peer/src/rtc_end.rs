//! An end of a call on `rtc`.

use crate::audio::AudioPacket;
use crate::audio_reports::AudioReports;
use crate::counted::{Counted, Media};
use crate::peer::End;
use crate::rtc_audio::SendingAudio;
use crate::rtc_engine::{codec, connection, engine, extension, feedback};
use crate::sender::EXTENSIONS;
use crate::stats::{PAIR_MEMBERS, chosen};
use crate::video_alone::VideoAlone;
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

/// The clock rate of video (RFC 7741 § 4.1).
pub(crate) const CLOCK_RATE: u32 = 90_000;

/// The largest RTP packet, as in libwebrtc (`media/base/media_constants.h`: 1200 B), less the
/// extensions that the chain adds.
const MAX_PACKET: usize = 1_200 - EXTENSIONS;

/// A connection of `rtc`, and what it sends.
pub(crate) struct RtcEnd {
    connection: RTCPeerConnection,
    address: SocketAddr,
    controller: Controller,
    sends: Option<Sending>,
    sends_audio: Option<SendingAudio>,
    state: RTCPeerConnectionState,
    key_frame_requested: bool,
}

/// The stream that is sent.
struct Sending {
    sender: RTCRtpSenderId,
    ssrc: u32,
    /// Once the payload type is agreed on.
    packetizer: Option<Box<dyn Packetizer>>,
    last_timestamp: u64,
}

impl RtcEnd {
    pub(crate) fn new(
        address: SocketAddr,
        controllers: Controllers,
        ssrcs: Media<Option<u32>>,
        seed: Seed,
        counted: Media<Counted>,
        now: Instant,
    ) -> Result<Self, Error> {
        let controller = Controller::new(controllers.sender, now);
        let mut media = MediaEngine::default();
        let mut registry = engine(&mut media, controllers.transport_feedback)?;
        if controllers.receiver.is_some() {
            feedback(&mut media, "goog-remb", "");
            extension(&mut media, rtc::sdp::extmap::ABS_SEND_TIME_URI)?;
        }
        let Media { video: counted, audio: audio_counted } = counted;
        let clock = Clock::new(now);
        let receiver = MediaReceiver::counting(controllers.receiver, clock, seed, counted.clone());
        registry = registry
            .with(Slot::from(MediaReceiver::SLOT), receiver)
            .with(Slot::from(AudioReports::SLOT), AudioReports::new(clock, seed, audio_counted));
        if ssrcs.video.is_some() {
            let history = CongestionControlBuilder::new(controller.clone()).build();
            // The lower half of 64 random bits.
            let first = seed.stream("sequence").next_u64() as u16;
            registry = registry
                .with(Slot::CongestionControl, VideoAlone(history))
                .with(
                    Slot::from(Reports::SLOT),
                    Reports::counting(controller.clone(), seed, counted),
                )
                .with(Slot::Pacer, MediaSender::new(controller.clone(), first));
        }
        let mut connection = connection(media, registry, now)?;
        let sends = ssrcs.video.map(|ssrc| Sending::new(&mut connection, ssrc)).transpose()?;
        // The lower half of 64 random bits.
        let first = seed.stream("audio.sequence").next_u64() as u16;
        let audio = ssrcs.audio.map(|ssrc| SendingAudio::new(&mut connection, ssrc, first));
        let sends_audio = audio.transpose()?;
        let (state, key_frame_requested) = (RTCPeerConnectionState::New, false);
        Ok(Self { connection, address, controller, sends, sends_audio, state, key_frame_requested })
    }

    fn remote(
        &mut self,
        now: Instant,
        description: Result<RTCSessionDescription, rtc::shared::error::Error>,
        what: &'static str,
    ) -> Result<(), Error> {
        description
            .and_then(|description| self.connection.set_remote_description(now, description))
            .map_err(|error| Error::Rtc(what, error))
    }

    /// Sets the local description, and gives it with the candidate.
    fn describe(
        &mut self,
        now: Instant,
        description: RTCSessionDescription,
    ) -> Result<String, Error> {
        self.connection
            .set_local_description(now, description)
            .and_then(|()| self.add_own_candidate())
            .map_err(|error| Error::Rtc("this end's description", error))?;
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

    /// Events, requests for key frames, and media, which is counted in the chain.
    fn take_news(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            if let RTCPeerConnectionEvent::OnConnectionStateChangeEvent(state) = event {
                self.state = state;
            }
        }
        while let Some(TaggedRTCMessage { message, .. }) = self.connection.poll_read() {
            // Reports lets nothing else of RTCP through.
            self.key_frame_requested |= matches!(message, RTCMessage::RtcpPacket(..));
        }
    }
}

impl End for RtcEnd {
    fn offer(&mut self, now: Instant) -> Result<String, Error> {
        if self.sends.is_none() {
            self.connection
                .add_transceiver_from_kind(RtpCodecKind::Video, None)
                .map_err(|error| Error::Rtc("video to receive", error))?;
        }
        let offer =
            self.connection.create_offer(None).map_err(|error| Error::Rtc("an offer", error))?;
        self.describe(now, offer)
    }

    fn answer(&mut self, now: Instant, offer: String) -> Result<String, Error> {
        self.remote(now, RTCSessionDescription::offer(offer), "the other end's offer")?;
        let answer =
            self.connection.create_answer(None).map_err(|error| Error::Rtc("an answer", error))?;
        self.describe(now, answer)
    }

    fn accept(&mut self, now: Instant, answer: String) -> Result<(), Error> {
        self.remote(now, RTCSessionDescription::answer(answer), "the other end's answer")
    }

    fn add_candidate(&mut self, _now: Instant, candidate: String) -> Result<(), Error> {
        let candidate = RTCIceCandidateInit { candidate, ..Default::default() };
        self.connection
            .add_remote_candidate(candidate)
            .map_err(|error| Error::Rtc("the other end's candidate", error))
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
            .map_err(|error| Error::Rtc("a datagram", error))?;
        self.take_news();
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
        self.connection.handle_timeout(now).map_err(|error| Error::Rtc("a time-out", error))?;
        self.take_news();
        Ok(())
    }

    fn send(&mut self, now: Instant, frame: Frame, bytes: &Bytes) -> Result<(), Error> {
        match &mut self.sends {
            Some(sends) => sends.send(&mut self.connection, now, frame, bytes),
            None => Ok(()),
        }
    }

    fn send_audio(&mut self, now: Instant, packet: AudioPacket) -> Result<(), Error> {
        match &mut self.sends_audio {
            Some(sends) => sends.send(&mut self.connection, now, packet),
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
        self.sends.as_ref().map(|_| &self.controller)
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
        objects.map(|object| Ok(chosen(object?, PAIR_MEMBERS))).collect()
    }

    fn close(&mut self, _now: Instant) -> Result<(), Error> {
        self.connection.close().map_err(|error| Error::Rtc("the end of the call", error))
    }
}

impl Sending {
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
        let sender =
            connection.add_track(track).map_err(|error| Error::Rtc("video to send", error))?;
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
        // The remainder of 32 bits is meant: the timestamp wraps.
        packetizer.skip_samples(frame.rtp_timestamp.saturating_sub(self.last_timestamp) as u32);
        self.last_timestamp = frame.rtp_timestamp;
        let packets = packetizer
            .packetize(now, bytes, 0)
            .map_err(|error| Error::Rtc("a frame into packets", error))?;
        for packet in packets {
            sender
                .write_rtp(now, packet)
                .map_err(|error| Error::Rtc("a packet of video", error))?;
        }
        Ok(())
    }
}

/// Packets without numbers, which they get as they leave.
fn packetizer(now: Instant, payload_type: u8, ssrc: u32) -> Box<dyn Packetizer> {
    // A picture identifier tells libwebrtc's receiver of frames that it has lost (RFC 7741 § 4.2).
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
