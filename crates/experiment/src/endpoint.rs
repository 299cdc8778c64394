//! The endpoints that make the calls of a measured experiment.

use document::{Problem, did_you_mean};
use std::fmt;
use std::str::FromStr;

/// A browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Browser {
    /// Chromium.
    #[default]
    Chromium,
    /// Chromium with the field trials of SCReAM v2 and RFC 8888.
    ChromiumScream,
    /// Firefox.
    Firefox,
}

impl Browser {
    /// The browser's name as it is shown.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chromium => "Chromium",
            Self::ChromiumScream => "Chromium+SCReAM",
            Self::Firefox => "Firefox",
        }
    }

    /// Whether it is Chromium, with or without field trials.
    #[must_use]
    pub const fn is_chromium(self) -> bool {
        matches!(self, Self::Chromium | Self::ChromiumScream)
    }
}

/// A native peer: a WebRTC stack in this process, with generated video (`docs/peers.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// The stack `rtc` with the controller that the call has in the simulator.
    Peer,
    /// The stack `rtc` with its own Google Congestion Control.
    Rtc,
    /// The stack `str0m` with its own bandwidth estimator.
    Str0m,
}

/// An endpoint of a call (RFC 7656 § 2.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Endpoint {
    /// A browser that shows the call page.
    Browser(Browser),
    /// A native peer.
    Native(Native),
}

impl Endpoint {
    const ALL: [(&str, Self); 6] = [
        ("chromium", Self::Browser(Browser::Chromium)),
        ("chromium+scream", Self::Browser(Browser::ChromiumScream)),
        ("firefox", Self::Browser(Browser::Firefox)),
        ("peer", Self::Native(Native::Peer)),
        ("rtc", Self::Native(Native::Rtc)),
        ("str0m", Self::Native(Native::Str0m)),
    ];

    /// The names of all endpoints, as files write them.
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

/// There is no endpoint of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no endpoint '{0}'")]
pub struct UnknownEndpoint(String);

impl From<UnknownEndpoint> for Problem {
    fn from(error: UnknownEndpoint) -> Self {
        let suggestion = did_you_mean(&error.0, Endpoint::names(), "there are");
        Self::new(error.to_string(), suggestion)
    }
}

impl FromStr for Endpoint {
    type Err = UnknownEndpoint;

    fn from_str(text: &str) -> Result<Self, UnknownEndpoint> {
        let found = Self::ALL.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, endpoint)| endpoint).ok_or_else(|| UnknownEndpoint(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back_as_its_endpoint() {
        for name in Endpoint::names() {
            assert_eq!(name.parse::<Endpoint>().unwrap().to_string(), name);
        }
        let error = "lynx".parse::<Endpoint>().unwrap_err();
        assert_eq!(error.to_string(), "there is no endpoint 'lynx'");
    }
}
