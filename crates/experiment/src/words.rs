//! Values of what is on the air: one of a few words, a small whole number, a quantity in a range, a
//! queue that only orders and drops.

use document::{Fault, FromNode, Reader, nearest};
use net::{QueueConfig, QueueConfigError};
use std::fmt::Display;
use std::ops::RangeInclusive;

/// What the word under `key` stands for; the first of them if it is left out.
pub(super) fn choice<T: Copy>(
    table: &mut Reader<'_>,
    key: &'static str,
    words: &[(&'static str, T)],
) -> Result<T, Fault> {
    let Some(word) = table.optional::<String>(key)? else { return Ok(words[0].1) };
    let found = words.iter().find(|(known, _)| *known == word).map(|(_, meaning)| *meaning);
    found.ok_or_else(|| {
        let known: Vec<_> = words.iter().map(|(known, _)| *known).collect();
        table.fault(key, format!("no {key} '{word}'"), format!("write {}", known.join(" or ")))
    })
}

/// A whole number in a range.
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

/// A quantity in a range.
pub(super) fn between<T: FromNode + PartialOrd + Display>(
    table: &mut Reader<'_>,
    key: &'static str,
    default: T,
    range: &RangeInclusive<T>,
) -> Result<T, Fault> {
    let value = table.or(key, default)?;
    in_range(table, key, value, range)
}

/// The value of a key, if it is in a range.
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

/// Parses a queue configuration.
///
/// # Errors
/// What is wrong, and the fix if it does not say so itself. For a misspelt discipline, the nearest
/// known one is suggested.
pub(super) fn parse_queue(words: &str) -> Result<QueueConfig, (String, String)> {
    words.parse().map_err(|error: QueueConfigError| {
        if let QueueConfigError::UnknownDiscipline { word } = &error
            && let Some(near) = nearest(word, QueueConfig::DISCIPLINES.into_iter())
        {
            let reason = format!("\"{word}\" is no queue discipline");
            return (reason, format!("did you mean \"{near}\"?"));
        }
        (error.to_string(), String::new())
    })
}

/// A discipline that makes do without a rate of its own: on the air there is none that holds.
pub(super) fn queue(
    table: &mut Reader<'_>,
    key: &'static str,
) -> Result<Option<QueueConfig>, Fault> {
    let Some(words) = table.optional::<String>(key)? else { return Ok(None) };
    let queue =
        parse_queue(&words).map_err(|(reason, suggestion)| table.fault(key, reason, suggestion))?;
    if queue.shapes() {
        let reason =
            "a queue that sends at a rate of its own: the channel says when a packet can go";
        return Err(table.fault(
            key,
            reason,
            "write one that only orders and drops, such as fq_codel",
        ));
    }
    if let QueueConfig::DropTail(_) = queue {
        let reason = "a limit in time needs a line with a rate";
        return Err(table.fault(key, reason, "write packets or bytes: \"pfifo limit 1000\""));
    }
    Ok(Some(queue))
}

#[cfg(test)]
mod tests {
    use crate::Experiment;

    /// The error for a host whose line has this queue.
    fn error(queue: &str) -> String {
        let text = format!(
            "title = \"t\"\nduration = \"9s\"\n[host.a]\nup = {{ rate = \"1Mbit/s\", queue = \"{queue}\" }}\n[host.b]\n[call.c]\nfrom = \"a\"\nto = \"b\"\n"
        );
        Experiment::parse(&text, "x.toml").unwrap_err().to_string()
    }

    #[test]
    fn a_misspelt_queue_discipline_gets_a_suggestion() {
        assert_eq!(
            error("fq_codl"),
            "x.toml:4: host.a.up.queue: \"fq_codl\" is no queue discipline; did you mean \"fq_codel\"?"
        );
        let all = "x.toml:4: host.a.up.queue: no queue 'xyz': there are 'pfifo limit PACKETS', ";
        assert!(error("xyz").starts_with(all));
    }
}
