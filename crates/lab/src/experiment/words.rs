//! Values that are one of a few words, or a small whole number.

use crate::document::{Fault, Reader};
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
        let mend = format!("write {} to {}", range.start(), range.end());
        table.fault(key, format!("{number} is out of range"), mend)
    })
}
