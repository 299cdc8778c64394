//! The HTTP services of Weir: the call page with its signalling server, and the broker of media
//! relays.
//!
//! Both listen only on loopback addresses by default, and limit each client.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod broker;
mod client;
mod connections;
mod descriptors;
mod guard;
mod ice;
mod places;
mod secret;
pub mod signalling;

pub use connections::{MAX_REQUESTS, MAX_REQUESTS_PER_ADDRESS};
pub use descriptors::{TooFewFiles, raise_file_limit};
pub use ice::IceServer;
pub use places::{NoPlace, Place, Places};
pub use secret::Secret;

use std::time::SystemTime;
use units::Duration;

/// The time since 1970-01-01 UTC by the clock of this machine, for credentials and captures.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "credentials and captures contain the real time")]
pub fn since_1970() -> Duration {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Duration::from_nanos(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}
