//! A call between two pages that a run drives.

use super::events::{Events, events};
use super::message::{CallSettings, PageEvent, Seat, ToPage};
use super::room::{Hall, Place, Plan, Refusal, RoomError};
use crate::secret::random_hex;
use std::sync::Arc;
use std::time::Duration;

/// The room of a measured call. It is closed when this is dropped.
pub struct Measured {
    hall: Arc<Hall>,
    room: String,
    keys: [String; 2],
    events: Events,
}

impl Measured {
    pub(super) fn new(
        hall: Arc<Hall>,
        room: &str,
        settings: [CallSettings; 2],
    ) -> Result<Self, RoomError> {
        let key = || random_hex().map_err(|error| RoomError::Random(error.to_string()));
        let keys = [key()?, key()?];
        let (teller, events) = events();
        hall.reserve(room, Plan { keys: keys.clone(), settings, teller })?;
        Ok(Self { hall, room: room.to_owned(), keys, events })
    }

    /// The page for one seat: path, query and fragment of its address on any of the server's
    /// listeners. The fragment is the seat's key, which no server is told by an address (RFC 3986,
    /// section 3.5) and which belongs in no log.
    #[must_use]
    pub fn path(&self, seat: Seat) -> String {
        let word = match seat {
            Seat::Caller => "caller",
            Seat::Callee => "callee",
        };
        format!("/call?room={}&seat={word}#{}", self.room, self.keys[seat.index()])
    }

    /// Takes a seat within this process, for an end that is no page: a native peer, or a leg of a
    /// forwarding unit.
    ///
    /// # Errors
    /// When somebody sits there, or the call is over.
    pub fn enter(&self, seat: Seat) -> Result<Place, Refusal> {
        self.hall.enter(&self.room, Some(seat), Some(&self.keys[seat.index()]))
    }

    /// What a page has told, waiting for it at most this long.
    #[must_use]
    pub fn next(&self, patience: Duration) -> Option<(Seat, PageEvent)> {
        self.events.next(patience)
    }

    /// Lets the caller make its offer, once both pages are ready. Statistics come at `epoch`
    /// (milliseconds since 1970, by the machine's clock) and every `stats_interval` after it; of
    /// those that are past none are made up for.
    pub fn start(&self, epoch: f64) {
        self.hall.announce(&self.room, &ToPage::Start { epoch });
    }

    /// Asks both pages to hang up: each sends its last statistics and then [`PageEvent::Bye`].
    pub fn stop(&self) {
        self.hall.announce(&self.room, &ToPage::Stop);
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        self.hall.close(&self.room);
    }
}
