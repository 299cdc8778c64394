//! The sessions of a broker: the choice of the relay, and the lifetime.

use super::config::{Class, Config, Relay, Service};
use super::credentials::Credentials;
use super::is_name;
use crate::IceServer;
use crate::secret::random_hex;
use sim::Marks;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use thiserror::Error;
use units::Duration;

/// A request for a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The service that the call belongs to.
    pub service: String,
    /// The user of the service. The credentials are bound to this name.
    pub user: String,
    /// The region of the user, as named in the distances of the relays.
    pub region: Option<String>,
    /// The requested class.
    pub class: Class,
}

/// A relay with credentials for a limited time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// The identifier, with which the session is closed.
    pub id: String,
    /// The name of the relay.
    pub relay: String,
    /// The class of the relay.
    pub class: Class,
    /// The URLs of the relay, with the credentials.
    pub ice_servers: Vec<IceServer>,
    /// When session and credentials expire, since 1970.
    pub expires: Duration,
    /// The DSCP marks that the packets of the session may have.
    pub marks: Marks,
}

/// Why the broker refuses a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Refusal {
    /// A name in the request is not valid.
    #[error(
        "the name of a user, service or region is not valid; use 1 to 64 letters, digits and the \
         characters . - _ @"
    )]
    InvalidName,
    /// The service is not in the broker's file.
    #[error("this service has not subscribed; the operator adds it to the broker's file")]
    UnknownService,
    /// The service may only request basic sessions.
    #[error("this service has not subscribed to specialised sessions; request a basic session")]
    BasicOnly,
    /// No relay has the requested class.
    #[error("there is no relay of this class")]
    NoRelay,
    /// No relay of the class has free capacity.
    #[error("all relays of this class are full; try again later")]
    Full,
    /// The operating system gave no random numbers for the identifier.
    #[error("no random numbers for the identifier of the session")]
    Random,
}

impl Refusal {
    /// The reason in metrics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidName => "name",
            Self::UnknownService => "service",
            Self::BasicOnly => "specialised",
            Self::NoRelay => "no-relay",
            Self::Full => "full",
            Self::Random => "random",
        }
    }
}

/// Assigns sessions to relays. Each call gets the present time, since 1970.
#[derive(Debug)]
pub struct Broker {
    config: Config,
    sessions: Mutex<SessionTable>,
}

#[derive(Debug, Default)]
struct SessionTable {
    /// The index of the relay and the expiry of each session, by the identifier of the session.
    sessions: HashMap<String, (usize, Duration)>,
    /// The number of sessions of each relay.
    loads: Vec<u32>,
}

impl SessionTable {
    /// Removes the sessions that have expired.
    fn expire(&mut self, now: Duration) {
        let loads = &mut self.loads;
        self.sessions.retain(|_, (relay_index, expires)| {
            let is_valid = *expires > now;
            loads[*relay_index] -= u32::from(!is_valid);
            is_valid
        });
    }
}

