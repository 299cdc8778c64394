//! Estimates the parameters of RFC 8593, section 5, from the sizes of encoded frames.

/// An encoded frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedFrame {
    /// Its size in bytes.
    pub size: u64,
    /// Whether it is a key frame.
    pub key: bool,
}

/// The estimates from the frames of one encode.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// SCALE_B: the Laplace scale of the relative deviation of the frame size at steady state. Its
    /// maximum-likelihood estimate is the mean absolute deviation.
    pub size_noise: f64,
    /// The correlation of the deviation between one frame and the next.
    pub correlation: f64,
    /// K_B/B_0: the median size of a key frame, divided by the mean size of the steady-state frames
    /// after it.
    pub key_frame_ratio: f64,
    /// The time constant, in frames, with which the encoder compensates for the bytes that a key
    /// frame took beyond the rate; `None` if it does not.
    pub payback_frames: Option<f64>,
}

/// The fewest steady-state frames after a key frame that are used.
const MIN_STEADY: usize = 20;

/// Estimates the parameters from frames, of which the first is a key frame. The steady state begins
/// `settle` frames after each key frame. `None` if no section between key frames is long enough.
pub fn estimate(frames: &[EncodedFrame], settle: usize) -> Option<Estimate> {
    let stretches: Vec<Stretch> =
        stretches(frames).into_iter().filter_map(|frames| Stretch::new(frames, settle)).collect();
    let absolute =
        mean(stretches.iter().flat_map(|stretch| stretch.deviations.iter().map(|x| x.abs())))?;
    let squares: f64 =
        stretches.iter().flat_map(|stretch| &stretch.deviations).map(|x| x * x).sum();
    let products: f64 = stretches
        .iter()
        .flat_map(|stretch| stretch.deviations.windows(2))
        .map(|pair| pair[0] * pair[1])
        .sum();
    Some(Estimate {
        size_noise: absolute,
        correlation: if squares > 0.0 { products / squares } else { 0.0 },
        key_frame_ratio: median(stretches.iter().map(|stretch| stretch.key_ratio).collect())?,
        payback_frames: payback(frames),
    })
}

/// The median; `None` for an empty list.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some((lower + upper) / 2.0)
}

/// A key frame and the frames up to the next.
struct Stretch {
    key_ratio: f64,
    deviations: Vec<f64>,
}

impl Stretch {
    fn new(frames: &[EncodedFrame], settle: usize) -> Option<Self> {
        let steady = frames.get(settle..).filter(|steady| steady.len() >= MIN_STEADY)?;
        let usual =
            mean(steady.iter().map(|frame| frame.size as f64)).filter(|usual| *usual > 0.0)?;
        Some(Self {
            key_ratio: frames[0].size as f64 / usual,
            deviations: steady.iter().map(|frame| frame.size as f64 / usual - 1.0).collect(),
        })
    }
}

/// The time constant, in frames, with which the encoder reduces the debt D = Σ (B/B_0 − 1), where
/// B_0 is the mean size.
///
/// In the model, the deviation of a frame is x_n = e_n − g·D_n, where e_n has correlation φ from
/// frame to frame, and K = 1/g. Hence x_n = α·x_{n−1} − c·D_n + straight line, fitted by least
/// squares, with α = φ(1 − g) and c = g(1 − φ); so φ solves φ² − (1 + α − c)φ + α = 0. Without φ,
/// alternating noise would look like a fast reduction, and a slow drift like none. The straight
/// line absorbs the unknown debt at the start and the unknown mean of the encoder. `None` if the
/// debt is not reduced.
///
/// Like every autoregression with a trend, the estimate is biased low: over 360 frames with three
/// key frames, on data of the model itself, by a fifth to a third in the median.
fn payback(frames: &[EncodedFrame]) -> Option<f64> {
    let share = mean(frames.iter().map(|frame| frame.size as f64))?;
    let mut debt = 0.0;
    let mut rows = Vec::new();
    for (index, pair) in (0_u32..).zip(frames.windows(2)) {
        let [previous, next] = [0, 1].map(|index| pair[index].size as f64 / share - 1.0);
        debt += previous;
        if !pair[0].key && !pair[1].key {
            rows.push([f64::from(index), next, previous, debt]);
        }
    }
    let [next, previous, debt] = [1, 2, 3].map(|column| without_trend(&rows, column));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (squares, debts, mixed) =
        (product(&previous, &previous), product(&debt, &debt), product(&previous, &debt));
    let (on_previous, on_debt) = (product(&next, &previous), product(&next, &debt));
    let determinant = squares * debts - mixed * mixed;
    let alpha = (on_previous * debts - on_debt * mixed) / determinant;
    let c = (on_previous * mixed - on_debt * squares) / determinant;
    let half = (1.0 + alpha - c) / 2.0;
    let correlation = half - (half * half - alpha).sqrt();
    let gain = c / (1.0 - correlation);
    // Not-a-number if nothing varies or no such φ exists.
    (gain > 0.0).then(|| 1.0 / gain)
}

