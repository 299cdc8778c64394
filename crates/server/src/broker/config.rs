//! The configuration of a broker: the relays of the operators, and the services that have
//! subscribed.

use crate::secret::Secret;
use sim::Marks;
use std::fmt;
use units::Duration;

/// The traffic class of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// The same treatment as other traffic.
    Basic,
    /// Packets are marked, and gateways that know the relay put them into a separate class.
    Specialised,
}

impl Class {
    /// The name of the class in files and metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Specialised => "specialised",
        }
    }

    /// The DSCP marks that a session of this class may use (RFC 8837 § 5, Table 1, interactive
    /// media of high priority).
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
    /// The name of the relay.
    pub name: String,
    /// The `turn:` and `turns:` URLs (RFC 7065).
    pub urls: Vec<String>,
    /// The secret shared with the broker (coturn: `static-auth-secret`).
    pub secret: Secret,
    /// The class of the sessions that it takes.
    pub class: Class,
    /// The maximum number of sessions at a time.
    pub capacity: u32,
    /// The one-way delay to the users of each region, by the name of the region.
    pub distances: Vec<(String, Duration)>,
}

impl Relay {
    /// The one-way delay to the users of a region; `Duration::MAX` if the relay does not list the
    /// region, or the region is not given.
    pub(super) fn distance(&self, region: Option<&str>) -> Duration {
        let known = self.distances.iter().find(|(name, _)| Some(name.as_str()) == region);
        known.map_or(Duration::MAX, |(_, distance)| *distance)
    }
}

/// A service that has subscribed (Fig. 4.3, step 0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The name of the service.
    pub name: String,
    /// Whether the service may request specialised sessions.
    pub specialised: bool,
}

/// The configuration of a broker.
#[derive(Clone, Debug)]
pub struct Config {
    /// The lifetime of a session and of its credentials.
    pub lifetime: Duration,
    /// The relays to choose from.
    pub relays: Vec<Relay>,
    /// The services that may request sessions.
    pub services: Vec<Service>,
}
