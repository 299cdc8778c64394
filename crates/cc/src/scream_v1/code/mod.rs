//! The rules of the authors' code (EricssonResearch/scream, class ScreamV1Tx of May 2024, the old
//! congestion control, one stream), one file per stage:
//!
//! ```text
//! feedback → flight, delay, l4s_alpha → window ─ cwnd → send window, pacing
//! frames → media_queue → target_rate ◄─────┘
//!            rates ──────────┘
//! ```

mod config;
mod delay;
mod in_flight;
mod l4s_alpha;
mod rates;
mod sender;
mod target_rate;
mod window;

pub use config::ScreamV1CodeConfig;
pub(super) use sender::CodeSender;
