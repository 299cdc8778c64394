//! The words of a discipline: `fq_codel limit 10240 target 5ms noecn`.

use super::tc::QueueConfigError;
use std::str::FromStr;

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

    /// A word that does not belong here.
    pub(super) fn unknown(&self, word: &str) -> QueueConfigError {
        self.wrong(&format!("no parameter '{word}'"))
    }

    fn wrong(&self, what: &str) -> QueueConfigError {
        QueueConfigError::new(format!("{}: {what}; write '{}'", self.kind, self.usage))
    }
}
