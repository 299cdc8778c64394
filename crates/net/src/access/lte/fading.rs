//! Fast fading: the gain of a channel relative to its mean, per part of the band and antenna.

use super::config::FastFading;
use super::link::ratio;
use crate::trace::FadingTrace;
use std::sync::Arc;
use units::{Frequency, Seed, Speed, Stream};

/// The parts of a band that fade independently. The typical urban profile has six paths (45.005
/// annex C.3.3, reduced setting) with powers 0.189, 0.379, 0.239, 0.095, 0.061 and 0.037. They give
/// the diversity of four equal paths (1/Σp² = 4.0), so the whole band varies like the mean of four
/// independent parts. (A band of 1.4 MHz does not resolve them and would vary more.)
pub(super) const PARTS: usize = 4;

/// The antennas of a receiver, down and up.
pub(super) const ANTENNAS: usize = 2;

/// The waves that a channel is the sum of. Eight waves from all directions approximate Clarke's
/// spectrum well over the coherence time (Zheng & Xiao 2003, "Simulation models with correct
/// statistical properties for Rayleigh fading channels", § III); the variance of the power is 7/8
/// of that of infinitely many waves.
const WAVES: usize = 8;

/// The speed of light in m/s.
const LIGHT: f64 = 299_792_458.0;

/// The size of the table of cosines.
const TABLE_SIZE: usize = 1_024;

/// A table of cosines over a turn: a wave costs two look-ups.
pub(super) struct Cosines(Vec<f32>);

impl Cosines {
    pub(super) fn new() -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "single precision is enough")]
        let at = |index| libm::cos(std::f64::consts::TAU * index as f64 / TABLE_SIZE as f64) as f32;
        Self((0..TABLE_SIZE).map(at).collect())
    }

    /// The cosine of a phase in units of 2⁻³² turns.
    fn at(&self, phase: u32) -> f32 {
        self.0[(phase >> (u32::BITS - TABLE_SIZE.trailing_zeros())) as usize]
    }
}

/// The fading of one direction between a terminal and a cell.
pub(super) enum Fading {
    None,
    /// The waves per part and antenna.
    Rayleigh(Box<[[[Wave; WAVES]; ANTENNAS]; PARTS]>),
    /// Each antenna starts at its own subframe of the trace.
    Trace {
        trace: Arc<Recorded>,
        start: [u64; ANTENNAS],
    },
}

/// The fading model of a network.
pub(super) enum FadingModel {
    None,
    Rayleigh,
    Trace(Arc<Recorded>),
}

impl FadingModel {
    pub(super) fn new(config: &FastFading) -> Self {
        match config {
            FastFading::None => Self::None,
            FastFading::Rayleigh => Self::Rayleigh,
            FastFading::Trace(trace) => Self::Trace(Arc::new(Recorded::new(trace))),
        }
    }
}

/// A recorded gain, as ratios of powers.
pub(super) struct Recorded {
    /// Nanoseconds between two values.
    interval: u64,
    parts: [Vec<f64>; PARTS],
}

impl Recorded {
    /// A part's power is the mean of the rows in its share of the band.
    fn new(trace: &FadingTrace) -> Self {
        let (rows, values) = (trace.gains.len(), trace.gains.first().map_or(0, Vec::len));
        let part = |part: usize| {
            let first = (part * rows / PARTS).min(rows.saturating_sub(1));
            let own = &trace.gains[first..((part + 1) * rows / PARTS).clamp(first + 1, rows)];
            let power = |index: usize| {
                own.iter().map(|row| ratio(row[index])).sum::<f64>() / own.len() as f64
            };
            (0..values).map(power).collect()
        };
        Self { interval: trace.interval.as_nanos().max(1), parts: std::array::from_fn(part) }
    }

    /// Its length in subframes.
    fn subframes(&self) -> u64 {
        (self.interval * self.parts[0].len() as u64).div_ceil(SUBFRAME)
    }

    fn at(&self, part: usize, subframe: u64) -> f64 {
        let values = &self.parts[part];
        let index = subframe * SUBFRAME / self.interval % (values.len() as u64).max(1);
        let value = usize::try_from(index).ok().and_then(|index| values.get(index));
        value.copied().unwrap_or(1.0)
    }
}