impl Broker {
    /// A broker without sessions.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let loads = vec![0; config.relays.len()];
        let sessions = Mutex::new(SessionTable { loads, ..SessionTable::default() });
        Self { config, sessions }
    }

    /// The sessions that have not expired.
    fn current(&self, now: Duration) -> MutexGuard<'_, SessionTable> {
        let mut table = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        table.expire(now);
        table
    }

    /// Opens a session on the nearest relay of the class that has free capacity; of two relays at
    /// the same distance, on the one with the smaller share of its capacity in use.
    ///
    /// # Errors
    /// If the request is refused.
    pub fn open(&self, request: &Request, now: Duration) -> Result<Session, Refusal> {
        let names = [Some(&request.service), Some(&request.user), request.region.as_ref()];
        if !names.into_iter().flatten().all(|name| is_name(name)) {
            return Err(Refusal::InvalidName);
        }
        let named = |service: &&Service| service.name == request.service;
        let service = self.config.services.iter().find(named).ok_or(Refusal::UnknownService)?;
        if request.class == Class::Specialised && !service.specialised {
            return Err(Refusal::BasicOnly);
        }
        let mut table = self.current(now);
        let relay_index = self.choose(request, &table.loads)?;
        let relay = &self.config.relays[relay_index];
        // Credentials expire at a whole second.
        let expiry = (now + self.config.lifetime).as_nanos().div_ceil(1_000_000_000);
        let id = random_hex().map_err(|_| Refusal::Random)?;
        let credentials =
            Credentials::new(&relay.secret, &request.user, expiry).ok_or(Refusal::InvalidName)?;
        let expires = Duration::from_secs(expiry);
        table.loads[relay_index] += 1;
        table.sessions.insert(id.clone(), (relay_index, expires));
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

    /// The index of the relay for a request.
    fn choose(&self, request: &Request, loads: &[u32]) -> Result<usize, Refusal> {
        let of_class = |(_, (relay, _)): &(usize, (&Relay, &u32))| relay.class == request.class;
        let relays = self.config.relays.iter().zip(loads).enumerate().filter(of_class);
        if relays.clone().next().is_none() {
            return Err(Refusal::NoRelay);
        }
        let free = relays.filter(|(_, (relay, load))| **load < relay.capacity);
        let first = free.min_by_key(|(_, (relay, load))| {
            // The share of the capacity in use, in millionths.
            let share = u64::from(**load) * 1_000_000 / u64::from(relay.capacity.max(1));
            (relay.distance(request.region.as_deref()), share)
        });
        first.map(|(relay_index, _)| relay_index).ok_or(Refusal::Full)
    }

    /// Closes a session; `false` if there is none with this identifier. Its credentials stay valid
    /// until they expire, because the relay keeps no list of sessions.
    pub fn close(&self, id: &str, now: Duration) -> bool {
        let mut table = self.current(now);
        let Some((relay_index, _)) = table.sessions.remove(id) else { return false };
        table.loads[relay_index] -= 1;
        true
    }

    /// Each relay with its number of sessions.
    pub fn loads(&self, now: Duration) -> Vec<(&Relay, u32)> {
        let loads = self.current(now).loads.clone();
        self.config.relays.iter().zip(loads).collect()
    }

    /// The lifetime of a session.
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
    fn the_nearest_relay_with_free_capacity_is_chosen_and_of_two_the_less_loaded() {
        let broker = broker();
        let next = || broker.open(&request(Class::Specialised), NOW).map(|session| session.relay);
        let given: Vec<String> = (0..8).map(|_| next().unwrap()).collect();
        // The shares in use of near (capacity 2) and equal (capacity 4): 0 0, 1/2 0, 1/2 1/4, 1/2
        // 1/2, 1 1/2, 1 3/4.
        assert_eq!(given, ["near", "equal", "equal", "near", "equal", "equal", "far", "far"]);
        assert_eq!(broker.open(&request(Class::Basic), NOW).unwrap().relay, "plain");
        assert_eq!(broker.open(&request(Class::Basic), NOW), Err(Refusal::Full));
    }

    #[test]
    fn a_session_ends_when_it_is_closed_or_expires() {
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
    fn credentials_belong_to_the_user_until_the_session_expires() {
        let session = broker().open(&request(Class::Specialised), NOW).unwrap();
        let server = &session.ice_servers[0];
        let wanted = Credentials::new(&Secret::new("near"), "alice", 1_700_000_600).unwrap();
        assert_eq!(server.username.as_deref(), Some("1700000600:alice"));
        assert_eq!(server.credential.as_deref(), Some(wanted.password.as_str()));
        assert_eq!((session.marks.audio, session.marks.video), (net::Dscp::EF, net::Dscp::AF41));
        assert!(!format!("{session:?}").contains(&wanted.password));
    }

    #[test]
    fn a_service_that_has_not_subscribed_is_refused() {
        let broker = broker();
        let with = |change: &dyn Fn(&mut Request)| {
            let mut request = request(Class::Specialised);
            change(&mut request);
            broker.open(&request, NOW).unwrap_err()
        };
        assert_eq!(with(&|request| request.service = "none".to_owned()), Refusal::UnknownService);
        assert_eq!(with(&|request| request.service = "chat".to_owned()), Refusal::BasicOnly);
        assert_eq!(
            with(&|request| request.user = "9999999999:alice".to_owned()),
            Refusal::InvalidName
        );
        assert_eq!(with(&|request| request.region = Some(String::new())), Refusal::InvalidName);
        let mut basic = request(Class::Basic);
        basic.service = "none".to_owned();
        assert_eq!(broker.open(&basic, NOW), Err(Refusal::UnknownService));
        assert_eq!(broker.loads(NOW).iter().map(|(_, load)| load).sum::<u32>(), 0);
    }
}
