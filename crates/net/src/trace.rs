//! Capacity over time, recorded or generated: mahimahi's opportunities, or seconds and Mbit/s.

use std::fmt;
use units::{Bitrate, Bytes, Duration, Seed, Time};

/// What one opportunity of a mahimahi trace carries (Netravali et al. 2015, § 3: an MTU-sized packet).
const OPPORTUNITY: Bytes = Bytes::new(1500);
/// The longest trace that is read, in lines.
const MAX_LINES: usize = 20_000_000;

/// A capacity trace. It repeats for ever.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    course: Course,
    /// After this time it begins again.
    period: Duration,
    mean: Bitrate,
}

#[derive(Clone, Debug, PartialEq)]
enum Course {
    /// When, within the period, 1500 bytes may pass. Several packets share an opportunity, and a
    /// packet larger than what is left of one takes the next, too.
    Opportunities(Vec<Duration>),
    /// The rate from each instant of the period on; the first instant is zero.
    Rates(Vec<(Duration, Bitrate)>),
}

/// Why a text is not a trace: the line, from 1, and the mend. Line 0 is the whole file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The line.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for TraceError {}

impl Trace {
    /// Reads a trace: one millisecond time stamp a line (mahimahi), or two columns, seconds and
    /// Mbit/s, apart by white space or a comma. Blank lines and lines that begin with `#` are passed over.
    ///
    /// # Errors
    /// Names the first line that is not a number, falls back in time, or lies outside the format.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
        let lines: Vec<(usize, &str)> =
            lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).take(MAX_LINES).collect();
        let Some(&(_, first)) = lines.first() else {
            return Err(TraceError {
                line: 0,
                reason: "the trace is empty; it needs at least one line".into(),
            });
        };
        if columns(first).count() >= 2 { rates(&lines) } else { opportunities(&lines) }
    }

    /// A trace made of (seconds, rate) samples, the last of which lasts as long as the one before.
    ///
    /// # Errors
    /// When times do not increase or no rate is above zero; the line is the sample's place.
    pub fn from_rates(samples: &[(Duration, Bitrate)]) -> Result<Self, TraceError> {
        let Some(&(start, _)) = samples.first() else {
            return Err(TraceError {
                line: 0,
                reason: "the trace is empty; it needs at least one sample".into(),
            });
        };
        for (line, pair) in (2..).zip(samples.windows(2)) {
            if pair[1].0 <= pair[0].0 {
                return Err(TraceError { line, reason: "the time does not increase; sort the lines".into() });
            }
        }
        let steps: Vec<_> = samples.iter().map(|&(at, rate)| (at - start, rate)).collect();
        let last = steps[steps.len() - 1].0;
        let step = if steps.len() > 1 { last - steps[steps.len() - 2].0 } else { Duration::from_secs(1) };
        let period = last + step;
        let ends = steps[1..].iter().map(|&(at, _)| at).chain([period]);
        let bits: f64 = steps
            .iter()
            .zip(ends)
            .map(|(&(at, rate), end)| rate.as_bps_f64() * (end - at).as_secs_f64())
            .sum();
        let mean = Bitrate::from_bps_f64(bits / period.as_secs_f64());
        if mean == Bitrate::ZERO {
            return Err(TraceError { line: 0, reason: "every rate is zero: nothing would ever pass".into() });
        }
        Ok(Self { course: Course::Rates(steps), period, mean })
    }

    /// A made-up mobile capacity: the logarithm of the rate follows a first-order autoregressive process, one sample a second,
    /// with the given mean rate, a deviation of half a natural logarithm and a correlation of 0.9 from second to second, so that fades last about ten
    /// seconds, as in recorded vehicular traces (Riiser et al. 2013).
    pub fn generate(mean: Bitrate, length: Duration, seed: Seed) -> Self {
        const DEVIATION: f64 = 0.5;
        const CORRELATION: f64 = 0.9;
        let mut random = seed.stream("trace");
        let mut state = DEVIATION * random.normal();
        let fresh = DEVIATION * (1.0 - CORRELATION * CORRELATION).sqrt();
        let seconds = (length.as_nanos() / 1_000_000_000).max(1);
        let samples: Vec<_> = (0..seconds)
            .map(|second| {
                // The mean of a log-normal is exp(σ²/2) above its median.
                let rate = mean.scale(libm::exp(state - DEVIATION * DEVIATION / 2.0));
                state = CORRELATION * state + fresh * random.normal();
                (Duration::from_secs(second), rate.max(Bitrate::from_kbps(1)))
            })
            .collect();
        Self::from_rates(&samples).unwrap_or(Self {
            course: Course::Rates(vec![(Duration::ZERO, mean)]),
            period: Duration::from_secs(1),
            mean,
        })
    }

    /// The trace in mahimahi's format.
    #[must_use]
    pub fn to_mahimahi(&self) -> String {
        let period_ms = self.period.as_nanos().div_ceil(1_000_000).max(1);
        let mut text = String::new();
        let mut bits = 0;
        let opportunity = u128::from(OPPORTUNITY.bits()) * 1_000_000_000;
        for ms in 1..=period_ms {
            bits += self.sent(Time::from_millis(ms - 1), Time::from_millis(ms));
            for _ in 0..bits / opportunity {
                text.push_str(&format!("{ms}\n"));
            }
            bits %= opportunity;
        }
        // The file's last stamp is its period.
        if !text.ends_with(&format!("{period_ms}\n")) {
            text.push_str(&format!("{period_ms}\n"));
        }
        text
    }

    /// The mean rate.
    #[must_use]
    pub fn mean_rate(&self) -> Bitrate {
        self.mean
    }

    /// After this time it begins again.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    pub(crate) fn is_opportunities(&self) -> bool {
        matches!(self.course, Course::Opportunities(_))
    }

    /// The rate in force, of opportunities the mean over the second around `now`.
    pub(crate) fn rate_at(&self, now: Time) -> Bitrate {
        match &self.course {
            Course::Rates(steps) => steps[self.step(steps, now)].1,
            Course::Opportunities(_) => {
                let half = Duration::from_millis(500);
                let from = now.saturating_sub(half);
                let to = now + half;
                let count = self.count(to) - self.count(from);
                (OPPORTUNITY * count).per(to.saturating_since(from)).unwrap_or(self.mean)
            }
        }
    }

    /// What passes after `from` until `to`, in 10⁻⁹ bit. Of rates, the two lie within one step.
    pub(crate) fn sent(&self, from: Time, to: Time) -> u128 {
        match &self.course {
            Course::Rates(_) => crate::link::product(self.rate_at(from), to.saturating_since(from)),
            Course::Opportunities(_) => {
                let count = self.count(to) - self.count(from);
                u128::from(count) * u128::from(OPPORTUNITY.bits()) * 1_000_000_000
            }
        }
    }

    /// The next opportunity or change of rate after `now`.
    pub(crate) fn next_change(&self, now: Time) -> Time {
        let (round, place) = self.place(now);
        let start = Time::ZERO + self.period * round;
        let next = match &self.course {
            Course::Rates(steps) => steps.get(self.step(steps, now) + 1).map_or(self.period, |&(at, _)| at),
            Course::Opportunities(times) => {
                let after = times.partition_point(|&at| at <= place);
                times.get(after).copied().unwrap_or(self.period + times[0])
            }
        };
        start + next
    }

    /// Which repetition `now` is in, and where in it.
    fn place(&self, now: Time) -> (u64, Duration) {
        let period = self.period.as_nanos();
        (now.as_nanos() / period, Duration::from_nanos(now.as_nanos() % period))
    }

    fn step(&self, steps: &[(Duration, Bitrate)], now: Time) -> usize {
        let (_, place) = self.place(now);
        steps.partition_point(|&(at, _)| at <= place).saturating_sub(1)
    }

    /// Opportunities until `now`, that instant included.
    fn count(&self, now: Time) -> u64 {
        let Course::Opportunities(times) = &self.course else { return 0 };
        let (round, place) = self.place(now);
        round * times.len() as u64 + times.partition_point(|&at| at <= place) as u64
    }
}

