//! The frame error rate as a function of the signal-to-noise ratio.
//!
//! The NIST model of OFDM (Pei, Henderson 2010, "Validation of OFDM error rate model in ns-3", and
//! ns-3's `nist-error-rate-model.cc`): the bit errors of the modulation in white noise, then the
//! union bound of the convolutional code with hard decisions. The noise is equal on all
//! subcarriers.
//!
//! Two streams share the transmitted power, and a receiver with as many antennas as streams loses
//! the diversity gain, since it separates the streams ([`stream_loss`]).

use super::phy::Mcs;
#[cfg(test)]
use units::Bytes;

/// The total bit errors on the paths of the code of rate 1/2 per distance, from 10 in steps of 2
/// (ns-3, `CalculatePe`).
const HALF: [f64; 9] =
    [36.0, 211.0, 1_404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0];

/// The same at rate 2/3, from a distance of 6 in steps of 1.
const TWO_THIRDS: [f64; 10] =
    [3.0, 70.0, 285.0, 1_276.0, 6_160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0];

/// The same at rate 3/4, from a distance of 5.
const THREE_QUARTERS: [f64; 10] = [
    42.0,
    201.0,
    1_492.0,
    10_469.0,
    62_935.0,
    379_644.0,
    2_253_373.0,
    13_073_811.0,
    75_152_755.0,
    428_005_675.0,
];

/// The same at rate 5/6, from a distance of 4 (Haccoun, Bégin 1989, IEEE Trans. Communications 37,
/// table V, as in ns-3).
const FIVE_SIXTHS: [f64; 10] = [
    92.0,
    528.0,
    8_694.0,
    79_453.0,
    792_114.0,
    7_375_573.0,
    67_884_974.0,
    610_875_423.0,
    5_427_275_376.0,
    47_664_215_639.0,
];

/// The logarithm of a probability that is practically zero; finite, so that a frame of zero bits
/// still succeeds.
const NEVER: f64 = -700.0;

/// The loss of signal-to-noise ratio per stream compared with a single stream, in decibels.
///
/// The power is split, 10 log₁₀(streams). A zero-forcing receiver of N antennas leaves each stream
/// N − streams + 1 of the N degrees of freedom that a single stream's receiver would combine
/// (Winters, Salz, Gitlin 1994, IEEE Trans. Communications 42, "The impact of antenna diversity on
/// the capacity of wireless communication systems"): with two antennas and uncorrelated paths half
/// of the mean power, 3 dB. A device is assumed to have two antennas, and its signal is the power
/// that they receive together.
fn stream_loss(streams: u8) -> f64 {
    // 10 log₁₀ 2.
    const HALVED: f64 = 3.010_299_956_639_812;
    if streams > 1 { 2.0 * HALVED } else { 0.0 }
}

/// The bit error rate before decoding at a linear signal-to-noise ratio (Gray coding; ns-3,
/// `GetBpskBer`, `GetQpskBer`, `GetQamBer`).
fn bit_error_rate(modulation: usize, snr: f64) -> f64 {
    match modulation {
        0 => 0.5 * libm::erfc(snr.sqrt()),
        1 | 2 => 0.5 * libm::erfc((snr / 2.0).sqrt()),
        3 | 4 => 0.75 * 0.5 * libm::erfc((snr / 10.0).sqrt()),
        _ => 7.0 / 12.0 * 0.5 * libm::erfc((snr / 42.0).sqrt()),
    }
}

/// Σ weight[i] × ratioⁱ.
fn series(weights: &[f64], ratio: f64) -> f64 {
    weights.iter().rev().fold(0.0, |sum, weight| sum * ratio + weight)
}

/// The union bound of the probability that an error event begins at a given bit, for a bit error
/// rate of `ber` before decoding; may exceed one. The probability of a path at a distance of k is
/// at most D^k, D = √(4p(1 − p)) (Chernoff).
fn error_event(modulation: usize, ber: f64) -> f64 {
    let square = 4.0 * ber * (1.0 - ber);
    let d = square.sqrt();
    match modulation {
        0 | 1 | 3 => 0.5 * square * square * square * square * square * series(&HALF, square),
        5 => 0.25 * square * square * square * series(&TWO_THIRDS, d),
        2 | 4 | 6 => square * square * d * series(&THREE_QUARTERS, d) / 6.0,
        _ => 0.1 * square * square * series(&FIVE_SIXTHS, d),
    }
}

