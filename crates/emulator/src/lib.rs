//! The network model of `net`, run in real time between real programs.
//!
//! ```text
//!  namespace of alice          this process                              namespace of bob
//!  program ─▶ eth0 ─▶ device ─▶ header ─▶ net::Network ─▶ device ─▶ eth0 ─▶ program
//!                                 ▲ buffers hold the bytes of the packets
//!                     clock, waking of the loop (emulator)
//! ```
//!
//! A [`Testbed`] holds one network namespace per host, each with one interface. An [`Emulator`]
//! passes their packets through the network model. The model is the same as in the simulator: it
//! sees sizes, addresses, ports, DSCP and ECN, and returns the time at which it next has to run.
//! All unsafe code outside of tests is in this crate.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

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
pub use control::{
    BearerRequestError, Controls, FlowFilter, Request, RequestError, parse as parse_request,
};
pub use device::MTU;
pub use emulator::{Emulator, Observer, Report};
pub use error::EmulatorError;
pub use gather::coalesce;
pub use header::read as read_header;
pub use lateness::Lateness;
pub use leftovers::{Swept, sweep};
pub use processes::{Owner, kill_group, terminate_group};
pub use rootless::become_root;
pub use scheduling::{RealTime, SchedulingError, real_time};
pub use tcp_info::{TcpInfo, tcp_info};
pub use testbed::{Host, Testbed};
