//! The settings, with the values of the paper. Where the paper is silent or has a misprint, the
//! documentation of the setting gives the source of the value.

use super::loss_detector::MAX_LATER;
use crate::gcc::Filter;
use crate::gcc::arrival_filter::{FilterConfig, MAX_GROUPS};
use crate::gcc::words::words;
use crate::profile::BuildError;
use crate::setting::settings;
use std::fmt;
use std::str::FromStr;
use units::{Bitrate, Duration};

/// Minimum interval between frames: the interval between bursts of a sending engine
/// (draft-ietf-rmcat-gcc-02 § 4). Shorter intervals count as this.
const MIN_INTERVAL: Duration = Duration::from_millis(5);
/// Maximum number of levels.
const MAX_LEVELS: usize = 64;

words! {
    /// The state while the estimate is above the threshold but over-use is not confirmed, because
    /// there are too few consecutive detections or the estimate decreases.
    pub enum Unconfirmed {
        /// Unchanged: nothing is signalled (§ 3.2C).
        Held = "held",
        /// Under-using: any state that is not over-using is under-using.
        UnderUsing = "under-using",
    }
}

words! {
    /// The weights of loss intervals.
    pub enum Weights {
        /// 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2 (RFC 5348 § 5.4).
        Rfc5348 = "rfc5348",
        /// 0.1, 0.1, 0.1, 0.1, 0.8, 0.6, 0.4, 0.2 (eq. 3.23).
        Printed = "printed",
    }
}

words! {
    /// How loss intervals are averaged.
    pub enum Average {
        /// Weighted, with the open interval if that makes the average longer (RFC 5348 § 5.4).
        Rfc5348 = "rfc5348",
        /// The sum of the closed intervals over the sum of the weights (eq. 3.25).
        Printed = "printed",
    }
}

words! {
    /// Length of the interval before the first loss.
    pub enum FirstInterval {
        /// The interval at which the throughput equation gives the highest received rate so far
        /// (RFC 5348 § 6.3.1).
        Equation = "equation",
        /// The number of packets before the first loss.
        Packets = "packets",
    }
}

words! {
    /// The throughput equation.
    pub enum Equation {
        /// RFC 5348 § 3.1.
        Rfc5348 = "rfc5348",
        /// Eq. 3.26 as printed, with the second term under the root.
        Printed = "printed",
    }
}

