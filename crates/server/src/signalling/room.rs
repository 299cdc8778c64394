//! The rooms, their participants, and the messages between the two participants of a room.

use super::check::is_room_name;
use super::events::EventSender;
use super::message::{CallRole, CallSettings, FromPage, PageEvent, Reason, ToPage};
use super::{MAX_NOTE, MAX_NOTES, MAX_PARTICIPANTS, MAX_QUEUE, MAX_ROOM_NAME, MAX_ROOMS};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thiserror::Error;
use tokio::sync::mpsc;

const NAME_RULE: &str = "use a to z, 0 to 9 and '-', at most 64 characters";
const _: () = assert!(MAX_ROOM_NAME == 64, "NAME_RULE gives the length");

/// Why no room can be reserved for a measured call.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RoomError {
    /// Not a valid room name.
    #[error("'{}' is not a room name; {rule}", .0.escape_debug(), rule = NAME_RULE)]
    Name(String),
    /// The room exists already.
    #[error("the room '{0}' is in use; choose another name")]
    Taken(String),
    /// [`MAX_ROOMS`] rooms exist already.
    #[error("there are {max} rooms already, which is the maximum; close one", max = MAX_ROOMS)]
    TooMany,
    /// The operating system gave no random numbers for the keys.
    #[error("no random numbers for the keys of the room: {0}")]
    Random(getrandom::Error),
}

/// Why the server refuses a participant, or closes its connection. The text is shown to the user
/// of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// Not a valid room name.
    #[error("This is not a room name; {rule}.", rule = NAME_RULE)]
    RoomName,
    /// The room has two participants, or the role is taken.
    #[error("Two participants are in this room already. Choose another room.")]
    RoomFull,
    /// [`MAX_ROOMS`] rooms exist already.
    #[error("All rooms are in use. Try again later.")]
    TooManyRooms,
    /// The room is reserved, and the key is missing or wrong.
    #[error("This room is reserved for a measured call.")]
    NoKey,
    /// The page names a role, but the room is not reserved.
    #[error("This measured call does not exist, or is over.")]
    NoSuchCall,
    /// The measured call ended while the participant was in its room.
    #[error("This measured call is over.")]
    Over,
    /// No `hello` came within the time limit.
    #[error("The page did not send hello in time.")]
    HelloLate,
    /// The first message is not `hello`.
    #[error("The first message of the page must be hello.")]
    HelloMissing,
    /// `hello` came a second time.
    #[error("The page sent hello twice.")]
    HelloRepeated,
    /// Not a message of the protocol. The text quotes nothing of it, because it may be secret.
    #[error("The page sent a message that is not part of the protocol.")]
    UnknownMessage,
    /// A message that only the pages of a measured call may send.
    #[error("Only the pages of a measured call may send this message.")]
    NotMeasured,
    /// A message exceeds the length limit.
    #[error("The page sent a message that is too long.")]
    TooLong,
    /// The page exceeds the message rate.
    #[error("The page sends too many messages.")]
    TooFast,
    /// The queue of events to the run is full.
    #[error("The run does not read the events of its pages.")]
    RunTooSlow,
    /// The queue of messages to the page is full.
    #[error("The page does not read its messages.")]
    PageTooSlow,
}

impl Refusal {
    /// The reason in the error message to the page.
    #[must_use]
    pub const fn reason(self) -> Reason {
        match self {
            Self::RoomName => Reason::RoomName,
            Self::RoomFull => Reason::RoomFull,
            Self::TooManyRooms => Reason::TooManyRooms,
            Self::NoKey | Self::NoSuchCall => Reason::NoKey,
            Self::Over => Reason::Over,
            Self::HelloLate
            | Self::HelloMissing
            | Self::HelloRepeated
            | Self::UnknownMessage
            | Self::NotMeasured => Reason::BadMessage,
            Self::TooLong => Reason::TooLong,
            Self::TooFast | Self::RunTooSlow => Reason::TooFast,
            Self::PageTooSlow => Reason::TooSlow,
        }
    }

    /// The error message to the page.
    pub(super) fn to_message(self) -> ToPage {
        ToPage::Error { reason: self.reason(), message: self.to_string() }
    }
}

