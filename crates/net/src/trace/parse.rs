//! Parsing of capacity traces. Errors name the line.

use super::{MAX_PERIOD, Trace};
use std::fmt;
use units::{Bitrate, Duration};

/// The most lines of a trace: more than a day with an opportunity per millisecond.
const MAX_LINES: usize = 100_000_000;

/// Why a text is not a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The line, from 1; 0 stands for the whole file.
    pub line: usize,
    /// What is wrong, and what is allowed.
    pub reason: String,
}

impl TraceError {
    pub(super) fn new(line: usize, reason: impl Into<String>) -> Self {
        Self { line, reason: reason.into() }
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.reason),
            line => write!(f, "line {line}: {}", self.reason),
        }
    }
}

impl std::error::Error for TraceError {}

impl Trace {
    /// Parses a trace: one time stamp in milliseconds per line (mahimahi), or two columns, seconds
    /// and Mbit/s, separated by white space or a comma. Blank lines and lines that begin with `#`
    /// are ignored.
    ///
    /// # Errors
    /// A line is malformed, out of range, or earlier than the line before.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
        let mut lines =
            lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')).peekable();
        let Some(&(_, first)) = lines.peek() else {
            return Err(TraceError::new(0, "the trace is empty; it needs at least one line"));
        };
        if columns(first).count() >= 2 { rates(lines) } else { opportunities(lines) }
    }
}

pub(super) fn columns(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
}

fn opportunities<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Trace, TraceError> {
    let mut times: Vec<Duration> = Vec::new();
    for (line, text) in lines {
        let millis: u64 = text.parse().map_err(|_| {
            TraceError::new(
                line,
                format!("'{}' is not a whole number of milliseconds", shortened(text)),
            )
        })?;
        let at = Duration::from_millis(millis);
        if times.last().is_some_and(|&last| at < last) {
            let reason = format!("{millis} ms is earlier than the line before; sort the lines");
            return Err(TraceError::new(line, reason));
        }
        within_bounds(line, at, times.len())?;
        times.push(at);
    }
    Trace::from_opportunities(&times)
}

fn rates<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Trace, TraceError> {
    let (mut samples, mut numbers) = (Vec::new(), Vec::new());
    for (line, text) in lines {
        let number = |word: &str| -> Option<f64> {
            word.parse()
                .ok()
                .filter(|value: &f64| value.is_finite() && *value >= 0.0 && *value < 1e9)
        };
        let mut words = columns(text);
        let (time, rate, more) = (words.next(), words.next(), words.next());
        let (Some(seconds), Some(mbps), None) =
            (time.and_then(number), rate.and_then(number), more)
        else {
            let reason = format!(
                "'{}' is not two numbers, seconds and Mbit/s, neither negative",
                shortened(text)
            );
            return Err(TraceError::new(line, reason));
        };
        let at = Duration::from_secs_f64(seconds);
        within_bounds(
            line,
            at.saturating_sub(samples.first().map_or(at, |&(first, _)| first)),
            samples.len(),
        )?;
        samples.push((at, Bitrate::from_bps_f64(mbps * 1e6)));
        numbers.push(line);
    }
    // Blank lines and comments make the number of a sample differ from its line.
    Trace::from_rates(&samples).map_err(|error| TraceError {
        line: error.line.checked_sub(1).map_or(0, |index| numbers[index]),
        reason: error.reason,
    })
}

fn within_bounds(line: usize, at: Duration, lines: usize) -> Result<(), TraceError> {
    if at > MAX_PERIOD {
        let reason = format!("{at} is more than {MAX_PERIOD}; are the times in another unit?");
        return Err(TraceError::new(line, reason));
    }
    if lines >= MAX_LINES {
        return Err(TraceError::new(line, format!("more than {MAX_LINES} lines; cut the trace")));
    }
    Ok(())
}

pub(super) fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    #[test]
    fn two_columns_are_seconds_and_megabits() {
        for text in
            ["0.5 1.5\n1.5 0\n2.5 3\n", "\u{feff}0.5,1.5\r\n# a comment\r\n1.5,0\r\n\r\n2.5,3\r\n"]
        {
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
    fn errors_name_the_line() {
        let error = |text: &str| Trace::parse(text).unwrap_err().to_string();
        assert_eq!(error(""), "the trace is empty; it needs at least one line");
        assert_eq!(error("1\n2\nx\n"), "line 3: 'x' is not a whole number of milliseconds");
        assert_eq!(
            error("5\n\n3\n"),
            "line 3: 3 ms is earlier than the line before; sort the lines"
        );
        assert_eq!(error("-1\n"), "line 1: '-1' is not a whole number of milliseconds");
        assert_eq!(error("0\n0\n"), "every time stamp is zero: the trace has no length");
        assert_eq!(
            error("1 2\n# c\n1 2\n"),
            "line 3: the time is not at least 1us after that of the line before; sort the lines"
        );
        assert_eq!(
            error("1 2\n2 NaN\n"),
            "line 2: '2 NaN' is not two numbers, seconds and Mbit/s, neither negative"
        );
        assert_eq!(
            error("1\n1784000000000\n"),
            "line 2: 1784000000s is more than 604800s; are the times in another unit?"
        );
        assert_eq!(
            error("1 2\n99999999 1\n"),
            "line 2: 99999998s is more than 604800s; are the times in another unit?"
        );
        assert_eq!(
            error("time,rate\n1,2\n").split(';').next(),
            Some("line 1: 'time,rate' is not two numbers, seconds and Mbit/s, neither negative")
        );
        assert_eq!(error("1 0\n2 0\n"), "every rate is zero: no packet would ever pass");
        assert_eq!(
            error("1 2 3\n"),
            "line 1: '1 2 3' is not two numbers, seconds and Mbit/s, neither negative"
        );
    }
}
