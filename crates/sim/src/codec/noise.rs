use units::Stream;

/// Laplace noise with an autocorrelation.
///
/// X_n = φ X_{n−1} + ε_n, where ε_n is zero with probability φ² and Laplace(b) otherwise. X_n is
/// then exactly Laplace(b) with autocorrelation φ^k: the characteristic functions (1 + φ²b²s²)/(1 +
/// b²s²) on both sides agree (Gaver, Lewis 1980, with the same construction for the exponential
/// distribution).
#[derive(Clone, Debug)]
pub(super) struct CorrelatedLaplace {
    scale: f64,
    correlation: f64,
    state: f64,
}

impl CorrelatedLaplace {
    pub(super) fn new(scale: f64, correlation: f64) -> Self {
        Self { scale, correlation, state: 0.0 }
    }

    pub(super) fn draw(&mut self, random: &mut Stream) -> f64 {
        let innovates = !random.chance(self.correlation * self.correlation);
        let innovation = if innovates { self.scale * random.laplace() } else { 0.0 };
        self.state = self.correlation * self.state + innovation;
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    #[test]
    fn scale_and_correlation_are_as_configured() {
        for correlation in [-0.4, 0.0, 0.6] {
            let mut random = Seed(4).stream("noise");
            let mut noise = CorrelatedLaplace::new(0.2, correlation);
            let draws: Vec<f64> = (0..200_000).map(|_| noise.draw(&mut random)).collect();
            let mean_deviation = draws.iter().map(|x| x.abs()).sum::<f64>() / draws.len() as f64;
            let variance = draws.iter().map(|x| x * x).sum::<f64>() / draws.len() as f64;
            let product = draws.windows(2).map(|x| x[0] * x[1]).sum::<f64>() / draws.len() as f64;
            assert!(
                (mean_deviation - 0.2).abs() < 0.005,
                "mean deviation {mean_deviation} at {correlation}"
            );
            assert!((variance - 0.08).abs() < 0.004, "variance {variance} at {correlation}");
            assert!(
                (product / variance - correlation).abs() < 0.02,
                "correlation {} for {correlation}",
                product / variance
            );
        }
    }
}
