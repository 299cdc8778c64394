//! Synthetic mobile capacities, for experiments that must not depend on recordings.

use super::{OPPORTUNITY, Trace};
use units::{Bitrate, Duration, Seed, Stream};

/// A model of mobile capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceModel {
    /// Delivery opportunities of a moving LTE terminal, after the link model of Winstein,
    /// Sivaraman, Balakrishnan 2013 (Sprout, § 3): a Poisson process whose rate follows a Brownian
    /// motion, updated every 20 ms, between 0 and a maximum. In the paper the maximum is 1000
    /// packets/s and the motion 200 packets/s per √s; here the maximum is twice the mean, and the
    /// motion is scaled with it. The rate is reflected at both ends, so that it is uniformly
    /// distributed; in the paper it stays at zero for a while, here it does not.
    Lte,
    /// Rates of a bus on HSDPA, one per second: their logarithm follows a first-order
    /// autoregressive process. The deviation is 0.4 and the correlation from second to second 0.83,
    /// as measured on two of the recordings of Riiser et al. 2013 (deviation 0.39 and 0.39,
    /// correlation 0.86 and 0.80).
    Bus,
}

impl Trace {
    /// Generates a trace with this mean rate in the long run; the same seed gives the same trace.
    /// The mean is clamped to 1 kbit/s to 1 Gbit/s, the length is rounded down to seconds and
    /// clamped to 1 s to a day.
    #[must_use]
    pub fn generate(model: TraceModel, mean: Bitrate, length: Duration, seed: Seed) -> Self {
        const DAY: u64 = 24 * 3600;
        let mean = mean.clamp(Bitrate::from_kbps(1), Bitrate::from_mbps(1000));
        let seconds = (length.as_nanos() / 1_000_000_000).clamp(1, DAY);
        let made = match model {
            TraceModel::Lte => {
                Self::from_opportunities(&lte(mean, seconds, &mut seed.stream("trace.lte")))
            }
            TraceModel::Bus => Self::from_rates(&bus(mean, seconds, &mut seed.stream("trace.bus"))),
        };
        debug_assert!(made.is_ok(), "both models yield increasing times and some capacity");
        made.unwrap_or_else(|_| Self {
            course: super::Course::Rates(vec![(Duration::ZERO, mean)]),
            period: Duration::from_secs(seconds),
            mean,
        })
    }
}

fn lte(mean: Bitrate, seconds: u64, random: &mut Stream) -> Vec<Duration> {
    // Sprout § 3.1: steps of 20 ms; 200 packets/s per √s at a maximum of 1000 packets/s.
    const TICKS_PER_SECOND: u64 = 50;
    const MILLIS: u64 = 1000 / TICKS_PER_SECOND;
    const MOTION: f64 = 0.2;
    let most = 2.0 * mean.as_bps_f64() / OPPORTUNITY.bits() as f64;
    let motion = MOTION * most / (TICKS_PER_SECOND as f64).sqrt();
    let mut rate = most * random.uniform();
    // The integral of the rate until the next opportunity: a Poisson process of varying rate is one
    // of rate 1 in the time scale of that integral.
    let mut wait = random.exponential();
    let mut times = Vec::new();
    for tick in 0..seconds * TICKS_PER_SECOND {
        for ms in 1..=MILLIS {
            wait -= rate / 1000.0;
            while wait < 0.0 {
                times.push(Duration::from_millis(tick * MILLIS + ms));
                wait += random.exponential();
            }
        }
        rate = reflect(rate + motion * random.normal(), most);
    }
    // The last time stamp is the period.
    let end = Duration::from_secs(seconds);
    if times.last() != Some(&end) {
        times.push(end);
    }
    times
}

/// Reflects a value that is less than `most` outside of 0…`most` back into that range.
fn reflect(value: f64, most: f64) -> f64 {
    let value = value.abs();
    if value > most { (2.0 * most - value).max(0.0) } else { value }
}

fn bus(mean: Bitrate, seconds: u64, random: &mut Stream) -> Vec<(Duration, Bitrate)> {
    const DEVIATION: f64 = 0.4;
    const CORRELATION: f64 = 0.83;
    let fresh = DEVIATION * (1.0 - CORRELATION * CORRELATION).sqrt();
    let mut state = DEVIATION * random.normal();
    let samples = (0..seconds).map(|second| {
        // The mean of a log-normal distribution is exp(σ²/2) times its median.
        let rate = mean.scale(libm::exp(state - DEVIATION * DEVIATION / 2.0));
        state = CORRELATION * state + fresh * random.normal();
        (Duration::from_secs(second), rate.max(Bitrate::from_bps(1)))
    });
    samples.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    fn generated(model: TraceModel, seed: u64) -> Trace {
        Trace::generate(model, Bitrate::from_mbps(4), Duration::from_secs(4000), Seed(seed))
    }

    #[test]
    fn generated_traces_have_their_mean_depend_on_the_seed_and_read_back() {
        for model in [TraceModel::Lte, TraceModel::Bus] {
            let trace = generated(model, 1);
            let ratio = trace.mean_rate().as_bps_f64() / 4e6;
            assert!((0.85..1.15).contains(&ratio), "{model:?}: {ratio}");
            assert_eq!(trace, generated(model, 1));
            assert_ne!(trace, generated(model, 2));
            let again = Trace::parse(&trace.to_mahimahi()).unwrap();
            let ratio = again.mean_rate().as_bps_f64() / trace.mean_rate().as_bps_f64();
            assert!((0.999..1.001).contains(&ratio), "{model:?}: {ratio}");
        }
    }

    /// The coefficient of variation of the rates of each second.
    fn variation(trace: &Trace) -> f64 {
        let rates =
            (0..4000).map(|s| trace.rate_at(Time::from_millis(1000 * s + 500)).as_bps_f64());
        let rates: Vec<f64> = rates.collect();
        let mean = rates.iter().sum::<f64>() / 4e3;
        (rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum::<f64>() / 4e3).sqrt() / mean
    }

    #[test]
    fn generated_traces_vary_as_their_models_say() {
        // Uniform on 0…2 m: 1/√3 = 0.577. Log-normal with deviation 0.4: √(exp(0.16) − 1) = 0.417.
        let (lte, bus) =
            (variation(&generated(TraceModel::Lte, 1)), variation(&generated(TraceModel::Bus, 1)));
        assert!((0.52..0.64).contains(&lte), "{lte}");
        assert!((0.38..0.46).contains(&bus), "{bus}");
    }

    #[test]
    fn extreme_parameters_yield_traces_too() {
        for model in [TraceModel::Lte, TraceModel::Bus] {
            let trace = Trace::generate(model, Bitrate::ZERO, Duration::ZERO, Seed(1));
            assert_eq!(trace.period(), Duration::from_secs(1));
            assert!(trace.mean_rate() > Bitrate::ZERO);
        }
    }
}
