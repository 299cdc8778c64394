//! A call between two pages that a run drives.

use super::events::{Events, events};
use super::message::{CallSettings, PageEvent, Seat, ToPage};
use super::room::{Hall, Plan, RoomError};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// What nobody can guess, bytes (128 bits, RFC 4086, section 8).
const KEY_LENGTH: usize = 16;

/// The room of a measured call. It is closed when this is dropped.
pub struct Measured {
    hall: Arc<Hall>,
    room: String,
    keys: [String; 2],
    events: Events,
}

impl Measured {
    pub(super) fn new(hall: Arc<Hall>, room: &str, settings: [CallSettings; 2]) -> Result<Self, RoomError> {
        let keys = [new_key()?, new_key()?];
        let (teller, events) = events();
        hall.reserve(room, Plan { keys: keys.clone(), settings, teller })?;
        Ok(Self { hall, room: room.to_owned(), keys, events })
    }

    /// The page for one seat: path, query and fragment of its address on any of the server's listeners. The fragment is
    /// the seat's key, which no server is told by an address (RFC 3986, section 3.5) and which belongs in no log.
    #[must_use]
    pub fn path(&self, seat: Seat) -> String {
        let word = match seat {
            Seat::Caller => "caller",
            Seat::Callee => "callee",
        };
        format!("/call?room={}&seat={word}#{}", self.room, self.keys[seat.index()])
    }

    /// What a page has told, waiting for it at most this long.
    #[must_use]
    pub fn next(&self, patience: Duration) -> Option<(Seat, PageEvent)> {
        self.events.next(patience)
    }

    /// Lets the caller make its offer, once both pages are ready. Statistics come at `epoch` (milliseconds since 1970,
    /// by the machine's clock) and every `stats_interval` after it; of those that are past none are made up for.
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

fn new_key() -> Result<String, RoomError> {
    let mut bytes = [0; KEY_LENGTH];
    getrandom::fill(&mut bytes).map_err(|error| RoomError::Random(error.to_string()))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    }))
}
