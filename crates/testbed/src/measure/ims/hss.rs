//! The home subscriber server, as far as a registration and a call need it: the interface Cx (3GPP
//! TS 29.228, 29.229) with SIP Digest (29.228 § 6.3, 33.203 annex N).

use super::double::{Refusal, Reply, Service, application_id, experimental, success, text};
use crate::diameter::{Application, Avp, Command, Message, VENDOR_3GPP, code, result};
use md5::{Digest as _, Md5};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A subscriber: one private and one public identity.
#[derive(Clone, Debug)]
pub(super) struct Subscriber {
    /// The part of the identities before the domain.
    pub(super) name: String,
    /// MD5(username:realm:password) in hexadecimal (RFC 7616 § 3.4.2).
    pub(super) ha1: String,
}

impl Subscriber {
    pub(super) fn new(name: &str, domain: &str, password: &str) -> Self {
        let hash = Md5::digest(format!("{name}@{domain}:{domain}:{password}"));
        let ha1 = hash.iter().fold(String::new(), |mut text, byte| {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        });
        Self { name: name.to_owned(), ha1 }
    }
}

/// The registration of a subscriber.
#[derive(Clone, Debug, Default)]
struct Registration {
    /// The S-CSCF that authenticates or serves it.
    server: Option<String>,
    registered: bool,
}

/// The HSS.
pub(super) struct Hss {
    domain: String,
    subscribers: BTreeMap<String, (Subscriber, Mutex<Registration>)>,
}

/// The capability that every S-CSCF of the I-CSCF's table has.
const CAPABILITY: u32 = 0;
/// The only authentication scheme: a registration without AKA (29.229 § 6.3.9).
const SCHEME: &str = "SIP Digest";

/// Auth-Session-State (RFC 6733 § 8.11).
const NO_STATE_MAINTAINED: u32 = 1;

/// Server-Assignment-Type (29.229 § 6.3.15).
const REGISTRATION: u32 = 1;
const RE_REGISTRATION: u32 = 2;
const UNREGISTERED_USER: u32 = 3;
/// Time-outs and de-registrations, with and without storing the server's name.
const DEREGISTRATIONS: std::ops::RangeInclusive<u32> = 4..=10;

impl Hss {
    pub(super) fn new(domain: &str, subscribers: Vec<Subscriber>) -> Self {
        let subscribers = subscribers.into_iter();
        let subscribers = subscribers
            .map(|one| (format!("sip:{}@{domain}", one.name), (one, Mutex::default())))
            .collect();
        Self { domain: domain.to_owned(), subscribers }
    }

    /// Whether this subscriber is registered.
    #[cfg(test)]
    pub(super) fn is_registered(&self, name: &str) -> bool {
        let identity = format!("sip:{name}@{}", self.domain);
        self.subscribers
            .get(&identity)
            .is_some_and(|(_, registration)| state(registration).registered)
    }

    fn subscriber(&self, request: &Message) -> Result<Option<Found<'_>>, Refusal> {
        let identity = text(request, code::PUBLIC_IDENTITY)?;
        let found = self.subscribers.get_key_value(&identity);
        Ok(found.map(|(identity, (subscriber, registration))| Found {
            identity,
            private: format!("{}@{}", subscriber.name, self.domain),
            subscriber,
            registration: state(registration),
        }))
    }
}

/// A subscriber that a request names.
struct Found<'a> {
    identity: &'a str,
    private: String,
    subscriber: &'a Subscriber,
    registration: MutexGuard<'a, Registration>,
}

impl Found<'_> {
    /// Whether the private identity of the request is the subscriber's.
    fn is_of(&self, request: &Message) -> Result<bool, Refusal> {
        let name = request.required(code::USER_NAME, None)?;
        Ok(name.as_text()? == self.private)
    }

    fn user_name(&self) -> Avp {
        Avp::text(code::USER_NAME, &self.private)
    }

    /// The service profile (29.228 annex B, annex E).
    fn user_data(&self) -> Avp {
        let (private, identity) = (&self.private, self.identity);
        let profile = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><IMSSubscription>\
             <PrivateID>{private}</PrivateID><ServiceProfile><PublicIdentity>\
             <Identity>{identity}</Identity></PublicIdentity></ServiceProfile></IMSSubscription>"
        );
        Avp::new(code::USER_DATA, Some(VENDOR_3GPP), profile)
    }
}

fn state(registration: &Mutex<Registration>) -> MutexGuard<'_, Registration> {
    registration.lock().unwrap_or_else(PoisonError::into_inner)
}

fn server_name(name: &str) -> Avp {
    Avp::new(code::SERVER_NAME, Some(VENDOR_3GPP), name)
}

impl Service for Hss {
    const APPLICATION: Application = Application::Cx;

    /// Cx keeps no session (29.229 § 5.3).
    fn common_avps(&self) -> Vec<Avp> {
        vec![application_id::<Self>(), Avp::number(code::AUTH_SESSION_STATE, NO_STATE_MAINTAINED)]
    }

