//! The constants by name, as published; where the paper is silent or garbled, as the setting's line
//! says.

use super::loss_detector::MAX_LATER;
use crate::gcc::Filter;
use crate::gcc::arrival_filter::{FilterConfig, MAX_GROUPS};
use crate::gcc::words::words;
use crate::registry::BuildError;
use crate::setting::settings;
use std::fmt;
use std::str::FromStr;
use units::{Bitrate, Duration};

/// No interval between frames counts as shorter: what a sending engine's burst is apart
/// (draft-ietf-rmcat-gcc-02 § 4).
const MIN_INTERVAL: Duration = Duration::from_millis(5);
/// The most levels that a ladder may have.
const MAX_LEVELS: usize = 64;

words! {
    /// What the state is while the estimate is above the threshold and over-use is not confirmed:
    /// too few detections in a row, or the estimate falls.
    pub enum Unconfirmed {
        /// As it was: nothing is signalled (§ 3.2C).
        Held = "held",
        /// Under-using: all that is not over-using is the other state.
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
        /// Weighted, with the interval that is still open if that makes it longer (RFC 5348 § 5.4).
        Rfc5348 = "rfc5348",
        /// The sum of the closed intervals over the sum of the weights (eq. 3.25).
        Printed = "printed",
    }
}

words! {
    /// How long the interval before the first loss is.
    pub enum FirstInterval {
        /// What the throughput equation takes to give the highest rate received so far (RFC 5348 §
        /// 6.3.1).
        Equation = "equation",
        /// The packets before it.
        Packets = "packets",
    }
}

words! {
    /// The throughput equation.
    pub enum Equation {
        /// RFC 5348 § 3.1.
        Rfc5348 = "rfc5348",
        /// As eq. 3.26 is printed, with the second term under the root.
        Printed = "printed",
    }
}

settings! {
    /// Every constant. Times of the delay estimation are in milliseconds, sizes in bytes.
    pub struct KilincAnderssonConfig {
        /// The estimate m is compared with it (§ 3.2C, no value there): 25/60 (libwebrtc of 2012,
        /// `remote_bitrate_estimator/overuse_detector.cc`: 25, with which 60 m is compared), ms a
        /// frame.
        "threshold" => threshold: f64,
        /// Over-use is signalled when it was detected this often in a row (§ 3.2C: 2).
        "detections" => detections: u32,
        /// The state while the estimate is above the threshold and over-use is not confirmed: held
        /// (§ 3.2C as it is worded) or under-using (as if all else were).
        "unconfirmed" => unconfirmed: Unconfirmed,
        /// State noise variance of 1/C at 30 frames a second (eq. 3.20: 1e-10), (ms/byte)².
        "filter.q_capacity" => q_capacity: f64,
        /// State noise variance of m at 30 frames a second (eq. 3.20: 1e-2), ms².
        "filter.q_gradient" => q_gradient: f64,
        /// α of the measurement noise variance (§ 3.2B: within 0.001 and 0.1; of the range the
        /// middle, and libwebrtc's of 2012 at a call's start: 0.01); β is (1 − α)^(30/f_max), as in
        /// the draft that the paper cites: eq. 3.18 prints (1 − α)^f_max.
        "filter.alpha" => alpha: f64,
        /// f_max is the highest rate of the last so many frames, k (eq. 3.19, no value there;
        /// libwebrtc `overuse_estimator.h`: 60). 1 to 60.
        "filter.frames" => frames: usize,
        /// The measurement noise variance falls no lower (draft-ietf-rmcat-gcc-02 § 5.3: 1; the
        /// paper is silent), ms².
        "filter.min_noise" => min_noise: f64,
        /// Residuals count for the noise variance only up to this many deviations (§ 3.2B: 3).
        "filter.outlier" => outlier: f64,
        /// A packet is lost when so many later ones have come (RFC 5348 § 5.1: 3; § 3.2D, where
        /// packets keep their order: 1). 1 to 8.
        "loss.later_packets" => later_packets: usize,
        /// The weights of loss intervals: rfc5348 (§ 5.4: 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2) or
        /// printed (eq. 3.23: 0.1 in place of 1).
        "loss.weights" => weights: Weights,
        /// The average loss interval: rfc5348 (§ 5.4) or printed (eq. 3.25: the intervals are not
        /// weighted, their divisor is).
        "loss.average" => average: Average,
        /// The interval before the first loss: equation (RFC 5348 § 6.3.1) or packets; the paper is
        /// silent.
        "loss.first_interval" => first_interval: FirstInterval,
        /// The throughput equation: rfc5348 (§ 3.1) or printed (eq. 3.26: the root covers the
        /// second term too, whose t_RTO is taken in seconds).
        "tfrc.equation" => equation: Equation,
        /// Weight of the past in the round-trip time, q (RFC 5348 § 4.3: 0.9).
        "tfrc.rtt_weight" => rtt_weight: f64,
        /// The rates of the ladder, rising (§ 3.3B).
        "levels" => levels: Levels,
        /// Longest time between two messages of the receiver, the maximum interval (§ 3.2C, § 3.3A,
        /// no value there): GCC's of that time (draft-ietf-rmcat-gcc-02 § 4: 1 s). A ladder climbs
        /// at most a step a message.
        "feedback.heartbeat" => heartbeat: Duration,
        /// Shortest time between two messages of the receiver (§ 3.2C: an upper bound of their
        /// rate, no value there): as transport-wide feedback (libwebrtc: 100 ms).
        "feedback.min_interval" => min_interval: Duration,
        /// The pacing rate as a multiple of the target (the paper has no pacer; libwebrtc
        /// `goog_cc_network_control.cc`: 2.5).
        "pacing.factor" => pacing_factor: f64,
    }
}

