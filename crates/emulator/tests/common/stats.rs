//! Statistics of samples.

/// The sample that this share of the others does not exceed.
pub(crate) fn quantile(samples: &[f64], share: f64) -> f64 {
    assert!(!samples.is_empty(), "no samples");
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "a share of a length"
    )]
    let place = ((sorted.len() - 1) as f64 * share).round() as usize;
    sorted[place]
}

pub(crate) fn median(samples: &[f64]) -> f64 {
    quantile(samples, 0.5)
}

/// The 99th percentile of a hundred samples in a row, in the median over all such. A moment in
/// which the machine stands still spoils the hundreds that it falls into; what is always so is in
/// each.
pub(crate) fn p99(samples: &[f64]) -> f64 {
    let parts = samples.chunks_exact(samples.len().clamp(1, 100));
    median(&parts.map(|part| quantile(part, 0.99)).collect::<Vec<_>>())
}

/// The slope of the line of least squares through these points.
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    assert!(points.len() > 1, "a line needs two points");
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let both: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let square: f64 = points.iter().map(|point| (point.0 - x) * (point.0 - x)).sum();
    both / square
}
