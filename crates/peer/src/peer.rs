//! A call's end, sans-IO: datagrams, signals and times go in, datagrams, signals and the next time-out come out.

use crate::config::{PeerConfig, codec, connection};
use crate::video::Video;
use crate::{Controller, Error, stats};
use bytes::BytesMut;
use rtc::media_stream::MediaStreamTrack;
use rtc::peer_connection::RTCPeerConnection;
use rtc::peer_connection::event::RTCPeerConnectionEvent;
use rtc::peer_connection::message::{RTCMessage, TaggedRTCMessage};
use rtc::peer_connection::sdp::RTCSessionDescription;
use rtc::peer_connection::state::RTCPeerConnectionState;
use rtc::peer_connection::transport::{
    CandidateConfig, CandidateHostConfig, RTCIceCandidate, RTCIceCandidateInit,
};
use rtc::rtp_transceiver::RTCRtpSenderId;
use rtc::rtp_transceiver::rtp_sender::{RTCRtpCodingParameters, RTCRtpEncodingParameters, RtpCodecKind};
use rtc::sansio::Protocol;
use rtc::shared::{TaggedBytesMut, TransportContext, TransportProtocol};
use rtc::statistics::StatsSelector;
use serde_json::{Map, Value};
use sim::codec::Encoder;
use std::net::SocketAddr;
use std::time::Instant;

/// What the two ends of a call tell each other by way of the caller of this crate.
#[derive(Clone, PartialEq, Eq)]
pub enum Signal {
    /// An SDP offer (RFC 8829). A peer's own has its only candidate in it.
    Offer(String),
    /// An SDP answer.
    Answer(String),
    /// A candidate-attribute (RFC 8839 § 5.1) of the other end, after its description; empty after the last.
    Candidate(String),
}

/// One end of a call.
///
/// The caller sends what [`Self::poll_transmit`] yields, until it yields nothing, after every other call.
pub struct Peer {
    connection: RTCPeerConnection,
    address: SocketAddr,
    /// Of what this end sends.
    video: Option<(Controller, Video)>,
    state: RTCPeerConnectionState,
}

impl Peer {
    /// An end at `now`, the zero of its controller's time.
    ///
    /// # Errors
    /// When `rtc` refuses the configuration.
    pub fn new(config: PeerConfig, now: Instant) -> Result<Self, Error> {
        let (mut connection, controller) = connection(config.controllers, config.video.is_some(), now)?;
        let video = match (config.video, controller) {
            (Some(video), Some(controller)) => {
                // The lower half of 64 random bits.
                let ssrc = config.seed.stream("ssrc").next_u64() as u32;
                let sender = add_track(&mut connection, ssrc)?;
                let start = controller.decision().target_rate;
                let encoder = Encoder::new(video, config.seed.stream("video"), start);
                Some((controller, Video::new(encoder, sender, ssrc)))
            }
            _ => None,
        };
        Ok(Self { connection, address: config.address, video, state: RTCPeerConnectionState::New })
    }

    /// The offer of a call that this end makes.
    ///
    /// # Errors
    /// When a call is under way.
    pub fn offer(&mut self, now: Instant) -> Result<Signal, Error> {
        if self.video.is_none() {
            self.connection
                .add_transceiver_from_kind(RtpCodecKind::Video, None)
                .map_err(|error| Error::Rtc("video to receive", error))?;
        }
        let offer = self.connection.create_offer(None).map_err(|error| Error::Rtc("an offer", error))?;
        self.describe(now, offer).map(Signal::Offer)
    }

    /// Takes what the other end says, and gives the reply that there is to an offer.
    ///
    /// # Errors
    /// When a description or a candidate is wrong or not its turn.
    pub fn signal(&mut self, now: Instant, signal: Signal) -> Result<Option<Signal>, Error> {
        match signal {
            Signal::Offer(sdp) => {
                let offer = RTCSessionDescription::offer(sdp);
                self.remote(now, offer, "the other end's offer")?;
                let answer =
                    self.connection.create_answer(None).map_err(|error| Error::Rtc("an answer", error))?;
                self.describe(now, answer).map(|sdp| Some(Signal::Answer(sdp)))
            }
            Signal::Answer(sdp) => {
                self.remote(now, RTCSessionDescription::answer(sdp), "the other end's answer")?;
                Ok(None)
            }
            Signal::Candidate(candidate) => {
                let candidate = RTCIceCandidateInit { candidate, ..Default::default() };
                self.connection
                    .add_remote_candidate(candidate)
                    .map_err(|error| Error::Rtc("the other end's candidate", error))?;
                Ok(None)
            }
        }
    }

