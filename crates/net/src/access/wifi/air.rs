//! What is on the air.

use super::config::{Aggregation, GuardInterval};
use super::phy::{self, Mcs, Phy};
use super::rate_control::Choice;
use crate::packet::Direction;
use units::{Bytes, Dbm, Duration, Time};

/// A transmission (a PPDU).
#[derive(Clone, Copy, Debug)]
pub(super) struct Ppdu {
    /// Who sends, by the place among the devices and there among those who contend.
    pub(super) device: usize,
    pub(super) category: usize,
    /// The receiver, by the place among those of the device.
    pub(super) receiver: usize,
    /// Between which station and the access point.
    pub(super) station: usize,
    pub(super) direction: Direction,
    pub(super) choice: Choice,
    pub(super) began: Time,
    pub(super) ends: Time,
    /// How long its acknowledgement takes.
    pub(super) acknowledgement: Duration,
    /// When the opportunity to transmit ends.
    pub(super) opportunity: Time,
    /// How strong it arrives. As interference it is as strong at a station as at the access point:
    /// where stations stand to each other is not known.
    pub(super) signal: Dbm,
}

/// How long the answer to a frame takes: an ACK, or a block ACK of several.
pub(super) fn acknowledgement(mcs: Mcs, block: bool) -> Duration {
    let size = if block { phy::BLOCK_ACK_SIZE } else { phy::ACK_SIZE };
    Phy::control_duration(size, phy::control_rate_for(mcs))
}

/// The most bytes of a PSDU that with its acknowledgement fits in what remains of the opportunity
/// to transmit.
pub(super) fn most_bytes(
    phy: Phy,
    aggregation: &Aggregation,
    mcs: Mcs,
    guard: GuardInterval,
    remaining: Duration,
) -> Bytes {
    let data = remaining
        .saturating_sub(phy::SIFS + acknowledgement(mcs, true))
        .min(aggregation.ampdu_duration);
    // An empty PPDU is the preamble and a symbol.
    let symbols = data.saturating_sub(phy.data_duration(mcs, guard, Bytes::ZERO));
    phy.bitrate(mcs, guard).bytes_in(symbols).min(aggregation.ampdu_bytes)
}

/// The signal over noise and what else is on the air, in decibels.
pub(super) fn sinr(signal: Dbm, noise: Dbm, others: impl Iterator<Item = Dbm>) -> f64 {
    let milliwatts = |power: Dbm| libm::pow(10.0, power.as_f64() / 10.0);
    let mut interference = 0.0;
    for other in others {
        interference += milliwatts(other);
    }
    if interference == 0.0 {
        return (signal - noise).as_f64();
    }
    signal.as_f64() - 10.0 * libm::log10(milliwatts(noise) + interference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_add_up() {
        let alone = sinr(Dbm::new(-60), Dbm::new(-90), [].into_iter());
        assert!((alone - 30.0).abs() < 1e-9);
        let equal = sinr(Dbm::new(-60), Dbm::new(-200), [Dbm::new(-60)].into_iter());
        assert!(equal.abs() < 1e-6);
        let two = sinr(Dbm::new(-40), Dbm::new(-63), [Dbm::new(-63)].into_iter());
        assert!((two - 20.0).abs() < 0.02, "{two}");
    }
}
