//! TCP: the sending and the receiving end of one direction of a connection, each sans-IO, as
//! Linux's where it shows at a bottleneck.
//!
//! ```text
//! application ─▶ sender ─ segments ─▶ small_queues ─▶ network ─▶ receiver
//!                  │ outstanding (scoreboard), rtt, delivery           │ reassembly
//!                  │ rack: what is lost    prr: how fast to repair     │
//!                  └ congestion: window, pacing ◀── acknowledgements ──┘
//! ```
//!
//! Loss is found by RACK-TLP (RFC 8985) and repaired by proportional rate reduction (RFC 6937); a
//! retransmission that was for nothing is undone (RFC 3522, RFC 4015).
//!
//! | where it differs | Linux | here |
//! |---|---|---|
//! | receive window | auto-tuned | fixed, the application reads at once |
//! | delayed acknowledgements | 40 ms, adapting up to 200 ms | 40 ms |
//! | F-RTO (RFC 5682) | new data after a time-out | left out: time stamps tell a spurious one (RFC 3522) |
//! | teardown | FIN both ways | the sender's FIN on its last segment; the other way stays open |

mod application;
mod config;
mod congestion;
mod delivery;
mod flow;
mod outstanding;
mod pages;
mod prr;
mod rack;
mod reassembly;
mod receiver;
mod rtt;
mod segment;
mod sender;
mod small_queues;
#[cfg(test)]
mod tests;

pub use config::{Stack, TcpApplication, TcpConfig, TcpCongestionControl, TcpPages, TcpSource};
pub(crate) use flow::TcpFlow;
pub use segment::{MAX_SEGMENT, Phase, SackBlock, Segment};

use net::Ecn;
use units::Time;

/// Where an end puts a segment that it wants sent.
pub(crate) trait TcpOutbox {
    /// Sends a segment. Returns whether the host's own queue took it in; only a host whose shaper
    /// stands on it knows.
    fn segment(&mut self, now: Time, segment: Segment, ecn: Ecn) -> bool;
}
