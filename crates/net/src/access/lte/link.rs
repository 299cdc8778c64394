//! Link adaptation: the CQI of a SINR, the modulation and coding scheme of a CQI, and block errors.

use super::transport_block::{BITS, INDICES, MAX_BLOCKS};
use crate::packet::Direction;
use units::Decibels;

/// The spectral efficiencies of the CQIs 1 to 15 (36.213 table 7.2.3-1).
const EFFICIENCY: [f64; 15] = [
    0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023,
    4.5234, 5.1152, 5.5547,
];

/// The SINRs in decibels at which one block in ten of the CQIs 1 to 15 fails, over AWGN (Mehlführer
/// et al. 2009, "Simulating the Long Term Evolution physical layer", EUSIPCO, fig. 3, as in the
/// Vienna LTE simulators).
const THRESHOLD: [f64; 15] = [
    -6.934, -5.147, -3.18, -1.254, 0.761, 2.70, 4.697, 6.528, 8.576, 10.37, 12.3, 14.18, 15.89,
    17.82, 19.829,
];

/// The spectral efficiencies of the modulation and coding schemes 0 to 28 down (3GPP R1-081483,
/// "Conveying MCS and TB size via PDCCH").
const MCS_EFFICIENCY: [f64; 29] = [
    0.15, 0.19, 0.23, 0.31, 0.38, 0.49, 0.60, 0.74, 0.88, 1.03, 1.18, 1.33, 1.48, 1.70, 1.91, 2.16,
    2.41, 2.57, 2.73, 3.03, 3.32, 3.61, 3.90, 4.21, 4.52, 4.82, 5.12, 5.33, 5.55,
];

/// Resource elements for uplink data per resource block: twelve symbols of twelve subcarriers; two
/// more symbols are reference signals (36.211 § 5.5.2). (For the downlink, [`MCS_EFFICIENCY`]
/// accounts for control and reference signals.)
const ELEMENTS_UP: f64 = 144.0;

/// The slope of the block error rate around its threshold: on the AWGN curves of Mehlführer et al.
/// 2009, fig. 3, it falls from 90 to 1 % within a decibel, so the logit falls by 6.8 per decibel.
const STEEPNESS: f64 = 6.8;

/// The logit of 0.1.
const ONE_IN_TEN: f64 = -2.197_224_577_336_219_4;

/// The largest usable SINR, as a ratio: that of an error vector magnitude of 8 % (36.104 table
/// 6.5.2-1, 64QAM).
const MAX_SINR: f64 = 156.25;

/// The target error rate of first transmissions (36.213 § 7.2.3: at the reported CQI at most a
/// tenth fail).
const TARGET_ERROR_RATE: f64 = 0.1;

/// The step of the outer loop after a failed block, in decibels (Sampath, Kumar & Holtzman 1997,
/// "On setting reverse link power control set point", § III). The value is our choice: with half a
/// decibel and one failure in ten, the step after a success is 0.056 dB.
const FAILURE_STEP: f64 = 0.5;

/// A modulation and coding scheme: I_MCS of the downlink (36.213 table 7.1.7.1-1), whose transport
/// block sizes the uplink shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mcs(u8);

impl Mcs {
    /// The highest scheme in the downlink.
    const DOWN: Self = Self(28);
    /// The highest scheme in the uplink of a terminal without 64QAM (36.306 table 4.1-2, categories
    /// 1 to 4): there 16QAM extends to I_TBS 19 (36.213 table 8.6.1-1, I_MCS 20), which is I_MCS 21
    /// of the downlink.
    const UP: Self = Self(21);

    pub(super) fn index(self) -> u8 {
        self.0
    }

    /// I_TBS (36.213 table 7.1.7.1-1): the first scheme of a modulation has the same size as the
    /// last scheme of the modulation before.
    fn block_index(self) -> usize {
        let repeated = u8::from(self.0 > 9) + u8::from(self.0 > 16);
        usize::from(self.0 - repeated).min(INDICES - 1)
    }

    /// The bits of a transport block in so many resource blocks; zero for none.
    pub(super) fn bits(self, resource_blocks: u8) -> u32 {
        match usize::from(resource_blocks).min(MAX_BLOCKS) {
            0 => 0,
            blocks => BITS[blocks - 1][self.block_index()],
        }
    }

    /// The number of resource blocks that so many bits need, at most `most`.
    pub(super) fn resource_blocks(self, bits: u32, most: u8) -> u8 {
        let index = self.block_index();
        let rows = &BITS[..usize::from(most).min(MAX_BLOCKS)];
        let blocks = rows.partition_point(|row| row[index] < bits) + 1;
        u8::try_from(blocks).unwrap_or(most).min(most)
    }
}

