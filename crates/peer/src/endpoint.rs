use crate::audio::AudioPacket;
use crate::{Controller, Error};
use bytes::BytesMut;
use rtc::peer_connection::state::RTCPeerConnectionState;
use serde_json::{Map, Value};
use sim::codec::Frame;
use std::net::SocketAddr;
use std::time::Instant;
use units::Bitrate;

/// An endpoint of a call, implemented by each WebRTC stack.
pub(crate) trait Endpoint: Send {
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
    /// Sends a packet of audio, unless the remote endpoint does not accept audio.
    fn send_audio(&mut self, now: Instant, packet: AudioPacket) -> Result<(), Error>;
    /// Whether the remote endpoint has requested a key frame since the last call.
    fn take_key_frame_request(&mut self) -> bool;
    fn state(&self) -> RTCPeerConnectionState;
    /// The target rate of the encoder.
    fn target_rate(&self) -> Bitrate;
    /// The share of the frames that the encoder should drop.
    fn frame_reduction(&self) -> f64 {
        self.controller().map_or(0.0, Controller::frame_reduction)
    }
    fn controller(&self) -> Option<&Controller>;
    /// The statistics objects of the transport: candidate pairs and candidates.
    fn transport_stats(
        &mut self,
        now: Instant,
    ) -> Result<Vec<Map<String, Value>>, serde_json::Error>;
    fn close(&mut self, now: Instant) -> Result<(), Error>;
}