impl KilincAnderssonConfig {
    /// As published.
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

    /// What of it the arrival filter needs.
    pub(crate) fn filter(&self) -> FilterConfig {
        FilterConfig {
            form: Filter::TwoComponent,
            q: [self.q_capacity, self.q_gradient],
            q_by_rate: true,
            beta: 1.0 - self.alpha,
            beta_groups: self.frames,
            least_interval: MIN_INTERVAL,
            min_noise: self.min_noise,
            outlier: self.outlier,
        }
    }

    /// What single values cannot show.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let invalid = |name: &str, value: &dyn fmt::Display, must: &str| {
            Err(BuildError::Invalid(format!("setting {name} = {value}: it must {must}")))
        };
        for (name, value) in [
            ("threshold", self.threshold),
            ("filter.q_capacity", self.q_capacity),
            ("filter.q_gradient", self.q_gradient),
            ("filter.min_noise", self.min_noise),
            ("filter.outlier", self.outlier),
        ] {
            if !value.is_finite() || value < 0.0 {
                return invalid(name, &value, "be a number not below 0");
            }
        }
        for (name, value) in [("filter.alpha", self.alpha), ("tfrc.rtt_weight", self.rtt_weight)] {
            if !(0.0..=1.0).contains(&value) {
                return invalid(name, &value, "lie within 0 and 1");
            }
        }
        // Below the target the pacer's queue would grow for ever.
        if !self.pacing_factor.is_finite() || self.pacing_factor < 1.0 {
            return invalid("pacing.factor", &self.pacing_factor, "be a number not below 1");
        }
        for (name, value, most) in [
            ("filter.frames", self.frames, MAX_GROUPS),
            ("loss.later_packets", self.later_packets, MAX_LATER),
        ] {
            if !(1..=most).contains(&value) {
                return invalid(name, &value, &format!("lie within 1 and {most}"));
            }
        }
        let least = Duration::from_millis(1);
        for (name, value) in
            [("feedback.heartbeat", self.heartbeat), ("feedback.min_interval", self.min_interval)]
        {
            if value < least {
                return invalid(name, &value, "be 1ms or longer");
            }
        }
        Ok(())
    }
}

/// The rates of a ladder, rising: `200kbit/s 300kbit/s`, with blanks or commas between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels(Vec<Bitrate>);

impl Levels {
    /// The rates within bounds: those outside become the bound, once.
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
        let rises = rates.is_sorted_by(|one, next| one < next);
        if !rises
            || !(1..=MAX_LEVELS).contains(&rates.len())
            || rates.first() == Some(&Bitrate::ZERO)
        {
            return Err(format!(
                "it is 1 to {MAX_LEVELS} rates above 0, each higher than the one before"
            ));
        }
        Ok(Self(rates))
    }
}

impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, rate) in self.0.iter().enumerate() {
            if place > 0 {
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
    fn levels_read_back_and_must_rise() {
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
