//! The audio that is sent: Opus packets with the sizes of the audio model.

use crate::video::MAX_LATENESS;
use bytes::{BufMut, Bytes, BytesMut};
use sim::codec::{AudioCodec, AudioConfig, AudioSource};
use units::{Stream, Time};

/// The RTP clock rate of Opus (RFC 7587 § 4.1).
pub(crate) const CLOCK_RATE: u32 = 48_000;

/// A silent Opus frame: 20 ms of CELT, full band, mono (RFC 6716 § 3.1: configuration 31, code 0),
/// whose first bits signal silence (§ 4.3). No decoder reads the bytes that follow.
const SILENCE: [u8; 3] = [0xf8, 0xff, 0xfe];

/// The longest frame without its first byte, bytes (RFC 6716 § 3.2.1).
const MAX_FRAME: usize = 1_275;

/// The payload and the timestamp of one packet.
pub(crate) struct AudioPacket {
    /// The RTP timestamp, in ticks of [`CLOCK_RATE`].
    pub(crate) timestamp: u64,
    pub(crate) payload: Bytes,
}

/// A microphone and its encoder.
pub(crate) struct Audio(AudioSource);

impl Audio {
    /// The sizes and times of the model are sent as Opus, whatever the codec of the model is.
    pub(crate) fn new(mut config: AudioConfig, random: Stream) -> Self {
        config.codec = AudioCodec::Opus;
        Self(AudioSource::new(config, random))
    }

    /// The time at which the next packet is captured.
    pub(crate) fn next_capture(&self) -> Time {
        self.0.next_capture()
    }

    /// The packet that is due, if there is one.
    pub(crate) fn advance(&mut self, now: Time) -> Option<AudioPacket> {
        let due = self.0.next_capture();
        if due > now {
            return None;
        }
        let frame = self.0.capture(due.max(now.saturating_sub(MAX_LATENESS)));
        let size = usize::try_from(frame.size.get()).unwrap_or(usize::MAX).clamp(1, 1 + MAX_FRAME);
        let mut payload = BytesMut::with_capacity(size);
        payload.extend_from_slice(&SILENCE[..size.min(SILENCE.len())]);
        payload.put_bytes(0, size - payload.len());
        Some(AudioPacket { timestamp: frame.rtp_timestamp, payload: payload.freeze() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn packets_are_opus_with_the_sizes_of_the_model_every_20_ms() {
        let mut model = AudioSource::new(AudioConfig::opus(), Seed(1).stream("audio"));
        let mut audio = Audio::new(AudioConfig::opus(), Seed(1).stream("audio"));
        for packet in 0..50 {
            let now = Time::from_millis(20 * packet);
            let (sent, expected) = (audio.advance(now).unwrap(), model.capture(now));
            assert_eq!(
                (sent.payload.len() as u64, sent.timestamp),
                (expected.size.get(), 960 * packet)
            );
            assert_eq!(
                (sent.payload[0] >> 3, sent.payload[0] & 7),
                (31, 0),
                "20 ms, mono, one frame"
            );
            assert!(audio.advance(now + units::Duration::from_millis(19)).is_none());
        }
    }
}
