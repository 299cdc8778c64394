//! Second stage: the Kalman filter that estimates m, the one-way queuing delay gradient, from the
//! measured delay variation (Carlucci 2017, eqs. 4–10; Jansen 2016, eqs. 5-4 to 5-7; Kilinc,
//! Andersson, eqs. 3.10–3.20).
//!
//! Units: d and m in ms per group, L in bytes, 1/C in ms per byte.

use super::arrival_group::Variation;
use super::config::Filter;
use units::Duration;

/// P(0) (Carlucci 2017 § III-A).
const INITIAL_ERROR: [f64; 2] = [100.0, 0.1];
/// Initial 1/C, in ms per byte (libwebrtc `remote_bitrate_estimator/overuse_estimator.cc`: 8/512;
/// the paper gives no value).
const INITIAL_SLOPE: f64 = 8.0 / 512.0;
/// Initial σ_n², in ms² (the same file: 50).
const INITIAL_NOISE: f64 = 50.0;
/// Maximum number of groups over which the shortest interval is taken (the header of the same file:
/// 60).
pub(crate) const MAX_GROUPS: usize = 60;
/// β holds for this many groups per second (draft-02 § 5.3: 30).
const GROUPS_PER_SECOND: f64 = 30.0;

/// The parameters of the filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterConfig {
    pub(crate) form: Filter,
    /// Diagonal of Q: state noise variances of 1/C, in (ms/byte)², and of m, in ms².
    pub(crate) q: [f64; 2],
    /// Whether Q is also adjusted to the group rate: multiplied by 30 over the highest rate
    /// (Kilinc, Andersson, eq. 3.20).
    pub(crate) q_by_rate: bool,
    /// β, the weight of the past in the measurement noise variance.
    pub(crate) beta: f64,
    /// Number of groups over which the highest rate is taken; 0: β is not adjusted.
    pub(crate) beta_groups: usize,
    /// Minimum interval between groups; shorter intervals count as this.
    pub(crate) min_interval: Duration,
    /// Minimum of the measurement noise variance, in ms².
    pub(crate) min_noise: f64,
    /// Residuals are clamped to this many standard deviations for the noise variance; 0: not
    /// clamped.
    pub(crate) outlier: f64,
}

/// The filter's state and covariance.
pub(crate) struct ArrivalFilter {
    form: Filter,
    q: [f64; 2],
    q_by_rate: bool,
    weight: Weight,
    min_noise: f64,
    outlier: f64,
    /// θ = (1/C, m) (eq. 4).
    theta: [f64; 2],
    /// P (eq. 8).
    error: [[f64; 2]; 2],
    noise: f64,
    gain: f64,
}

impl ArrivalFilter {
    pub(crate) fn new(config: &FilterConfig) -> Self {
        let [capacity, gradient] = INITIAL_ERROR;
        Self {
            form: config.form,
            q: config.q,
            q_by_rate: config.q_by_rate,
            weight: Weight::new(config),
            min_noise: config.min_noise,
            outlier: config.outlier,
            theta: [if config.form == Filter::TwoComponent { INITIAL_SLOPE } else { 0.0 }, 0.0],
            error: [[capacity, 0.0], [0.0, gradient]],
            noise: INITIAL_NOISE,
            gain: 0.0,
        }
    }

    /// Processes a variation and returns m, in ms per group.
    pub(crate) fn update(&mut self, variation: &Variation) -> f64 {
        // H = [ΔL 1] (eq. 6). The one-component form sets ΔL to 0, which gives eqs. 5-4 to 5-7.
        let h = match self.form {
            Filter::TwoComponent => [variation.size, 1.0],
            Filter::OneComponent => [0.0, 1.0],
        };
        let residual = variation.delay - (h[0] * self.theta[0] + h[1] * self.theta[1]);
        let beta = self.weight.at(variation);
        self.update_noise(beta, residual);
        let mut p = self.error;
        let share = if self.q_by_rate { self.weight.share } else { 1.0 };
        p[0][0] += share * self.q[0];
        p[1][1] += share * self.q[1];
        let ph = [p[0][0] * h[0] + p[0][1] * h[1], p[1][0] * h[0] + p[1][1] * h[1]];
        let spread = h[0] * ph[0] + h[1] * ph[1] + self.noise;
        let k = [ph[0] / spread, ph[1] / spread];
        // P = (I − K H)(P + Q) (eq. 8). H (P + Q) is the transpose of (P + Q) Hᵀ because P is
        // symmetric.
        for (row, gain) in k.into_iter().enumerate() {
            for (column, value) in ph.into_iter().enumerate() {
                self.error[row][column] = p[row][column] - gain * value;
            }
            self.theta[row] += gain * residual;
        }
        self.gain = k[1];
        self.theta[1]
    }

