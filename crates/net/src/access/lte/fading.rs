//! Fast fading: the gain of a channel over its mean, by parts of the band and antennas.

use super::config::{FadingTrace, FastFading};
use super::link::ratio;
use std::sync::Arc;
use units::{Frequency, Seed, Speed, Stream};

/// The parts of a band that fade each by itself. Typical urban has six paths (45.005 annex C.3.3,
/// reduced setting) of which the powers, 0.189, 0.379, 0.239, 0.095, 0.061 and 0.037, spread the
/// signal as four equal ones do (1/Σp² = 4.0), so the whole band varies as the mean of four
/// independent parts; one of 1.4 MHz, which does not tell them apart, varies more.
pub(super) const PARTS: usize = 4;

/// The antennas of a receiver, down and up.
pub(super) const ANTENNAS: usize = 2;

/// The waves that a channel is made of. Eight, from all around, follow Clarke's spectrum well over
/// the coherence time (Zheng & Xiao 2003, "Simulation models with correct statistical properties
/// for Rayleigh fading channels", § III); the variance of the power is 7/8 of an endless number's.
const WAVES: usize = 8;

/// The speed of light in m/s.
const LIGHT: f64 = 299_792_458.0;

/// The places of a turn in the table of cosines.
const PLACES: usize = 1_024;

/// A turn's cosines, so that a wave costs two look-ups.
pub(super) struct Cosines(Vec<f32>);

impl Cosines {
    pub(super) fn new() -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "single precision is enough")]
        let at = |place| libm::cos(std::f64::consts::TAU * place as f64 / PLACES as f64) as f32;
        Self((0..PLACES).map(at).collect())
    }

    /// Of a phase in 2⁻³² turns.
    fn at(&self, phase: u32) -> f32 {
        self.0[(phase >> (u32::BITS - PLACES.trailing_zeros())) as usize]
    }
}

/// One way between a terminal and a cell.
pub(super) enum Fading {
    None,
    /// By part and antenna: the waves' phases at the start and how much they turn in a subframe, in
    /// 2⁻³² turns.
    Rayleigh(Box<[[[Wave; WAVES]; ANTENNAS]; PARTS]>),
    /// The antennas see the trace from places of their own.
    Trace {
        trace: Arc<Recorded>,
        start: [u64; ANTENNAS],
    },
}

/// The kind of a network's fading.
pub(super) enum Kind {
    None,
    Rayleigh,
    Trace(Arc<Recorded>),
}

impl Kind {
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
    /// A part has the mean power of the rows that are its share of the band.
    fn new(trace: &FadingTrace) -> Self {
        let (rows, values) = (trace.gains.len(), trace.gains.first().map_or(0, Vec::len));
        let part = |part: usize| {
            let first = (part * rows / PARTS).min(rows.saturating_sub(1));
            let own = &trace.gains[first..((part + 1) * rows / PARTS).clamp(first + 1, rows)];
            let power = |place: usize| {
                own.iter().map(|row| ratio(row[place])).sum::<f64>() / own.len() as f64
            };
            (0..values).map(power).collect()
        };
        Self { interval: trace.interval.as_nanos().max(1), parts: std::array::from_fn(part) }
    }

    /// How many subframes it lasts.
    fn subframes(&self) -> u64 {
        (self.interval * self.parts[0].len() as u64).div_ceil(SUBFRAME)
    }

    fn at(&self, part: usize, subframe: u64) -> f64 {
        let values = &self.parts[part];
        let place = subframe * SUBFRAME / self.interval % (values.len() as u64).max(1);
        let value = usize::try_from(place).ok().and_then(|place| values.get(place));
        value.copied().unwrap_or(1.0)
    }
}

/// Nanoseconds of a subframe.
const SUBFRAME: u64 = 1_000_000;

#[derive(Clone, Copy, Default)]
pub(super) struct Wave {
    phase: u32,
    turn: u32,
}

/// Gains as ratios of powers, by part of the band and antenna.
pub(super) type Gains = [[f64; ANTENNAS]; PARTS];

impl Fading {
    pub(super) fn new(
        kind: &Kind,
        carrier: Frequency,
        speed: Speed,
        seed: Seed,
        name: &str,
    ) -> Self {
        let mut random = seed.stream(name);
        match kind {
            Kind::None => Self::None,
            Kind::Rayleigh => Self::Rayleigh(Box::new(rayleigh(carrier, speed, &mut random))),
            Kind::Trace(trace) => {
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
                        // A quarter of a turn back: the sine.
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

/// Waves from all around, evenly but for a common turn, each with a phase of its own: in Clarke's
/// spectrum the frequency of one from the angle α is f_D cos α, f_D = v/c · carrier.
fn rayleigh(
    carrier: Frequency,
    speed: Speed,
    random: &mut Stream,
) -> [[[Wave; WAVES]; ANTENNAS]; PARTS] {
    const TURN: f64 = 4_294_967_296.0;
    let doppler = speed.as_metres_per_second() / LIGHT * carrier.as_f64();
    let mut channel = || {
        let first = random.uniform();
        let mut place = 0.0;
        [(); WAVES].map(|()| {
            let angle = std::f64::consts::TAU * (place + first) / WAVES as f64;
            place += 1.0;
            // In a subframe, a thousandth of a second.
            let turns = doppler * libm::cos(angle) / 1_000.0;
            let wrapped = (turns - turns.floor()) * TURN;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "within a turn"
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
        Fading::new(&Kind::Rayleigh, carrier, speed, Seed(seed), "fading")
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
            // Of so many waves it is J0² less their share.
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
    fn parts_and_antennas_fade_each_by_itself() {
        let gains = channel(5, "30km/h").at(17, &Cosines::new());
        let mut all: Vec<f64> = gains.into_iter().flatten().collect();
        all.sort_by(f64::total_cmp);
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn a_trace_repeats_and_keeps_its_values_for_their_time() {
        let trace =
            FadingTrace { interval: Duration::from_millis(2), gains: vec![vec![0.0, 10.0, -10.0]] };
        let kind = Kind::new(&FastFading::Trace(Arc::new(trace)));
        let fading = Fading::new(&kind, Frequency::from_mhz(2_000), Speed::ZERO, Seed(3), "fading");
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
    fn the_rows_of_a_trace_are_shared_among_the_parts_by_power() {
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
        // Five values of 2.5 ms.
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
