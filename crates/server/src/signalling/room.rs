//! Rooms and who sits in them.

use super::check::room_name;
use super::events::Teller;
use super::message::{CallSettings, FromPage, PageEvent, Reason, Seat, ToPage};
use super::{MAX_NOTE, MAX_NOTES, MAX_QUEUE, MAX_ROOM_NAME, MAX_ROOMS, MAX_SEATS};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;

/// Why a measured call cannot have its room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoomError {
    /// No room may be called so.
    Name(String),
    /// Somebody is in it.
    Taken(String),
    /// There are as many as there may be.
    TooMany,
    /// The system gave no random numbers for the keys: why.
    Random(String),
}

impl fmt::Display for RoomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => {
                write!(f, "a room cannot be called '{}': {NAMES}", name.escape_debug())
            }
            Self::Taken(name) => write!(f, "the room '{name}' is in use; name another"),
            Self::TooMany => write!(f, "there are {MAX_ROOMS} rooms already; close one"),
            Self::Random(reason) => write!(f, "no key can be made: {reason}"),
        }
    }
}

impl std::error::Error for RoomError {}

const NAMES: &str = "use a to z, 0 to 9 and '-', at most 64 characters";
const _: () = assert!(MAX_ROOM_NAME == 64, "NAMES says so");

/// Why a page is turned away, for the page and for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub Reason, pub String);

impl Refusal {
    pub(super) fn new(reason: Reason, message: &str) -> Self {
        Self(reason, message.to_owned())
    }
}

/// What a measured call's room is for.
pub(super) struct Plan {
    pub(super) keys: [String; MAX_SEATS],
    pub(super) settings: [CallSettings; MAX_SEATS],
    pub(super) teller: Teller,
}

/// Told in one line who comes and goes.
pub(super) type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// All rooms.
pub(super) struct Hall {
    rooms: Mutex<HashMap<String, Room>>,
    visitors: AtomicU64,
    log: Log,
}

#[derive(Default)]
struct Room {
    seats: [Option<Visitor>; MAX_SEATS],
    plan: Option<Plan>,
}

/// A page in a room. Once this is dropped its connection ends.
struct Visitor {
    number: u64,
    page: mpsc::Sender<ToPage>,
}

impl Room {
    fn empty(&self) -> bool {
        self.plan.is_none() && self.seats.iter().all(Option::is_none)
    }

    /// Sends to whoever sits there. A page that does not read loses its seat, and with it its
    /// connection.
    fn send(&mut self, seat: usize, message: ToPage) {
        if let Some(visitor) = &self.seats[seat]
            && visitor.page.try_send(message).is_err()
        {
            self.seats[seat] = None;
        }
    }

    fn tell(&self, seat: Seat, event: PageEvent) -> Result<(), Refusal> {
        let Some(plan) = &self.plan else {
            return Err(Refusal::new(
                Reason::BadMessage,
                "only the pages of a measured call send this",
            ));
        };
        if plan.teller.tell(seat, event) {
            return Ok(());
        }
        Err(Refusal::new(Reason::TooFast, "the run does not read what its pages tell it"))
    }
}

/// A seat taken, given back when it is dropped.
pub struct Place {
    hall: Arc<Hall>,
    room: String,
    seat: Seat,
    number: u64,
    /// Notes that the run was told.
    notes: usize,
    inbox: mpsc::Receiver<ToPage>,
}

