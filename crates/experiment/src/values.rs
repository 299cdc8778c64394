//! Checks of values that several sections need: one of a few words, a number or a quantity in a
//! range, a queue that only orders and drops.

use document::{Fault, FromNode, Problem, Reader, nearest};
use net::{QueueConfig, QueueConfigError};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// Refuses a value of zero.
pub(super) fn positive(table: &Reader<'_>, key: &str, is_positive: bool) -> Result<(), Fault> {
    if is_positive { Ok(()) } else { Err(table.fault(key, "zero is not allowed", ABOVE_ZERO)) }
}

const ABOVE_ZERO: &str = "write a value above zero";

/// The meaning of the word under `key`; that of the first word if the key is missing.
pub(super) fn choice<T: Copy>(
    table: &mut Reader<'_>,
    key: &'static str,
    words: &[(&'static str, T)],
) -> Result<T, Fault> {
    let Some(word) = table.optional::<String>(key)? else { return Ok(words[0].1) };
    let found = words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning);
    found.ok_or_else(|| {
        let known: Vec<_> = words.iter().map(|(known, _)| *known).collect();
        let (last, others) = known.split_last().unwrap_or((&"", &[]));
        let suggestion = format!("write {} or {last}", others.join(", "));
        table.fault(key, format!("there is no {key} '{word}'"), suggestion)
    })
}

/// The whole number under `key`, which must be in the range.
pub(super) fn within(
    table: &mut Reader<'_>,
    key: &'static str,
    default: u8,
    range: RangeInclusive<u8>,
) -> Result<u8, Fault> {
    let number: u64 = table.or(key, u64::from(default))?;
    let small = u8::try_from(number).ok().filter(|small| range.contains(small));
    small.ok_or_else(|| {
        let suggestion = format!("write {} to {}", range.start(), range.end());
        table.fault(key, format!("{number} is out of range"), suggestion)
    })
}

/// The quantity under `key`, which must be in the range.
pub(super) fn between<T: FromNode + PartialOrd + Display>(
    table: &mut Reader<'_>,
    key: &'static str,
    default: T,
    range: &RangeInclusive<T>,
) -> Result<T, Fault> {
    let value = table.or(key, default)?;
    in_range(table, key, value, range)
}

/// Refuses a value of `key` that is not in the range.
pub(super) fn in_range<T: PartialOrd + Display>(
    table: &Reader<'_>,
    key: &'static str,
    value: T,
    range: &RangeInclusive<T>,
) -> Result<T, Fault> {
    if range.contains(&value) {
        return Ok(value);
    }
    let suggestion = format!("write {} to {}", range.start(), range.end());
    Err(table.fault(key, format!("{value} is out of range"), suggestion))
}

/// Parses a queue. A discipline that is probably misspelt gets the most similar one as suggestion.
pub(super) fn parse_queue(words: &str) -> Result<QueueConfig, Problem> {
    words.parse().map_err(|error: QueueConfigError| {
        if let QueueConfigError::UnknownDiscipline { word } = &error
            && let Some(near) = nearest(word, QueueConfig::DISCIPLINES.into_iter())
        {
            let reason = format!("there is no queue discipline '{word}'");
            return Problem::new(reason, format!("did you mean {near}?"));
        }
        Problem::new(error.to_string(), "")
    })
}

/// The queue under `key`, which must not shape and must not have a limit in time: the rate of a
/// radio channel varies.
pub(super) fn queue(
    table: &mut Reader<'_>,
    key: &'static str,
) -> Result<Option<QueueConfig>, Fault> {
    let Some(words) = table.optional::<String>(key)? else { return Ok(None) };
    let queue = parse_queue(&words).map_err(|problem| table.problem(key, problem))?;
    if queue.shapes() {
        let reason = "the queue limits the rate, but the channel decides when a packet is sent";
        let suggestion = "write a queue that only orders and drops, such as fq_codel";
        return Err(table.fault(key, reason, suggestion));
    }
    if let QueueConfig::DropTail(_) = queue {
        let reason = "a limit in time needs a rate, and a channel has none";
        return Err(table.fault(key, reason, "write packets or bytes: \"pfifo limit 1000\""));
    }
    Ok(Some(queue))
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    /// The error for a host whose line has this queue.
    fn error(queue: &str) -> String {
        let up = format!("{{ rate = \"1Mbit/s\", queue = \"{queue}\" }}");
        let text = format!(
            "title = \"t\"\nduration = \"9s\"\n[host.a]\nup = {up}\n[host.b]\n[call.c]\nfrom = \"a\"\nto = \"b\"\n"
        );
        Experiment::parse(&text, "x.toml").unwrap_err().to_string()
    }

    #[test]
    fn a_misspelt_queue_discipline_gets_a_suggestion() {
        assert_eq!(
            error("fq_codl"),
            "x.toml:4: host.a.up.queue: there is no queue discipline 'fq_codl'; did you mean fq_codel?"
        );
        let all = "x.toml:4: host.a.up.queue: no queue 'xyz': there are 'pfifo limit PACKETS', ";
        assert!(error("xyz").starts_with(all));
    }
}
