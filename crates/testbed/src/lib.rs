//! Real programs on the emulated network: browsers, native peers, media relays, forwarding units
//! and uploads; and the fit of the codec model to real encoders.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod emulate;
pub mod fit;
pub mod measure;
pub mod upload;
