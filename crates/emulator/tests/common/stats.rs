//! Statistics of samples.

/// The quantile `share` (0 to 1) of the samples.
pub(crate) fn quantile(samples: &[f64], share: f64) -> f64 {
    assert!(!samples.is_empty(), "no samples");
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "a share of a length"
    )]
    let index = ((sorted.len() - 1) as f64 * share).round() as usize;
    sorted[index]
}

pub(crate) fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5)
}

/// The median of the 99th percentiles of successive hundreds of samples. A stall of the machine
/// spoils the hundreds that it falls into; a constant error is in all of them.
pub(crate) fn p99(samples: &[f64]) -> f64 {
    let parts = samples.chunks_exact(samples.len().clamp(1, 100));
    median(&parts.map(|part| quantile(part, 0.99)).collect::<Vec<_>>())
}

/// The slope of the least-squares line through these points.
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    assert!(points.len() > 1, "a line needs two points");
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let both: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let square: f64 = points.iter().map(|point| (point.0 - x) * (point.0 - x)).sum();
    both / square
}
