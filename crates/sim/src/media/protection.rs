//! What retransmissions and parity take from the encoder.

use units::{Bytes, Duration, Time};

/// The share of what was sent lately that went into retransmissions and parity: the encoder gets
/// the rest of the target (libwebrtc `modules/video_coding/fec_controller_default.cc`, which caps
/// it at a half).
#[derive(Debug, Default)]
pub struct ProtectionShare {
    at: Time,
    media: Bytes,
    protection: Bytes,
    share: f64,
}

impl ProtectionShare {
    /// None yet; what is sent from `start` on counts.
    #[must_use]
    pub fn new(start: Time) -> Self {
        Self { at: start, ..Self::default() }
    }

    /// So much payload has been sent in all; the share is renewed every second.
    pub fn update(&mut self, now: Time, media: Bytes, protection: Bytes) {
        let (new_media, new_protection) = (media - self.media, protection - self.protection);
        let total = (new_media + new_protection).get();
        if now.saturating_since(self.at) >= Duration::from_secs(1) && total > 0 {
            self.share = (new_protection.get() as f64 / total as f64).min(0.5);
            (self.at, self.media, self.protection) = (now, media, protection);
        }
    }

    /// From 0 to a half.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }
}
