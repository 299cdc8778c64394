//! The broker between services and the operators of media relays (Janczukowicz 2017 § 4.4.2, Fig.
//! 4.3): who wants to make a call asks it which relay to use, and gets credentials for a limited
//! time.
//!
//! ```text
//! file ─▶ Config ─▶ Broker::open(request, now) ─▶ Session: relay, TURN credentials, marks     (no clock, no network)
//!                     ▲ Api: HTTP, token, rates, metrics              ▲ a measured run
//! ```

mod api;
mod config;
mod credentials;
mod read;
mod sessions;

pub use api::{Api, MAX_BODY, MAX_CLIENTS, MIN_TOKEN, REQUEST_BURST, REQUESTS_PER_SECOND};
pub use config::{Class, Config, Relay, Service};
pub use credentials::Credentials;
pub use read::read_secret;
pub use sessions::{Broker, Refusal, Request, Session};

/// The most relays and services of a file.
pub const MAX_RELAYS: usize = 1_000;
/// The most sessions of a relay at a time.
pub const MAX_CAPACITY: u32 = 100_000;
/// The longest name of a user, a service or a region, characters.
pub const MAX_NAME: usize = 64;

/// Whether a user, service or region may be called so. A colon would end the expiry of a user name
/// (TURN REST API).
pub fn is_name(name: &str) -> bool {
    let allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'@');
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(allowed)
}
