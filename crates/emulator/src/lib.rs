//! The network of `net` in real time, between real programs.
//!
//! ```text
//!  namespace of alice          this process                              namespace of bob
//!  program ─▶ eth0 ─▶ device ─▶ header ─▶ net::Network ─▶ device ─▶ eth0 ─▶ program
//!                                 ▲ buffers hold the packets' bytes
//!                     clock, pacing of the loop (emulator)
//! ```
//!
//! A [`Testbed`] is a network namespace for each host, with one interface; an [`Emulator`] moves
//! their packets through the model. The model is that of the simulator and does not know the
//! difference: it sees sizes, addresses, ports and marks, and says when it wants to be woken. The
//! only unsafe code outside of tests is in this crate.

mod abilities;
mod buffers;
mod clock;
mod control;
mod device;
mod emulator;
mod error;
mod gather;
mod header;
mod lateness;
mod leftovers;
mod namespace;
mod processes;
mod rootless;
mod scheduling;
mod tcp_info;
mod testbed;
mod waiter;

pub use abilities::{Ability, abilities};
pub use clock::{Clock, monotonic};
pub use control::{Controls, Request, parse as parse_request};
pub use device::MTU;
pub use emulator::{Emulator, Observer, Report};
pub use error::EmulatorError;
pub use gather::gathered;
pub use header::read as read_header;
pub use lateness::Lateness;
pub use leftovers::sweep;
pub use processes::{Owner, ask_to_end, make_end};
pub use rootless::become_root;
pub use scheduling::{RealTime, real_time};
pub use tcp_info::{TcpInfo, tcp_info};
pub use testbed::{Host, Testbed};
