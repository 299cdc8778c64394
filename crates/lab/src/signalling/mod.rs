//! The call page and its signalling server.

mod message;

pub use message::{CallSettings, IceServer, PageEvent, Priority, Source, StatsReport, VideoSettings};
