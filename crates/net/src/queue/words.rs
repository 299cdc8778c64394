//! Reads the parameters of a discipline: `fq_codel limit 10240 target 5ms noecn`.

use super::error::{ParameterError, QueueConfigError};
use super::tc_units::{self, UnitSystem};
use std::str::FromStr;
use units::{Bitrate, Bytes, Duration, Ratio};

/// The largest size that is accepted, a terabyte: a larger one is taken for a typo.
const MAX_SIZE: Bytes = Bytes::new(1_000_000_000_000);

/// The words after the name of a discipline, read one by one.
pub(super) struct Words<'a> {
    discipline: &'a str,
    rest: &'a [&'a str],
    units: UnitSystem,
    /// The discipline's parameters, for messages.
    usage: &'static str,
}

impl<'a> Words<'a> {
    /// Reads `words`, of which the first is the discipline's name.
    pub(super) fn new(words: &'a [&'a str], units: UnitSystem, usage: &'static str) -> Self {
        let (discipline, rest) =
            words.split_first().map_or(("", words), |(name, rest)| (*name, rest));
        Self { discipline, rest, units, usage }
    }

    /// The next parameter's name or flag.
    pub(super) fn key(&mut self) -> Option<&'a str> {
        let (key, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(key)
    }

    /// The word after `key`.
    pub(super) fn word(&mut self, key: &str) -> Result<&'a str, QueueConfigError> {
        self.key().ok_or_else(|| self.error(ParameterError::NoValue(key.to_owned())))
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

    /// A number of packets after `key`, above zero; tc prints it with the suffix `p`.
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

    /// A word as a time; `None` if it is none.
    pub(super) fn time_in(&self, word: &str) -> Option<Duration> {
        tc_units::time(word, self.units)
    }

    /// A rate after `key`, above zero.
    pub(super) fn rate(&mut self, key: &str) -> Result<Bitrate, QueueConfigError> {
        let word = self.word(key)?;
        let rate = tc_units::rate(word, self.units).ok_or_else(|| self.no_value(word, key))?;
        self.above_zero(key, rate)
    }

    /// A size after `key`: a number of bytes, or a number with a unit.
    pub(super) fn bytes(&mut self, key: &str) -> Result<Bytes, QueueConfigError> {
        let word = self.word(key)?;
        let bytes = tc_units::size(word, self.units);
        let bytes = bytes.ok_or_else(|| match tc_units::size(word, UnitSystem::Tc) {
            // Not accepted: beside kB, which are 1000 bytes here, kb would be misread.
            Some(bytes) => {
                let bytes = bytes.get();
                self.wrong(&format!("tc's '{key} {word}' is '{key} {bytes}B' here"))
            }
            None => self.no_value(word, key),
        })?;
        self.bounded(key, bytes)
    }

    /// Checks that a size is above zero and at most a terabyte.
    pub(super) fn bounded(&self, key: &str, bytes: Bytes) -> Result<Bytes, QueueConfigError> {
        if bytes > Bytes::ZERO && bytes <= MAX_SIZE {
            return Ok(bytes);
        }
        Err(self.wrong(&format!("'{key}' is 1 to {} bytes", MAX_SIZE.get())))
    }

    /// A probability after `key`, above 0 and at most 1, as tc writes it: `0.02`.
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
            Err(self.error(ParameterError::Zero(key.to_owned())))
        } else {
            Ok(value)
        }
    }

    /// `word` cannot be read as the value of `key`.
    pub(super) fn no_value(&self, word: &str, key: &str) -> QueueConfigError {
        self.error(ParameterError::NotAValue { key: key.to_owned(), word: word.to_owned() })
    }

    /// `word` names no parameter of the discipline.
    pub(super) fn unknown(&self, word: &str) -> QueueConfigError {
        self.error(ParameterError::Unknown(word.to_owned()))
    }

    /// A value is out of range, or parameters contradict each other: `what` says which and how.
    pub(super) fn wrong(&self, what: &str) -> QueueConfigError {
        self.error(ParameterError::Constraint(what.to_owned()))
    }

    fn error(&self, problem: ParameterError) -> QueueConfigError {
        let discipline = self.discipline.to_owned();
        QueueConfigError::Parameter { discipline, problem, usage: self.usage }
    }
}
