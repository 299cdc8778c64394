//! A call's end, sans-IO: datagrams, signals and times go in, datagrams, signals and the next
//! time-out come out.

use crate::audio::{Audio, AudioPacket};
use crate::clock::Clock;
use crate::config::{PeerConfig, Stack};
use crate::counted::{Counted, Media};
use crate::rtc_end::RtcEnd;
use crate::str0m_end::Str0mEnd;
use crate::video::Video;
use crate::{Controller, Error, stats};
use bytes::BytesMut;
use rtc::peer_connection::state::RTCPeerConnectionState;
use serde_json::{Map, Value};
use sim::ProtectionShare;
use sim::codec::Frame;
use std::net::SocketAddr;
use std::time::Instant;
use units::{Bitrate, Bytes, Time};

/// What the two ends of a call tell each other by way of the caller of this crate.
#[derive(Clone, PartialEq, Eq)]
pub enum Signal {
    /// An SDP offer (RFC 8829). A peer's own has its only candidate in it.
    Offer(String),
    /// An SDP answer.
    Answer(String),
    /// A candidate-attribute (RFC 8839 § 5.1) of the other end, after its description; empty after
    /// the last.
    Candidate(String),
}

/// What a WebRTC stack does for an end.
pub(crate) trait End: Send {
    fn offer(&mut self, now: Instant) -> Result<String, Error>;
    fn answer(&mut self, now: Instant, offer: String) -> Result<String, Error>;
    fn accept(&mut self, now: Instant, answer: String) -> Result<(), Error>;
    fn add_candidate(&mut self, now: Instant, candidate: String) -> Result<(), Error>;
    fn receive(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Result<(), Error>;
    fn poll_transmit(&mut self) -> Option<(SocketAddr, BytesMut)>;
    fn next_timeout(&mut self) -> Option<Instant>;
    fn handle_timeout(&mut self, now: Instant) -> Result<(), Error>;
    /// Sends a frame of video.
    fn send(&mut self, now: Instant, frame: Frame, bytes: &bytes::Bytes) -> Result<(), Error>;
    /// Sends a packet of audio, unless the other end takes none.
    fn send_audio(&mut self, now: Instant, packet: AudioPacket) -> Result<(), Error>;
    /// Whether the other end has asked for a key frame, once.
    fn take_key_frame_request(&mut self) -> bool;
    fn state(&self) -> RTCPeerConnectionState;
    /// The rate for the encoder.
    fn target_rate(&self) -> Bitrate;
    fn controller(&self) -> Option<&Controller>;
    /// The objects of the transport: candidate pairs, candidates.
    fn transport_stats(
        &mut self,
        now: Instant,
    ) -> Result<Vec<Map<String, Value>>, serde_json::Error>;
    fn close(&mut self, now: Instant) -> Result<(), Error>;
}

/// One end of a call.
///
/// The caller sends what [`Self::poll_transmit`] yields, until it yields nothing, after every other
/// call.
pub struct Peer {
    end: Box<dyn End>,
    clock: Clock,
    counted: Media<Counted>,
    /// What this end sends.
    video: Option<Video>,
    audio: Option<Audio>,
    protection: ProtectionShare,
}

impl Peer {
    /// An end at `now`, the zero of its controller's time.
    ///
    /// # Errors
    /// When the stack refuses the configuration.
    pub fn new(config: PeerConfig, now: Instant) -> Result<Self, Error> {
        let PeerConfig { address, stack, video, audio, seed } = config;
        let counted = Media::<Counted>::default();
        // The lower half of 64 random bits.
        let ssrc = |name: &str| seed.stream(name).next_u64() as u32;
        let ssrcs = Media {
            video: video.as_ref().map(|_| ssrc("ssrc")),
            audio: audio.as_ref().map(|_| ssrc("audio.ssrc")),
        };
        let end: Box<dyn End> = match stack {
            Stack::Rtc(controllers) => {
                Box::new(RtcEnd::new(address, controllers, ssrcs, seed, counted.clone(), now)?)
            }
            Stack::RtcGcc(rates) => {
                Box::new(RtcEnd::new(address, rates.gcc(now), ssrcs, seed, counted.clone(), now)?)
            }
            Stack::Str0m(rates) => {
                let sends = video.is_some();
                Box::new(Str0mEnd::new(
                    address,
                    rates,
                    sends,
                    audio.as_ref(),
                    counted.clone(),
                    now,
                )?)
            }
        };
        let start = end.target_rate();
        let video = video.map(|config| Video::new(config, seed.stream("video"), start));
        let audio = audio.map(|config| Audio::new(config, seed.stream("audio")));
        let (clock, protection) = (Clock::new(now), ProtectionShare::new(Time::ZERO));
        Ok(Self { end, clock, counted, video, audio, protection })
    }

