//! Complete calls: in virtual time, over loopback, with a browser. Also tests that a decoder
//! accepts the frames.

#![expect(clippy::unwrap_used, reason = "a set-up that fails must fail the test")]

mod audio;
mod chromium;
mod loopback;
mod simulator;
mod support;
mod virtual_time;
mod vp8;
