//! Wi-Fi: 802.11n at 2.4 GHz.

mod air;
mod buffer;
mod cell;
mod config;
mod contention;
mod edca;
mod error_rate;
mod fade;
mod path;
mod phy;
mod radio;
mod rate_control;
mod window;

pub(crate) use cell::{Cell, Station};
pub use config::{
    Aggregation, Buffer, ChannelAccess, ChannelWidth, DriverOrder, Fading, GuardInterval, PathLoss,
    RateControl, WifiConfig, WifiDevice, WifiError, WifiStation,
};
