//! Values of what is on the air: one of a few words, a small whole number, a quantity in a range, a
//! queue that only orders and drops.

use document::{Fault, FromNode, Reader};
use net::QueueConfig;
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

/// A discipline that makes do without a rate of its own: on the air there is none that holds.
pub(super) fn queue(
    table: &mut Reader<'_>,
    key: &'static str,
) -> Result<Option<QueueConfig>, Fault> {
    let Some(words) = table.optional::<String>(key)? else { return Ok(None) };
    let queue =
        words.parse::<QueueConfig>().map_err(|error| table.fault(key, error.to_string(), ""))?;
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
