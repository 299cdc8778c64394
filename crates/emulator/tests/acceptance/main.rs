//! Real packets through the emulated network: when they arrive, which do, and what is left behind.
//!
//! ```text
//!  namespace of alice       emulator (a thread)        namespace of bob
//!  sender, at planned times ─▶ net::Network ─▶ receiver, with the kernel's time stamps
//! ```
//!
//! Without root or /dev/net/tun the tests are skipped, and say so.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

#[path = "../common/mod.rs"]
mod common;

mod cleanup;
mod hosts;
mod live;
mod passes;
mod simulator;
mod timing;

use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// The turn of a test: one at a time, because two would disturb each other's times. `None` where
/// hosts cannot be made.
fn turn() -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    static ONCE: Once = Once::new();
    if let Some(reason) = common::missing() {
        ONCE.call_once(|| {
            skip(&format!("needs root, /dev/net/tun and network namespaces: {reason}"));
        });
        return None;
    }
    Some(TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Says so past the capture of the test's output.
fn skip(reason: &str) {
    let _ = std::io::stderr().write_all(format!("skipped: {reason}\n").as_bytes());
}
