//! What a host calls with when an experiment is measured.

use std::fmt;
use std::str::FromStr;

/// A browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Browser {
    /// Chromium.
    #[default]
    Chromium,
    /// Firefox.
    Firefox,
}

impl Browser {
    /// Its name, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chromium => "Chromium",
            Self::Firefox => "Firefox",
        }
    }
}

/// A native peer: a WebRTC stack within this process, with generated video (`docs/peers.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// The stack `rtc` under the controller that the call has in the simulator.
    Peer,
    /// The stack `rtc` under its own Google Congestion Control.
    Rtc,
    /// The stack `str0m` under its own bandwidth estimator.
    Str0m,
}

/// An endpoint (RFC 7656 § 2.2.1) of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A browser on a page.
    Browser(Browser),
    /// A native peer.
    Native(Native),
}

impl Endpoint {
    const ALL: [(&str, Self); 5] = [
        ("chromium", Self::Browser(Browser::Chromium)),
        ("firefox", Self::Browser(Browser::Firefox)),
        ("peer", Self::Native(Native::Peer)),
        ("rtc", Self::Native(Native::Rtc)),
        ("str0m", Self::Native(Native::Str0m)),
    ];

    /// The names of all in files.
    pub fn names() -> impl Iterator<Item = &'static str> + Clone {
        Self::ALL.into_iter().map(|(name, _)| name)
    }
}

impl Default for Endpoint {
    fn default() -> Self {
        Self::Browser(Browser::default())
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL
            .into_iter()
            .find(|(_, endpoint)| endpoint == self)
            .map_or("", |(name, _)| name);
        f.pad(name)
    }
}

impl FromStr for Endpoint {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, endpoint)| endpoint).ok_or_else(|| format!("no endpoint '{text}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_one_of_its_endpoint() {
        for name in Endpoint::names() {
            assert_eq!(name.parse::<Endpoint>().unwrap().to_string(), name);
        }
        assert_eq!("lynx".parse::<Endpoint>().unwrap_err(), "no endpoint 'lynx'");
    }
}
