//! Credentials for a limited time (TURN REST API, draft-uberti-behave-turn-rest-00 § 2.2). Relay
//! and broker share one secret; no list of users is needed.

use super::is_name;
use crate::secret::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha1::Sha1;
use std::fmt;

/// The credentials of a client for a relay (RFC 8489 § 9.2). Their `Debug` form omits the password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// `EXPIRY:USER`, with the expiry in seconds since 1970.
    pub username: String,
    /// base64(HMAC-SHA1(secret, username)).
    pub password: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("username", &self.username).finish_non_exhaustive()
    }
}

impl Credentials {
    /// Credentials for this user until `expiry`, seconds since 1970; `None` if `user` is not a
    /// valid name.
    #[must_use]
    pub fn new(secret: &Secret, user: &str, expiry: u64) -> Option<Self> {
        let username = is_name(user).then(|| format!("{expiry}:{user}"))?;
        // HMAC accepts a key of any length (RFC 2104 § 3).
        let mut code = Hmac::<Sha1>::new_from_slice(secret.expose().as_bytes()).ok()?;
        code.update(username.as_bytes());
        Some(Self { password: STANDARD.encode(code.finalize().into_bytes()), username })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_the_hmac_of_the_user_name_with_the_secret() {
        // printf 1700000000:alice | openssl dgst -sha1 -hmac north -binary | base64
        let made = Credentials::new(&Secret::new("north"), "alice", 1_700_000_000).unwrap();
        assert_eq!(
            (made.username.as_str(), made.password.as_str()),
            ("1700000000:alice", "Cd/49soE35ICqcJF/bCTn8Z4OyE=")
        );
        assert!(!format!("{made:?}").contains(&made.password));
        let other = Credentials::new(&Secret::new("north"), "bob", 1_700_000_000).unwrap();
        assert_ne!(made.password, other.password);
    }

    #[test]
    fn a_user_name_cannot_contain_an_expiry() {
        for user in ["", "9999999999:alice", "a b", "ä", &"x".repeat(65)] {
            assert_eq!(Credentials::new(&Secret::new("north"), user, 1), None, "{user}");
        }
    }
}
