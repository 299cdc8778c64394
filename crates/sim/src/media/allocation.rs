//! How an estimate of all that a call sends is divided (libwebrtc `call/bitrate_allocator.cc`, with
//! one audio and one video).

use super::packetizer::MAX_PACKET;
use crate::scenario::{CallConfig, Estimate, VideoConfig};
use crate::wire;
use units::{Bitrate, Bytes, Duration};

/// Video is allocated up to so many times its ceiling, if the network has it (libwebrtc
/// `call/bitrate_allocator.cc`, `kTransmissionMaxBitrateMultiplier`).
const VIDEO_CEILINGS: u64 = 2;

/// Who gets how much.
pub(super) struct Allocation {
    /// What audio takes first, headers included.
    audio: Bitrate,
    /// The most that video takes, headers included; `None`: the estimate is of the video's RTP
    /// alone, and all its own.
    video: Option<Bitrate>,
}

impl Allocation {
    pub(super) fn new(call: &CallConfig, video: &VideoConfig) -> Self {
        if video.estimate == Estimate::Video {
            return Self { audio: Bitrate::ZERO, video: None };
        }
        let audio = call.audio.as_ref().map_or(Bitrate::ZERO, |audio| {
            let headers = (wire::AUDIO_HEADER + wire::UDP_IPV4_OVERHEAD).per(audio.interval);
            audio.rate + headers.unwrap_or(Bitrate::ZERO)
        });
        Self { audio, video: Some(video.encoder.max_rate * VIDEO_CEILINGS) }
    }

    /// Whether audio is a part of the estimate.
    pub(super) fn has_audio(&self) -> bool {
        self.video.is_some()
    }

    /// What is left of the estimate for the video's payload and its protection. Its headers are
    /// those of as many packets as carry it when all are as long as they may be (libwebrtc
    /// `call/rtp_video_sender.cc`, CalculateOverheadRate).
    pub(super) fn video_payload(&self, estimate: Bitrate) -> Bitrate {
        let Some(most) = self.video else { return estimate };
        let video = estimate.saturating_sub(self.audio).min(most);
        let a_second = video.bytes_in(Duration::from_secs(1));
        let packets = a_second.get().div_ceil((MAX_PACKET + wire::UDP_IPV4_OVERHEAD).get());
        let headers = (wire::VIDEO_HEADER + wire::UDP_IPV4_OVERHEAD) * packets;
        video.saturating_sub(Bitrate::from_bps(headers.bits()))
    }
}

impl Estimate {
    /// What of a packet counts below RTP.
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

    #[test]
    fn an_estimate_of_the_video_is_all_its_own() {
        assert_eq!(Allocation { audio: Bitrate::ZERO, video: None }.video_payload(RATE), RATE);
    }

    #[test]
    fn audio_comes_first_then_headers() {
        let allocation = Allocation { audio: Bitrate::from_bps(17_600), video: Some(RATE * 2) };
        // 982.4 kbit/s are 100 packets of 1228 bytes, 52 of each headers.
        assert_eq!(allocation.video_payload(RATE), Bitrate::from_bps(982_400 - 100 * 52 * 8));
        assert_eq!(allocation.video_payload(Bitrate::from_kbps(17)), Bitrate::ZERO);
        assert_eq!(
            allocation.video_payload(RATE * 9),
            allocation.video_payload(RATE * 99),
            "twice the ceiling"
        );
    }
}
