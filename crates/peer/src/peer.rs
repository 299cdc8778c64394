//! One endpoint of a call, sans-IO: datagrams, signals and times go in; datagrams, signals and the
//! next timeout come out.

use crate::audio::Audio;
use crate::clock::Clock;
use crate::config::{PeerConfig, Stack};
use crate::counters::{Counters, Media};
use crate::endpoint::Endpoint;
use crate::rtc_endpoint::RtcEndpoint;
use crate::str0m_endpoint::Str0mEndpoint;
use crate::video::Video;
use crate::{Controller, Error, stats};
use bytes::BytesMut;
use cc::Allocation;
use rtc::peer_connection::state::RTCPeerConnectionState;
use serde_json::{Map, Value};
use sim::ProtectionShare;
use sim::codec::EncoderConfig;
use std::net::SocketAddr;
use std::time::Instant;
use units::{Bitrate, Bytes, Time};

/// A signalling message between the two endpoints of a call. The caller of this crate transports
/// it.
#[derive(Clone, PartialEq, Eq)]
pub enum Signal {
    /// An SDP offer (RFC 8829). The offer of a [`Peer`] contains its only candidate.
    Offer(String),
    /// An SDP answer.
    Answer(String),
    /// An ICE candidate attribute (RFC 8839 § 5.1) of the remote endpoint, sent after its
    /// description; empty after the last one.
    Candidate(String),
}

/// One endpoint of a call.
///
/// After every other call, send the datagrams of [`Self::poll_transmit`] until it returns `None`.
pub struct Peer {
    endpoint: Box<dyn Endpoint>,
    clock: Clock,
    counters: Media<Counters>,
    /// The video that this endpoint sends.
    video: Option<Video>,
    audio: Option<Audio>,
    protection: ProtectionShare,
}

impl Peer {
    /// Makes an endpoint. `now` is the zero of its controller's time.
    ///
    /// # Errors
    /// If the stack refuses the configuration.
    pub fn new(config: PeerConfig, now: Instant) -> Result<Self, Error> {
        let PeerConfig { address, stack, video, audio, seed } = config;
        let counters = Media::<Counters>::default();
        // The low 32 of 64 random bits.
        let ssrc = |name: &str| seed.stream(name).next_u64() as u32;
        let ssrcs = Media {
            video: video.as_ref().map(|_| ssrc("ssrc")),
            audio: audio.as_ref().map(|_| ssrc("audio.ssrc")),
        };
        let endpoint: Box<dyn Endpoint> = match stack {
            Stack::Rtc(controllers) => Box::new(RtcEndpoint::new(
                address,
                controllers,
                ssrcs,
                seed,
                counters.clone(),
                now,
            )?),
            Stack::RtcGcc(rates) => Box::new(RtcEndpoint::new(
                address,
                rates.gcc(now),
                ssrcs,
                seed,
                counters.clone(),
                now,
            )?),
            Stack::Str0m(rates) => {
                let sends = video.is_some();
                Box::new(Str0mEndpoint::new(
                    address,
                    rates,
                    sends,
                    audio.as_ref(),
                    counters.clone(),
                    now,
                )?)
            }
        };
        if let (Some(config), Some(controller)) = (&video, endpoint.controller()) {
            let EncoderConfig { min_rate, max_rate, .. } = *config;
            controller.on_allocation(now, Allocation { min_rate, max_rate });
        }
        let start = endpoint.target_rate();
        let video = video.map(|config| Video::new(config, seed.stream("video"), start));
        let audio = audio.map(|config| Audio::new(config, seed.stream("audio")));
        let (clock, protection) = (Clock::new(now), ProtectionShare::new(Time::ZERO));
        Ok(Self { endpoint, clock, counters, video, audio, protection })
    }

    /// The offer of a call that this endpoint starts.
    ///
    /// # Errors
    /// If a call is in progress.
    pub fn offer(&mut self, now: Instant) -> Result<Signal, Error> {
        self.endpoint.offer(now).map(Signal::Offer)
    }