/// The reservation of a room for a measured call. Arrays are indexed by [`CallRole::index`].
pub(super) struct Reservation {
    pub(super) keys: [String; MAX_PARTICIPANTS],
    pub(super) settings: [CallSettings; MAX_PARTICIPANTS],
    pub(super) events: EventSender,
}

/// Receives one log line for each participant that joins or leaves.
pub(super) type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// All rooms, by name.
pub(super) struct RoomRegistry {
    rooms: Mutex<HashMap<String, Room>>,
    next_number: AtomicU64,
    log: Log,
}

#[derive(Default)]
struct Room {
    /// Indexed by [`CallRole::index`].
    participants: [Option<Participant>; MAX_PARTICIPANTS],
    /// `None` in an open room, which anyone may join.
    reservation: Option<Reservation>,
}

/// The room's side of a participant. Its connection ends when this is dropped.
struct Participant {
    number: u64,
    outbox: mpsc::Sender<ToPage>,
}

impl Room {
    fn is_unused(&self) -> bool {
        self.reservation.is_none() && self.participants.iter().all(Option::is_none)
    }

    /// Sends to the participant with this index, if there is one. If its queue is full, it is
    /// removed from the room, which closes its connection.
    fn send(&mut self, index: usize, message: ToPage) {
        if let Some(participant) = &self.participants[index]
            && participant.outbox.try_send(message).is_err()
        {
            self.participants[index] = None;
        }
    }

    fn report(&self, role: CallRole, event: PageEvent) -> Result<(), Refusal> {
        let reservation = self.reservation.as_ref().ok_or(Refusal::NotMeasured)?;
        if reservation.events.send(role, event) { Ok(()) } else { Err(Refusal::RunTooSlow) }
    }
}

/// A participant's membership of a room. Dropping it leaves the room.
pub struct Membership {
    registry: Arc<RoomRegistry>,
    room: String,
    role: CallRole,
    number: u64,
    /// Notes that were passed to the run.
    notes: usize,
    inbox: mpsc::Receiver<ToPage>,
}

impl RoomRegistry {
    pub(super) fn new(log: Log) -> Self {
        Self { rooms: Mutex::default(), next_number: AtomicU64::new(0), log }
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<String, Room>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the room is reserved for a measured call.
    pub(super) fn is_reserved(&self, room: &str) -> bool {
        self.rooms().get(room).is_some_and(|room| room.reservation.is_some())
    }

    /// Joins a room. A reserved room requires a role and the key of the role; in an open room
    /// the participant gets the first free role.
    pub(super) fn join(
        self: &Arc<Self>,
        name: &str,
        role: Option<CallRole>,
        key: Option<&str>,
    ) -> Result<Membership, Refusal> {
        let (outbox, inbox) = mpsc::channel(MAX_QUEUE);
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let mut rooms = self.rooms();
        let role = assign_role(&rooms, name, role, key)?;
        let room = rooms.entry(name.to_owned()).or_default();
        room.participants[role.index()] = Some(Participant { number, outbox });
        let peer = room.participants[role.peer().index()].is_some();
        let settings =
            room.reservation.as_ref().map(|reserved| reserved.settings[role.index()].clone());
        room.send(role.index(), ToPage::Welcome { peer, settings });
        room.send(role.peer().index(), ToPage::PeerJoined);
        drop(rooms);
        let count = if peer { "2 participants" } else { "1 participant" };
        (self.log)(&format!("room {name}: joined, {count}"));
        let registry = Arc::clone(self);
        Ok(Membership { registry, room: name.to_owned(), role, number, notes: 0, inbox })
    }

    /// Reserves a room for a measured call.
    pub(super) fn reserve(&self, name: &str, reservation: Reservation) -> Result<(), RoomError> {
        if !is_room_name(name) {
            return Err(RoomError::Name(name.to_owned()));
        }
        let mut rooms = self.rooms();
        if rooms.contains_key(name) {
            return Err(RoomError::Taken(name.to_owned()));
        }
        if rooms.len() >= MAX_ROOMS {
            return Err(RoomError::TooMany);
        }
        rooms.insert(name.to_owned(), Room { reservation: Some(reservation), ..Room::default() });
        Ok(())
    }

    /// Sends the message to both participants of a room.
    pub(super) fn announce(&self, name: &str, message: &ToPage) {
        if let Some(room) = self.rooms().get_mut(name) {
            (0..MAX_PARTICIPANTS).for_each(|index| room.send(index, message.clone()));
        }
    }

    /// Tells both participants that the measured call is over, and removes its room.
    pub(super) fn close(&self, name: &str) {
        self.announce(name, &Refusal::Over.to_message());
        self.rooms().remove(name);
    }
}

fn assign_role(
    rooms: &HashMap<String, Room>,
    name: &str,
    role: Option<CallRole>,
    key: Option<&str>,
) -> Result<CallRole, Refusal> {
    if !is_room_name(name) {
        return Err(Refusal::RoomName);
    }
    match (rooms.get(name), role) {
        (Some(Room { reservation: Some(reservation), participants }), Some(role)) => {
            if key != Some(reservation.keys[role.index()].as_str()) {
                Err(Refusal::NoKey)
            } else if participants[role.index()].is_some() {
                Err(Refusal::RoomFull)
            } else {
                Ok(role)
            }
        }
        (Some(Room { reservation: Some(_), .. }), None) => Err(Refusal::NoKey),
        (_, Some(_)) => Err(Refusal::NoSuchCall),
        (Some(room), None) => {
            let is_free = |role: &CallRole| room.participants[role.index()].is_none();
            CallRole::ALL.into_iter().find(is_free).ok_or(Refusal::RoomFull)
        }
        (None, None) if rooms.len() >= MAX_ROOMS => Err(Refusal::TooManyRooms),
        (None, None) => Ok(CallRole::Caller),
    }
}

/// The text without control characters, cut to [`MAX_NOTE`] characters, so that it can be printed
/// on a terminal.
fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(MAX_NOTE).collect()
}