/// A column minus its regression line over column 0.
fn without_trend(rows: &[[f64; 4]], column: usize) -> Vec<f64> {
    let centre = |column: usize| mean(rows.iter().map(|row| row[column])).unwrap_or_default();
    let (time, value) = (centre(0), centre(column));
    let rising: f64 = rows.iter().map(|row| (row[0] - time) * (row[column] - value)).sum();
    let spread: f64 = rows.iter().map(|row| (row[0] - time) * (row[0] - time)).sum();
    let slope = if spread > 0.0 { rising / spread } else { 0.0 };
    rows.iter().map(|row| row[column] - value - slope * (row[0] - time)).collect()
}

/// Splits before every key frame; frames before the first key frame are dropped.
fn stretches(frames: &[EncodedFrame]) -> Vec<&[EncodedFrame]> {
    let keys: Vec<usize> = (0..frames.len()).filter(|&index| frames[index].key).collect();
    let ends = keys.iter().skip(1).copied().chain([frames.len()]);
    keys.iter().zip(ends).map(|(&start, end)| &frames[start..end]).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    /// Frames of 4,000 bytes with Laplace noise of the given scale, correlated by a moving average,
    /// a key frame of eight times that size every 300 frames, and 1/`payback` of the debt taken off
    /// each frame.
    fn synthetic(scale: f64, correlated: bool, payback: f64) -> Vec<EncodedFrame> {
        let mut random = Seed(11).stream("frames");
        let (mut debt, mut previous) = (0.0, 0.0);
        let mut frames = Vec::new();
        for index in 0..30_000 {
            let key = index % 300 == 0;
            let draw = random.laplace() * scale;
            let noise = if correlated { (draw + previous) / 2.0 } else { draw };
            previous = draw;
            let size = if key { 32_000.0 } else { 4_000.0 * (1.0 + noise) - debt / payback };
            debt += size - 4_000.0;
            frames.push(EncodedFrame { size: size.round() as u64, key });
        }
        frames
    }

    #[test]
    fn known_parameters_are_recovered() {
        let estimate = estimate(&synthetic(0.1, false, 60.0), 150).unwrap();
        assert!((estimate.size_noise - 0.1).abs() < 0.003, "{estimate:?}");
        assert!(estimate.correlation.abs() < 0.02, "{estimate:?}");
        assert!((estimate.key_frame_ratio - 8.0).abs() < 0.05, "{estimate:?}");
        assert!((estimate.payback_frames.unwrap() - 60.0).abs() < 3.0, "{estimate:?}");
    }

    #[test]
    fn a_moving_average_of_two_has_half_the_correlation() {
        let estimate = estimate(&synthetic(0.1, true, 60.0), 150).unwrap();
        assert!((estimate.correlation - 0.5).abs() < 0.02, "{estimate:?}");
    }

    #[test]
    fn a_key_frame_without_compensation_has_no_time_constant() {
        let frame = |index: u64| EncodedFrame {
            size: if index == 0 { 9_000 } else { 1_000 },
            key: index == 0,
        };
        let estimate = estimate(&(0..300).map(frame).collect::<Vec<_>>(), 45).unwrap();
        assert_eq!((estimate.key_frame_ratio, estimate.payback_frames), (9.0, None));
        assert_eq!((estimate.size_noise, estimate.correlation), (0.0, 0.0));
    }

    #[test]
    fn too_few_frames_give_no_estimate() {
        assert_eq!(estimate(&synthetic(0.1, false, 60.0)[..60], 45), None);
        assert_eq!(estimate(&[], 45), None);
    }
}
