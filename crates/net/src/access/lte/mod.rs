//! LTE: cells whose base stations schedule their terminals (3GPP TS 36.300 and its references).
//! Numbers such as 36.213 are 3GPP technical specifications.

mod bearer;
mod calendar;
mod cellular;
mod config;
mod fading;
mod geometry;
mod link;
mod scheduler;
mod terminal;
mod transport_block;

pub(crate) use cellular::{Cellular, Terminal};
pub use config::{
    BearerConfig, BearerError, ChannelBandwidth, FastFading, Handover, Layout, LteConfig, LteError,
    LteProblem, LteTerminal, RlcMode, Scheduler, Shadowing, Start, UrbanLoss,
};
