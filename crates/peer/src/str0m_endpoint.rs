//! An endpoint of a call on `str0m`.

mod counts;

use crate::audio::AudioPacket;
use crate::clock::Clock;
use crate::config::Rates;
use crate::counters::{Counters, Media};
use crate::endpoint::Endpoint;
use crate::{Controller, Error};
use bytes::{Bytes, BytesMut};
use rtc::peer_connection::state::RTCPeerConnectionState;
use serde_json::{Map, Value, json};
use sim::codec::{AudioConfig, Frame};
use sim::wire;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;
use str0m::bwe::BweKind;
use str0m::change::{SdpAnswer, SdpOffer, SdpPendingOffer};
use str0m::format::Codec;
use str0m::media::{
    Direction, Frequency, KeyframeRequestKind, MediaData, MediaKind, MediaTime, Mid,
};
use str0m::net::{Protocol, Receive};
use str0m::rtp::Extension;
use str0m::stats::CandidatePairStats;
use str0m::{Candidate, Event, IceConnectionState, Input, Output, Rtc};
use units::{Bitrate, Time};

/// The interval of RTCP reports: 1 s as in libwebrtc (`modules/rtp_rtcp/source/rtcp_sender.cc`),
/// instead of the 5 s of `str0m`.
const REPORT_INTERVAL: std::time::Duration = std::time::Duration::from_secs(1);

/// The interval at which `str0m` reports statistics of the candidate pair.
const STATS_INTERVAL: std::time::Duration = std::time::Duration::from_millis(500);

/// An `Rtc`, and the state of what it sends.
pub(crate) struct Str0mEndpoint {
    rtc: Rtc,
    address: SocketAddr,
    clock: Clock,
    rates: Rates,
    estimate: Bitrate,
    counters: Media<Counters>,
    sends: bool,
    /// The rate of the audio that is sent, including headers.
    audio: Option<Bitrate>,
    mids: Media<Option<Mid>>,
    pending: Option<SdpPendingOffer>,
    transmits: VecDeque<(SocketAddr, BytesMut)>,
    timeout: Option<Instant>,
    state: RTCPeerConnectionState,
    key_frame_requested: bool,
    pair: Option<CandidatePairStats>,
    /// The middle 32 bits of the NTP timestamps of sender reports, and when they left; newest
    /// first.
    sender_reports: VecDeque<(u32, Time)>,
}

impl Str0mEndpoint {
    pub(crate) fn new(
        address: SocketAddr,
        rates: Rates,
        sends: bool,
        audio: Option<&AudioConfig>,
        counters: Media<Counters>,
        now: Instant,
    ) -> Result<Self, Error> {
        let mut rtc = Rtc::builder()
            .clear_codecs()
            .enable_vp8(true)
            .enable_opus(true, false)
            .enable_bwe(sends.then(|| bitrate(rates.start)))
            .set_rtcp_report_interval_video(REPORT_INTERVAL)
            // Streams without RTX count as audio in `str0m`.
            .set_rtcp_report_interval_audio(REPORT_INTERVAL)
            .set_stats_interval(Some(STATS_INTERVAL))
            .enable_raw_packets(true)
            .build(now);
        let candidate = Candidate::host(address, Protocol::Udp);
        rtc.add_local_candidate(
            candidate.map_err(|error| str0m_error("cannot add the local candidate", error))?,
        );
        rtc.bwe().set_bitrate(str0m::bwe::Bitrate::ZERO, bitrate(rates.max));
        let mut endpoint = Self {
            rtc,
            address,
            clock: Clock::new(now),
            rates,
            estimate: rates.start,
            counters,
            sends,
            audio: audio.map(|audio| {
                audio.rate + wire::AUDIO_HEADER.per(audio.interval).unwrap_or(Bitrate::ZERO)
            }),
            mids: Media::default(),
            pending: None,
            transmits: VecDeque::new(),
            timeout: None,
            state: RTCPeerConnectionState::New,
            key_frame_requested: false,
            pair: None,
            sender_reports: VecDeque::new(),
        };
        endpoint.input(now, Input::Timeout(now), "cannot start")?;
        Ok(endpoint)
    }

    fn input(&mut self, now: Instant, input: Input<'_>, action: &'static str) -> Result<(), Error> {
        self.rtc.handle_input(input).map_err(|error| str0m_error(action, error))?;
        self.drain(now)
    }

    /// Reads all output. `str0m` requires this between any two changes of its state.
    fn drain(&mut self, now: Instant) -> Result<(), Error> {
        loop {
            match self
                .rtc
                .poll_output()
                .map_err(|error| str0m_error("the connection failed", error))?
            {
                Output::Timeout(at) => {
                    self.timeout = Some(at).filter(|_| self.rtc.is_alive());
                    return Ok(());
                }
                Output::Transmit(transmit) => {
                    let datagram = BytesMut::from(&transmit.contents[..]);
                    self.transmits.push_back((transmit.destination, datagram));
                }
                Output::Event(event) => self.on_event(now, event)?,
            }
        }
    }