    /// The offer of a call that this end makes.
    ///
    /// # Errors
    /// When a call is under way.
    pub fn offer(&mut self, now: Instant) -> Result<Signal, Error> {
        self.end.offer(now).map(Signal::Offer)
    }

    /// Takes what the other end says, and gives the reply that there is to an offer.
    ///
    /// # Errors
    /// When a description or a candidate is wrong or not its turn.
    pub fn signal(&mut self, now: Instant, signal: Signal) -> Result<Option<Signal>, Error> {
        match signal {
            Signal::Offer(sdp) => self.end.answer(now, sdp).map(|sdp| Some(Signal::Answer(sdp))),
            Signal::Answer(sdp) => self.end.accept(now, sdp).map(|()| None),
            Signal::Candidate(candidate) => self.end.add_candidate(now, candidate).map(|()| None),
        }
    }

    /// A datagram arrived.
    ///
    /// # Errors
    /// When the connection can't go on.
    pub fn receive(
        &mut self,
        now: Instant,
        from: SocketAddr,
        datagram: &[u8],
    ) -> Result<(), Error> {
        self.end.receive(now, from, datagram)
    }

    /// The next datagram to send, and where to.
    pub fn poll_transmit(&mut self) -> Option<(SocketAddr, BytesMut)> {
        self.end.poll_transmit()
    }

    /// When to call [`Self::handle_timeout`].
    pub fn next_timeout(&mut self) -> Option<Instant> {
        let frame = self.video.as_ref().map(Video::next_capture);
        let captures = self.audio.as_ref().map(Audio::next_capture).into_iter().chain(frame);
        let capture =
            captures.min().filter(|_| self.is_connected()).map(|at| self.clock.instant(at));
        self.end.next_timeout().into_iter().chain(capture).min()
    }

    /// The time that [`Self::next_timeout`] said has come, or any later.
    ///
    /// # Errors
    /// When the connection can't go on, or takes no VP8.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        self.end.handle_timeout(now)?;
        if !self.is_connected() {
            return Ok(());
        }
        let time = self.clock.time(now);
        if let Some(packet) = self.audio.as_mut().and_then(|audio| audio.advance(time)) {
            self.end.send_audio(now, packet)?;
        }
        let Some(video) = &mut self.video else { return Ok(()) };
        if self.end.take_key_frame_request() {
            video.request_key_frame();
        }
        if let Some(sent) = &self.counted.video.streams().sent {
            let [all, again] = [sent.bytes, sent.bytes_again].map(Bytes::new);
            self.protection.update(time, all - again, again);
        }
        let target = self.end.target_rate().scale(1.0 - self.protection.share());
        match video.advance(time, target) {
            Some((frame, bytes)) => self.end.send(now, frame, &bytes),
            None => Ok(()),
        }
    }

    /// W3C `RTCPeerConnectionState`.
    #[must_use]
    pub fn state(&self) -> RTCPeerConnectionState {
        self.end.state()
    }

    /// What the controller, or the stack's own estimator, allows the encoder.
    #[must_use]
    pub fn target_rate(&self) -> Bitrate {
        self.end.target_rate()
    }

    /// The controller of what this end sends, where it is one of `cc` or behind its interface.
    #[must_use]
    pub fn controller(&self) -> Option<&Controller> {
        self.end.controller()
    }

    /// The statistics objects by their `id` (W3C webrtc-stats): `outbound-rtp`,
    /// `remote-inbound-rtp`, `inbound-rtp`, `candidate-pair`, `transport`, `codec` and candidates,
    /// with the members that are known. `timestamp` says what time `now` is (`DOMHighResTimeStamp`:
    /// milliseconds since 1970).
    ///
    /// # Errors
    /// When one can't be written as JSON.
    pub fn stats(
        &mut self,
        now: Instant,
        timestamp: f64,
    ) -> Result<Map<String, Value>, serde_json::Error> {
        let transport = self.end.transport_stats(now)?;
        let sender = self.video.as_ref().map(|video| (video, self.end.target_rate()));
        let (video, audio) = (self.counted.video.streams(), self.counted.audio.streams());
        let clock = stats::At { now: self.clock.time(now), timestamp };
        Ok(stats::objects(&Media { video: &*video, audio: &*audio }, sender, transport, clock))
    }

    /// Ends the call.
    ///
    /// # Errors
    /// When the stack can't take leave.
    pub fn close(&mut self, now: Instant) -> Result<(), Error> {
        self.end.close(now)
    }

    fn is_connected(&self) -> bool {
        self.state() == RTCPeerConnectionState::Connected
    }
}