    /// Processes a signal of the remote endpoint. Returns the answer to an offer.
    ///
    /// # Errors
    /// If a description or a candidate is invalid or arrives at the wrong time.
    pub fn signal(&mut self, now: Instant, signal: Signal) -> Result<Option<Signal>, Error> {
        match signal {
            Signal::Offer(sdp) => {
                self.endpoint.answer(now, sdp).map(|sdp| Some(Signal::Answer(sdp)))
            }
            Signal::Answer(sdp) => self.endpoint.accept(now, sdp).map(|()| None),
            Signal::Candidate(candidate) => {
                self.endpoint.add_candidate(now, candidate).map(|()| None)
            }
        }
    }

    /// Processes a datagram.
    ///
    /// # Errors
    /// If the connection cannot go on.
    pub fn receive(
        &mut self,
        now: Instant,
        from: SocketAddr,
        datagram: &[u8],
    ) -> Result<(), Error> {
        self.endpoint.receive(now, from, datagram)
    }

    /// The next datagram to send, and its destination.
    pub fn poll_transmit(&mut self) -> Option<(SocketAddr, BytesMut)> {
        self.endpoint.poll_transmit()
    }

    /// The time at which [`Self::handle_timeout`] must be called.
    pub fn next_timeout(&mut self) -> Option<Instant> {
        let frame = self.video.as_ref().map(Video::next_capture);
        let captures = self.audio.as_ref().map(Audio::next_capture).into_iter().chain(frame);
        let capture =
            captures.min().filter(|_| self.is_connected()).map(|at| self.clock.instant(at));
        self.endpoint.next_timeout().into_iter().chain(capture).min()
    }

    /// Call this at the time of [`Self::next_timeout`] or later.
    ///
    /// # Errors
    /// If the connection cannot go on, or does not accept VP8.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        self.endpoint.handle_timeout(now)?;
        if !self.is_connected() {
            return Ok(());
        }
        let time = self.clock.time(now);
        if let Some(packet) = self.audio.as_mut().and_then(|audio| audio.advance(time)) {
            self.endpoint.send_audio(now, packet)?;
        }
        let Some(video) = &mut self.video else { return Ok(()) };
        if self.endpoint.take_key_frame_request() {
            video.request_key_frame();
        }
        if let Some(sent) = &self.counters.video.streams().sent {
            let [all, retransmitted] = [sent.bytes, sent.retransmitted_bytes].map(Bytes::new);
            self.protection.update(time, all - retransmitted, retransmitted);
        }
        let target = self.endpoint.target_rate().scale(1.0 - self.protection.share());
        match video.advance(time, target, self.endpoint.frame_reduction()) {
            Some((frame, bytes)) => self.endpoint.send(now, frame, &bytes),
            None => Ok(()),
        }
    }

    /// The state of the connection, as in W3C WebRTC.
    #[must_use]
    pub fn state(&self) -> RTCPeerConnectionState {
        self.endpoint.state()
    }

    /// The target rate of the encoder, from the controller or from the estimator of the stack.
    #[must_use]
    pub fn target_rate(&self) -> Bitrate {
        self.endpoint.target_rate()
    }

    /// The controller of the video that this endpoint sends; `None` on `str0m` and without video to
    /// send.
    #[must_use]
    pub fn controller(&self) -> Option<&Controller> {
        self.endpoint.controller()
    }

    /// The statistics objects by their `id` (W3C webrtc-stats): `outbound-rtp`,
    /// `remote-inbound-rtp`, `inbound-rtp`, `candidate-pair`, `transport`, `codec` and candidates,
    /// with the members that are known. `timestamp` is the time of `now` as a
    /// `DOMHighResTimeStamp`: milliseconds since 1970.
    ///
    /// # Errors
    /// If an object cannot be written as JSON.
    pub fn stats(
        &mut self,
        now: Instant,
        timestamp: f64,
    ) -> Result<Map<String, Value>, serde_json::Error> {
        let transport = self.endpoint.transport_stats(now)?;
        let sender = self.video.as_ref().map(|video| (video, self.endpoint.target_rate()));
        let (video, audio) = (self.counters.video.streams(), self.counters.audio.streams());
        let clock = stats::SampleTime { now: self.clock.time(now), timestamp };
        Ok(stats::objects(&Media { video: &*video, audio: &*audio }, sender, transport, clock))
    }

    /// Ends the call.
    ///
    /// # Errors
    /// If the stack cannot close the connection.
    pub fn close(&mut self, now: Instant) -> Result<(), Error> {
        self.endpoint.close(now)
    }

    fn is_connected(&self) -> bool {
        self.state() == RTCPeerConnectionState::Connected
    }
}
