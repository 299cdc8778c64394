//! Wi-Fi: 802.11n at 2.4 GHz.

mod config;

pub use config::{
    Aggregation, Buffer, ChannelAccess, ChannelWidth, Fading, GuardInterval, PathLoss, RateControl,
    WifiConfig, WifiDevice, WifiStation,
};
