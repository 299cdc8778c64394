//! LTE: cells whose base stations schedule their terminals (3GPP TS 36.300 and those it names).

mod config;

pub use config::{
    BearerConfig, ChannelBandwidth, FadingTrace, FastFading, Handover, Layout, LteConfig, LteTerminal,
    RlcMode, Scheduler, Shadowing, Start, UrbanLoss,
};