fn columns(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
}

fn opportunities(lines: &[(usize, &str)]) -> Result<Trace, TraceError> {
    let mut times: Vec<Duration> = Vec::with_capacity(lines.len());
    for &(line, text) in lines {
        let millis: u64 = text.parse().map_err(|_| TraceError {
            line,
            reason: format!("'{}' is not a whole number of milliseconds", shortened(text)),
        })?;
        let at = Duration::from_millis(millis);
        if times.last().is_some_and(|&last| at < last) {
            return Err(TraceError {
                line,
                reason: format!("{millis} ms is earlier than the line before; sort the lines"),
            });
        }
        times.push(at);
    }
    let period = times[times.len() - 1];
    if period == Duration::ZERO {
        return Err(TraceError {
            line: 0,
            reason: "every time stamp is zero: the trace has no length".into(),
        });
    }
    // A stamp at the period's end is the same instant as the next round's zero.
    for at in &mut times {
        if *at == period {
            *at = Duration::ZERO;
        }
    }
    times.sort_unstable();
    let mean = (OPPORTUNITY * times.len() as u64).per(period).unwrap_or(Bitrate::ZERO);
    Ok(Trace { course: Course::Opportunities(times), period, mean })
}

fn rates(lines: &[(usize, &str)]) -> Result<Trace, TraceError> {
    let mut samples = Vec::with_capacity(lines.len());
    for &(line, text) in lines {
        let number = |word: &str| -> Option<f64> {
            word.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0 && *value < 1e9)
        };
        let mut words = columns(text);
        let (time, rate, more) = (words.next(), words.next(), words.next());
        let (Some(seconds), Some(mbps), None) = (time.and_then(number), rate.and_then(number), more) else {
            let reason =
                format!("'{}' is not two numbers, seconds and Mbit/s, neither negative", shortened(text));
            return Err(TraceError { line, reason });
        };
        samples.push((Duration::from_secs_f64(seconds), Bitrate::from_bps_f64(mbps * 1e6)));
    }
    // The place among samples is not the line where there are blank lines and comments.
    Trace::from_rates(&samples).map_err(|error| TraceError {
        line: error.line.checked_sub(1).map_or(0, |place| lines[place].0),
        reason: error.reason,
    })
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mahimahi_opportunities_repeat_with_the_last_stamp() {
        let trace = Trace::parse("2\n4\n4\n10\n").unwrap();
        assert_eq!(trace.period(), Duration::from_millis(10));
        let mut now = Time::ZERO;
        let seen: Vec<u64> = (0..6)
            .map(|_| {
                now = trace.next_change(now);
                now.as_millis()
            })
            .collect();
        assert_eq!(seen, [2, 4, 10, 12, 14, 20]);
        assert_eq!(trace.count(Time::from_millis(20)) - trace.count(Time::from_millis(10)), 4);
        assert_eq!(trace.mean_rate(), Bitrate::from_kbps(4800));
    }

    #[test]
    fn two_columns_are_seconds_and_megabits() {
        for text in ["0.5 1.5\n1.5 0\n2.5 3\n", "\u{feff}0.5,1.5\r\n# a comment\r\n1.5,0\r\n\r\n2.5,3\r\n"] {
            let trace = Trace::parse(text).unwrap();
            let rate = |ms| trace.rate_at(Time::from_millis(ms)).as_bps();
            assert_eq!(
                [rate(0), rate(999), rate(1000), rate(2500), rate(3000)],
                [1_500_000, 1_500_000, 0, 3_000_000, 1_500_000]
            );
            assert_eq!(trace.mean_rate(), Bitrate::from_kbps(1500));
        }
    }

    #[test]
    fn broken_traces_are_refused_by_line() {
        let error = |text: &str| Trace::parse(text).unwrap_err().to_string();
        assert_eq!(error(""), "line 0: the trace is empty; it needs at least one line");
        assert_eq!(error("1\n2\nx\n"), "line 3: 'x' is not a whole number of milliseconds");
        assert_eq!(error("5\n\n3\n"), "line 3: 3 ms is earlier than the line before; sort the lines");
        assert_eq!(error("-1\n"), "line 1: '-1' is not a whole number of milliseconds");
        assert_eq!(error("0\n0\n"), "line 0: every time stamp is zero: the trace has no length");
        assert_eq!(error("1 2\n# c\n1 2\n"), "line 3: the time does not increase; sort the lines");
        assert_eq!(
            error("1 2\n2 NaN\n"),
            "line 2: '2 NaN' is not two numbers, seconds and Mbit/s, neither negative"
        );
        assert_eq!(error("1 0\n2 0\n"), "line 0: every rate is zero: nothing would ever pass");
        assert_eq!(
            error("1 2 3\n"),
            "line 1: '1 2 3' is not two numbers, seconds and Mbit/s, neither negative"
        );
    }

    #[test]
    fn a_generated_trace_has_its_mean_and_survives_mahimahi() {
        let mean = Bitrate::from_mbps(4);
        let trace = Trace::generate(mean, Duration::from_secs(2000), Seed(1));
        let ratio = trace.mean_rate().as_bps_f64() / mean.as_bps_f64();
        assert!((0.85..1.15).contains(&ratio), "{ratio}");
        let again = Trace::parse(&trace.to_mahimahi()).unwrap();
        let ratio = again.mean_rate().as_bps_f64() / trace.mean_rate().as_bps_f64();
        assert!((0.999..1.001).contains(&ratio), "{ratio}");
    }
}
