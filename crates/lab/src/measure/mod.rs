//! Measurement: a run in real time with real browsers on the hosts and the modelled network between them.

pub mod browser;
pub mod internals;
pub mod machine;
pub mod media;
pub mod stats;