/// ln(1 − p), where p is the probability that an error event begins at a given bit of a frame that
/// is sent with `mcs` and received `snr_db` decibels above the noise. A frame of n bits arrives
/// with a probability of e to the power of n times this. Always finite.
pub(super) fn bit_success_log(snr_db: f64, mcs: Mcs) -> f64 {
    let snr = libm::pow(10.0, (snr_db - stream_loss(mcs.streams())) / 10.0);
    let event = error_event(mcs.modulation(), bit_error_rate(mcs.modulation(), snr));
    if event < 1.0 { libm::log1p(-event).max(NEVER) } else { NEVER }
}

/// The probability that a frame of `size` arrives.
#[cfg(test)]
pub(super) fn success(snr_db: f64, mcs: Mcs, size: Bytes) -> f64 {
    libm::exp(size.bits() as f64 * bit_success_log(snr_db, mcs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Mcs> {
        (0..16).map(Mcs::new)
    }

    /// The signal-to-noise ratio at which one in ten frames of 1500 bytes is lost.
    fn threshold(mcs: Mcs) -> f64 {
        let (mut low, mut high) = (-10.0, 60.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if success(middle, mcs, Bytes::new(1_500)) < 0.9 { low = middle } else { high = middle }
        }
        high
    }

    #[test]
    fn frames_arrive_as_often_as_in_ns3() {
        // From ns-3's wifi-error-rate-models-test.cc, 2000 bytes: the OFDM rates have the same
        // modulations and codes as HT.
        for (mcs, snr_db, expected) in [
            (0, 3.0, 0.020),
            (0, 4.0, 0.885),
            (0, 5.0, 0.997),
            (1, 6.0, 0.017_4),
            (1, 7.0, 0.881),
            (2, 9.5, 0.623),
            (2, 10.5, 0.985),
            (3, 13.0, 0.495),
            (3, 14.0, 0.974),
            (4, 15.5, 0.012),
            (4, 16.5, 0.818),
            (5, 21.0, 0.649),
            (5, 22.0, 0.983),
            (6, 22.0, 0.410),
            (6, 23.0, 0.958),
        ] {
            let found = success(snr_db, Mcs::new(mcs), Bytes::new(2_000));
            assert!(
                (found - expected).abs() < 0.001,
                "MCS {mcs} at {snr_db} dB: {found}, ns-3 {expected}"
            );
        }
    }

    #[test]
    fn stronger_signals_and_smaller_frames_are_never_worse() {
        for mcs in all() {
            let mut before = 0.0;
            for tenth in -100..500 {
                let snr_db = f64::from(tenth) / 10.0;
                let large = success(snr_db, mcs, Bytes::new(1_500));
                let small = success(snr_db, mcs, Bytes::new(100));
                assert!(
                    large >= before && small >= large && small <= 1.0,
                    "{mcs:?} at {snr_db} dB"
                );
                before = large;
            }
            assert_eq!(success(-50.0, mcs, Bytes::ZERO), 1.0);
            assert!(success(-50.0, mcs, Bytes::new(1)) < 1e-100);
            assert_eq!(success(60.0, mcs, Bytes::new(1_500)), 1.0);
        }
    }

    #[test]
    fn faster_schemes_need_more_signal() {
        let thresholds: Vec<f64> = all().map(threshold).collect();
        let expected = [4.0, 7.0, 9.9, 13.5, 16.6, 21.4, 22.6, 23.8];
        assert!(
            thresholds
                .iter()
                .zip(expected)
                .all(|(found, expected)| (found - expected).abs() < 0.05),
            "{thresholds:?}"
        );
        for streams in thresholds.chunks(8) {
            assert!(streams.windows(2).all(|pair| pair[0] < pair[1]), "{streams:?}");
        }
        // As in ns-3's curves for HT, 64-QAM 5/6 needs about a decibel more than 3/4.
        let step = thresholds[7] - thresholds[6];
        assert!((0.5..2.0).contains(&step), "{thresholds:?}");
        for (one, two) in thresholds[..8].iter().zip(&thresholds[8..]) {
            assert!(
                (two - one - 6.02).abs() < 0.01,
                "split power and lost diversity: {one} and {two}"
            );
        }
    }
}