impl Membership {
    /// Waits for the next message to this participant; `None` after it was removed from the room.
    pub async fn next(&mut self) -> Option<ToPage> {
        self.inbox.recv().await
    }

    /// Handles a message of this participant: relays it to the other one, or passes it to the run.
    ///
    /// # Errors
    /// If the measured call is over, the message is not allowed here, or the run does not read its
    /// events. The participant has to leave then.
    pub fn take(&mut self, message: FromPage) -> Result<(), Refusal> {
        let mut rooms = self.registry.rooms();
        let room = rooms.get_mut(&self.room).ok_or(Refusal::Over)?;
        let peer = self.role.peer().index();
        let relay = |room: &mut Room, message| {
            room.send(peer, message);
            Ok(())
        };
        let event = match message {
            FromPage::Hello { .. } => return Err(Refusal::HelloRepeated),
            FromPage::Offer { sdp } => return relay(room, ToPage::Offer { sdp }),
            FromPage::Answer { sdp } => return relay(room, ToPage::Answer { sdp }),
            FromPage::Candidate { candidate } => {
                return relay(room, ToPage::Candidate { candidate });
            }
            FromPage::Bye if room.reservation.is_none() => return relay(room, ToPage::Bye),
            FromPage::Bye => PageEvent::Bye,
            FromPage::Ready => PageEvent::Ready,
            FromPage::ConnectionState { state } => PageEvent::ConnectionState(printable(&state)),
            FromPage::Stats { report } => PageEvent::Stats(report),
            FromPage::Log { .. } if self.notes == MAX_NOTES => return Ok(()),
            FromPage::Log { message } => {
                self.notes += 1;
                PageEvent::Log(printable(&message))
            }
            FromPage::Failed { message } => PageEvent::Failed(printable(&message)),
        };
        room.report(self.role, event)
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let mut rooms = self.registry.rooms();
        let Some(room) = rooms.get_mut(&self.room) else { return };
        let participant = &mut room.participants[self.role.index()];
        // If this participant was removed before, its role may belong to another one now.
        if participant.as_ref().is_some_and(|current| current.number != self.number) {
            return;
        }
        *participant = None;
        room.send(self.role.peer().index(), ToPage::PeerLeft);
        if let Some(reservation) = &room.reservation {
            reservation.events.send_left(self.role);
        }
        if room.is_unused() {
            rooms.remove(&self.room);
        }
        drop(rooms);
        (self.registry.log)(&format!("room {}: left", self.room));
    }
}
