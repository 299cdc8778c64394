//! Schedulers: round robin and proportional fair.

use super::config::Scheduler;
use units::Duration;

/// The scheduler's state of one direction of a terminal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// Average bits per subframe over the window.
    average: f64,
    /// The subframe of its last turn, plus one; zero if it had none.
    turn: u64,
}

/// A terminal that waits: its index, its most urgent class (0 for a guaranteed bit rate, otherwise
/// the priority; lower is more urgent), and the bits that it could get in a subframe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) terminal: usize,
    pub(super) class: u8,
    pub(super) bits: f64,
}

impl Scheduler {
    /// Removes the candidate to serve: that of the most urgent class, then by the scheduler's rule,
    /// then the first in the list.
    pub(super) fn take(
        self,
        candidates: &mut Vec<Candidate>,
        shares: impl Fn(usize) -> Share,
    ) -> Option<Candidate> {
        let key = |candidate: &Candidate| match self {
            Self::RoundRobin => -(shares(candidate.terminal).turn as f64),
            Self::ProportionalFair { .. } => {
                // Terminals that were never served come first, in the order of their channels.
                candidate.bits / shares(candidate.terminal).average.max(1e-3)
            }
        };
        let mut best = 0;
        let mut best_key = key(candidates.first()?);
        for (index, candidate) in candidates.iter().enumerate().skip(1) {
            if candidate.class > candidates[best].class {
                continue;
            }
            let this = key(candidate);
            if candidate.class < candidates[best].class || this > best_key {
                (best, best_key) = (index, this);
            }
        }
        Some(candidates.remove(best))
    }

    /// Notes the turn of a terminal that got the larger part of the subframe, all that it needs, or
    /// a retransmission. A terminal that only gets the remaining resource blocks had no turn.
    pub(super) fn had_turn(share: &mut Share, subframe: u64) {
        share.turn = subframe + 1;
    }

    /// Updates the average of a terminal that waits with the bits that it got in this subframe.
    pub(super) fn served(self, share: &mut Share, bits: u32) {
        if let Self::ProportionalFair { window } = self {
            let subframes = (window.as_nanos() / Duration::from_millis(1).as_nanos()).max(1) as f64;
            share.average += (f64::from(bits) - share.average) / subframes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits that each terminal gets in so many subframes, with one terminal served per
    /// subframe.
    fn run(
        scheduler: Scheduler,
        rates: impl Fn(usize, u64) -> f64,
        terminals: usize,
        subframes: u64,
    ) -> Vec<f64> {
        let mut shares = vec![Share::default(); terminals];
        let mut got = vec![0.0; terminals];
        for subframe in 0..subframes {
            let of = |terminal| Candidate { terminal, class: 9, bits: rates(terminal, subframe) };
            let mut candidates: Vec<_> = (0..terminals).map(of).collect();
            let chosen = scheduler.take(&mut candidates, |terminal| shares[terminal]).unwrap();
            Scheduler::had_turn(&mut shares[chosen.terminal], subframe);
            for (terminal, share) in shares.iter_mut().enumerate() {
                let bits = if terminal == chosen.terminal { chosen.bits } else { 0.0 };
                scheduler.served(share, bits as u32);
                got[terminal] += bits;
            }
        }
        got
    }

    #[test]
    fn equal_channels_get_equal_shares_under_both_schedulers() {
        for scheduler in [Scheduler::RoundRobin, Scheduler::default()] {
            let got = run(scheduler, |_, _| 1_000.0, 5, 10_000);
            assert!(
                got.iter().all(|bits| (bits / 2e6 - 1.0).abs() < 0.01),
                "{scheduler:?}: {got:?}"
            );
        }
    }

    #[test]
    fn a_better_channel_gets_equal_time_and_more_bits() {
        for scheduler in [Scheduler::RoundRobin, Scheduler::default()] {
            let got = run(
                scheduler,
                |terminal, _| if terminal == 0 { 4_000.0 } else { 1_000.0 },
                2,
                10_000,
            );
            assert!((got[0] / got[1] / 4.0 - 1.0).abs() < 0.05, "{scheduler:?}: {got:?}");
        }
    }

    #[test]
    fn proportional_fair_serves_each_terminal_at_its_best() {
        // Two channels that are good alternately: round robin also serves bad channels,
        // proportional fair does not.
        let rates = |terminal: usize, subframe: u64| {
            if (subframe / 10).is_multiple_of(2) == (terminal == 0) { 2_000.0 } else { 1_000.0 }
        };
        let fair: f64 = run(Scheduler::default(), rates, 2, 20_000).iter().sum();
        let robin: f64 = run(Scheduler::RoundRobin, rates, 2, 20_000).iter().sum();
        assert!((fair / 4e7 - 1.0).abs() < 0.02, "{fair}");
        assert!((robin / 3e7 - 1.0).abs() < 0.02, "{robin}");
    }

    #[test]
    fn a_more_urgent_class_goes_first() {
        let of = |terminal, class, bits| Candidate { terminal, class, bits };
        let mut candidates = vec![of(0, 9, 9.0), of(1, 4, 1.0), of(2, 4, 2.0), of(3, 9, 99.0)];
        let mut order = Vec::new();
        while let Some(next) = Scheduler::default().take(&mut candidates, |_| Share::default()) {
            order.push(next.terminal);
        }
        assert_eq!(order, [2, 1, 3, 0]);
    }
}