/// The length of a subframe in nanoseconds.
const SUBFRAME: u64 = 1_000_000;

/// A wave: its phase at the start, and its rotation per subframe, in units of 2⁻³² turns.
#[derive(Clone, Copy, Default)]
pub(super) struct Wave {
    phase: u32,
    turn: u32,
}

/// Gains as ratios of powers, per part of the band and antenna.
pub(super) type Gains = [[f64; ANTENNAS]; PARTS];

impl Fading {
    pub(super) fn new(
        model: &FadingModel,
        carrier: Frequency,
        speed: Speed,
        seed: Seed,
        name: &str,
    ) -> Self {
        let mut random = seed.stream(name);
        match model {
            FadingModel::None => Self::None,
            FadingModel::Rayleigh => {
                Self::Rayleigh(Box::new(rayleigh(carrier, speed, &mut random)))
            }
            FadingModel::Trace(trace) => {
                let start = std::array::from_fn(|_| random.below(trace.subframes()));
                Self::Trace { trace: Arc::clone(trace), start }
            }
        }
    }

    /// The gains in a subframe.
    pub(super) fn at(&self, subframe: u64, cosines: &Cosines) -> Gains {
        match self {
            Self::None => [[1.0; ANTENNAS]; PARTS],
            Self::Rayleigh(parts) => parts.each_ref().map(|antennas| {
                antennas.each_ref().map(|waves| {
                    let (mut real, mut imaginary) = (0.0_f32, 0.0_f32);
                    #[expect(clippy::cast_possible_truncation, reason = "turns wrap around")]
                    let subframe = subframe as u32;
                    for wave in waves {
                        let phase = wave.phase.wrapping_add(wave.turn.wrapping_mul(subframe));
                        real += cosines.at(phase);
                        // The sine is the cosine a quarter of a turn earlier.
                        imaginary += cosines.at(phase.wrapping_sub(1 << 30));
                    }
                    f64::from(real * real + imaginary * imaginary) / WAVES as f64
                })
            }),
            Self::Trace { trace, start } => {
                std::array::from_fn(|part| start.map(|start| trace.at(part, subframe + start)))
            }
        }
    }
}

