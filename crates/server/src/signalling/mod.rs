//! The call page and its signalling server.
//!
//! ```text
//!  page ──WebSocket──▶ socket ──▶ room ──▶ socket ──WebSocket──▶ page      offers, answers, candidates
//!                                  └─▶ Measured (PageEvent) ─▶ the runner   statistics, states, failures
//! ```
//!
//! A room has two seats. People enter any free one; the seats of a measured call need their keys.
//! The server takes listeners that are bound already, so that one in each namespace can lead to the
//! same rooms.

mod check;
mod connections;
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

pub use measured::Measured;
pub use message::{CallSettings, PageEvent, Priority, Seat, Source, StatsReport, VideoSettings};
pub use message::{FromPage, IceCandidate, ToPage};
pub use room::Place;
pub use room::RoomError;
pub use server::{Options, Server};

/// The most pages in a room.
pub const MAX_SEATS: usize = 2;
/// The most rooms at a time.
pub const MAX_ROOMS: usize = 64;
/// The most connections to a listener at a time that are not, or not yet, a page's WebSocket.
pub const MAX_REQUESTS: usize = 256;
/// The most WebSockets of pages at a time.
pub const MAX_CONNECTIONS: usize = 256;
/// The longest name of a room, characters.
pub const MAX_ROOM_NAME: usize = 64;
/// The longest message of a page, bytes.
pub const MAX_MESSAGE: usize = 64 << 10;
/// The longest message with statistics, bytes.
pub const MAX_STATS_MESSAGE: usize = 1 << 20;
/// The most messages that a page may send at once; those after it at [`MESSAGES_PER_SECOND`].
pub const MESSAGE_BURST: u32 = 300;
/// The most messages that a page may send a second in the long run.
pub const MESSAGES_PER_SECOND: u32 = 50;
/// The most notes of a page that a run is told; those after it are left out.
pub const MAX_NOTES: usize = 100;
/// The longest note or failure that a run is told, characters; what is over is cut off.
pub const MAX_NOTE: usize = 2_000;
/// The most messages that wait for a page.
pub const MAX_QUEUE: usize = 512;