    fn known(&self, command: Command) -> Option<&'static [u32]> {
        match command {
            Command::UserAuthorization => Some(&[
                code::USER_NAME,
                code::PUBLIC_IDENTITY,
                code::VISITED_NETWORK_IDENTIFIER,
                code::USER_AUTHORIZATION_TYPE,
                code::UAR_FLAGS,
            ]),
            Command::MultimediaAuth => Some(&[
                code::USER_NAME,
                code::PUBLIC_IDENTITY,
                code::SERVER_NAME,
                code::SIP_NUMBER_AUTH_ITEMS,
                code::SIP_AUTH_DATA_ITEM,
            ]),
            Command::ServerAssignment => Some(&[
                code::USER_NAME,
                code::PUBLIC_IDENTITY,
                code::SERVER_NAME,
                code::SERVER_ASSIGNMENT_TYPE,
                code::USER_DATA_ALREADY_AVAILABLE,
            ]),
            Command::LocationInfo => Some(&[code::PUBLIC_IDENTITY]),
            _ => None,
        }
    }

    fn answer(&self, command: Command, request: &Message) -> Result<Reply, Refusal> {
        let found = self.subscriber(request)?;
        let Some(found) = found else {
            return Ok(Reply::Answer(vec![experimental(result::USER_UNKNOWN)]));
        };
        if command != Command::LocationInfo && !found.is_of(request)? {
            return Ok(Reply::Answer(vec![experimental(result::IDENTITIES_DONT_MATCH)]));
        }
        match command {
            Command::UserAuthorization => Ok(authorize(&found)),
            Command::MultimediaAuth => self.authenticate(found, request),
            Command::ServerAssignment => assign(found, request),
            Command::LocationInfo => Ok(locate(&found)),
            _ => Err(Refusal::Command(request.command)),
        }
        .map(Reply::Answer)
    }
}

/// 29.228 § 6.1.1.
fn authorize(found: &Found<'_>) -> Vec<Avp> {
    match &found.registration.server {
        Some(server) => {
            vec![experimental(result::SUBSEQUENT_REGISTRATION), server_name(server)]
        }
        None => {
            let wanted =
                Avp::new(code::MANDATORY_CAPABILITY, Some(VENDOR_3GPP), CAPABILITY.to_be_bytes());
            let capabilities = Avp::group(code::SERVER_CAPABILITIES, Some(VENDOR_3GPP), &[wanted]);
            vec![experimental(result::FIRST_REGISTRATION), capabilities]
        }
    }
}

/// 29.228 § 6.1.4.
fn locate(found: &Found<'_>) -> Vec<Avp> {
    match &found.registration.server {
        Some(server) if found.registration.registered => vec![success(), server_name(server)],
        _ => vec![experimental(result::IDENTITY_NOT_REGISTERED)],
    }
}

impl Hss {
    /// 29.228 § 6.3.1: the authentication vector of SIP Digest.
    fn authenticate(&self, mut found: Found<'_>, request: &Message) -> Result<Vec<Avp>, Refusal> {
        let vendor = Some(VENDOR_3GPP);
        found.registration.server = Some(text(request, code::SERVER_NAME)?);
        let item = request.required(code::SIP_AUTH_DATA_ITEM, vendor)?.avps()?;
        let scheme = item.iter().find(|avp| avp.is(code::SIP_AUTHENTICATION_SCHEME, vendor));
        let scheme = scheme.map_or(Ok("unknown"), Avp::as_text)?;
        // The S-CSCF that does not know the scheme asks for "unknown" (29.228 § 6.3.1).
        if !["unknown", SCHEME].contains(&scheme) {
            return Err(Refusal::Value {
                code: code::SIP_AUTHENTICATION_SCHEME,
                value: scheme.to_owned(),
            });
        }
        let digest = Avp::group(
            code::SIP_DIGEST_AUTHENTICATE,
            vendor,
            &[
                Avp::text(code::DIGEST_REALM, &self.domain),
                Avp::text(code::DIGEST_HA1, &found.subscriber.ha1),
            ],
        );
        let item = [
            Avp::new(code::SIP_ITEM_NUMBER, vendor, 1_u32.to_be_bytes()),
            Avp::new(code::SIP_AUTHENTICATION_SCHEME, vendor, SCHEME),
            digest,
        ];
        Ok(vec![
            success(),
            found.user_name(),
            Avp::new(code::PUBLIC_IDENTITY, vendor, found.identity),
            Avp::new(code::SIP_NUMBER_AUTH_ITEMS, vendor, 1_u32.to_be_bytes()),
            Avp::group(code::SIP_AUTH_DATA_ITEM, vendor, &item),
        ])
    }
}