    /// σ_n² (eq. 10), with the minimum and the clamping of draft-02 § 5.3 if the profile sets them.
    fn update_noise(&mut self, beta: f64, residual: f64) {
        let most = self.outlier * self.noise.sqrt();
        let residual = if self.outlier > 0.0 { residual.clamp(-most, most) } else { residual };
        let noise = beta * self.noise + (1.0 - beta) * residual * residual;
        self.noise = noise.max(self.min_noise);
    }

    /// m, in ms per group.
    pub(crate) fn gradient(&self) -> f64 {
        self.theta[1]
    }

    /// 1/C, in ms per byte.
    pub(crate) fn slope(&self) -> f64 {
        self.theta[0]
    }

    /// k_m, the Kalman gain of m.
    pub(crate) fn gain(&self) -> f64 {
        self.gain
    }

    /// σ_n², in ms².
    pub(crate) fn noise(&self) -> f64 {
        self.noise
    }
}

/// The weight of the past in σ_n²: β, or β adjusted to the group rate (draft-02 § 5.3: (1 −
/// χ)^(30/f_max), where β = 1 − χ and f_max is the highest rate of the last K groups).
struct Weight {
    beta: f64,
    /// Departure intervals of the last K groups, in ms; unused if β is not adjusted.
    intervals: [f64; MAX_GROUPS],
    groups: usize,
    next: usize,
    /// Minimum interval, in ms. Groups are sent at least a burst time apart; only the interval of
    /// their last packets can be shorter.
    min_interval: f64,
    /// The shortest interval, in ms, and the resulting weight, so that the power is computed only
    /// when the interval changes.
    newest: (f64, f64),
    /// 30 groups per second divided by the highest group rate.
    share: f64,
}

impl Weight {
    fn new(config: &FilterConfig) -> Self {
        Self {
            beta: config.beta,
            intervals: [f64::INFINITY; MAX_GROUPS],
            groups: config.beta_groups.min(MAX_GROUPS),
            next: 0,
            min_interval: config.min_interval.as_millis_f64(),
            newest: (f64::NAN, config.beta),
            share: 1.0,
        }
    }