    fn on_event(&mut self, now: Instant, event: Event) -> Result<(), Error> {
        use RTCPeerConnectionState::{Closed, Connected, Connecting, Disconnected};
        match event {
            Event::Connected => self.state = Connected,
            Event::IceConnectionStateChange(IceConnectionState::Checking) => {
                self.state = Connecting;
            }
            Event::IceConnectionStateChange(IceConnectionState::Disconnected) => {
                self.state = Disconnected;
            }
            Event::IceConnectionStateChange(_) if self.state == Disconnected => {
                self.state = Connected;
            }
            Event::Closed => self.state = Closed,
            Event::MediaAdded(added) if added.kind.is_audio() => self.mids.audio = Some(added.mid),
            Event::MediaAdded(added) => self.mids.video = Some(added.mid),
            Event::MediaData(frame) if Some(frame.mid) == self.mids.video => {
                self.on_frame(now, &frame)?;
            }
            Event::KeyframeRequest(_) => self.key_frame_requested = true,
            Event::EgressBitrateEstimate(
                BweKind::Twcc { estimate, .. } | BweKind::Remb { estimate, .. },
            ) => {
                self.estimate =
                    Bitrate::from_bps(estimate.as_u64()).clamp(self.rates.min, self.rates.max);
            }
            Event::PeerStats(stats) => self.pair = stats.selected_candidate_pair,
            Event::RawPacket(packet) => self.on_packet(self.clock.time(now), &packet),
            _ => {}
        }
        Ok(())
    }

    /// Counts a complete frame, in order. Requests a key frame if the frame cannot be decoded.
    fn on_frame(&mut self, now: Instant, frame: &MediaData) -> Result<(), Error> {
        let mut streams = self.counters.video.streams();
        let Some(received) = &mut streams.received else { return Ok(()) };
        if received.frames.on_frame(self.clock.time(now), &frame.data, frame.contiguous) {
            return Ok(());
        }
        drop(streams);
        let kind = KeyframeRequestKind::Pli;
        match self.rtc.writer(frame.mid).filter(|writer| writer.is_request_keyframe_possible(kind))
        {
            Some(mut writer) => writer
                .request_keyframe(None, kind)
                .map_err(|error| str0m_error("cannot request a key frame", error)),
            None => Ok(()),
        }
    }
}

impl Endpoint for Str0mEndpoint {
    fn offer(&mut self, now: Instant) -> Result<String, Error> {
        let mut change = self.rtc.sdp_api();
        let direction = if self.sends { Direction::SendRecv } else { Direction::RecvOnly };
        let video = change.add_media(MediaKind::Video, direction, None, None, None);
        let audio = self
            .audio
            .map(|_| change.add_media(MediaKind::Audio, Direction::SendRecv, None, None, None));
        let (offer, pending) = change.apply().ok_or(Error::NoVp8)?;
        self.mids = Media { video: Some(video), audio };
        self.pending = Some(pending);
        self.drain(now)?;
        Ok(offer.to_sdp_string())
    }

    fn answer(&mut self, now: Instant, offer: String) -> Result<String, Error> {
        let action = "cannot apply the remote offer";
        let offer =
            SdpOffer::from_sdp_string(&offer).map_err(|error| str0m_error(action, error))?;
        let answer =
            self.rtc.sdp_api().accept_offer(offer).map_err(|error| str0m_error(action, error))?;
        self.drain(now)?;
        Ok(answer.to_sdp_string())
    }

    fn accept(&mut self, now: Instant, answer: String) -> Result<(), Error> {
        let action = "cannot apply the remote answer";
        let answer =
            SdpAnswer::from_sdp_string(&answer).map_err(|error| str0m_error(action, error))?;
        let pending = self.pending.take().ok_or(Error::NoOffer)?;
        self.rtc
            .sdp_api()
            .accept_answer(pending, answer)
            .map_err(|error| str0m_error(action, error))?;
        self.drain(now)
    }

    fn add_candidate(&mut self, now: Instant, candidate: String) -> Result<(), Error> {
        if candidate.is_empty() {
            return Ok(());
        }
        let candidate = Candidate::from_sdp_string(&candidate)
            .map_err(|error| str0m_error("cannot add the remote candidate", error))?;
        self.rtc.add_remote_candidate(candidate);
        self.drain(now)
    }