settings! {
    /// Every constant. The delay estimation counts times in milliseconds and sizes in bytes.
    pub struct KilincAnderssonConfig {
        /// Threshold of the estimate m, in ms per frame (§ 3.2C gives no value; libwebrtc of 2012,
        /// `remote_bitrate_estimator/overuse_detector.cc`: 25, compared with 60 m, that is 25/60).
        "threshold" => threshold: f64,
        /// Number of consecutive detections after which over-use is signalled (§ 3.2C: 2).
        "detections" => detections: u32,
        /// The state while the estimate is above the threshold but over-use is not confirmed: held
        /// (the wording of § 3.2C) or under-using.
        "unconfirmed" => unconfirmed: Unconfirmed,
        /// State noise variance of 1/C at 30 frames per second, in (ms/byte)² (eq. 3.20: 1e-10).
        "filter.q_capacity" => q_capacity: f64,
        /// State noise variance of m at 30 frames per second, in ms² (eq. 3.20: 1e-2).
        "filter.q_gradient" => q_gradient: f64,
        /// α of the measurement noise variance (§ 3.2B: between 0.001 and 0.1; 0.01 is the
        /// geometric middle, and the initial value of libwebrtc of 2012). β is (1 − α)^(30/f_max),
        /// as in the draft that the paper cites; eq. 3.18 prints (1 − α)^f_max.
        "filter.alpha" => alpha: f64,
        /// k, the number of recent frames, 1 to 60, from which f_max, the highest frame rate, is
        /// taken (eq. 3.19 gives no value; libwebrtc `overuse_estimator.h`: 60).
        "filter.frames" => frames: usize,
        /// Minimum of the measurement noise variance, in ms² (draft-ietf-rmcat-gcc-02 § 5.3: 1; the
        /// paper gives no value).
        "filter.min_noise" => min_noise: f64,
        /// Residuals are clamped to this many standard deviations for the noise variance (§ 3.2B:
        /// 3).
        "filter.outlier" => outlier: f64,
        /// Number of later packets, 1 to 8, after which a missing packet is lost (RFC 5348 § 5.1:
        /// 3; § 3.2D, which assumes packets in order: 1).
        "loss.later_packets" => later_packets: usize,
        /// The weights of loss intervals: rfc5348 (§ 5.4: 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2) or
        /// printed (eq. 3.23: 0.1 in place of 1).
        "loss.weights" => weights: Weights,
        /// The average loss interval: rfc5348 (§ 5.4) or printed (eq. 3.25: the unweighted sum of
        /// the intervals divided by the sum of the weights).
        "loss.average" => average: Average,
        /// The interval before the first loss: equation (RFC 5348 § 6.3.1) or packets, the number
        /// of packets. The paper does not define it.
        "loss.first_interval" => first_interval: FirstInterval,
        /// The throughput equation: rfc5348 (§ 3.1) or printed (eq. 3.26: the root also covers the
        /// second term, with t_RTO in seconds).
        "tfrc.equation" => equation: Equation,
        /// q, the weight of the past in the smoothed round-trip time (RFC 5348 § 4.3: 0.9).
        "tfrc.rtt_weight" => rtt_weight: f64,
        /// The rates of the ladder, in increasing order (§ 3.3B).
        "levels" => levels: Levels,
        /// Maximum time between two messages of the receiver (§ 3.2C and § 3.3A give no value; GCC
        /// of that time, draft-ietf-rmcat-gcc-02 § 4: 1 s). The ladder climbs at most one step per
        /// message.
        "feedback.heartbeat" => heartbeat: Duration,
        /// Minimum time between two messages of the receiver (§ 3.2C mentions an upper bound of
        /// their rate without a value; transport-wide feedback of libwebrtc: 100 ms).
        "feedback.min_interval" => min_interval: Duration,
        /// Pacing rate as a multiple of the target (the paper has no pacer; libwebrtc
        /// `goog_cc_network_control.cc`: 2.5).
        "pacing.factor" => pacing_factor: f64,
    }
}

impl KilincAnderssonConfig {
    /// The values of the paper.
    pub(crate) fn published() -> Self {
        Self {
            threshold: 25.0 / 60.0,
            detections: 2,
            unconfirmed: Unconfirmed::Held,
            q_capacity: 1e-10,
            q_gradient: 1e-2,
            alpha: 0.01,
            frames: 60,
            min_noise: 1.0,
            outlier: 3.0,
            later_packets: 3,
            weights: Weights::Rfc5348,
            average: Average::Rfc5348,
            first_interval: FirstInterval::Equation,
            equation: Equation::Rfc5348,
            rtt_weight: 0.9,
            levels: Levels([200, 300, 400, 500, 800, 1000].map(Bitrate::from_kbps).to_vec()),
            heartbeat: Duration::from_secs(1),
            min_interval: Duration::from_millis(100),
            pacing_factor: 2.5,
        }
    }

    /// The part of the configuration that the arrival filter uses.
    pub(crate) fn filter(&self) -> FilterConfig {
        FilterConfig {
            form: Filter::TwoComponent,
            q: [self.q_capacity, self.q_gradient],
            q_by_rate: true,
            beta: 1.0 - self.alpha,
            beta_groups: self.frames,
            min_interval: MIN_INTERVAL,
            min_noise: self.min_noise,
            outlier: self.outlier,
        }
    }

