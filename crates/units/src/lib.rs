//! The units of Weir: instants and spans of time, rates, sizes, ratios, power, distance, speed and
//! frequency on the air, and seeded random streams.
//!
//! Every quantity in a function signature has a type from this crate, never a bare number. The list
//! is closed and has no dependencies. Times are in nanoseconds, rates in bit/s with decimal
//! prefixes, sizes in bytes. All arithmetic on these types is integral and saturating, so that a
//! run gives the same result on every machine.
//!
//! ```
//! use units::{Bitrate, Bytes, Duration, Time};
//! let rate: Bitrate = "1.5Mbit/s".parse().unwrap();
//! assert_eq!(rate.time_to_send(Bytes::new(1500)), Some(Duration::from_millis(8)));
//! assert_eq!(Bitrate::ZERO.time_to_send(Bytes::new(1)), None, "a rate of zero means never");
//! assert_eq!((Time::ZERO + Duration::from_millis(25)).to_string(), "25ms");
//! ```

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod bitrate;
mod bytes;
mod parse;
mod radio;
mod ratio;
mod rng;
mod time;

pub use bitrate::Bitrate;
pub use bytes::Bytes;
pub use parse::{ParseError, quantity};
pub use radio::{Dbm, Decibels, Frequency, Metres, Speed};
pub use ratio::Ratio;
pub use rng::{Seed, Stream};
pub use time::{Duration, Time, TimeDelta};