    fn receive(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) -> Result<(), Error> {
        // Datagrams that are neither STUN, DTLS, SRTP nor SRTCP are ignored (RFC 7983 § 7).
        let Ok(receive) = Receive::new(Protocol::Udp, from, self.address, datagram) else {
            return Ok(());
        };
        self.input(now, Input::Receive(now, receive), "cannot process a datagram")
    }

    fn poll_transmit(&mut self) -> Option<(SocketAddr, BytesMut)> {
        self.transmits.pop_front()
    }

    fn next_timeout(&mut self) -> Option<Instant> {
        self.timeout
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), Error> {
        self.input(now, Input::Timeout(now), "cannot process a timeout")
    }

    fn send(&mut self, now: Instant, frame: Frame, bytes: &Bytes) -> Result<(), Error> {
        let writer = self.mids.video.and_then(|mid| self.rtc.writer(mid)).ok_or(Error::NoVp8)?;
        let vp8 = writer.payload_params().find(|params| params.spec().codec == Codec::Vp8);
        let payload_type = vp8.ok_or(Error::NoVp8)?.pt();
        let time = MediaTime::from_90khz(frame.rtp_timestamp);
        writer
            .write(payload_type, now, time, &bytes[..])
            .map_err(|error| str0m_error("cannot send a frame", error))?;
        self.drain(now)
    }

    fn send_audio(&mut self, now: Instant, packet: AudioPacket) -> Result<(), Error> {
        let media = self.mids.audio.and_then(|mid| self.rtc.media(mid));
        let mid =
            media.filter(|media| media.direction().is_sending()).map(str0m::media::Media::mid);
        let Some(writer) = mid.and_then(|mid| self.rtc.writer(mid)) else { return Ok(()) };
        let opus = writer.payload_params().find(|params| params.spec().codec == Codec::Opus);
        let Some(payload_type) = opus.map(str0m::format::PayloadParams::pt) else { return Ok(()) };
        let time = MediaTime::new(packet.timestamp, Frequency::FORTY_EIGHT_KHZ);
        let written = writer.write(payload_type, now, time, &packet.payload[..]);
        written.map_err(|error| str0m_error("cannot send an audio packet", error))?;
        self.drain(now)
    }

    fn take_key_frame_request(&mut self) -> bool {
        std::mem::take(&mut self.key_frame_requested)
    }

    fn state(&self) -> RTCPeerConnectionState {
        self.state
    }

    fn target_rate(&self) -> Bitrate {
        let media = self.mids.audio.and_then(|mid| self.rtc.media(mid));
        // The estimate covers all streams with transport-wide sequence numbers.
        let is_counted = media.is_some_and(|media| {
            media.remote_extmap().id_of(Extension::TransportSequenceNumber).is_some()
        });
        let audio = self.audio.filter(|_| is_counted).unwrap_or(Bitrate::ZERO);
        self.estimate.saturating_sub(audio).max(self.rates.min)
    }

    fn controller(&self) -> Option<&Controller> {
        None
    }

    fn transport_stats(
        &mut self,
        _now: Instant,
    ) -> Result<Vec<Map<String, Value>>, serde_json::Error> {
        let Some(pair) = &self.pair else { return Ok(Vec::new()) };
        let candidate = |id, kind, address: SocketAddr| json!({ "id": id, "type": kind, "address": address.ip().to_string(), "port": address.port(), "protocol": "udp" });
        let mut chosen = json!({
            "id": "P", "type": "candidate-pair", "localCandidateId": "L", "remoteCandidateId": "R",
            "state": "succeeded", "nominated": true, "responsesReceived": pair.responses_received,
            "totalRoundTripTime": pair.total_round_trip_time.as_secs_f64(),
        });
        if let Some(rtt) = pair.current_round_trip_time {
            chosen["currentRoundTripTime"] = rtt.as_secs_f64().into();
        }
        let mut local = candidate("L", "local-candidate", pair.local.addr);
        local["candidateType"] = "host".into();
        let remote = candidate("R", "remote-candidate", pair.remote.addr);
        let objects = [chosen, local, remote].into_iter();
        Ok(objects
            .filter_map(
                |object| if let Value::Object(object) = object { Some(object) } else { None },
            )
            .collect())
    }

    fn close(&mut self, now: Instant) -> Result<(), Error> {
        self.rtc.close().map_err(|error| str0m_error("cannot close the connection", error))?;
        self.state = RTCPeerConnectionState::Closed;
        self.drain(now)
    }
}

fn str0m_error(
    action: &'static str,
    error: impl std::error::Error + Send + Sync + 'static,
) -> Error {
    Error::Str0m(action, Box::new(error))
}

fn bitrate(rate: Bitrate) -> str0m::bwe::Bitrate {
    str0m::bwe::Bitrate::bps(rate.as_bps())
}
