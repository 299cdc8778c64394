//! Writing a trace in mahimahi's format.

use super::{Course, OPPORTUNITY, Trace};
use crate::serialisation::{product, time_for};
use std::fmt::Write;
use units::{Bitrate, Duration};

impl Trace {
    /// The trace in mahimahi's format. Rates become one opportunity, rounded up to the millisecond,
    /// per 1500 bytes. As the last time stamp is the period, rates yield one more opportunity at
    /// the end if none falls there.
    #[must_use]
    pub fn to_mahimahi(&self) -> String {
        let stamps = match &self.course {
            Course::Opportunities(groups) => self.stamps_of_opportunities(groups),
            Course::Rates(steps) => self.stamps_of_rates(steps),
        };
        let mut text = String::with_capacity(stamps.len() * 8);
        for stamp in stamps {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{stamp}");
        }
        text
    }

    fn stamps_of_opportunities(&self, groups: &[(Duration, u64)]) -> Vec<u64> {
        let mut stamps = Vec::new();
        let (mut at_end, mut before) = (0, 0);
        for &(at, until) in groups {
            let count = until - before;
            before = until;
            if at == Duration::ZERO {
                at_end = count;
            } else {
                stamps.extend((0..count).map(|_| whole_millis(at)));
            }
        }
        stamps.extend((0..at_end.max(1)).map(|_| whole_millis(self.period)));
        stamps
    }

    fn stamps_of_rates(&self, steps: &[(Duration, Bitrate)]) -> Vec<u64> {
        let whole = u128::from(OPPORTUNITY.bits()) * 1_000_000_000;
        let ends = steps[1..].iter().map(|&(at, _)| at).chain([self.period]);
        let (mut stamps, mut gathered) = (Vec::new(), 0);
        for (&(at, rate), end) in steps.iter().zip(ends) {
            let total = gathered + product(rate, end - at);
            for number in 1..=total / whole {
                let span = time_for(whole * number - gathered, rate).unwrap_or(Duration::ZERO);
                stamps.push(whole_millis(at + span));
            }
            gathered = total % whole;
        }
        let period = whole_millis(self.period);
        if stamps.last() != Some(&period) {
            stamps.push(period);
        }
        stamps
    }
}

/// Rounded up.
fn whole_millis(at: Duration) -> u64 {
    at.as_nanos().div_ceil(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opportunities_read_back() {
        for text in ["2\n4\n4\n10\n", "1\n", "3\n3\n3\n"] {
            assert_eq!(Trace::parse(text).unwrap().to_mahimahi(), text);
        }
        assert_eq!(
            Trace::parse("0\n5\n10\n").unwrap().to_mahimahi(),
            "5\n10\n10\n",
            "zero is written as the end"
        );
    }

    #[test]
    fn a_rate_yields_one_opportunity_per_1500_bytes() {
        // 12 kbit take 4 ms at 3 Mbit/s. The last 2 ms before the pause yield 6 kbit, and the other
        // 6 kbit follow in the first 2 ms after it.
        let trace = Trace::parse("0 3\n0.010 0\n0.020 3\n0.032 0\n0.036 0\n").unwrap();
        assert_eq!(trace.to_mahimahi(), "4\n8\n22\n26\n30\n40\n");
    }
}
