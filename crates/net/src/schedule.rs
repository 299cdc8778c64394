//! A quantity over time, as steps; ramps are converted to steps.

use units::{Bitrate, Duration, Ratio, Time};

/// A value that changes at given times. Before the first time, the first value applies.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Schedule<T> {
    steps: Vec<(Time, T)>,
}

impl<T: Copy> Schedule<T> {
    /// A constant value.
    pub fn constant(value: T) -> Self {
        Self { steps: vec![(Time::ZERO, value)] }
    }

    /// Values, each from its time on. `None` if there are no steps or their times do not increase.
    pub fn steps(steps: Vec<(Time, T)>) -> Option<Self> {
        let ascending = steps.windows(2).all(|pair| pair[0].0 < pair[1].0);
        (ascending && !steps.is_empty()).then_some(Self { steps })
    }

    /// The value at `now`.
    pub fn at(&self, now: Time) -> T {
        if let [(_, only)] = self.steps[..] {
            return only;
        }
        let after = self.steps.partition_point(|&(at, _)| at <= now);
        self.steps[after.saturating_sub(1)].1
    }

    /// The time of the first change after `now`; `None` if there is none.
    pub fn next_change(&self, now: Time) -> Option<Time> {
        if self.steps.len() == 1 {
            return None;
        }
        let after = self.steps.partition_point(|&(at, _)| at <= now);
        self.steps.get(after.max(1)).map(|&(at, _)| at)
    }

    /// The values in order of time.
    pub fn values(&self) -> impl Iterator<Item = T> + '_ {
        self.steps.iter().map(|&(_, value)| value)
    }

    /// The steps: times and values.
    pub fn as_steps(&self) -> &[(Time, T)] {
        &self.steps
    }
}

/// A quantity that can follow a ramp.
pub trait Ramped: Copy {
    /// As a real number.
    fn to_real(self) -> f64;
    /// From a real number, rounded.
    fn from_real(value: f64) -> Self;
}

impl Ramped for Duration {
    fn to_real(self) -> f64 {
        self.as_nanos() as f64
    }
    fn from_real(value: f64) -> Self {
        Self::from_secs_f64(value / 1e9)
    }
}

impl Ramped for Bitrate {
    fn to_real(self) -> f64 {
        self.as_bps_f64()
    }
    fn from_real(value: f64) -> Self {
        Self::from_bps_f64(value)
    }
}

impl Ramped for Ratio {
    fn to_real(self) -> f64 {
        self.as_f64()
    }
    fn from_real(value: f64) -> Self {
        Self::from_f64(value)
    }
}

/// The shape of a ramp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Equal steps.
    Linear,
    /// Slow at first, then fast: at the share x of the time, the share of the way is (2^(10x) −
    /// 1)/(2^10 − 1). Jansen 2016, Table 8-5 calls the shape 'exponential' and gives no base; 2^10
    /// is that of the usual easing function.
    Exponential,
}

impl<T: Ramped> Schedule<T> {
    /// Replaces the values from `from` on by a ramp to `target` over `span`, with one step per
    /// `every` (Jansen 2016, listing 7.4 sets a new value every 0.5 s).
    #[must_use]
    pub fn with_ramp(
        mut self,
        from: Time,
        target: T,
        span: Duration,
        every: Duration,
        shape: Shape,
    ) -> Self {
        let (first, last) = (self.at(from).to_real(), target.to_real());
        self.steps.retain(|&(at, _)| at < from || at == Time::ZERO);
        let count = (span.as_nanos() / every.as_nanos().max(1)).max(1);
        for step in 1..=count {
            let share = match shape {
                Shape::Linear => step as f64 / count as f64,
                Shape::Exponential => {
                    (libm::exp2(10.0 * step as f64 / count as f64) - 1.0) / 1023.0
                }
            };
            let at = from + Duration::from_nanos(span.as_nanos() / count * (step - 1));
            let value =
                if step == count { target } else { T::from_real(first + (last - first) * share) };
            match self.steps.last_mut() {
                Some(newest) if newest.0 == at => newest.1 = value,
                _ => self.steps.push((at, value)),
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_hold_until_the_next() {
        let steps = vec![(Time::from_secs(1), 10), (Time::from_secs(3), 30)];
        let schedule = Schedule::steps(steps).unwrap();
        let at = |secs| schedule.at(Time::from_secs(secs));
        assert_eq!([at(0), at(1), at(2), at(3), at(9)], [10, 10, 10, 30, 30]);
        assert_eq!(schedule.next_change(Time::from_secs(1)), Some(Time::from_secs(3)));
        assert_eq!(schedule.next_change(Time::from_secs(3)), None);
        assert_eq!(Schedule::steps(vec![(Time::ZERO, 1), (Time::ZERO, 2)]), None);
    }

    #[test]
    fn a_linear_ramp_is_that_of_listing_7_4() {
        let (span, every) = (Duration::from_secs(60), Duration::from_millis(500));
        let ramp = Schedule::constant(Duration::ZERO).with_ramp(
            Time::ZERO,
            Duration::from_millis(250),
            span,
            every,
            Shape::Linear,
        );
        let at = |secs| ramp.at(Time::from_secs(secs)).as_millis();
        assert_eq!((at(0), at(30), at(60), at(500)), (2, 127, 250, 250));
        assert_eq!(ramp.values().count(), 120);
    }

    #[test]
    fn an_exponential_ramp_ends_at_its_target_and_is_steepest_there() {
        let ramp = Schedule::constant(Duration::ZERO).with_ramp(
            Time::from_secs(10),
            Duration::from_millis(500),
            Duration::from_secs(60),
            Duration::from_millis(500),
            Shape::Exponential,
        );
        let at = |secs| ramp.at(Time::from_secs(secs)).as_millis_f64();
        assert_eq!(at(70), 500.0);
        assert!(at(40) < 20.0 && at(65) > 200.0, "{} {}", at(40), at(65));
        assert_eq!(at(5), 0.0);
    }
}
