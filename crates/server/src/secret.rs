//! Words that nobody can guess and that nobody is shown.

use std::fmt::{self, Write};
use subtle::ConstantTimeEq;

/// Bytes of a word that is made here (128 bits, RFC 4086 § 8).
const LENGTH: usize = 16;

/// A shared secret or a token. Its `Debug` form leaves it out.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// This word.
    #[must_use]
    pub fn new(word: impl Into<String>) -> Self {
        Self(word.into())
    }

    /// A new one, of hexadecimal digits.
    ///
    /// # Errors
    /// When the system gives no random numbers.
    pub fn random() -> Result<Self, getrandom::Error> {
        random_word().map(Self)
    }

    /// The word itself, for whom it is meant.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it is this word, found in a time that does not tell how much of it is right.
    #[must_use]
    pub fn is(&self, word: &str) -> bool {
        self.0.as_bytes().ct_eq(word.as_bytes()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// A word that nobody can guess, of hexadecimal digits.
pub(crate) fn random_word() -> Result<String, getrandom::Error> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_compared_and_not_shown() {
        let secret = Secret::random().unwrap();
        assert_eq!(secret.expose().len(), 2 * LENGTH);
        assert!(secret.is(secret.expose()) && !secret.is("") && !secret.is(&secret.expose()[1..]));
        assert_ne!(secret, Secret::random().unwrap());
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }
}
