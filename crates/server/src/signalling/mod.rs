//! The call page and its signalling server.
//!
//! ```text
//!  page ──WebSocket──▶ socket ──▶ room ──▶ socket ──WebSocket──▶ page      offers, answers, candidates
//!                                  └─▶ MeasuredRoom (PageEvent) ─▶ the run  statistics, states, errors
//! ```
//!
//! A room has at most two participants. In an open room, the first one becomes the caller and gets
//! the room's key, which the second one needs. In the room of a measured call, each role requires
//! its key. The server takes listeners that are bound already, so that listeners in several network
//! namespaces can share the same rooms.

mod check;
mod events;
#[cfg(test)]
mod generated;
mod measured;
mod message;
mod pages;
mod room;
mod server;
mod socket;
#[cfg(test)]
mod tests;

pub use measured::MeasuredRoom;
pub use message::{
    CallRole, CallSettings, FromPage, IceCandidate, ImsSettings, Milestone, PageEvent, Priority,
    Reason, Source, StatsReport, ToPage, VideoSettings,
};
pub use room::{Membership, Refusal, RoomError};
pub use server::{Options, Server};

/// The maximum number of participants in a room.
pub const MAX_PARTICIPANTS: usize = 2;
/// The maximum number of rooms at a time.
pub const MAX_ROOMS: usize = 500;
/// The maximum number of rooms that one address has opened. Behind a tunnel all participants have
/// one address, so this is half of the rooms and not less.
pub const MAX_ROOMS_PER_ADDRESS: usize = MAX_ROOMS / 2;
/// The maximum number of WebSockets at a time: two per room, and some for those that join.
pub const MAX_CONNECTIONS: usize = 1_024;
/// The maximum number of WebSockets from one address at a time.
pub const MAX_CONNECTIONS_PER_ADDRESS: usize = MAX_CONNECTIONS / 2;
/// The maximum length of a room name, characters.
pub const MAX_ROOM_NAME: usize = 64;
/// The maximum length of a message from a page, bytes. Messages with statistics may have
/// [`MAX_STATS_MESSAGE`].
pub const MAX_MESSAGE: usize = 64 << 10;
/// The maximum length of a message with statistics, bytes.
pub const MAX_STATS_MESSAGE: usize = 1 << 20;
/// The number of messages that a page may send at once. Further messages are limited to
/// [`MESSAGES_PER_SECOND`].
pub const MESSAGE_BURST: u32 = 300;
/// The number of messages per second that a page may send in the long term.
pub const MESSAGES_PER_SECOND: u32 = 50;
/// The maximum number of notes of one participant. Further notes are discarded.
pub const MAX_NOTES: usize = 100;
/// The maximum length of a note or error text, characters. The rest is cut off.
pub const MAX_NOTE: usize = 2_000;
/// The maximum number of messages queued for one participant.
pub const MAX_QUEUE: usize = 512;
