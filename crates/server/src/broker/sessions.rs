//! Which relay a session gets, and how long it has it.

use super::config::{Class, Config, Relay, Service};
use super::credentials::Credentials;
use super::is_name;
use crate::IceServer;
use crate::secret::random_word;
use sim::Marks;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::Duration;

/// Who asks for a relay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The service that the call belongs to.
    pub service: String,
    /// Its user, to whom the credentials are bound.
    pub user: String,
    /// Where the user is, by a name that the relays' distances have.
    pub region: Option<String>,
    /// What treatment is asked for.
    pub class: Class,
}

/// A relay that may be used, and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// What it is called when it is given back.
    pub id: String,
    /// The relay's name.
    pub relay: String,
    /// What treatment it gets.
    pub class: Class,
    /// The relay's addresses and the credentials.
    pub ice_servers: Vec<IceServer>,
    /// When it ends, since 1970.
    pub expires: Duration,
    /// The marks that its packets may have.
    pub marks: Marks,
}

/// Why there is no relay for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// A name is none.
    Name,
    /// The service has not subscribed.
    Service,
    /// The service has not subscribed to specialised sessions.
    Specialised,
    /// There is no relay of the class.
    NoRelay,
    /// All relays of the class are full.
    Full,
    /// The system gives no random numbers.
    Random,
}

impl Refusal {
    /// A word for metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Service => "service",
            Self::Specialised => "specialised",
            Self::NoRelay => "no-relay",
            Self::Full => "full",
            Self::Random => "random",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => {
                "a user, service or region has 1 to 64 letters, digits and the signs . - _ @"
            }
            Self::Service => {
                "this service has not subscribed; the operator adds it to the broker's file"
            }
            Self::Specialised => {
                "this service has not subscribed to specialised sessions; ask for a basic one"
            }
            Self::NoRelay => "there is no relay of this class",
            Self::Full => "all relays of this class are full; ask again later",
            Self::Random => "the system gives no random numbers",
        })
    }
}

impl std::error::Error for Refusal {}

/// Gives sessions to relays. Time comes in with each call, since 1970.
#[derive(Debug)]
pub struct Broker {
    config: Config,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By identifier: the place of the relay, and when it ends.
    sessions: HashMap<String, (usize, Duration)>,
    /// Sessions of each relay.
    loads: Vec<u32>,
}

impl State {
    /// Frees what has expired.
    fn expire(&mut self, now: Duration) {
        let loads = &mut self.loads;
        self.sessions.retain(|_, (relay, expires)| {
            let stays = *expires > now;
            loads[*relay] -= u32::from(!stays);
            stays
        });
    }
}

