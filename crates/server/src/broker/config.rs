//! What a broker knows: relays of the operators, and services that have subscribed.

use crate::secret::Secret;
use sim::Marks;
use std::fmt;
use units::Duration;

/// What treatment a session gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// As any other traffic.
    Basic,
    /// Marked, and put into a class of its own by the gateways that know the relay.
    Specialised,
}

impl Class {
    /// Its name in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Specialised => "specialised",
        }
    }

    /// The marks that a session of this class may use (RFC 8837 § 5, Table 1, interactive media of
    /// high priority).
    #[must_use]
    pub fn marks(self) -> Marks {
        match self {
            Self::Basic => Marks::default(),
            Self::Specialised => Marks { audio: net::Dscp::EF, video: net::Dscp::AF41 },
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A media relay of an operator.
#[derive(Clone, Debug)]
pub struct Relay {
    /// Its name.
    pub name: String,
    /// Its `turn:` and `turns:` addresses (RFC 7065).
    pub urls: Vec<String>,
    /// What it shares with the broker (coturn: `static-auth-secret`).
    pub secret: Secret,
    /// Whose sessions it takes.
    pub class: Class,
    /// The most sessions at a time.
    pub capacity: u32,
    /// How far it is from the users of a region, one way.
    pub distances: Vec<(String, Duration)>,
}

impl Relay {
    /// How far it is from the users of a region; one that it does not know is the farthest.
    pub(super) fn distance(&self, region: Option<&str>) -> Duration {
        let known = self.distances.iter().find(|(name, _)| Some(name.as_str()) == region);
        known.map_or(Duration::MAX, |(_, distance)| *distance)
    }
}

/// A service that has subscribed (Fig. 4.3, step 0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name.
    pub name: String,
    /// Whether it may have specialised sessions.
    pub specialised: bool,
}

/// What a broker is to know.
#[derive(Clone, Debug)]
pub struct Config {
    /// How long a session and its credentials last.
    pub lifetime: Duration,
    /// The relays.
    pub relays: Vec<Relay>,
    /// Who may ask.
    pub services: Vec<Service>,
}
