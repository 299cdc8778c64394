//! The rooms, their participants, and the messages between the two participants of a room.

use super::check::{is_room_key, is_room_name};
use super::events::EventSender;
use super::message::{CallRole, CallSettings, FromPage, PageEvent, Reason, ToPage};
use super::{
    MAX_NOTE, MAX_NOTES, MAX_PARTICIPANTS, MAX_QUEUE, MAX_ROOM_NAME, MAX_ROOMS,
    MAX_ROOMS_PER_ADDRESS,
};
use crate::places::{NoPlace, Place, Places};
use crate::secret::Secret;
use std::collections::HashMap;
use std::net::IpAddr;
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
    /// [`MAX_ROOMS_PER_ADDRESS`] rooms were opened from the address of the participant.
    #[error(
        "{max} rooms are open from your address, which is the maximum. Close one.",
        max = MAX_ROOMS_PER_ADDRESS
    )]
    TooManyRoomsOfAddress,
    /// The operating system gave no random numbers for the key of the room.
    #[error("The server has no random numbers for the link of the room. Try again later.")]
    Random,
    /// The room is open, and the key is missing or wrong.
    #[error("This room is in use. Open it with its whole link, or choose another room.")]
    NoLink,
    /// The key is not one that the server has made.
    #[error("The link of this room is not complete. Ask for the whole link, or open a new room.")]
    BadLink,
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
            Self::TooManyRooms | Self::TooManyRoomsOfAddress | Self::Random => Reason::TooManyRooms,
            Self::NoLink | Self::BadLink | Self::NoKey | Self::NoSuchCall => Reason::NoKey,
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

    /// Why a participant cannot open a room.
    fn of(full: NoPlace) -> Self {
        match full {
            NoPlace::Total(_) => Self::TooManyRooms,
            NoPlace::Address(_) => Self::TooManyRoomsOfAddress,
        }
    }

    /// The error message to the page.
    pub(super) fn to_message(self) -> ToPage {
        ToPage::Error { reason: self.reason(), message: self.to_string() }
    }
}

/// The reservation of a room for a measured call. Arrays are indexed by [`CallRole::index`].
pub(super) struct Reservation {
    pub(super) keys: [Secret; MAX_PARTICIPANTS],
    pub(super) settings: [CallSettings; MAX_PARTICIPANTS],
    pub(super) events: EventSender,
}

/// Receives one log line for each participant that joins or leaves.
pub(super) type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// All rooms, by name.
pub(super) struct RoomRegistry {
    rooms: Mutex<HashMap<String, Room>>,
    places: Arc<Places>,
    next_number: AtomicU64,
    log: Log,
}

struct Room {
    /// Indexed by [`CallRole::index`].
    participants: [Option<Participant>; MAX_PARTICIPANTS],
    access: Access,
    /// Of the participant who has opened the room.
    _place: Place,
}

/// Who may join a room.
enum Access {
    /// Who has this key, which is part of the link of the room.
    Link(Secret),
    /// Who has the key of a role in a measured call.
    Reserved(Box<Reservation>),
}

/// The room's side of a participant. Its connection ends when this is dropped.
struct Participant {
    number: u64,
    outbox: mpsc::Sender<ToPage>,
}

impl Room {
    fn new(access: Access, place: Place) -> Self {
        Self { participants: [None, None], access, _place: place }
    }

    fn reservation(&self) -> Option<&Reservation> {
        match &self.access {
            Access::Reserved(reservation) => Some(reservation),
            Access::Link(_) => None,
        }
    }

    fn is_unused(&self) -> bool {
        self.reservation().is_none() && self.participants.iter().all(Option::is_none)
    }

    /// The answer to a participant who has joined with this role.
    fn welcome(&self, role: CallRole) -> ToPage {
        let peer = self.participants[role.peer().index()].is_some();
        let (settings, key) = match &self.access {
            Access::Reserved(reservation) => (Some(&reservation.settings[role.index()]), None),
            Access::Link(key) => (None, Some(key.expose().to_owned())),
        };
        ToPage::Welcome { peer, settings: settings.cloned(), key }
    }

