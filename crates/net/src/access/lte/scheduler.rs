//! Whose turn it is.

use super::config::Scheduler;
use units::Duration;

/// What a scheduler remembers of a terminal, one way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Share {
    /// Bits a subframe that it got, on average over the window.
    average: f64,
    /// When it last had its turn: one more than the number of the subframe.
    turn: u64,
}

/// Who waits: its place among the terminals, the most urgent class that it has something of (0 for
/// what is guaranteed to it, then priorities, the lower the more urgent), and the bits that a
/// subframe would carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) terminal: usize,
    pub(super) class: u8,
    pub(super) bits: f64,
}

impl Scheduler {
    /// Takes the one out whose turn it is: the most urgent class, then the scheduler's rule, then
    /// who is first in the list.
    pub(super) fn take(
        self,
        candidates: &mut Vec<Candidate>,
        shares: impl Fn(usize) -> Share,
    ) -> Option<Candidate> {
        let key = |candidate: &Candidate| match self {
            Self::RoundRobin => -(shares(candidate.terminal).turn as f64),
            Self::ProportionalFair { .. } => {
                // Who never got anything is first, the better channel before the worse.
                candidate.bits / shares(candidate.terminal).average.max(1e-3)
            }
        };
        let mut best = 0;
        let mut best_key = key(candidates.first()?);
        for (place, candidate) in candidates.iter().enumerate().skip(1) {
            if candidate.class > candidates[best].class {
                continue;
            }
            let this = key(candidate);
            if candidate.class < candidates[best].class || this > best_key {
                (best, best_key) = (place, this);
            }
        }
        Some(candidates.remove(best))
    }

    /// One had the better part of this subframe, or all that it needs, or a repetition. Who comes
    /// after it may get what is left over: that is not a turn.
    pub(super) fn had_turn(share: &mut Share, subframe: u64) {
        share.turn = subframe + 1;
    }

    /// One who waited got so many bits in this subframe; while it does not wait nothing changes.
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

    /// Bits that each got in so many subframes, with these rates by subframe, one served a
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
    fn equal_channels_get_equal_shares_under_either() {
        for scheduler in [Scheduler::RoundRobin, Scheduler::default()] {
            let got = run(scheduler, |_, _| 1_000.0, 5, 10_000);
            assert!(
                got.iter().all(|bits| (bits / 2e6 - 1.0).abs() < 0.01),
                "{scheduler:?}: {got:?}"
            );
        }
    }

    #[test]
    fn a_better_channel_gets_as_much_time_and_so_more_bits() {
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
    fn proportional_fair_takes_each_at_its_best() {
        // Two channels that are good in turn: round robin may meet each at its worst, proportional
        // fair never does.
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
