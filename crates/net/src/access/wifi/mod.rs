//! Wi-Fi: 802.11n at 2.4 GHz.

mod config;
#[allow(dead_code, reason = "used by the medium access")]
mod error_rate;
mod fade;
#[allow(dead_code, reason = "used by the medium access")]
mod phy;
#[allow(dead_code, reason = "used by the medium access")]
mod radio;
#[allow(dead_code, reason = "used by the medium access")]
mod rate_control;

pub use config::{
    Aggregation, Buffer, ChannelAccess, ChannelWidth, Fading, GuardInterval, PathLoss, RateControl,
    WifiConfig, WifiDevice, WifiStation,
};