/// Waves from evenly spaced angles with a random common rotation, each with a random phase. In
/// Clarke's spectrum a wave from the angle α has the frequency f_D cos α, f_D = v/c · carrier.
fn rayleigh(
    carrier: Frequency,
    speed: Speed,
    random: &mut Stream,
) -> [[[Wave; WAVES]; ANTENNAS]; PARTS] {
    const TURN: f64 = 4_294_967_296.0;
    let doppler = speed.as_metres_per_second() / LIGHT * carrier.as_f64();
    let mut channel = || {
        let first = random.uniform();
        let mut index = 0.0;
        [(); WAVES].map(|()| {
            let angle = std::f64::consts::TAU * (index + first) / WAVES as f64;
            index += 1.0;
            // Turns per subframe of a millisecond.
            let turns = doppler * libm::cos(angle) / 1_000.0;
            let wrapped = (turns - turns.floor()) * TURN;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "less than one turn"
            )]
            let (turn, phase) = (wrapped as u64 as u32, random.next_u64() as u32);
            Wave { phase, turn }
        })
    };
    [(); PARTS].map(|()| [(); ANTENNAS].map(|()| channel()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn channel(seed: u64, speed: &str) -> Fading {
        let (carrier, speed) = (Frequency::from_mhz(2_000), speed.parse().unwrap());
        Fading::new(&FadingModel::Rayleigh, carrier, speed, Seed(seed), "fading")
    }

    /// The gains of the first part and antenna.
    fn gains(fading: &Fading, every: u64, count: u64) -> Vec<f64> {
        let cosines = Cosines::new();
        (0..count).map(|k| fading.at(k * every, &cosines)[0][0]).collect()
    }

    #[test]
    fn powers_are_exponential_with_mean_one() {
        let all: Vec<f64> =
            (0..200).flat_map(|seed| gains(&channel(seed, "30km/h"), 37, 500)).collect();
        let count = all.len() as f64;
        let mean = all.iter().sum::<f64>() / count;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        for (level, below) in [(0.1, 0.095), (0.5, 0.393), (1.0, 0.632), (2.0, 0.865)] {
            let share = all.iter().filter(|&&gain| gain < level).count() as f64 / count;
            assert!((share - below).abs() < 0.02, "{share} of {below} below {level}");
        }
    }

    #[test]
    fn the_channel_changes_with_the_doppler_frequency() {
        // The autocorrelation of the power is J0(2π f_D τ)²: with f_D = 55.6 Hz it has its first
        // zero at 6.9 ms.
        let correlation = |lag: usize, speed: &str| {
            let (mut sum, mut count) = (0.0, 0.0);
            for seed in 0..200 {
                let all = gains(&channel(seed, speed), 1, 1_000);
                for (one, other) in all.iter().zip(&all[lag..]) {
                    sum += (one - 1.0) * (other - 1.0);
                    count += 1.0;
                }
            }
            // For a finite number of waves it is J0² minus 1/WAVES.
            sum / count + 1.0 / WAVES as f64
        };
        let near = correlation(1, "30km/h");
        let zero = correlation(7, "30km/h");
        assert!((near - 0.94).abs() < 0.02 && zero.abs() < 0.03, "{near} {zero}");
        assert!(correlation(7, "3km/h") > 0.9);
        assert_eq!(
            gains(&channel(1, "0km/h"), 1, 2)[0],
            gains(&channel(1, "0km/h"), 1_000, 2)[1],
            "at rest"
        );
    }

    #[test]
    fn parts_and_antennas_fade_independently() {
        let gains = channel(5, "30km/h").at(17, &Cosines::new());
        let mut all: Vec<f64> = gains.into_iter().flatten().collect();
        all.sort_by(f64::total_cmp);
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_trace_repeats_and_holds_its_values_for_the_interval() {
        let trace =
            FadingTrace { interval: Duration::from_millis(2), gains: vec![vec![0.0, 10.0, -10.0]] };
        let model = FadingModel::new(&FastFading::Trace(Arc::new(trace)));
        let fading =
            Fading::new(&model, Frequency::from_mhz(2_000), Speed::ZERO, Seed(3), "fading");
        let all = gains(&fading, 1, 12);
        assert_eq!(all[..6], all[6..]);
        let mut values = all[..6].to_vec();
        values.sort_by(f64::total_cmp);
        let expected = [0.1, 0.1, 1.0, 1.0, 10.0, 10.0];
        assert!(
            values.iter().zip(expected).all(|(value, other)| (value / other - 1.0).abs() < 1e-9)
        );
    }

    #[test]
    fn the_rows_of_a_trace_are_averaged_by_power_per_part() {
        let row = |decibels: f64| vec![decibels; 5];
        let of = |gains: Vec<Vec<f64>>| {
            let trace =
                Recorded::new(&FadingTrace { interval: Duration::from_micros(2_500), gains });
            [0, 1, 2, 3].map(|part| trace.at(part, 7))
        };
        let eight = of([-60.0, -60.0, 0.0, 0.0, 10.0, 10.0, 0.0, -200.0].map(row).to_vec());
        assert!(
            eight
                .iter()
                .zip([1e-6, 1.0, 10.0, 0.5])
                .all(|(gain, other)| (gain / other - 1.0).abs() < 1e-9)
        );
        let two = of([0.0, 10.0].map(row).to_vec());
        assert!(
            two.iter()
                .zip([1.0, 1.0, 10.0, 10.0])
                .all(|(gain, other)| (gain / other - 1.0).abs() < 1e-9)
        );
        // Five values at intervals of 2.5 ms.
        let values = vec![vec![0.0, 10.0, 20.0, 30.0, 40.0]];
        let trace =
            Recorded::new(&FadingTrace { interval: Duration::from_micros(2_500), gains: values });
        let all: Vec<f64> =
            (0..13).map(|subframe| (10.0 * libm::log10(trace.at(0, subframe))).round()).collect();
        assert_eq!(
            all,
            [0.0, 0.0, 0.0, 10.0, 10.0, 20.0, 20.0, 20.0, 30.0, 30.0, 40.0, 40.0, 40.0]
        );
        assert_eq!(trace.subframes(), 13);
    }
}
