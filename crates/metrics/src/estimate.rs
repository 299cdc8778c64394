use super::{deviation, mean};
use schemars::JsonSchema;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The confidence of an interval, as a share.
const CONFIDENCE: f64 = 0.95;

/// The mean of a metric over runs with its confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The mean of the finite values. If there are none, infinite if a value is infinite, else
    /// not-a-number. Infinity and not-a-number are `null` in JSON.
    #[schemars(with = "Option<f64>")]
    pub mean: f64,
    /// Half the width of the mean's 95 % confidence interval; `None` if fewer than two values are
    /// finite.
    pub half_width: Option<f64>,
    /// The number of runs.
    pub runs: usize,
    /// The number of runs whose value is infinite: the measured event never happened.
    pub never: usize,
    /// The number of runs without a value: not-a-number.
    pub missing: usize,
}

impl Estimate {
    /// The estimate from these runs, with the interval of Student's t with n − 1 degrees of
    /// freedom.
    #[must_use]
    pub fn of(runs: &[f64]) -> Self {
        let finite: Vec<f64> = runs.iter().copied().filter(|value| value.is_finite()).collect();
        let never = runs.iter().filter(|value| value.is_infinite()).count();
        let mean = if finite.is_empty() && never > 0 { f64::INFINITY } else { mean(&finite) };
        let missing = runs.len() - finite.len() - never;
        Self { mean, half_width: half_width(&finite, CONFIDENCE), runs: runs.len(), never, missing }
    }

    /// Whether every run has a finite value.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.never == 0 && self.missing == 0
    }

    /// A note about the runs without a finite value, `never in 2 of 5 runs`; `None` if all runs
    /// have one or none has.
    #[must_use]
    pub fn incomplete(&self) -> Option<String> {
        let Self { mean, runs, never, missing, .. } = *self;
        match (never, missing) {
            _ if !mean.is_finite() => None,
            (0, 0) => None,
            (0, missing) => Some(format!("in {} of {runs} runs", runs - missing)),
            (never, _) => Some(format!("never in {never} of {runs} runs")),
        }
    }

    /// The estimate divided by `whole`, which is taken as exact.
    #[must_use]
    pub fn relative_to(self, whole: f64) -> Self {
        let half_width = self.half_width.map(|half| (half / whole).abs());
        Self { mean: self.mean / whole, half_width, ..self }
    }
}

/// Half the width of the confidence interval of the mean, t · s / √n, where t is the quantile (1 +
/// `confidence`) / 2 of Student's distribution with n − 1 degrees of freedom. `confidence` is a
/// share. `None` for fewer than two values.
pub fn half_width(values: &[f64], confidence: f64) -> Option<f64> {
    let degrees = values.len().checked_sub(1).filter(|degrees| *degrees > 0)?;
    let student = StudentsT::new(0.0, 1.0, degrees as f64).ok()?;
    let quantile = student.inverse_cdf(f64::midpoint(1.0, confidence));
    Some(quantile * deviation(values) / (values.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::Estimate;

    #[test]
    fn the_interval_is_that_of_students_t() {
        // t at 97.5 %: 12.706 with one degree of freedom, 2.262 with nine (NIST/SEMATECH e-Handbook
        // 1.3.6.7.2).
        let two = Estimate::of(&[1.0, 3.0]);
        assert!((two.half_width.unwrap() - 12.706).abs() < 1e-3 && two.mean == 2.0, "{two:?}");
        let ten: Vec<f64> = (0..10).map(f64::from).collect();
        let expected = 2.262 * (55.0_f64 / 6.0).sqrt() / 10.0_f64.sqrt();
        assert!((Estimate::of(&ten).half_width.unwrap() - expected).abs() < 1e-3);
        assert_eq!(Estimate::of(&[7.0]).half_width, None);
    }

    #[test]
    fn runs_without_a_finite_value_are_counted_and_not_averaged() {
        let mixed = Estimate::of(&[1.0, f64::INFINITY, 3.0, f64::NAN]);
        assert_eq!((mixed.mean, mixed.runs, mixed.never, mixed.missing), (2.0, 4, 1, 1));
        assert!(!mixed.is_complete());
        assert_eq!(Estimate::of(&[f64::NAN, f64::INFINITY]).mean, f64::INFINITY);
        assert!(Estimate::of(&[f64::NAN]).mean.is_nan() && Estimate::of(&[]).mean.is_nan());
        assert_eq!(Estimate::of(&[2.0, 4.0]).relative_to(2.0).mean, 1.5);
    }
}