    /// The role of a new participant.
    fn admit(&self, role: Option<CallRole>, key: Option<&str>) -> Result<CallRole, Refusal> {
        let is_free = |role: &CallRole| self.participants[role.index()].is_none();
        let has = |secret: &Secret| key.is_some_and(|key| secret.is(key));
        match (&self.access, role) {
            (Access::Reserved(reservation), Some(role)) if has(&reservation.keys[role.index()]) => {
                Some(role).filter(is_free).ok_or(Refusal::RoomFull)
            }
            (Access::Reserved(_), _) => Err(Refusal::NoKey),
            (Access::Link(_), Some(_)) => Err(Refusal::NoSuchCall),
            (Access::Link(link), None) if has(link) => {
                CallRole::ALL.into_iter().find(is_free).ok_or(Refusal::RoomFull)
            }
            (Access::Link(_), None) => Err(Refusal::NoLink),
        }
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
        let reservation = self.reservation().ok_or(Refusal::NotMeasured)?;
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
        let places = Places::new(MAX_ROOMS, MAX_ROOMS_PER_ADDRESS);
        Self { rooms: Mutex::default(), places, next_number: AtomicU64::new(0), log }
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<String, Room>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the room is reserved for a measured call.
    pub(super) fn is_reserved(&self, room: &str) -> bool {
        self.rooms().get(room).is_some_and(|room| room.reservation().is_some())
    }

    /// Joins a room. A reserved room requires a role and the key of the role. An open room requires
    /// its key and gives the first free role; if there is no room of this name, it is opened.
    pub(super) fn join(
        self: &Arc<Self>,
        name: &str,
        role: Option<CallRole>,
        key: Option<&str>,
        client: Option<IpAddr>,
    ) -> Result<Membership, Refusal> {
        let (outbox, inbox) = mpsc::channel(MAX_QUEUE);
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let mut rooms = self.rooms();
        let role = match rooms.get(name) {
            Some(room) => room.admit(role, key)?,
            None if role.is_some() && is_room_name(name) => return Err(Refusal::NoSuchCall),
            None => {
                rooms.insert(name.to_owned(), self.open(name, key, client)?);
                CallRole::Caller
            }
        };
        let room = rooms.get_mut(name).ok_or(Refusal::Over)?;
        room.participants[role.index()] = Some(Participant { number, outbox });
        let peer = room.participants[role.peer().index()].is_some();
        room.send(role.index(), room.welcome(role));
        room.send(role.peer().index(), ToPage::PeerJoined);
        drop(rooms);
        let count = if peer { "2 participants" } else { "1 participant" };
        (self.log)(&format!("room {name}: joined, {count}"));
        let registry = Arc::clone(self);
        Ok(Membership { registry, room: name.to_owned(), role, number, notes: 0, inbox })
    }

    /// An open room. A participant who comes back after all have left, or after a restart of the
    /// server, brings the key; otherwise the server makes one.
    fn open(&self, name: &str, key: Option<&str>, client: Option<IpAddr>) -> Result<Room, Refusal> {
        if !is_room_name(name) {
            return Err(Refusal::RoomName);
        }
        let key = match key {
            Some(key) if is_room_key(key) => Secret::new(key),
            Some(_) => return Err(Refusal::BadLink),
            None => Secret::random().map_err(|_| Refusal::Random)?,
        };
        let place = self.places.take(client).map_err(Refusal::of)?;
        Ok(Room::new(Access::Link(key), place))
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
        let place = self.places.take(None).map_err(|_| RoomError::TooMany)?;
        rooms.insert(name.to_owned(), Room::new(Access::Reserved(Box::new(reservation)), place));
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
            FromPage::Bye if room.reservation().is_none() => return relay(room, ToPage::Bye),
            FromPage::Bye => PageEvent::Bye,
            FromPage::Ready => PageEvent::Ready,
            FromPage::Milestone { step, elapsed } => PageEvent::Milestone(step, elapsed),
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
        if let Some(reservation) = room.reservation() {
            reservation.events.send_left(self.role);
        }
        if room.is_unused() {
            rooms.remove(&self.room);
        }
        drop(rooms);
        (self.registry.log)(&format!("room {}: left", self.room));
    }
}