/// 29.228 § 6.1.2.
fn assign(mut found: Found<'_>, request: &Message) -> Result<Vec<Avp>, Refusal> {
    let kind = request.required(code::SERVER_ASSIGNMENT_TYPE, Some(VENDOR_3GPP))?.as_number()?;
    let server = text(request, code::SERVER_NAME)?;
    match kind {
        REGISTRATION | RE_REGISTRATION => {
            *found.registration = Registration { server: Some(server), registered: true };
        }
        UNREGISTERED_USER => found.registration.server = Some(server),
        kind if DEREGISTRATIONS.contains(&kind) => *found.registration = Registration::default(),
        kind => {
            return Err(Refusal::Value {
                code: code::SERVER_ASSIGNMENT_TYPE,
                value: kind.to_string(),
            });
        }
    }
    Ok(vec![success(), found.user_name(), found.user_data()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::ims::double::tests::Rig;

    fn rig() -> Rig<Hss> {
        Rig::new(Hss::new("ims.test", vec![Subscriber::new("alice", "ims.test", "secret")]))
    }

    fn of_3gpp(code: u32, value: &str) -> Avp {
        Avp::new(code, Some(VENDOR_3GPP), value)
    }

    fn identities(name: &str) -> Vec<Avp> {
        vec![
            Avp::text(code::USER_NAME, &format!("{name}@ims.test")),
            of_3gpp(code::PUBLIC_IDENTITY, &format!("sip:{name}@ims.test")),
            of_3gpp(code::SERVER_NAME, "sip:scscf:6060"),
        ]
    }

    fn assignment(kind: u32) -> Vec<Avp> {
        let kind = Avp::new(code::SERVER_ASSIGNMENT_TYPE, Some(VENDOR_3GPP), kind.to_be_bytes());
        let mut avps = identities("alice");
        avps.push(kind);
        avps
    }

    fn ask(rig: &mut Rig<Hss>, command: Command, mut avps: Vec<Avp>) -> Message {
        // Only the S-CSCF names itself.
        if matches!(command, Command::UserAuthorization | Command::LocationInfo) {
            avps.retain(|avp| avp.code != code::SERVER_NAME);
        }
        if command == Command::LocationInfo {
            avps.retain(|avp| avp.code != code::USER_NAME);
        }
        rig.ask(Application::Cx, command, avps)
    }

    #[test]
    fn a_subscriber_registers_is_found_and_leaves() {
        let mut rig = rig();
        let unregistered = ask(&mut rig, Command::LocationInfo, identities("alice"));
        assert_eq!(Rig::<Hss>::result(&unregistered), result::IDENTITY_NOT_REGISTERED);
        let first = ask(&mut rig, Command::UserAuthorization, identities("alice"));
        assert_eq!(Rig::<Hss>::result(&first), result::FIRST_REGISTRATION);
        assert!(first.find(code::SERVER_CAPABILITIES, Some(VENDOR_3GPP)).is_some());

        let scheme = of_3gpp(code::SIP_AUTHENTICATION_SCHEME, "unknown");
        let mut avps = identities("alice");
        avps.push(Avp::group(code::SIP_AUTH_DATA_ITEM, Some(VENDOR_3GPP), &[scheme]));
        let vector = ask(&mut rig, Command::MultimediaAuth, avps);
        let item = vector.required(code::SIP_AUTH_DATA_ITEM, Some(VENDOR_3GPP)).unwrap();
        let digest = item.avps().unwrap()[2].avps().unwrap();
        // printf alice@ims.test:ims.test:secret | md5sum
        assert_eq!(digest[1].as_text(), Ok("303caad20d1a07dd0a9f409479078797"));

        let assigned = ask(&mut rig, Command::ServerAssignment, assignment(REGISTRATION));
        let data = assigned.required(code::USER_DATA, Some(VENDOR_3GPP)).unwrap();
        assert!(data.as_text().unwrap().contains("<Identity>sip:alice@ims.test</Identity>"));
        assert!(rig.double.service().is_registered("alice"));
        let again = ask(&mut rig, Command::UserAuthorization, identities("alice"));
        assert_eq!(Rig::<Hss>::result(&again), result::SUBSEQUENT_REGISTRATION);
        let located = ask(&mut rig, Command::LocationInfo, identities("alice"));
        let server = located.required(code::SERVER_NAME, Some(VENDOR_3GPP)).unwrap();
        assert_eq!(server.as_text(), Ok("sip:scscf:6060"));

        ask(&mut rig, Command::ServerAssignment, assignment(5));
        assert!(!rig.double.service().is_registered("alice"));
        assert_eq!(rig.double.fault(), None);
    }

    #[test]
    fn unknown_and_foreign_identities_are_refused_without_a_fault() {
        let mut rig = rig();
        let unknown = ask(&mut rig, Command::UserAuthorization, identities("mallory"));
        assert_eq!(Rig::<Hss>::result(&unknown), result::USER_UNKNOWN);
        let mut foreign = identities("alice");
        foreign[0] = Avp::text(code::USER_NAME, "mallory@ims.test");
        let foreign = ask(&mut rig, Command::UserAuthorization, foreign);
        assert_eq!(Rig::<Hss>::result(&foreign), result::IDENTITIES_DONT_MATCH);
        assert_eq!(rig.double.fault(), None);
        let missing = rig.ask(Application::Cx, Command::ServerAssignment, Vec::new());
        assert_eq!(Rig::<Hss>::result(&missing), result::MISSING_AVP);
        let fault = rig.double.fault().unwrap();
        assert_eq!(fault, "SAR of cscf: AVP 601 is missing");
    }
}
