//! Real programs on the emulated network: browsers, native peers, media relays, forwarding units
//! and uploads; their event logs and the replay of them; and the fit of the codec model to real
//! encoders.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod capture;
mod clock;
pub mod diameter;
pub mod emulate;
pub mod event_log;
pub mod fit;
pub mod import;
pub mod measure;
pub mod replay;
pub mod upload;
