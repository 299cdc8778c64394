//! Sends real packets through the emulated network and checks when they arrive, which ones arrive,
//! and what a run leaves behind.
//!
//! ```text
//!  namespace of alice       emulator (a thread)        namespace of bob
//!  sender, at planned times ─▶ net::Network ─▶ receiver, with kernel timestamps
//! ```
//!
//! Without root or /dev/net/tun the tests are skipped with a message.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

#[path = "../common/mod.rs"]
mod common;

mod cleanup;
mod hosts;
mod live;
mod netns;
mod passes;
mod simulator;
mod timing;

use std::io::Write as _;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// A lock that runs the tests one at a time, because two at once would disturb each other's timing.
/// `None` if hosts cannot be made.
fn exclusive() -> Option<MutexGuard<'static, ()>> {
    static LOCK: Mutex<()> = Mutex::new(());
    static ONCE: Once = Once::new();
    if let Some(reason) = common::missing() {
        ONCE.call_once(|| {
            skip(&format!("needs root, /dev/net/tun and network namespaces: {reason}"));
        });
        return None;
    }
    Some(LOCK.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Writes to the real standard error, which the test harness does not capture.
#[expect(clippy::disallowed_methods, reason = "printed past the capture of the test runner")]
fn skip(reason: &str) {
    let _ = std::io::stderr().write_all(format!("skipped: {reason}\n").as_bytes());
}
