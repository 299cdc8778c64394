//! Transmissions on the air.

use super::config::{Aggregation, GuardInterval};
use super::phy::{self, Mcs, Phy};
use super::rate_control::Choice;
use crate::packet::Direction;
use units::{Bytes, Dbm, Duration, Time};

/// A transmission (a PPDU).
#[derive(Clone, Copy, Debug)]
pub(super) struct Ppdu {
    /// The sender: the index of the device, and of its contender.
    pub(super) device: usize,
    pub(super) category: usize,
    /// The receiver, as an index into the receivers of the sender.
    pub(super) receiver: usize,
    /// The station at the one end; the access point is at the other.
    pub(super) station: usize,
    pub(super) direction: Direction,
    pub(super) choice: Choice,
    pub(super) began: Time,
    pub(super) ends: Time,
    /// The duration of its acknowledgement.
    pub(super) acknowledgement: Duration,
    /// When the transmit opportunity ends.
    pub(super) opportunity: Time,
    /// The received power. As interference it has the same power at a station as at the access
    /// point, since the distances between stations are not modelled.
    pub(super) signal: Dbm,
}

/// The duration of an acknowledgement: an ACK, or for several frames (`block`) a block ACK.
pub(super) fn acknowledgement(mcs: Mcs, block: bool) -> Duration {
    let size = if block { phy::BLOCK_ACK_SIZE } else { phy::ACK_SIZE };
    Phy::control_duration(size, phy::control_rate_for(mcs))
}

/// The largest PSDU that, with its acknowledgement, fits into the rest of the transmit opportunity.
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
    // An empty PPDU consists of the preamble and one symbol.
    let symbols = data.saturating_sub(phy.data_duration(mcs, guard, Bytes::ZERO));
    phy.bitrate(mcs, guard).bytes_in(symbols).min(aggregation.ampdu_bytes)
}

/// The ratio of the signal to noise and interference, in decibels.
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