/// The SINRs, as ratios, at which one block in ten fails: for the CQIs, and for the schemes,
/// interpolated by efficiency.
pub(super) struct Thresholds {
    cqi: [f64; 15],
    /// Up and down.
    mcs: [[f64; 29]; 2],
}

impl Thresholds {
    pub(super) fn new() -> Self {
        let threshold = |efficiency: f64| {
            let above = EFFICIENCY.partition_point(|&of_cqi| of_cqi < efficiency).clamp(1, 14);
            let (low, high) = (EFFICIENCY[above - 1], EFFICIENCY[above]);
            let share = (efficiency - low) / (high - low);
            ratio(THRESHOLD[above - 1] + share * (THRESHOLD[above] - THRESHOLD[above - 1]))
        };
        let of_up = |index| threshold(f64::from(Mcs(index).bits(25)) / 25.0 / ELEMENTS_UP);
        let up = std::array::from_fn(|index| of_up(u8::try_from(index).unwrap_or(28)));
        Self { cqi: THRESHOLD.map(ratio), mcs: [up, MCS_EFFICIENCY.map(threshold)] }
    }

    /// The highest scheme with at most one failed block in ten at this SINR; the lowest if there is
    /// none.
    pub(super) fn mcs(&self, sinr: f64, direction: Direction) -> Mcs {
        let most = if direction == Direction::Up { Mcs::UP } else { Mcs::DOWN };
        let thresholds = &self.mcs[direction.index()][1..=usize::from(most.0)];
        let fit = thresholds.partition_point(|&threshold| threshold <= sinr);
        Mcs(u8::try_from(fit).unwrap_or(most.0))
    }

    /// The probability that a block fails at this SINR.
    pub(super) fn error_rate(&self, mcs: Mcs, sinr: f64, direction: Direction) -> f64 {
        let above = sinr / self.mcs[direction.index()][usize::from(mcs.0)];
        // Three decibels above or below, the probability is within 10⁻⁹ of 0 or 1.
        if above > 2.0 {
            return 0.0;
        }
        if above < 0.5 {
            return 1.0;
        }
        1.0 / (1.0 + libm::exp(STEEPNESS * 10.0 * libm::log10(above) - ONE_IN_TEN))
    }

    /// The CQI at this SINR, 0 to 15 (36.213 § 7.2.3); 0 is out of range.
    pub(super) fn cqi(&self, sinr: f64) -> u8 {
        u8::try_from(self.cqi.partition_point(|&threshold| threshold <= sinr)).unwrap_or(15)
    }

    /// The SINR that a CQI stands for: its threshold; for a CQI of 0, half of the lowest.
    pub(super) fn sinr_of_cqi(&self, cqi: u8) -> f64 {
        usize::from(cqi).checked_sub(1).map_or(self.cqi[0] / 2.0, |index| self.cqi[index.min(14)])
    }
}

/// The effective SINR of several parts of a band, as ratios: that of an AWGN channel with the mean
/// of their capacities.
pub(super) fn effective(parts: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = parts.len();
    let product: f64 = parts.map(|sinr| 1.0 + sinr.min(MAX_SINR)).product();
    match count {
        1 => product - 1.0,
        2 => product.sqrt() - 1.0,
        4 => product.sqrt().sqrt() - 1.0,
        8 => product.sqrt().sqrt().sqrt() - 1.0,
        _ => libm::pow(product, 1.0 / count as f64) - 1.0,
    }
}

/// A ratio in decibels.
pub(super) fn decibels(ratio: f64) -> Decibels {
    Decibels::from_f64(10.0 * libm::log10(ratio.max(1e-10)))
}

/// Decibels as a ratio.
pub(super) fn ratio(decibels: f64) -> f64 {
    libm::exp10(decibels / 10.0)
}

/// The outer loop of link adaptation: a correction of the reported SINR, as a ratio, such that one
/// first transmission in ten fails.
#[derive(Clone, Copy)]
pub(super) struct OuterLoop {
    offset: f64,
    /// The steps after a success and after a failure, as ratios.
    steps: [f64; 2],
}

impl OuterLoop {
    /// The largest offset, 5 dB, so that a run of successes or failures has no lasting effect.
    const MAX_OFFSET: f64 = 3.162_277_660_168_379_5;

    pub(super) fn new() -> Self {
        Self {
            offset: 1.0,
            steps: [
                ratio(FAILURE_STEP * TARGET_ERROR_RATE / (1.0 - TARGET_ERROR_RATE)),
                ratio(-FAILURE_STEP),
            ],
        }
    }