    /// Checks the ranges of the values.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let invalid = |name: &str, value: &dyn fmt::Display, must: &str| {
            Err(BuildError::Invalid(format!("setting {name} = {value}: must {must}")))
        };
        for (name, value) in [
            ("threshold", self.threshold),
            ("filter.q_capacity", self.q_capacity),
            ("filter.q_gradient", self.q_gradient),
            ("filter.min_noise", self.min_noise),
            ("filter.outlier", self.outlier),
        ] {
            if !value.is_finite() || value < 0.0 {
                return invalid(name, &value, "be a number of at least 0");
            }
        }
        for (name, value) in [("filter.alpha", self.alpha), ("tfrc.rtt_weight", self.rtt_weight)] {
            if !(0.0..=1.0).contains(&value) {
                return invalid(name, &value, "be between 0 and 1");
            }
        }
        // With a pacing rate below the target the queue of the pacer would grow indefinitely.
        if !self.pacing_factor.is_finite() || self.pacing_factor < 1.0 {
            return invalid("pacing.factor", &self.pacing_factor, "be a number of at least 1");
        }
        for (name, value, max) in [
            ("filter.frames", self.frames, MAX_GROUPS),
            ("loss.later_packets", self.later_packets, MAX_LATER),
        ] {
            if !(1..=max).contains(&value) {
                return invalid(name, &value, &format!("be between 1 and {max}"));
            }
        }
        let min = Duration::from_millis(1);
        for (name, value) in
            [("feedback.heartbeat", self.heartbeat), ("feedback.min_interval", self.min_interval)]
        {
            if value < min {
                return invalid(name, &value, "be at least 1ms");
            }
        }
        Ok(())
    }
}

/// The rates of a ladder in increasing order, separated by spaces or commas: `200kbit/s 300kbit/s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels(Vec<Bitrate>);

impl Levels {
    /// The rates clamped to the bounds, without duplicates.
    pub(crate) fn within(&self, (min, max): (Bitrate, Bitrate)) -> Vec<Bitrate> {
        let mut rates: Vec<Bitrate> = self.0.iter().map(|&rate| rate.max(min).min(max)).collect();
        rates.dedup();
        rates
    }
}

impl FromStr for Levels {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let words = text.split([' ', ',']).filter(|word| !word.is_empty());
        let rates: Vec<Bitrate> = words
            .map(|word| word.parse::<Bitrate>().map_err(|error| error.to_string()))
            .collect::<Result<_, _>>()?;
        let increases = rates.is_sorted_by(|one, next| one < next);
        if !increases
            || !(1..=MAX_LEVELS).contains(&rates.len())
            || rates.first() == Some(&Bitrate::ZERO)
        {
            return Err(format!(
                "use 1 to {MAX_LEVELS} rates above 0, each higher than the previous one"
            ));
        }
        Ok(Self(rates))
    }
}

impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, rate) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{rate}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_parse_and_must_increase() {
        let text = "200kbit/s 300kbit/s 1Mbit/s";
        assert_eq!(text.parse::<Levels>().unwrap().to_string(), text);
        assert_eq!(
            "200kbit/s, 300kbit/s,1Mbit/s".parse::<Levels>().unwrap(),
            text.parse().unwrap()
        );
        for wrong in ["", "0kbit/s", "300kbit/s 200kbit/s", "200kbit/s 200kbit/s", "fast"] {
            assert!(wrong.parse::<Levels>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn bounds_clamp_the_levels() {
        let kbps =
            |rates: &[u64]| rates.iter().copied().map(Bitrate::from_kbps).collect::<Vec<_>>();
        let within = |min, max| {
            KilincAnderssonConfig::published()
                .levels
                .within((Bitrate::from_kbps(min), Bitrate::from_kbps(max)))
        };
        assert_eq!(within(30, 2000), kbps(&[200, 300, 400, 500, 800, 1000]));
        assert_eq!(within(350, 600), kbps(&[350, 400, 500, 600]));
        assert_eq!(within(10, 100), kbps(&[100]));
        assert_eq!(within(3000, 4000), kbps(&[3000]));
    }
}
