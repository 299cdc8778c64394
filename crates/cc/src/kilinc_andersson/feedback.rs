//! The feedback message of the receiver half: the data of an RTCP APP packet with the name `BWST`.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |O|                       reserved                              |
//! |                loss event rate, in units of 2^-32             |
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! O is set while the path is over-used. A loss event rate of 1 is sent as 1 − 2^-32. The paper
//! gives no format; this one is Weir's own.

use crate::CustomFeedback;
use units::Ratio;

/// The name of the APP packet. It is not registered with IANA.
const NAME: [u8; 4] = *b"BWST";
/// The bit O, in the first byte.
const OVERUSING: u8 = 0x80;
/// Units of the loss event rate in a rate of 1.
const UNITS: f64 = 4_294_967_296.0;

/// The receiver's estimate of the path (Kilinc, Andersson § 3.2C, 3.2D).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BandwidthState {
    /// The path is over-used; otherwise it is under-used. There is no third state.
    pub(super) overusing: bool,
    /// Loss event rate p, 0 before the first loss (RFC 5348 § 5.4).
    pub(super) loss_event_rate: Ratio,
}

impl BandwidthState {
    /// The message that carries this state. It decodes to the same state: 2^-32 is finer than the
    /// resolution of [`Ratio`].
    pub(super) fn encode(self) -> CustomFeedback {
        let flags = if self.overusing { OVERUSING } else { 0 };
        // `as` saturates.
        let [a, b, c, d] = ((self.loss_event_rate.as_f64() * UNITS + 0.5) as u32).to_be_bytes();
        CustomFeedback::new(NAME, [flags, 0, 0, 0, a, b, c, d])
    }

    /// The state that a message carries; `None` if the message is of another controller.
    pub(super) fn decode(message: &CustomFeedback) -> Option<Self> {
        let (NAME, &[flags, _, _, _, a, b, c, d]) = (message.name(), message.data()) else {
            return None;
        };
        let rate = f64::from(u32::from_be_bytes([a, b, c, d])) / UNITS;
        Some(Self { overusing: flags & OVERUSING != 0, loss_event_rate: Ratio::from_f64(rate) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_state_reads_back(overusing: bool, parts in 0u64..=1_000_000_000) {
            let loss_event_rate = Ratio::from_f64(parts as f64 / 1e9);
            let state = BandwidthState { overusing, loss_event_rate };
            prop_assert_eq!(BandwidthState::decode(&state.encode()), Some(state));
        }
    }

    #[test]
    fn the_data_are_eight_bytes() {
        let state = BandwidthState { overusing: true, loss_event_rate: Ratio::ONE };
        let message = state.encode();
        assert_eq!(message.name(), *b"BWST");
        assert_eq!(message.data(), [0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    }

    #[test]
    fn messages_of_other_controllers_are_none() {
        let other_name = CustomFeedback::new(*b"XWST", [0; 8]);
        let other_length = CustomFeedback::new(NAME, [0; 12]);
        assert_eq!([other_name, other_length].map(|it| BandwidthState::decode(&it)), [None, None]);
    }
}
