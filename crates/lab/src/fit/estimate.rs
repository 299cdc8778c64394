//! From the sizes of encoded frames to the parameters of RFC 8593 § 5.

/// A frame as the encoder left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedFrame {
    /// Bytes.
    pub size: u64,
    /// Whether it is a key frame.
    pub key: bool,
}

/// What the frames of one encode say.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// SCALE_B: the Laplace scale of the relative deviation of the frame size at steady state. Its
    /// maximum-likelihood estimate is the mean absolute deviation.
    pub size_noise: f64,
    /// The correlation of the deviation between one frame and the next.
    pub correlation: f64,
    /// K_B/B_0: the median size of a key frame over the mean of the frames at steady state after it.
    pub key_frame_ratio: f64,
    /// The time constant of paying back a key frame, in frames; `None` if the excess was not paid back.
    pub payback_frames: Option<f64>,
}

/// Fewer frames at steady state than this say nothing.
const MIN_STEADY: usize = 20;

/// Estimates from frames between key frames. Steady state begins `settle` frames after a key frame, its debt
/// is followed for `follow` frames against `share`, the target rate's bytes a frame. `None` if no stretch is long enough.
pub fn estimate(frames: &[EncodedFrame], share: f64, settle: usize, follow: usize) -> Option<Estimate> {
    let stretches: Vec<Stretch> = stretches(frames)
        .into_iter()
        .filter_map(|frames| Stretch::new(frames, share, settle, follow))
        .collect();
    let absolute = mean(stretches.iter().flat_map(|stretch| stretch.deviations.iter().map(|x| x.abs())))?;
    let squares: f64 = stretches.iter().flat_map(|stretch| &stretch.deviations).map(|x| x * x).sum();
    let products: f64 = stretches
        .iter()
        .flat_map(|stretch| stretch.deviations.windows(2))
        .map(|pair| pair[0] * pair[1])
        .sum();
    Some(Estimate {
        size_noise: absolute,
        correlation: if squares > 0.0 { products / squares } else { 0.0 },
        key_frame_ratio: median(stretches.iter().map(|stretch| stretch.key_ratio).collect())?,
        // The first key frame meets an encoder whose buffer is neither full nor empty.
        payback_frames: median(stretches.iter().skip(1).map(|stretch| stretch.payback).collect())
            .filter(|frames| frames.is_finite()),
    })
}

/// The middle value; `None` of nothing.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    Some((lower + upper) / 2.0)
}

/// A key frame and what follows it.
struct Stretch {
    key_ratio: f64,
    deviations: Vec<f64>,
    payback: f64,
}

impl Stretch {
    fn new(frames: &[EncodedFrame], share: f64, settle: usize, follow: usize) -> Option<Self> {
        let steady = frames.get(settle..).filter(|steady| steady.len() >= MIN_STEADY)?;
        let usual = mean(steady.iter().map(|frame| frame.size as f64)).filter(|usual| *usual > 0.0)?;
        Some(Self {
            key_ratio: frames[0].size as f64 / usual,
            deviations: steady.iter().map(|frame| frame.size as f64 / usual - 1.0).collect(),
            payback: payback(&frames[..frames.len().min(follow)], share),
        })
    }
}

/// Of a debt D that shrinks by D/K a frame, the least-squares K: Σ D² / Σ D·(B_0 − B); infinite if it does not shrink.
fn payback(frames: &[EncodedFrame], share: f64) -> f64 {
    let mut debt = frames[0].size as f64 - share;
    let (mut squares, mut products) = (0.0, 0.0);
    for frame in &frames[1..] {
        let repaid = share - frame.size as f64;
        squares += debt * debt;
        products += debt * repaid;
        debt -= repaid;
    }
    if products > 0.0 { squares / products } else { f64::INFINITY }
}

/// Cuts before every key frame; what comes before the first is left out.
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

    /// Frames of 4,000 bytes with Laplace noise of the given scale, correlation by a moving average, a key frame of
    /// eight times that size every 300 frames, and a debt that shrinks by a K-th a frame.
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
            if key {
                debt = 28_000.0;
            } else {
                debt -= debt / payback;
            }
            frames.push(EncodedFrame { size: size.round() as u64, key });
        }
        frames
    }

    #[test]
    fn known_parameters_are_recovered() {
        let estimate = estimate(&synthetic(0.1, false, 20.0), 4_000.0, 150, 60).unwrap();
        assert!((estimate.size_noise - 0.1).abs() < 0.002, "{estimate:?}");
        assert!(estimate.correlation.abs() < 0.02, "{estimate:?}");
        assert!((estimate.key_frame_ratio - 8.0).abs() < 0.05, "{estimate:?}");
        assert!((estimate.payback_frames.unwrap() - 20.0).abs() < 1.0, "{estimate:?}");
    }

    #[test]
    fn a_moving_average_of_two_has_half_the_correlation() {
        let estimate = estimate(&synthetic(0.1, true, 20.0), 4_000.0, 150, 60).unwrap();
        assert!((estimate.correlation - 0.5).abs() < 0.02, "{estimate:?}");
    }

    #[test]
    fn a_key_frame_that_is_never_paid_back_has_no_time_constant() {
        let frame =
            |index: u64| EncodedFrame { size: if index == 0 { 9_000 } else { 1_000 }, key: index == 0 };
        let estimate = estimate(&(0..300).map(frame).collect::<Vec<_>>(), 1_000.0, 45, 60).unwrap();
        assert_eq!((estimate.key_frame_ratio, estimate.payback_frames), (9.0, None));
        assert_eq!((estimate.size_noise, estimate.correlation), (0.0, 0.0));
    }

    #[test]
    fn too_few_frames_say_nothing() {
        assert_eq!(estimate(&synthetic(0.1, false, 20.0)[..60], 4_000.0, 45, 60), None);
        assert_eq!(estimate(&[], 4_000.0, 45, 60), None);
    }
}
