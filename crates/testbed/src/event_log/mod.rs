//! RtcEventLog, the log of libwebrtc (`chrome://webrtc-internals`, `--webrtc-event-logging`): the
//! packets, the feedback and the estimates of one peer connection.
//!
//! ```text
//! bytes ─▶ read (one top-level message at a time) ─▶ columns ─▶ delta ─▶ EventLog, in order of time
//!               └▶ legacy (one message per event) ───────────────────────┘
//! ```
//!
//! Sources: `logging/rtc_event_log/rtc_event_log2.proto` and `rtc_event_log.proto` (the fields),
//! `logging/rtc_event_log/encoder/delta_encoding.cc` and `blob_encoding.cc` (the columns),
//! `logging/rtc_event_log/rtc_event_log_impl.cc` (what is logged when).

mod columns;
mod delta;
mod error;
mod legacy;
mod log;
mod read;
#[cfg(test)]
mod tests;

pub use delta::DeltaError;
pub use error::EventLogError;
pub use log::{
    AlrChange, DelayBasedUpdate, DetectorState, EventLog, Format, LossBasedUpdate, ProbeRequest,
    ProbeResult, RouteChange, RtcpPacket, RtpPacket, ScreamUpdate, Stream, StreamKind,
};
pub use read::read;
