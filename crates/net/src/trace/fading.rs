//! Parsing of fading traces. Errors name the line.

use super::TraceError;
use super::parse::{columns, shortened};
use std::ops::RangeInclusive;
use units::Duration;

/// The first word of a trace, before the time between two values.
const INTERVAL: &str = "interval_ms";
/// The range of the interval in milliseconds: at least a subframe; a gain that is constant for
/// minutes is no fast fading.
const INTERVALS: RangeInclusive<f64> = 1.0..=60_000.0;
/// The most parts of the band: the resource blocks of the widest carrier (36.101 table 5.6-1).
const MAX_PARTS: usize = 100;
/// The most values: a hundred parts for 100 s, one value per millisecond.
const MAX_VALUES: usize = 10_000_000;
/// The range of gains in decibels: values outside are another quantity, or in another unit.
const GAINS: RangeInclusive<f64> = -200.0..=100.0;

/// A recorded gain of a channel.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FadingTrace {
    /// The time between two values; at least a millisecond.
    pub interval: Duration,
    /// The gain relative to its mean in decibels, one row per part of the band. There is at least
    /// one row, and all rows have the same length of at least one.
    pub gains: Vec<Vec<f64>>,
}

impl FadingTrace {
    /// Parses a recorded gain. The first line is `interval_ms,` and the milliseconds between two
    /// values. Then follows one line per part of the band with its gains relative to their mean, in
    /// decibels and in order of time, separated by white space or a comma. These lines have the
    /// format of ns-3's fading traces (`src/lte/model/trace-fading-loss-model.cc`). Blank lines and
    /// lines that begin with `#` are ignored.
    ///
    /// # Errors
    /// A line is malformed or a value is out of range.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = (1..).zip(text.lines()).map(|(number, line)| (number, line.trim()));
        let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let Some((line, first)) = lines.next() else {
            return Err(TraceError::new(
                0,
                format!("the trace is empty; begin it with {INTERVAL},1"),
            ));
        };
        let interval = interval(line, first)?;
        let (mut gains, mut values): (Vec<Vec<f64>>, usize) = (Vec::new(), 0);
        for (line, text) in lines {
            if gains.len() == MAX_PARTS {
                let reason =
                    format!("more than {MAX_PARTS} parts of the band; write one line per part");
                return Err(TraceError::new(line, reason));
            }
            let part = part(line, text, MAX_VALUES - values)?;
            if let Some(first) = gains.first()
                && first.len() != part.len()
            {
                let (found, wanted) = (part.len(), first.len());
                let reason =
                    format!("{found} values, where the first part of the band has {wanted}");
                return Err(TraceError::new(line, reason));
            }
            values += part.len();
            gains.push(part);
        }
        if gains.is_empty() {
            return Err(TraceError::new(
                line,
                "no values follow; write one line per part of the band",
            ));
        }
        Ok(Self { interval, gains })
    }
}

fn interval(line: usize, text: &str) -> Result<Duration, TraceError> {
    let wrong = |reason: String| TraceError::new(line, reason);
    let mut words = columns(text);
    let (Some(INTERVAL), Some(number), None) = (words.next(), words.next(), words.next()) else {
        return Err(wrong(format!(
            "'{}' is not an interval; begin with {INTERVAL},1",
            shortened(text)
        )));
    };
    let millis = number.parse::<f64>().ok().filter(|millis| INTERVALS.contains(millis));
    let (least, most) = (INTERVALS.start(), INTERVALS.end());
    let millis = millis
        .ok_or_else(|| wrong(format!("'{}' ms; write {least} to {most}", shortened(number))))?;
    Ok(Duration::from_secs_f64(millis / 1e3))
}

/// The gains of a part of the band, at most `most`.
fn part(line: usize, text: &str, most: usize) -> Result<Vec<f64>, TraceError> {
    let mut gains = Vec::new();
    for word in columns(text) {
        if gains.len() == most {
            return Err(TraceError::new(
                line,
                format!("more than {MAX_VALUES} values; cut the trace"),
            ));
        }
        let gain = word.parse::<f64>().ok().filter(|gain| GAINS.contains(gain));
        gains.push(gain.ok_or_else(|| {
            let (least, most) = (GAINS.start(), GAINS.end());
            TraceError::new(
                line,
                format!("'{}' is not a gain from {least} to {most} dB", shortened(word)),
            )
        })?);
    }
    if gains.is_empty() {
        return Err(TraceError::new(line, "no values"));
    }
    Ok(gains)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_a_part_of_the_band() {
        for text in [
            "interval_ms,1\n0,-3.5\n1.25,2\n",
            "\u{feff}# c\r\ninterval_ms 1\r\n\r\n0\t-3.5 \r\n 1.25 2e0",
        ] {
            let trace = FadingTrace::parse(text).unwrap();
            assert_eq!(trace.interval, Duration::from_millis(1));
            assert_eq!(trace.gains, [[0.0, -3.5], [1.25, 2.0]]);
        }
        assert_eq!(
            FadingTrace::parse("interval_ms,2.5\n1").unwrap().interval,
            Duration::from_micros(2_500)
        );
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| FadingTrace::parse(text).unwrap_err().to_string();
        assert_eq!(error(" \n# c\n"), "the trace is empty; begin it with interval_ms,1");
        assert_eq!(
            error("0 1 2\n"),
            "line 1: '0 1 2' is not an interval; begin with interval_ms,1"
        );
        assert_eq!(
            error("interval_ms\n1"),
            "line 1: 'interval_ms' is not an interval; begin with interval_ms,1"
        );
        for wrong in ["0.5", "-1", "NaN", "1e9", "x"] {
            let text = format!("#\ninterval_ms,{wrong}\n1");
            assert_eq!(error(&text), format!("line 2: '{wrong}' ms; write 1 to 60000"));
        }
        assert_eq!(
            error("interval_ms,1\n\n"),
            "line 1: no values follow; write one line per part of the band"
        );
        assert_eq!(error("interval_ms,1\n,\n"), "line 2: no values");
        assert_eq!(
            error("interval_ms,1\n1 2\n\n1 x\n"),
            "line 4: 'x' is not a gain from -200 to 100 dB"
        );
        assert_eq!(
            error("interval_ms,1\ninf\n"),
            "line 2: 'inf' is not a gain from -200 to 100 dB"
        );
        assert_eq!(
            error("interval_ms,1\n1 2\n1\n"),
            "line 3: 1 values, where the first part of the band has 2"
        );
        let many = format!("interval_ms,1\n{}", "0\n".repeat(101));
        assert_eq!(
            error(&many),
            "line 102: more than 100 parts of the band; write one line per part"
        );
    }
}
