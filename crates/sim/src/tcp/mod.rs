//! TCP: the sending and the receiving end of one direction of a connection. Both are sans-IO and
//! behave like Linux as far as it matters at a bottleneck.
//!
//! ```text
//! application ─▶ sender ─ segments ─▶ small_queues ─▶ network ─▶ receiver
//!                  │ outstanding (scoreboard), rtt, delivery           │ reassembly
//!                  │ rack: what is lost    prr: how fast to repair     │
//!                  └ congestion: window, pacing ◀── acknowledgements ──┘
//! ```
//!
//! RACK-TLP (RFC 8985) detects losses, and proportional rate reduction (RFC 6937) controls how fast
//! they are retransmitted. A reduction that proves spurious is undone (RFC 3522, RFC 4015). Timers
//! have the resolution of Linux's timer wheel.
//!
//! | difference | Linux | here |
//! |---|---|---|
//! | receive window | auto-tuned; every segment is acknowledged at once while it grows | fixed, because the application reads at once |
//! | selective acknowledgements | after the third, delayed by up to 1 ms | at once |
//! | delayed acknowledgements | 40 ms, adapting up to 200 ms | 40 ms |
//! | windows | whole segments | segments with a fraction, unless the host has `whole_segments` |
//! | CUBIC's target | W_cubic one minimum round-trip time ahead | one smoothed round-trip time ahead (RFC 9438 § 4.2), unless the host has `whole_segments` |
//! | bursts | two segments or more | single segments, unless the host has `gso` |
//! | segments | short where a write of the application ends and nothing else waits | full, except at the end of the stream |
//! | F-RTO (RFC 5682) | sends new data after a time-out | left out: time stamps detect a spurious time-out (RFC 3522) |
//! | teardown | FIN both ways | the sender's FIN on its last segment; the reverse direction stays open |

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
mod timer_wheel;

pub use config::{
    Reading, TcpApplication, TcpConfig, TcpCongestionControl, TcpPages, TcpSource, TcpStack,
    TimerFrequency, UnknownCongestionControl,
};
pub(crate) use flow::TcpFlow;
pub use segment::{MAX_SEGMENT, Phase, SackBlock, Segment};

use net::Ecn;
use units::Time;

/// Takes the segments that an end sends.
pub(crate) trait TcpOutbox {
    /// Sends a segment. Returns whether the host's own queue accepted it; only a host that shapes
    /// its own traffic can refuse.
    fn segment(&mut self, now: Time, segment: Segment, ecn: Ecn) -> bool;
}
