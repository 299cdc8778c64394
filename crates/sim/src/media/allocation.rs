//! Division of a bandwidth estimate between the audio and the video of a call (libwebrtc
//! `call/bitrate_allocator.cc`, for one audio and one video).

use super::packetizer::MAX_PACKET;
use crate::codec::EncoderConfig;
use crate::scenario::{CallConfig, Estimate, VideoConfig};
use crate::wire;
use units::{Bitrate, Bytes, Duration};

/// Video is allocated up to this multiple of its maximum rate, if the network has it (libwebrtc
/// `call/bitrate_allocator.cc`, `kTransmissionMaxBitrateMultiplier`).
const MAX_RATE_MULTIPLIER: u64 = 2;

/// The shares of audio and video.
pub(super) struct Allocation {
    /// The rate that audio gets first, headers included.
    audio: Bitrate,
    /// The maximum rate of video, headers included. `None` if the estimate covers the RTP packets
    /// of the video only.
    video: Option<Bitrate>,
    /// The rates that the encoder can use.
    encoder: cc::Allocation,
}

impl Allocation {
    pub(super) fn new(call: &CallConfig, video: &VideoConfig) -> Self {
        let VideoConfig { encoder: EncoderConfig { min_rate, max_rate, .. }, .. } = *video;
        let encoder = cc::Allocation { min_rate, max_rate };
        if video.estimate == Estimate::Video {
            return Self { audio: Bitrate::ZERO, video: None, encoder };
        }
        let audio = call.audio.as_ref().map_or(Bitrate::ZERO, |audio| {
            let headers = (wire::AUDIO_HEADER + wire::UDP_IPV4_OVERHEAD).per(audio.interval);
            audio.rate + headers.unwrap_or(Bitrate::ZERO)
        });
        Self { audio, video: Some(max_rate * MAX_RATE_MULTIPLIER), encoder }
    }

    /// The rates that audio and video can use in sum (libwebrtc `call/bitrate_allocator.cc`,
    /// UpdateAllocationLimits).
    pub(super) fn limits(&self) -> cc::Allocation {
        let cc::Allocation { min_rate, max_rate } = self.encoder;
        cc::Allocation { min_rate: self.audio + min_rate, max_rate: self.audio + max_rate }
    }

    /// Whether the estimate covers audio.
    pub(super) fn has_audio(&self) -> bool {
        self.video.is_some()
    }

    /// The rate for the video's payload and its protection. Headers are counted for the number of
    /// maximum-size packets that carry the video (libwebrtc `call/rtp_video_sender.cc`,
    /// CalculateOverheadRate).
    pub(super) fn video_payload(&self, estimate: Bitrate) -> Bitrate {
        let Some(max) = self.video else { return estimate };
        let video = estimate.saturating_sub(self.audio).min(max);
        let bytes_per_second = video.bytes_in(Duration::from_secs(1));
        let packets = bytes_per_second.get().div_ceil((MAX_PACKET + wire::UDP_IPV4_OVERHEAD).get());
        let headers = (wire::VIDEO_HEADER + wire::UDP_IPV4_OVERHEAD) * packets;
        video.saturating_sub(Bitrate::from_bps(headers.bits()))
    }
}

impl Estimate {
    /// The header bytes below RTP that count for each packet.
    pub(super) fn below_rtp(self) -> Bytes {
        match self {
            Self::Video => Bytes::ZERO,
            Self::Transport => wire::UDP_IPV4_OVERHEAD,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Bitrate = Bitrate::from_kbps(1_000);
    const ENCODER: cc::Allocation =
        cc::Allocation { min_rate: Bitrate::from_kbps(30), max_rate: RATE };

    fn allocation(audio: Bitrate, video: Option<Bitrate>) -> Allocation {
        Allocation { audio, video, encoder: ENCODER }
    }

    #[test]
    fn an_estimate_of_the_video_goes_to_the_video_only() {
        let allocation = allocation(Bitrate::ZERO, None);
        assert_eq!(allocation.video_payload(RATE), RATE);
        assert_eq!(allocation.limits(), ENCODER);
    }

    #[test]
    fn audio_and_headers_are_subtracted() {
        let allocation = allocation(Bitrate::from_bps(17_600), Some(RATE * 2));
        // 982.4 kbit/s are 100 packets of 1228 bytes, 52 of which are headers.
        assert_eq!(allocation.video_payload(RATE), Bitrate::from_bps(982_400 - 100 * 52 * 8));
        assert_eq!(allocation.video_payload(Bitrate::from_kbps(17)), Bitrate::ZERO);
        assert_eq!(
            allocation.video_payload(RATE * 9),
            allocation.video_payload(RATE * 99),
            "limited to twice the maximum rate"
        );
        assert_eq!(allocation.limits().max_rate, Bitrate::from_bps(1_017_600));
    }
}
