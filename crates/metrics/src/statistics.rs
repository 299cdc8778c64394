/// A statistic of samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    /// The arithmetic mean.
    Mean,
    /// The 50th percentile.
    Median,
    /// A percentile.
    Percentile(u8),
    /// The minimum.
    Min,
    /// The maximum.
    Max,
    /// The standard deviation of a sample (n − 1).
    Deviation,
}

impl Statistic {
    /// The statistics that each quantity has as metrics.
    pub const ALL: [Self; 9] = [
        Self::Mean,
        Self::Median,
        Self::Percentile(5),
        Self::Percentile(25),
        Self::Percentile(75),
        Self::Percentile(95),
        Self::Min,
        Self::Max,
        Self::Deviation,
    ];

    /// Its suffix in the name of a metric: the `p95` of `rtt_p95`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Median => "median",
            Self::Percentile(5) => "p5",
            Self::Percentile(25) => "p25",
            Self::Percentile(75) => "p75",
            Self::Percentile(_) => "p95",
            Self::Min => "min",
            Self::Max => "max",
            Self::Deviation => "std",
        }
    }

    pub(super) fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|statistic| statistic.name() == name)
    }

    /// The statistic of these samples; not-a-number if there are none.
    #[must_use]
    pub fn of(self, mut samples: Vec<f64>) -> f64 {
        samples.sort_by(f64::total_cmp);
        match self {
            Self::Mean => mean(&samples),
            Self::Median => percentile(&samples, 50.0),
            Self::Percentile(percent) => percentile(&samples, f64::from(percent)),
            Self::Min => samples.first().copied().unwrap_or(f64::NAN),
            Self::Max => samples.last().copied().unwrap_or(f64::NAN),
            Self::Deviation => deviation(&samples),
        }
    }
}

/// The arithmetic mean; not-a-number if there are no samples.
#[must_use]
pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// The standard deviation of a sample (n − 1); zero for one value, not-a-number for none.
#[must_use]
pub fn deviation(samples: &[f64]) -> f64 {
    let centre = mean(samples);
    let squares: f64 = samples.iter().map(|value| (value - centre) * (value - centre)).sum();
    if samples.len() == 1 { 0.0 } else { (squares / (samples.len() as f64 - 1.0)).sqrt() }
}

/// The percentile of ascending samples, interpolated linearly between the two nearest (type 7 of
/// Hyndman and Fan 1996, the default of R and NumPy); not-a-number if there are no samples.
#[must_use]
pub fn percentile(ascending: &[f64], percent: f64) -> f64 {
    let Some(last) = ascending.len().checked_sub(1) else { return f64::NAN };
    let position = percent.clamp(0.0, 100.0) / 100.0 * last as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within the list's length"
    )]
    let below = position as usize;
    let above = (below + 1).min(last);
    ascending[below] + (ascending[above] - ascending[below]) * (position - below as f64)
}

/// Jain's fairness index, (Σx)²/(n Σx²), between 1/n and 1; not-a-number if all shares are zero.
#[must_use]
pub fn jain_index(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}