    pub(super) fn first_transmission(&mut self, succeeded: bool) {
        let step = self.steps[usize::from(!succeeded)];
        self.offset = (self.offset * step).clamp(1.0 / Self::MAX_OFFSET, Self::MAX_OFFSET);
    }

    pub(super) fn offset(self) -> f64 {
        self.offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transport_block_sizes_equal_those_of_the_table() {
        assert_eq!(Mcs(28).bits(25), 18_336);
        assert_eq!(Mcs(28).bits(50), 36_696);
        assert_eq!(Mcs(28).bits(100), 75_376);
        assert_eq!((Mcs(0).bits(1), Mcs(9).bits(6), Mcs(10).bits(6)), (16, 936, 936));
        assert_eq!(Mcs(17).bits(10), Mcs(16).bits(10), "I_TBS 15 of both");
        assert_eq!(Mcs::UP.bits(25), 10_680, "I_TBS 19");
        assert_eq!(Mcs(28).bits(0), 0);
    }

    #[test]
    fn the_smallest_sufficient_number_of_resource_blocks_is_used() {
        for bits in [1, 16, 17, 1_000, 18_336, 18_337, 100_000] {
            let blocks = Mcs(28).resource_blocks(bits, 25);
            assert!(blocks == 25 || Mcs(28).bits(blocks) >= bits);
            assert!(blocks == 1 || Mcs(28).bits(blocks - 1) < bits, "{bits}");
        }
    }

    #[test]
    fn a_tenth_fails_at_the_threshold_and_hardly_any_a_decibel_above() {
        let thresholds = Thresholds::new();
        for (direction, most) in [(Direction::Up, Mcs::UP), (Direction::Down, Mcs::DOWN)] {
            let of = &thresholds.mcs[direction.index()];
            assert!(of.is_sorted());
            for index in 0..=most.0 {
                let (mcs, at) = (Mcs(index), of[usize::from(index)]);
                let error_rate =
                    |decibels| thresholds.error_rate(mcs, at * ratio(decibels), direction);
                assert!((error_rate(0.0) - 0.1).abs() < 0.001);
                assert!(error_rate(1.0) < 0.001 && error_rate(-1.0) > 0.98);
                // The next scheme may have the same threshold, where two share a size.
                assert!(index == 0 || thresholds.mcs(at * 1.0001, direction) >= mcs);
            }
            assert_eq!(thresholds.mcs(ratio(40.0), direction), most);
            assert_eq!(thresholds.mcs(ratio(-30.0), direction), Mcs(0));
            let far = [0.0, 1e9].map(|sinr| thresholds.error_rate(Mcs(5), sinr, direction));
            assert_eq!(far, [1.0, 0.0]);
        }
        // 10 680 bits of 16QAM in 25 uplink resource blocks are 2.97 bit per resource element.
        let highest = decibels(thresholds.mcs[0][21]).as_f64();
        assert!((highest - 11.14).abs() < 0.05, "{highest}");
    }

    #[test]
    fn the_sinr_of_a_cqi_does_not_exceed_the_reported_one() {
        let thresholds = Thresholds::new();
        for tenths in -120_i16..300 {
            let sinr = ratio(f64::from(tenths) / 10.0);
            let cqi = thresholds.cqi(sinr);
            assert!(cqi == 0 || thresholds.sinr_of_cqi(cqi) <= sinr);
        }
        assert_eq!([-7.0, 0.0, 20.0].map(|decibels| thresholds.cqi(ratio(decibels))), [0, 4, 15]);
    }

    #[test]
    fn the_effective_sinr_has_the_mean_capacity() {
        assert!((effective([3.0, 3.0, 3.0, 3.0].into_iter()) - 3.0).abs() < 1e-9);
        let (two, of_any) =
            (effective([1.0, 7.0].into_iter()), effective([1.0, 7.0, 3.0].into_iter()));
        assert!((two - 3.0).abs() < 1e-9, "log2(2) + log2(8) is twice log2(4): {two}");
        assert!((of_any - 3.0).abs() < 1e-9, "{of_any}");
    }

    #[test]
    fn the_outer_loop_balances_at_one_in_ten() {
        let mut outer = OuterLoop::new();
        for _ in 0..100 {
            (0..9).for_each(|_| outer.first_transmission(true));
            outer.first_transmission(false);
        }
        assert!(decibels(outer.offset()).as_f64().abs() < 0.51, "{}", outer.offset());
        (0..1_000).for_each(|_| outer.first_transmission(false));
        assert_eq!(decibels(outer.offset()), Decibels::new(-5));
    }
}
