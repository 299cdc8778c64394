//! The feedback message (§ 5.3): rmode in 1 bit, x_curr in 15 bits of 0.1 ms, r_recv in 32 bits of
//! bit/s. The RFC gives no packet format; here an application-defined RTCP packet carries the 48
//! bits, padded to 64.

use crate::CustomFeedback;
use units::Bitrate;

/// The name of the message.
const NAME: [u8; 4] = *b"NADA";
/// x_curr per ms.
const PER_MS: f64 = 10.0;
/// Maximum of 15 bits.
const MAX_X: u16 = 0x7fff;
/// The bit of rmode: 1 for the gradual update.
const GRADUAL: u16 = 0x8000;

/// What the estimating end tells the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CongestionReport {
    /// rmode = 0: accelerated ramp-up.
    pub(crate) ramp_up: bool,
    /// The aggregate congestion signal, in ms.
    pub(crate) x_curr: f64,
    /// The receiving rate.
    pub(crate) r_recv: Bitrate,
}

impl CongestionReport {
    pub(crate) fn encode(&self) -> CustomFeedback {
        let x_curr = ((self.x_curr * PER_MS).round() as u16).min(MAX_X);
        let mode = if self.ramp_up { 0 } else { GRADUAL };
        let rate = u32::try_from(self.r_recv.as_bps()).unwrap_or(u32::MAX).to_be_bytes();
        let [high, low] = (mode | x_curr).to_be_bytes();
        CustomFeedback::new(NAME, [high, low, 0, 0, rate[0], rate[1], rate[2], rate[3]])
    }

    /// `None` for another message or a wrong length.
    pub(crate) fn decode(message: &CustomFeedback) -> Option<Self> {
        let &[high, low, _, _, r0, r1, r2, r3] = message.data() else { return None };
        let word = u16::from_be_bytes([high, low]);
        (message.name() == NAME).then(|| Self {
            ramp_up: word & GRADUAL == 0,
            x_curr: f64::from(word & MAX_X) / PER_MS,
            r_recv: Bitrate::from_bps(u64::from(u32::from_be_bytes([r0, r1, r2, r3]))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_it_writes_and_clips_what_does_not_fit() {
        let report = |ramp_up, x_curr, bps| CongestionReport {
            ramp_up,
            x_curr,
            r_recv: Bitrate::from_bps(bps),
        };
        for one in [report(true, 0.0, 0), report(false, 12.3, 1_234_567), report(true, 3276.7, 9)] {
            assert_eq!(CongestionReport::decode(&one.encode()), Some(one));
        }
        let clipped = report(false, 1e9, u64::MAX).encode();
        let expected = report(false, 3276.7, u64::from(u32::MAX));
        assert_eq!(CongestionReport::decode(&clipped), Some(expected));
        assert_eq!(CongestionReport::decode(&CustomFeedback::new(*b"BWST", [0; 8])), None);
        assert_eq!(CongestionReport::decode(&CustomFeedback::new(NAME, [0; 4])), None);
    }
}
