//! The words of a discipline: `fq_codel limit 10240 target 5ms noecn`.

use super::tc::QueueConfigError;
use super::tc_units::{self, Units};
use std::str::FromStr;
use units::{Bitrate, Bytes, Duration, Ratio};

/// More is a slip of the pen: a terabyte.
const MOST: Bytes = Bytes::new(1_000_000_000_000);

/// What follows the name of a discipline, read word by word.
pub(super) struct Words<'a> {
    kind: &'a str,
    rest: &'a [&'a str],
    units: Units,
    /// What may follow, for messages.
    usage: &'static str,
}

impl<'a> Words<'a> {
    /// `words` begin with the name.
    pub(super) fn new(words: &'a [&'a str], units: Units, usage: &'static str) -> Self {
        let (kind, rest) = words.split_first().map_or(("", words), |(kind, rest)| (*kind, rest));
        Self { kind, rest, units, usage }
    }

    /// The next parameter's name or flag.
    pub(super) fn key(&mut self) -> Option<&'a str> {
        let (key, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(key)
    }

    /// The word after `key`.
    pub(super) fn word(&mut self, key: &str) -> Result<&'a str, QueueConfigError> {
        self.key().ok_or_else(|| self.wrong(&format!("'{key}' needs a value")))
    }

    /// The value after `key`.
    pub(super) fn value<T: FromStr>(&mut self, key: &str) -> Result<T, QueueConfigError> {
        let word = self.word(key)?;
        word.parse().map_err(|_| self.no_value(word, key))
    }

    /// The value after `key`, which must not be zero.
    pub(super) fn positive<T: FromStr + Default + PartialEq>(
        &mut self,
        key: &str,
    ) -> Result<T, QueueConfigError> {
        let value = self.value::<T>(key)?;
        self.above_zero(key, value)
    }

    /// A number of packets after `key`, above zero; tc prints them with a p.
    pub(super) fn packets(&mut self, key: &str) -> Result<u64, QueueConfigError> {
        let word = self.word(key)?;
        let packets =
            word.strip_suffix('p').unwrap_or(word).parse().map_err(|_| self.no_value(word, key))?;
        self.above_zero(key, packets)
    }

    /// A time after `key`, above zero.
    pub(super) fn time(&mut self, key: &str) -> Result<Duration, QueueConfigError> {
        let word = self.word(key)?;
        let time = self.time_in(word).ok_or_else(|| self.no_value(word, key))?;
        self.above_zero(key, time)
    }

    /// The time that a word is.
    pub(super) fn time_in(&self, word: &str) -> Option<Duration> {
        tc_units::time(word, self.units)
    }

    /// A rate after `key`, above zero.
    pub(super) fn rate(&mut self, key: &str) -> Result<Bitrate, QueueConfigError> {
        let word = self.word(key)?;
        let rate = tc_units::rate(word, self.units).ok_or_else(|| self.no_value(word, key))?;
        self.above_zero(key, rate)
    }

    /// A size after `key`: a number of bytes, or with a unit.
    pub(super) fn bytes(&mut self, key: &str) -> Result<Bytes, QueueConfigError> {
        let word = self.word(key)?;
        let bytes = tc_units::size(word, self.units).ok_or_else(|| self.no_value(word, key))?;
        self.bounded(key, bytes)
    }

    /// A size that is not a slip of the pen.
    pub(super) fn bounded(&self, key: &str, bytes: Bytes) -> Result<Bytes, QueueConfigError> {
        if bytes > Bytes::ZERO && bytes <= MOST {
            return Ok(bytes);
        }
        Err(self.wrong(&format!("'{key}' is 1 to {} bytes", MOST.get())))
    }

    /// A share of one after `key`, as tc writes it: 0.02.
    pub(super) fn share(&mut self, key: &str) -> Result<Ratio, QueueConfigError> {
        let share: f64 = self.value(key)?;
        if share > 0.0 && share <= 1.0 {
            Ok(Ratio::from_f64(share))
        } else {
            Err(self.wrong(&format!("'{key}' is above 0 and at most 1")))
        }
    }

    fn above_zero<T: Default + PartialEq>(
        &self,
        key: &str,
        value: T,
    ) -> Result<T, QueueConfigError> {
        if value == T::default() {
            Err(self.wrong(&format!("'{key}' cannot be 0")))
        } else {
            Ok(value)
        }
    }

    fn no_value(&self, word: &str, key: &str) -> QueueConfigError {
        self.wrong(&format!("'{word}' is not a value of '{key}'"))
    }

    /// A word that does not belong here.
    pub(super) fn unknown(&self, word: &str) -> QueueConfigError {
        self.wrong(&format!("no parameter '{word}'"))
    }

    /// Something that cannot be.
    pub(super) fn wrong(&self, what: &str) -> QueueConfigError {
        QueueConfigError::new(format!("{}: {what}; write '{}'", self.kind, self.usage))
    }
}
