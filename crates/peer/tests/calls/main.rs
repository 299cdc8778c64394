//! Whole calls: in virtual time, over loopback, with a browser; and what a decoder says of the
//! frames.

#![expect(clippy::unwrap_used, reason = "what cannot be set up fails")]

mod audio;
mod chromium;
mod loopback;
mod simulator;
mod support;
mod virtual_time;
mod vp8;
