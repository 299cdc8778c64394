//! A call between two participants that a run controls.

use super::events::{EventReceiver, event_queue};
use super::message::{CallRole, CallSettings, PageEvent, ToPage};
use super::room::{Membership, Refusal, Reservation, RoomError, RoomRegistry};
use crate::secret::Secret;
use std::sync::Arc;
use std::time::Duration;

/// The room of a measured call. The room is closed when this is dropped.
pub struct MeasuredRoom {
    registry: Arc<RoomRegistry>,
    name: String,
    /// Indexed by [`CallRole::index`].
    keys: [Secret; 2],
    events: EventReceiver,
}

impl MeasuredRoom {
    pub(super) fn reserve(
        registry: Arc<RoomRegistry>,
        name: &str,
        settings: [CallSettings; 2],
    ) -> Result<Self, RoomError> {
        let key = || Secret::random().map_err(RoomError::Random);
        let keys = [key()?, key()?];
        let (sender, events) = event_queue();
        registry.reserve(name, Reservation { keys: keys.clone(), settings, events: sender })?;
        Ok(Self { registry, name: name.to_owned(), keys, events })
    }

    /// The address of the page for this role, on any listener of the server: path, query and
    /// fragment. The fragment is the key of the role. Browsers do not send a fragment to the server
    /// (RFC 3986 § 3.5). Do not log it.
    #[must_use]
    pub fn path(&self, role: CallRole) -> String {
        let key = self.keys[role.index()].expose();
        format!("/call?room={}&role={}#{key}", self.name, role.as_str())
    }

    /// Joins the room from this process, for a participant that is not a page: a native peer, or a
    /// leg of a selective forwarding unit (SFU).
    ///
    /// # Errors
    /// If the role is taken, or the call is over.
    pub fn join(&self, role: CallRole) -> Result<Membership, Refusal> {
        self.registry.join(&self.name, Some(role), Some(self.keys[role.index()].expose()), None)
    }

    /// The next event of a page; `None` if none comes within `timeout`.
    #[must_use]
    pub fn next(&self, timeout: Duration) -> Option<(CallRole, PageEvent)> {
        self.events.next(timeout)
    }

    /// Asks both pages to register with the IMS of their settings. Both must be ready.
    pub fn register(&self) {
        self.registry.announce(&self.name, &ToPage::Register);
    }

    /// Starts the call: the caller sends its offer. Both participants must be ready. Statistics are
    /// due at `epoch` (milliseconds since 1970 by this machine's clock) and then every
    /// `stats_interval`. Times that have passed are skipped.
    pub fn start(&self, epoch: f64) {
        self.registry.announce(&self.name, &ToPage::Start { epoch });
    }

    /// Asks both participants to hang up. Each sends its last statistics and then
    /// [`PageEvent::Bye`].
    pub fn stop(&self) {
        self.registry.announce(&self.name, &ToPage::Stop);
    }
}

impl Drop for MeasuredRoom {
    fn drop(&mut self) {
        self.registry.close(&self.name);
    }
}
