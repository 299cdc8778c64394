//! The share of the target rate that retransmissions and parity take from the encoder.

use units::{Bytes, Duration, Time};

/// The recent share of retransmissions and parity in the sent payload. The encoder gets the rest of
/// the target (libwebrtc `modules/video_coding/fec_controller_default.cc`, which limits the share
/// to a half).
#[derive(Debug, Default)]
pub struct ProtectionShare {
    at: Time,
    media: Bytes,
    protection: Bytes,
    share: f64,
}

impl ProtectionShare {
    /// Starts with a share of 0; payload sent from `start` on counts.
    #[must_use]
    pub fn new(start: Time) -> Self {
        Self { at: start, ..Self::default() }
    }

    /// Updates the share once per second from the payload sent since the start of the call.
    pub fn update(&mut self, now: Time, media: Bytes, protection: Bytes) {
        let (new_media, new_protection) = (media - self.media, protection - self.protection);
        let total = (new_media + new_protection).get();
        if now.saturating_since(self.at) >= Duration::from_secs(1) && total > 0 {
            self.share = (new_protection.get() as f64 / total as f64).min(0.5);
            (self.at, self.media, self.protection) = (now, media, protection);
        }
    }

    /// The share, from 0 to 0.5.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }
}