    fn at(&mut self, variation: &Variation) -> f64 {
        if self.groups == 0 {
            return self.beta;
        }
        // T_i − T_{i−1} is t_i − t_{i−1} minus d_m.
        let interval = variation.interval.as_millis_f64() - variation.delay;
        self.intervals[self.next] = interval.max(self.min_interval);
        self.next = (self.next + 1) % self.groups;
        let shortest = self.intervals[..self.groups].iter().copied().fold(f64::INFINITY, f64::min);
        if shortest != self.newest.0 {
            self.share = GROUPS_PER_SECOND * shortest / 1000.0;
            self.newest = (shortest, libm::pow(self.beta, self.share));
        }
        self.newest.1
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::GccConfig;
    use super::*;
    use units::{Seed, Time};

    fn filter(config: &GccConfig) -> ArrivalFilter {
        ArrivalFilter::new(&config.filter())
    }

    fn variation(delay: f64, size: f64) -> Variation {
        Variation { delay, size, arrival: Time::ZERO, interval: Duration::from_millis(33) }
    }

    #[test]
    fn one_step_of_the_one_component_form_by_hand() {
        let mut filter = filter(&GccConfig { min_noise: 0.0, ..GccConfig::jansen_2016() });
        // σ² = 0.95·50 + 0.05·16 = 48.3; K = 0.101/(48.3 + 0.101); m = K·4; P = (1 − K)·0.101.
        let m = filter.update(&variation(4.0, 300.0));
        let k = 0.101 / 48.401;
        assert!((filter.noise() - 48.3).abs() < 1e-12);
        assert!((m - 4.0 * k).abs() < 1e-12, "{m}");
        assert!((filter.error[1][1] - (1.0 - k) * 0.101).abs() < 1e-12);
        assert_eq!(filter.slope(), 0.0);
    }

    #[test]
    fn one_step_of_the_two_component_form_by_hand() {
        let mut filter = filter(&GccConfig::carlucci_2017());
        // z = 10 − 100/64 = 8.4375; σ² = 47.5 + 0.05·z²; S = 100²·100 + 0.101 + σ² (q_11 is
        // negligible).
        let m = filter.update(&variation(10.0, 100.0));
        let z = 8.4375;
        let noise = 47.5 + 0.05 * z * z;
        let spread = 1e4 * (100.0 + 1e-10) + 0.101 + noise;
        assert!((filter.noise() - noise).abs() < 1e-9);
        assert!((m - 0.101 / spread * z).abs() < 1e-15, "{m}");
        assert!(
            (filter.slope() - (8.0 / 512.0 + 1e4 / spread * z)).abs() < 1e-6,
            "{}",
            filter.slope()
        );
    }

    #[test]
    fn the_filter_separates_the_capacity_from_the_gradient() {
        // 1 Mbit/s is 0.008 ms per byte; the queue grows by 0.5 ms per group.
        let mut filter = filter(&GccConfig::carlucci_2017());
        let mut random = Seed(1).stream("filter");
        for _ in 0..2_000 {
            let size = 1_000.0 * random.normal();
            filter.update(&variation(0.008 * size + 0.5 + random.normal(), size));
        }
        assert!((filter.slope() - 0.008).abs() < 0.0005, "{}", filter.slope());
        assert!((filter.gradient() - 0.5).abs() < 0.3, "{}", filter.gradient());
    }

    #[test]
    fn beta_follows_the_highest_rate_of_groups() {
        let mut weight =
            Weight::new(&GccConfig { beta_groups: 2, ..GccConfig::draft_02() }.filter());
        let mut at = |departure_ms: u64, delay: f64| {
            let interval =
                Duration::from_millis(departure_ms) + Duration::from_millis(delay as u64);
            weight.at(&Variation { interval, ..variation(delay, 0.0) })
        };
        // 30 groups per second give β, 100 give β^0.3, and 5 ms is the minimum interval.
        assert!((at(20, 3.0) - libm::pow(0.95, 0.6)).abs() < 1e-12);
        assert!((at(10, 0.0) - libm::pow(0.95, 0.3)).abs() < 1e-12);
        assert!(
            (at(40, 0.0) - libm::pow(0.95, 0.3)).abs() < 1e-12,
            "the shortest of the last two groups"
        );
        assert!((at(40, 0.0) - libm::pow(0.95, 1.2)).abs() < 1e-12);
        assert!((at(1, 0.0) - libm::pow(0.95, 0.15)).abs() < 1e-12);
    }

    #[test]
    fn the_state_noise_follows_the_highest_rate_of_groups() {
        let config = FilterConfig { q_by_rate: true, ..GccConfig::draft_02().filter() };
        let p = |interval| {
            let mut filter = ArrivalFilter::new(&config);
            filter.update(&Variation {
                interval: Duration::from_millis(interval),
                ..variation(0.0, 0.0)
            });
            (filter.error[1][1], filter.noise())
        };
        // At 10 groups per second P grows by 3 q before the step, at 30 by q: P(1 − P/(P + σ²)).
        for (interval, share) in [(100, 3.0), (20, 0.6)] {
            let (error, noise) = p(interval);
            let before = 0.1 + share * 1e-3;
            assert!(
                (error - before * noise / (before + noise)).abs() < 1e-12,
                "{interval} ms: {error}"
            );
        }
    }

    #[test]
    fn an_outlier_moves_the_robust_noise_less() {
        let after = |outlier| {
            let mut filter = filter(&GccConfig { outlier, ..GccConfig::carlucci_2017() });
            filter.update(&variation(1_000.0, 0.0));
            filter.noise()
        };
        assert!((after(0.0) - (47.5 + 0.05 * 1e6)).abs() < 1e-9);
        assert!((after(3.0) - (47.5 + 0.05 * 450.0)).abs() < 1e-9, "three deviations are √450");
    }
}