impl Broker {
    /// A broker without sessions.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let loads = vec![0; config.relays.len()];
        Self { config, state: Mutex::new(State { loads, ..State::default() }) }
    }

    fn state(&self, now: Duration) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.expire(now);
        state
    }

    /// Gives a session the nearest relay of its class that has room; of two as near, the one with
    /// the smaller share of its capacity in use.
    ///
    /// # Errors
    /// When the request is refused.
    pub fn open(&self, request: &Request, now: Duration) -> Result<Session, Refusal> {
        let names = [Some(&request.service), Some(&request.user), request.region.as_ref()];
        if !names.into_iter().flatten().all(|name| is_name(name)) {
            return Err(Refusal::Name);
        }
        let named = |service: &&Service| service.name == request.service;
        let service = self.config.services.iter().find(named).ok_or(Refusal::Service)?;
        if request.class == Class::Specialised && !service.specialised {
            return Err(Refusal::Specialised);
        }
        let mut state = self.state(now);
        let place = self.choose(request, &state.loads)?;
        let relay = &self.config.relays[place];
        // Whole seconds, as the credentials have them.
        let expiry = (now + self.config.lifetime).as_nanos().div_ceil(1_000_000_000);
        let id = random_word().map_err(|_| Refusal::Random)?;
        let credentials =
            Credentials::new(&relay.secret, &request.user, expiry).ok_or(Refusal::Name)?;
        let expires = Duration::from_secs(expiry);
        state.loads[place] += 1;
        state.sessions.insert(id.clone(), (place, expires));
        let server = IceServer {
            urls: relay.urls.clone(),
            username: Some(credentials.username),
            credential: Some(credentials.password),
        };
        Ok(Session {
            id,
            relay: relay.name.clone(),
            class: relay.class,
            ice_servers: vec![server],
            expires,
            marks: relay.class.marks(),
        })
    }

    /// The place of the relay for a request.
    fn choose(&self, request: &Request, loads: &[u32]) -> Result<usize, Refusal> {
        let of_class = |(_, (relay, _)): &(usize, (&Relay, &u32))| relay.class == request.class;
        let relays = self.config.relays.iter().zip(loads).enumerate().filter(of_class);
        if relays.clone().next().is_none() {
            return Err(Refusal::NoRelay);
        }
        let free = relays.filter(|(_, (relay, load))| **load < relay.capacity);
        let first = free.min_by_key(|(_, (relay, load))| {
            // A share in millionths: the order of relays whose capacities differ.
            let share = u64::from(**load) * 1_000_000 / u64::from(relay.capacity.max(1));
            (relay.distance(request.region.as_deref()), share)
        });
        first.map(|(place, _)| place).ok_or(Refusal::Full)
    }

    /// Takes a session back; whether there was one. Its credentials hold until they expire: the
    /// relay has no list.
    pub fn close(&self, id: &str, now: Duration) -> bool {
        let mut state = self.state(now);
        let Some((relay, _)) = state.sessions.remove(id) else { return false };
        state.loads[relay] -= 1;
        true
    }

    /// Each relay with the number of its sessions.
    pub fn loads(&self, now: Duration) -> Vec<(&Relay, u32)> {
        let loads = self.state(now).loads.clone();
        self.config.relays.iter().zip(loads).collect()
    }

    /// How long a session lasts.
    #[must_use]
    pub fn lifetime(&self) -> Duration {
        self.config.lifetime
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    const NOW: Duration = Duration::from_secs(1_700_000_000);

    fn relay(name: &str, class: Class, capacity: u32, brittany: u64) -> Relay {
        Relay {
            name: name.to_owned(),
            urls: vec![format!("turn:{name}:3478")],
            secret: Secret::new(name),
            class,
            capacity,
            distances: vec![("brittany".to_owned(), Duration::from_millis(brittany))],
        }
    }

    fn broker() -> Broker {
        let service = |name: &str, specialised| Service { name: name.to_owned(), specialised };
        Broker::new(Config {
            lifetime: Duration::from_secs(600),
            relays: vec![
                relay("far", Class::Specialised, 10, 50),
                relay("near", Class::Specialised, 2, 5),
                relay("equal", Class::Specialised, 4, 5),
                relay("plain", Class::Basic, 1, 1),
            ],
            services: vec![service("meet", true), service("chat", false)],
        })
    }

    fn request(class: Class) -> Request {
        let region = Some("brittany".to_owned());
        Request { service: "meet".to_owned(), user: "alice".to_owned(), region, class }
    }

    #[test]
    fn the_nearest_relay_with_room_is_given_and_of_two_the_emptier() {
        let broker = broker();
        let next = || broker.open(&request(Class::Specialised), NOW).map(|session| session.relay);
        let given: Vec<String> = (0..8).map(|_| next().unwrap()).collect();
        // Shares of 2 and of 4: 0 0, 1/2 0, 1/2 1/4, 1/2 1/2, 1 1/2, 1 3/4.
        assert_eq!(given, ["near", "equal", "equal", "near", "equal", "equal", "far", "far"]);
        assert_eq!(broker.open(&request(Class::Basic), NOW).unwrap().relay, "plain");
        assert_eq!(broker.open(&request(Class::Basic), NOW), Err(Refusal::Full));
    }

    #[test]
    fn a_session_ends_when_it_is_given_back_or_expires() {
        let broker = broker();
        let open = |now| broker.open(&request(Class::Basic), now);
        let session = open(NOW).unwrap();
        assert_eq!(open(NOW), Err(Refusal::Full));
        assert!(
            !broker.close("none", NOW)
                && broker.close(&session.id, NOW)
                && !broker.close(&session.id, NOW)
        );
        let session = open(NOW).unwrap();
        assert_eq!(session.expires, NOW + Duration::from_secs(600));
        let loads = |now| broker.loads(now).iter().map(|(_, load)| *load).sum::<u32>();
        assert_eq!((loads(NOW), loads(session.expires)), (1, 0));
        assert!(open(session.expires).is_ok() && !broker.close(&session.id, session.expires));
    }

    #[test]
    fn credentials_are_the_users_until_the_session_expires() {
        let session = broker().open(&request(Class::Specialised), NOW).unwrap();
        let server = &session.ice_servers[0];
        let wanted = Credentials::new(&Secret::new("near"), "alice", 1_700_000_600).unwrap();
        assert_eq!(server.username.as_deref(), Some("1700000600:alice"));
        assert_eq!(server.credential.as_deref(), Some(wanted.password.as_str()));
        assert_eq!((session.marks.audio, session.marks.video), (net::Dscp::EF, net::Dscp::AF41));
        assert!(!format!("{session:?}").contains(&wanted.password));
    }

    #[test]
    fn who_has_not_subscribed_is_refused() {
        let broker = broker();
        let with = |change: &dyn Fn(&mut Request)| {
            let mut request = request(Class::Specialised);
            change(&mut request);
            broker.open(&request, NOW).unwrap_err()
        };
        assert_eq!(with(&|request| request.service = "none".to_owned()), Refusal::Service);
        assert_eq!(with(&|request| request.service = "chat".to_owned()), Refusal::Specialised);
        assert_eq!(with(&|request| request.user = "9999999999:alice".to_owned()), Refusal::Name);
        assert_eq!(with(&|request| request.region = Some(String::new())), Refusal::Name);
        let mut basic = request(Class::Basic);
        basic.service = "none".to_owned();
        assert_eq!(broker.open(&basic, NOW), Err(Refusal::Service));
        assert_eq!(broker.loads(NOW).iter().map(|(_, load)| load).sum::<u32>(), 0);
    }
}
