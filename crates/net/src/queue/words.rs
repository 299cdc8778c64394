//! The words of a discipline: `fq_codel limit 10240 target 5ms noecn`.

use super::tc::QueueConfigError;
use std::str::FromStr;
use units::{Bytes, Ratio};

/// More is a slip of the pen: a terabyte.
const MOST: Bytes = Bytes::new(1_000_000_000_000);

/// What follows the name of a discipline, read word by word.
pub(super) struct Words<'a> {
    kind: &'a str,
    rest: std::str::SplitWhitespace<'a>,
    /// What may follow, for messages.
    usage: &'static str,
}

impl<'a> Words<'a> {
    pub(super) fn new(kind: &'a str, rest: std::str::SplitWhitespace<'a>, usage: &'static str) -> Self {
        Self { kind, rest, usage }
    }

    /// The next parameter's name or flag.
    pub(super) fn key(&mut self) -> Option<&'a str> {
        self.rest.next()
    }

    /// The value after `key`.
    pub(super) fn value<T: FromStr>(&mut self, key: &str) -> Result<T, QueueConfigError> {
        let Some(word) = self.rest.next() else {
            return Err(self.wrong(&format!("'{key}' needs a value")));
        };
        word.parse().map_err(|_| self.wrong(&format!("'{word}' is not a value of '{key}'")))
    }

    /// The value after `key`, which must not be zero.
    pub(super) fn positive<T: FromStr + Default + PartialEq>(
        &mut self,
        key: &str,
    ) -> Result<T, QueueConfigError> {
        let value = self.value::<T>(key)?;
        if value == T::default() { Err(self.wrong(&format!("'{key}' cannot be 0"))) } else { Ok(value) }
    }

    /// A size after `key`: a number of bytes as in tc, or with a unit.
    pub(super) fn bytes(&mut self, key: &str) -> Result<Bytes, QueueConfigError> {
        let word: String = self.value(key)?;
        let bytes = word.parse().map(Bytes::new).or_else(|_| word.parse());
        match bytes {
            Ok(bytes) if bytes > Bytes::ZERO && bytes <= MOST => Ok(bytes),
            Ok(_) => Err(self.wrong(&format!("'{key}' is 1 to {} bytes", MOST.get()))),
            Err(_) => Err(self.wrong(&format!("'{word}' is not a value of '{key}'"))),
        }
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

    /// A word that does not belong here.
    pub(super) fn unknown(&self, word: &str) -> QueueConfigError {
        self.wrong(&format!("no parameter '{word}'"))
    }

    /// Something that cannot be.
    pub(super) fn wrong(&self, what: &str) -> QueueConfigError {
        QueueConfigError::new(format!("{}: {what}; write '{}'", self.kind, self.usage))
    }
}
