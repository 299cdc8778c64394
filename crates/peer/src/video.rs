//! What is sent: frames of the codec model's sizes, as VP8 in RTP packets.

use crate::clock::Clock;
use crate::config::CLOCK_RATE;
use crate::{Controller, Error, Vp8Frames};
use rtc::peer_connection::RTCPeerConnection;
use rtc::peer_connection::configuration::media_engine::MIME_TYPE_VP8;
use rtc::rtp::codec::vp8::Vp8Payloader;
use rtc::rtp::packetizer::{Packetizer, new_packetizer};
use rtc::rtp::sequence::new_random_sequencer;
use rtc::rtp_transceiver::RTCRtpSenderId;
use sim::codec::{Encoder, Frame};
use std::time::Instant;
use units::Duration;

/// The largest RTP packet, as in libwebrtc (`media/base/media_constants.h`: 1200 B), less the extensions that the chain adds: the transport-wide
/// sequence number or the absolute send time, 8 bytes with the header of extensions (RFC 8285 § 4.2).
const MAX_PACKET: usize = 1_200 - 8;

/// A frame is captured when it was due, so that late wake-ups do not add up; what is later than this is not caught up with.
const LATEST: Duration = Duration::from_millis(100);

/// A video stream that is sent.
pub(crate) struct Video {
    encoder: Encoder,
    frames: Vp8Frames,
    sender: RTCRtpSenderId,
    ssrc: u32,
    packetizer: Option<Box<dyn Packetizer>>,
    sent: Sent,
}

/// Of frames, as `RTCOutboundRtpStreamStats` counts them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) frames: u64,
    pub(crate) key_frames: u64,
    pub(crate) last: Option<Frame>,
}

impl Video {
    pub(crate) fn new(encoder: Encoder, sender: RTCRtpSenderId, ssrc: u32) -> Self {
        let (width, height) = encoder.resolution();
        let frames = Vp8Frames::new(width, height);
        Self { encoder, frames, sender, ssrc, packetizer: None, sent: Sent::default() }
    }

    pub(crate) fn sent(&self) -> Sent {
        self.sent
    }

    pub(crate) fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    pub(crate) fn request_key_frame(&mut self) {
        self.encoder.request_key_frame();
    }

    /// Captures, encodes and hands over what is due.
    pub(crate) fn advance(
        &mut self,
        now: Instant,
        controller: &Controller,
        connection: &mut RTCPeerConnection,
    ) -> Result<(), Error> {
        let time = controller.clock().time(now);
        self.encoder.set_target(time, controller.decision().target_rate);
        let due = self.encoder.next_capture();
        if due > time {
            return Ok(());
        }
        match self.encoder.capture(due.max(time.saturating_sub(LATEST))) {
            Some(frame) => self.send(now, frame, connection),
            None => Ok(()),
        }
    }

    /// When the next frame is captured.
    pub(crate) fn next_timeout(&self, clock: Clock) -> Instant {
        clock.instant(self.encoder.next_capture())
    }

    fn send(&mut self, now: Instant, frame: Frame, connection: &mut RTCPeerConnection) -> Result<(), Error> {
        if self.frames.resolution() != (frame.width, frame.height) {
            self.frames = Vp8Frames::new(frame.width, frame.height);
        }
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
        let elapsed = self.sent.last.map_or(0, |last| frame.rtp_timestamp.saturating_sub(last.rtp_timestamp));
        // The remainder of 32 bits is meant: the timestamp wraps.
        packetizer.skip_samples(elapsed as u32);
        let size = usize::try_from(frame.size.get()).unwrap_or(usize::MAX);
        let packets = packetizer
            .packetize(now, &self.frames.frame(frame.key, size), 0)
            .map_err(|error| Error::Rtc("a frame into packets", error))?;
        for packet in packets {
            sender.write_rtp(now, packet).map_err(|error| Error::Rtc("a packet of video", error))?;
        }
        self.sent.frames += 1;
        self.sent.key_frames += u64::from(frame.key);
        self.sent.last = Some(frame);
        Ok(())
    }
}

fn packetizer(now: Instant, payload_type: u8, ssrc: u32) -> Box<dyn Packetizer> {
    // A picture identifier tells libwebrtc's receiver of frames that it has lost (RFC 7741 § 4.2).
    let mut payloader = Vp8Payloader::default();
    payloader.enable_picture_id = true;
    let sequencer = Box::new(new_random_sequencer());
    Box::new(new_packetizer(now, MAX_PACKET, payload_type, ssrc, Box::new(payloader), sequencer, CLOCK_RATE))
}
