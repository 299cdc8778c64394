//! The broker between services and the operators of media relays (Janczukowicz 2017 § 4.4.2, Fig.
//! 4.3). Before a call, an application requests a relay from the broker and gets credentials for a
//! limited time.
//!
//! ```text
//! file ─▶ Config ─▶ Broker::open(request, now) ─▶ Session: relay, TURN credentials, DSCP     (no clock, no network)
//!                     ▲ Api: HTTP, token, rate limits, metrics        ▲ a measured run
//! ```

mod api;
mod config;
mod credentials;
mod read;
mod sessions;

pub use api::{Api, MAX_BODY, MAX_CLIENTS, MIN_TOKEN, REQUEST_BURST, REQUESTS_PER_SECOND};
pub use config::{Class, Config, Relay, Service};
pub use credentials::Credentials;
pub use read::{Exposed, ReadError, read_secret};
pub use sessions::{Broker, Refusal, Request, Session};

/// The maximum number of relays, and of services, in a file.
pub const MAX_RELAYS: usize = 1_000;
/// The maximum capacity of a relay, sessions.
pub const MAX_CAPACITY: u32 = 100_000;
/// The maximum length of the name of a user, service, relay or region, characters.
pub const MAX_NAME: usize = 64;

/// Whether this is a valid name of a user, service, relay or region. A colon is not allowed,
/// because it separates expiry and user in the user name of the TURN REST API.
pub fn is_name(name: &str) -> bool {
    let allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'@');
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(allowed)
}
