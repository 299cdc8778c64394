//! The network model, sans-IO: queues, links, impairments, access networks, and the network that
//! joins them. Packets enter with a time and leave with a time, and the network tells when it next
//! has to be advanced. It does not know whether the clock is virtual or real.
//!
//! ```
//! use net::{AccessConfig, Dropped, Events, Flow, HostConfig, HostId, LineConfig, Network, NetworkConfig};
//! use net::{Packet, RateConfig, Schedule};
//! use units::{Bitrate, Bytes, Seed, Time};
//!
//! #[derive(Default)]
//! struct Log(Vec<Time>);
//! impl Events for Log {
//!     fn delivered(&mut self, at: Time, _: Packet) {
//!         self.0.push(at);
//!     }
//!     fn dropped(&mut self, _: Time, _: Dropped) {}
//! }
//!
//! let up = LineConfig { rate: RateConfig::Scheduled(Schedule::constant(Bitrate::from_mbps(1))), ..Default::default() };
//! let host = |name: &str, up| HostConfig { name: name.into(), access: AccessConfig::Wired { up, down: LineConfig::default() } };
//! let config = NetworkConfig { hosts: vec![host("alice", up), host("bob", LineConfig::default())], ..Default::default() };
//! let mut network = Network::new(&config, Seed(1)).unwrap();
//! let mut log = Log::default();
//! let flow = Flow { src: HostId(0), dst: HostId(1), ..Default::default() };
//! network.send(Time::ZERO, Packet { size: Bytes::new(1250), flow, ..Default::default() }, &mut log);
//! while let Some(now) = network.next_wake() {
//!     network.advance(now, &mut log);
//! }
//! assert_eq!(log.0, [Time::from_millis(10)], "the first packet takes its serialisation time");
//! ```

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod access;
mod accounting;
mod agenda;
mod config;
mod impair;
mod line;
mod link;
mod network;
mod packet;
mod queue;
mod schedule;
mod serialisation;
mod trace;

pub use access::{
    AccessConfig, AccessKind, Aggregation, BearerConfig, BearerError, Buffer, ChannelAccess,
    ChannelBandwidth, ChannelWidth, ConfigError, DriverOrder, Fading, FastFading, GuardInterval,
    Handover, HostConfig, Layout, LteConfig, LteError, LteProblem, LteTerminal, NetworkConfig,
    PathLoss, RateControl, RlcMode, Scheduler, Shadowing, Start, UrbanLoss, WifiConfig, WifiDevice,
    WifiError, WifiStation,
};
pub use accounting::{Accounting, Count};
pub use config::{Change, LineConfig, RateConfig};
pub use impair::{JitterConfig, LossConfig};
pub use line::Line;
pub use network::{Events, Network};
pub use packet::*;
pub use queue::{
    CakeClasses, CakeConfig, CakeFraming, CakeIsolation, CeSelector, CodelConfig, CodelParameters,
    DualPi2Config, Field, Filter, FqCodelConfig, HtbClass, HtbConfig, Match, ParameterError,
    PieConfig, QueueConfig, QueueConfigError, RedConfig, SfqConfig, StepThreshold, TbfConfig,
};
pub use schedule::{Ramped, Schedule, Shape};
pub use trace::{FadingTrace, Trace, TraceError, TraceModel};
