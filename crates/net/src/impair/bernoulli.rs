//! Independent random loss.

use crate::schedule::Schedule;
use units::{Ratio, Stream, Time};

/// Loses each packet with the current probability, independently of the others.
pub(crate) struct Bernoulli {
    pub(crate) probability: Schedule<Ratio>,
    pub(crate) random: Stream,
}

impl Bernoulli {
    pub(crate) fn loses(&mut self, now: Time) -> bool {
        // One draw per packet even at a probability of zero: a schedule must not shift later draws.
        let draw = self.random.uniform();
        draw < self.probability.at(now).as_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Seed;

    fn losses(probability: Schedule<Ratio>) -> Vec<bool> {
        let mut loss = Bernoulli { probability, random: Seed(1).stream("loss") };
        (0..200_000).map(|ms| loss.loses(Time::from_millis(ms))).collect()
    }

    #[test]
    fn losses_have_their_probability_and_are_independent() {
        let losses = losses(Schedule::constant(Ratio::from_percent(5)));
        let share = losses.iter().filter(|&&lost| lost).count() as f64 / 200_000.0;
        assert!((share - 0.05).abs() < 0.002, "{share}");
        let pairs = losses.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64 / 200_000.0;
        assert!((pairs - 0.0025).abs() < 0.0005, "{pairs}");
    }

    #[test]
    fn a_schedule_shifts_no_later_draw() {
        let five = Ratio::from_percent(5);
        let steps = vec![(Time::ZERO, Ratio::ZERO), (Time::from_secs(100), five)];
        let late = losses(Schedule::steps(steps).unwrap());
        assert!(late[..100_000].iter().all(|&lost| !lost));
        assert_eq!(late[100_000..], losses(Schedule::constant(five))[100_000..]);
    }
}