impl Hall {
    pub(super) fn new(log: Log) -> Self {
        Self { rooms: Mutex::default(), visitors: AtomicU64::new(0), log }
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<String, Room>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the room is there for a measured call.
    pub(super) fn is_measured(&self, room: &str) -> bool {
        self.rooms().get(room).is_some_and(|room| room.plan.is_some())
    }

    /// Takes a seat: the one that is named and whose key is shown, or else any free one of a room
    /// for people.
    pub(super) fn enter(
        self: &Arc<Self>,
        name: &str,
        seat: Option<Seat>,
        key: Option<&str>,
    ) -> Result<Place, Refusal> {
        let (page, inbox) = mpsc::channel(MAX_QUEUE);
        let number = self.visitors.fetch_add(1, Ordering::Relaxed);
        let mut rooms = self.rooms();
        let seat = choose(&rooms, name, seat, key)?;
        let room = rooms.entry(name.to_owned()).or_default();
        room.seats[seat.index()] = Some(Visitor { number, page });
        let other = other(seat);
        let peer = room.seats[other.index()].is_some();
        let settings = room.plan.as_ref().map(|plan| plan.settings[seat.index()].clone());
        room.send(seat.index(), ToPage::Welcome { peer, settings });
        room.send(other.index(), ToPage::PeerJoined);
        drop(rooms);
        (self.log)(&format!(
            "room {name}: joined, {} there",
            if peer { "two are" } else { "one is" }
        ));
        Ok(Place { hall: Arc::clone(self), room: name.to_owned(), seat, number, notes: 0, inbox })
    }

    /// Keeps a room for a measured call.
    pub(super) fn reserve(&self, name: &str, plan: Plan) -> Result<(), RoomError> {
        if !room_name(name) {
            return Err(RoomError::Name(name.to_owned()));
        }
        let mut rooms = self.rooms();
        if rooms.contains_key(name) {
            return Err(RoomError::Taken(name.to_owned()));
        }
        if rooms.len() >= MAX_ROOMS {
            return Err(RoomError::TooMany);
        }
        rooms.insert(name.to_owned(), Room { plan: Some(plan), ..Room::default() });
        Ok(())
    }

    /// Sends both pages of a measured call the same.
    pub(super) fn announce(&self, name: &str, message: &ToPage) {
        if let Some(room) = self.rooms().get_mut(name) {
            (0..MAX_SEATS).for_each(|seat| room.send(seat, message.clone()));
        }
    }

    /// Closes a measured call's room and turns its pages out.
    pub(super) fn close(&self, name: &str) {
        let message = "this measured call is over".to_owned();
        self.announce(name, &ToPage::Error { reason: Reason::Over, message });
        self.rooms().remove(name);
    }
}

fn choose(
    rooms: &HashMap<String, Room>,
    name: &str,
    seat: Option<Seat>,
    key: Option<&str>,
) -> Result<Seat, Refusal> {
    if !room_name(name) {
        return Err(Refusal(Reason::RoomName, format!("A room cannot be called so: {NAMES}.")));
    }
    let full =
        || Refusal::new(Reason::RoomFull, "Two are in this room already. Take another room.");
    let no_key = || Refusal::new(Reason::NoKey, "This room is kept for a measured call.");
    match (rooms.get(name), seat) {
        (Some(Room { plan: Some(plan), seats }), Some(seat)) => match key {
            Some(key) if key == plan.keys[seat.index()] => {
                if seats[seat.index()].is_some() {
                    Err(full())
                } else {
                    Ok(seat)
                }
            }
            _ => Err(no_key()),
        },
        (Some(Room { plan: Some(_), .. }), None) => Err(no_key()),
        (_, Some(_)) => {
            Err(Refusal::new(Reason::NoKey, "There is no such measured call any more."))
        }
        (Some(room), None) => {
            Seat::ALL.into_iter().find(|seat| room.seats[seat.index()].is_none()).ok_or_else(full)
        }
        (None, None) if rooms.len() >= MAX_ROOMS => {
            Err(Refusal::new(Reason::TooManyRooms, "All rooms are in use. Try again later."))
        }
        (None, None) => Ok(Seat::Caller),
    }
}

fn other(seat: Seat) -> Seat {
    match seat {
        Seat::Caller => Seat::Callee,
        Seat::Callee => Seat::Caller,
    }
}

/// A page's words as they may be shown on a terminal.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(MAX_NOTE).collect()
}

impl Place {
    /// The next message for this page; none once the seat is lost.
    pub async fn next(&mut self) -> Option<ToPage> {
        self.inbox.recv().await
    }

    /// Does what the page says.
    pub fn take(&mut self, message: FromPage) -> Result<(), Refusal> {
        let mut rooms = self.hall.rooms();
        let Some(room) = rooms.get_mut(&self.room) else {
            return Err(Refusal::new(Reason::Over, "this measured call is over"));
        };
        let other = other(self.seat).index();
        let relay = |room: &mut Room, message| {
            room.send(other, message);
            Ok(())
        };
        let event = match message {
            FromPage::Hello { .. } => {
                return Err(Refusal::new(Reason::BadMessage, "hello is said once"));
            }
            FromPage::Offer { sdp } => return relay(room, ToPage::Offer { sdp }),
            FromPage::Answer { sdp } => return relay(room, ToPage::Answer { sdp }),
            FromPage::Candidate { candidate } => {
                return relay(room, ToPage::Candidate { candidate });
            }
            FromPage::Bye if room.plan.is_none() => return relay(room, ToPage::Bye),
            FromPage::Bye => PageEvent::Bye,
            FromPage::Ready => PageEvent::Ready,
            FromPage::ConnectionState { state } => PageEvent::ConnectionState(plain(&state)),
            FromPage::Stats { report } => PageEvent::Stats(report),
            FromPage::Log { .. } if self.notes == MAX_NOTES => return Ok(()),
            FromPage::Log { message } => {
                self.notes += 1;
                PageEvent::Log(plain(&message))
            }
            FromPage::Failed { message } => PageEvent::Failed(plain(&message)),
        };
        room.tell(self.seat, event)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut rooms = self.hall.rooms();
        let Some(room) = rooms.get_mut(&self.room) else { return };
        let seat = &mut room.seats[self.seat.index()];
        // After it was turned out, another may sit there.
        if seat.as_ref().is_some_and(|visitor| visitor.number != self.number) {
            return;
        }
        *seat = None;
        room.send(other(self.seat).index(), ToPage::PeerLeft);
        if let Some(plan) = &room.plan {
            plan.teller.left(self.seat);
        }
        if room.empty() {
            rooms.remove(&self.room);
        }
        drop(rooms);
        (self.hall.log)(&format!("room {}: left", self.room));
    }
}