    /// A datagram arrived.
    ///
    /// # Errors
    /// When the connection can't go on.
    pub fn receive(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Result<(), Error> {
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

    /// The next datagram to send, and where to.
    pub fn poll_transmit(&mut self) -> Option<(SocketAddr, BytesMut)> {
        let message = self.connection.poll_write()?;
        Some((message.transport.peer_addr, message.message))
    }

    /// When to call [`Self::handle_timeout`].
    pub fn next_timeout(&mut self) -> Option<Instant> {
        let connection = self.connection.poll_timeout();
        let frame = self
            .video
            .as_ref()
            .filter(|_| self.state == RTCPeerConnectionState::Connected)
            .map(|(controller, video)| video.next_timeout(controller.clock()));
        connection.into_iter().chain(frame).min()
    }

    /// The time that [`Self::next_timeout`] said has come, or any later.
    ///
    /// # Errors
    /// When the connection can't go on, or takes no VP8.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        if let Some((controller, video)) = &mut self.video
            && self.state == RTCPeerConnectionState::Connected
        {
            video.advance(now, controller, &mut self.connection)?;
        }
        self.connection.handle_timeout(now).map_err(|error| Error::Rtc("a time-out", error))?;
        self.take_news();
        Ok(())
    }

    /// W3C `RTCPeerConnectionState`.
    #[must_use]
    pub const fn state(&self) -> RTCPeerConnectionState {
        self.state
    }

    /// The controller of what this end sends.
    #[must_use]
    pub fn controller(&self) -> Option<&Controller> {
        self.video.as_ref().map(|(controller, _)| controller)
    }

    /// The statistics objects by their `id`, as of W3C webrtc-stats: `outbound-rtp`, `remote-inbound-rtp`, `inbound-rtp` and `candidate-pair`,
    /// with the members that are known.
    ///
    /// # Errors
    /// When one can't be written as JSON.
    pub fn stats(&mut self, now: Instant) -> Result<Map<String, Value>, serde_json::Error> {
        let report = self.connection.get_stats(now, StatsSelector::None);
        stats::objects(&report, self.video.as_ref())
    }

    /// Ends the call.
    ///
    /// # Errors
    /// When `rtc` can't take leave.
    pub fn close(&mut self) -> Result<(), Error> {
        self.connection.close().map_err(|error| Error::Rtc("the end of the call", error))
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
    fn describe(&mut self, now: Instant, description: RTCSessionDescription) -> Result<String, Error> {
        self.connection
            .set_local_description(now, description)
            .and_then(|()| self.add_candidate())
            .map_err(|error| Error::Rtc("this end's description", error))?;
        Ok(self.connection.local_description().map(|description| description.sdp).unwrap_or_default())
    }

    fn add_candidate(&mut self) -> Result<(), rtc::shared::error::Error> {
        let base_config = CandidateConfig {
            network: "udp".to_owned(),
            address: self.address.ip().to_string(),
            port: self.address.port(),
            component: 1,
            ..Default::default()
        };
        let candidate = CandidateHostConfig { base_config, ..Default::default() }.new_candidate_host()?;
        self.connection.add_local_candidate(RTCIceCandidate::from(&candidate).to_json()?)?;
        self.connection.add_local_candidate(RTCIceCandidateInit::default())
    }

    /// Events, requests for key frames, and media, of which only `rtc`'s statistics are wanted.
    fn take_news(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            if let RTCPeerConnectionEvent::OnConnectionStateChangeEvent(state) = event {
                self.state = state;
            }
        }
        while let Some(TaggedRTCMessage { message, .. }) = self.connection.poll_read() {
            // Reports lets nothing else of RTCP through.
            if let (RTCMessage::RtcpPacket(..), Some((_, video))) = (message, &mut self.video) {
                video.request_key_frame();
            }
        }
    }
}

fn add_track(connection: &mut RTCPeerConnection, ssrc: u32) -> Result<RTCRtpSenderId, Error> {
    let encoding = RTCRtpEncodingParameters {
        rtp_coding_parameters: RTCRtpCodingParameters { ssrc: Some(ssrc), ..Default::default() },
        codec: codec(),
        active: true,
        ..Default::default()
    };
    let [stream, track, label] = ["weir", "video", "video"].map(str::to_owned);
    let track = MediaStreamTrack::new(stream, track, label, RtpCodecKind::Video, vec![encoding]);
    connection.add_track(track).map_err(|error| Error::Rtc("video to send", error))
}
