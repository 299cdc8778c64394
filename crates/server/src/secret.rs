//! Secrets, tokens and keys.

use std::fmt::{self, Write};
use subtle::ConstantTimeEq;

/// The length of a generated secret, bytes: 128 bits (RFC 4086 § 8).
const LENGTH: usize = 16;

/// A shared secret or a token. Its `Debug` form does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The secret with this text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A new secret of 32 hexadecimal digits.
    ///
    /// # Errors
    /// If the operating system gives no random numbers.
    pub fn random() -> Result<Self, getrandom::Error> {
        random_hex().map(Self)
    }

    /// The text of the secret. Do not log it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether this is the text of the secret. The comparison takes constant time, so that its
    /// duration does not reveal a correct prefix.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        self.0.as_bytes().ct_eq(text.as_bytes()).into()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// 32 random hexadecimal digits.
pub(crate) fn random_hex() -> Result<String, getrandom::Error> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_can_be_compared_and_is_not_shown() {
        let secret = Secret::random().unwrap();
        assert_eq!(secret.expose().len(), 2 * LENGTH);
        assert!(secret.is(secret.expose()) && !secret.is("") && !secret.is(&secret.expose()[1..]));
        assert_ne!(secret, Secret::random().unwrap());
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }
}
