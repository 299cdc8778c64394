//! The policy and charging rules function, as far as a call needs it: the interface Rx (3GPP TS
//! 29.214). It turns an accepted AAR into a dedicated bearer of the LTE cell, and releases the
//! bearer at the STR.
//!
//! The interface Gx to the packet gateway and the procedures behind it (23.401 § 5.4.1) are not
//! modelled: the bearer is established when the AAR is accepted.

use super::double::{Refusal, Reply, Service, experimental, success};
use super::media::{MediaComponent, MediaType};
use crate::diameter::{Application, Avp, Command, Message, code, result};
use net::RlcMode;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use units::{Bitrate, Duration, Time};

/// The time after the end of the P-CSCF's connection at which the PCRF releases the bearers of its
/// sessions, for which no STR can arrive any more. Our choice: longer than a restart takes.
const RELEASE_AFTER: Duration = Duration::from_secs(10);

/// What the PCRF does with an AAR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// It accepts what its policy allows.
    Normal,
    /// It refuses every session.
    Refuse,
    /// It does not answer.
    Silent,
}

/// The operator's policy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    pub(super) behaviour: Behaviour,
    /// The highest guaranteed bit rate of a bearer.
    pub(super) max_gbr: Bitrate,
    /// The RLC mode of the bearers.
    pub(super) rlc: RlcMode,
}

/// A bearer that the PCRF asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BearerRequest {
    pub(super) qci: u8,
    pub(super) gbr: Bitrate,
    pub(super) rlc: RlcMode,
    pub(super) component: MediaComponent,
}

/// Establishes and releases the bearers of a terminal.
pub(super) trait BearerControl: Send + Sync + 'static {
    /// Establishes a bearer of the host; returns its number.
    fn establish(&self, host: &str, bearer: &BearerRequest) -> Result<usize, String>;
    /// Releases a bearer of the host.
    fn release(&self, host: &str, number: usize) -> Result<(), String>;
}

/// A host with its access, as the packet gateway knows it.
#[derive(Clone, Debug)]
pub(super) struct Terminal {
    pub(super) host: String,
    /// Whether its access has bearers.
    pub(super) has_bearers: bool,
}

/// What the PCRF has done, for the records.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PcrfEvent {
    /// It established a bearer with this guaranteed bit rate.
    Established { host: String, gbr: Bitrate },
    /// It released a bearer.
    Released { host: String },
    /// It refused a session, or a bearer could not be established or released.
    Refused { host: String, reason: String },
}

struct Session {
    host: String,
    peer: String,
    bearers: Vec<(BearerRequest, usize)>,
    /// The connection of its peer has ended.
    lost: bool,
    /// When the loss was noticed.
    since: Option<Time>,
}

/// The PCRF.
pub(super) struct Pcrf<B> {
    policy: Policy,
    control: B,
    terminals: BTreeMap<Ipv4Addr, Terminal>,
    sessions: Mutex<BTreeMap<String, Session>>,
    events: Mutex<Vec<PcrfEvent>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B: BearerControl> Pcrf<B> {
    pub(super) fn new(policy: Policy, control: B, terminals: BTreeMap<Ipv4Addr, Terminal>) -> Self {
        Self { policy, control, terminals, sessions: Mutex::default(), events: Mutex::default() }
    }

    /// What happened since the last call. Releases the bearers of sessions whose P-CSCF has been
    /// lost for too long.
    pub(super) fn poll(&self, now: Time) -> Vec<PcrfEvent> {
        let mut sessions = locked(&self.sessions);
        sessions.retain(|_, session| {
            if !session.lost {
                return true;
            }
            let since = *session.since.get_or_insert(now);
            let keep = now.saturating_since(since) < RELEASE_AFTER;
            if !keep {
                self.release(session);
            }
            keep
        });
        std::mem::take(&mut locked(&self.events))
    }

    fn event(&self, event: PcrfEvent) {
        locked(&self.events).push(event);
    }

    fn release(&self, session: &mut Session) {
        for (_, number) in session.bearers.drain(..) {
            let host = session.host.clone();
            let event = match self.control.release(&host, number) {
                Ok(()) => PcrfEvent::Released { host },
                Err(reason) => PcrfEvent::Refused { host, reason },
            };
            self.event(event);
        }
    }

    fn refuse(&self, host: &str, reason: impl Into<String>, result_code: u32) -> Reply {
        self.event(PcrfEvent::Refused { host: host.to_owned(), reason: reason.into() });
        Reply::Answer(vec![experimental(result_code)])
    }

    /// 29.214 § 4.4.1, § 4.4.2: authorises a session, or what has changed in it.
    fn authorize(&self, session: &str, request: &Message) -> Result<Reply, Refusal> {
        let address = request.required(code::FRAMED_IP_ADDRESS, None)?.as_address()?;
        let terminal = match address {
            IpAddr::V4(address) => self.terminals.get(&address),
            IpAddr::V6(_) => None,
        };
        let Some(Terminal { host, has_bearers }) = terminal else {
            let unknown = format!("no host has the address {address}");
            return Ok(self.refuse("", unknown, result::IP_CAN_SESSION_NOT_AVAILABLE));
        };
        let components = MediaComponent::all_of(request)?;
        let refused = result::REQUESTED_SERVICE_NOT_AUTHORIZED;
        match self.policy.behaviour {
            Behaviour::Normal => {}
            Behaviour::Refuse => {
                return Ok(self.refuse(host, "the policy refuses every session", refused));
            }
            Behaviour::Silent => return Ok(Reply::Silence),
        }
        let wanted: Vec<BearerRequest> = components
            .into_iter()
            .filter(|component| *has_bearers && !component.filters.is_empty())
            .map(|component| self.bearer(component))
            .collect();
        let max = self.policy.max_gbr;
        if let Some(bearer) = wanted.iter().find(|bearer| bearer.gbr > max) {
            let reason = format!("{} are requested, the policy allows {max}", bearer.gbr);
            return Ok(self.refuse(host, reason, refused));
        }
        let mut sessions = locked(&self.sessions);
        let peer = request.required(code::ORIGIN_HOST, None)?.as_text()?;
        let session = sessions.entry(session.to_owned()).or_insert_with(|| Session {
            host: host.clone(),
            peer: peer.to_owned(),
            bearers: Vec::new(),
            lost: false,
            since: None,
        });
        if session.bearers.iter().map(|(bearer, _)| bearer).eq(&wanted) {
            return Ok(Reply::Answer(vec![success()]));
        }
        self.release(session);
        for bearer in wanted {
            match self.control.establish(host, &bearer) {
                Ok(number) => {
                    let (host, gbr) = (host.clone(), bearer.gbr);
                    self.event(PcrfEvent::Established { host, gbr });
                    session.bearers.push((bearer, number));
                }
                Err(reason) => {
                    self.release(session);
                    return Ok(self.refuse(host, reason, result::IP_CAN_SESSION_NOT_AVAILABLE));
                }
            }
        }
        Ok(Reply::Answer(vec![success()]))
    }

    /// The bearer for a medium: conversational voice and video (29.213 § 6.3, table 6.3.1).
    fn bearer(&self, component: MediaComponent) -> BearerRequest {
        let qci = match component.kind {
            MediaType::Audio => 1,
            MediaType::Video => 2,
        };
        let (gbr, rlc) = (component.bandwidth, self.policy.rlc);
        BearerRequest { qci, gbr, rlc, component }
    }
}

impl<B: BearerControl> Service for Pcrf<B> {
    const APPLICATION: Application = Application::Rx;

    /// Rx keeps a session: with Auth-Session-State, Kamailio would forget it (29.214 § 5.6.2).
    fn common_avps(&self) -> Vec<Avp> {
        vec![Avp::number(code::AUTH_APPLICATION_ID, Self::APPLICATION.id())]
    }

    fn known(&self, command: Command) -> Option<&'static [u32]> {
        match command {
            Command::Aa => Some(&[
                code::SESSION_TIMEOUT,
                code::FRAMED_IP_ADDRESS,
                code::AUTHORIZATION_LIFETIME,
                code::AUTH_GRACE_PERIOD,
                code::SUBSCRIPTION_ID,
                code::RESERVATION_PRIORITY,
                code::AF_APPLICATION_IDENTIFIER,
                code::SPECIFIC_ACTION,
                code::MEDIA_COMPONENT_DESCRIPTION,
            ]),
            Command::SessionTermination => {
                Some(&[code::TERMINATION_CAUSE, code::AF_APPLICATION_IDENTIFIER])
            }
            _ => None,
        }
    }

    fn answer(&self, command: Command, request: &Message) -> Result<Reply, Refusal> {
        let id = request.required(code::SESSION_ID, None)?.as_text()?;
        match command {
            Command::Aa => self.authorize(id, request),
            Command::SessionTermination => {
                // The guard must be released before the events are locked by others' polls.
                let ended = locked(&self.sessions).remove(id);
                Ok(Reply::Answer(vec![match ended {
                    Some(mut session) => {
                        self.release(&mut session);
                        success()
                    }
                    None => unknown_session(),
                }]))
            }
            _ => Err(Refusal::Command(request.command)),
        }
    }

    fn peer_lost(&self, peer: &str) {
        for session in locked(&self.sessions).values_mut().filter(|session| session.peer == peer) {
            session.lost = true;
        }
    }
}

fn unknown_session() -> Avp {
    Avp::number(code::RESULT_CODE, result::UNKNOWN_SESSION_ID)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::ims::double::VENDOR;
    use crate::measure::ims::double::tests::Rig;
    use std::sync::Arc;
    use std::time::Duration as Span;

    /// Keeps the bearers that exist.
    #[derive(Clone, Default)]
    struct Cell(Arc<Mutex<Vec<(String, BearerRequest)>>>);

    impl BearerControl for Cell {
        fn establish(&self, host: &str, bearer: &BearerRequest) -> Result<usize, String> {
            let mut bearers = locked(&self.0);
            bearers.push((host.to_owned(), bearer.clone()));
            Ok(bearers.len() - 1)
        }

        fn release(&self, host: &str, number: usize) -> Result<(), String> {
            let mut bearers = locked(&self.0);
            let index = bearers.iter().position(|(at, _)| at == host);
            index.map(|index| drop(bearers.remove(index))).ok_or(format!("no bearer {number}"))
        }
    }

    fn rig(behaviour: Behaviour) -> (Rig<Pcrf<Cell>>, Cell) {
        let cell = Cell::default();
        let policy =
            Policy { behaviour, max_gbr: Bitrate::from_mbps(3), rlc: RlcMode::Unacknowledged };
        let terminal = |host: &str, has_bearers| Terminal { host: host.to_owned(), has_bearers };
        let terminals = BTreeMap::from([
            (Ipv4Addr::new(10, 0, 0, 1), terminal("phone", true)),
            (Ipv4Addr::new(10, 0, 0, 2), terminal("office", false)),
        ]);
        (Rig::new(Pcrf::new(policy, cell.clone(), terminals)), cell)
    }

    /// An AAR for a video of the host with this last number of its address.
    fn aar(host: u8, kbps: u32) -> Vec<Avp> {
        let flow = |text: String| Avp::new(code::FLOW_DESCRIPTION, VENDOR, text);
        let number = |code, value: u32| Avp::new(code, VENDOR, value.to_be_bytes());
        let flows = Avp::group(
            code::MEDIA_SUB_COMPONENT,
            VENDOR,
            &[
                number(code::FLOW_NUMBER, 1),
                flow(format!("permit out 17 from 10.0.0.9 30000 to 10.0.0.{host} 5000")),
                flow(format!("permit in 17 from 10.0.0.{host} 5000 to 10.0.0.9 30000")),
                number(code::FLOW_USAGE, 0),
            ],
        );
        let component = [
            number(code::MEDIA_COMPONENT_NUMBER, 1),
            flows,
            number(code::MAX_BANDWIDTH_UL, kbps * 1_000),
            number(code::MAX_BANDWIDTH_DL, kbps * 1_000),
            number(code::MEDIA_TYPE, 1),
        ];
        vec![
            Avp::new(code::FRAMED_IP_ADDRESS, None, [10, 0, 0, host]),
            Avp::group(code::MEDIA_COMPONENT_DESCRIPTION, VENDOR, &component),
        ]
    }

    fn ask(rig: &mut Rig<Pcrf<Cell>>, command: Command, avps: Vec<Avp>) -> u32 {
        Rig::<Pcrf<Cell>>::result(&rig.ask(Application::Rx, command, avps))
    }

    #[test]
    fn an_accepted_session_has_a_bearer_until_it_ends() {
        let (mut rig, cell) = rig(Behaviour::Normal);
        assert_eq!(ask(&mut rig, Command::Aa, aar(1, 2_500)), result::SUCCESS);
        let (host, bearer) = locked(&cell.0)[0].clone();
        assert_eq!((host.as_str(), bearer.qci, bearer.gbr.as_bps()), ("phone", 2, 2_500_000));
        let [down, up] = bearer.component.filters[..] else { panic!("{bearer:?}") };
        assert_eq!(down.to_string(), "udp/10.0.0.9:30000/10.0.0.1:5000");
        assert_eq!(up.to_string(), "udp/10.0.0.1:5000/10.0.0.9:30000");
        // The AAR of the final answer changes nothing.
        assert_eq!(ask(&mut rig, Command::Aa, aar(1, 2_500)), result::SUCCESS);
        assert_eq!(locked(&cell.0).len(), 1);
        let end = vec![Avp::number(code::TERMINATION_CAUSE, 1)];
        assert_eq!(ask(&mut rig, Command::SessionTermination, end.clone()), result::SUCCESS);
        assert!(locked(&cell.0).is_empty());
        assert_eq!(ask(&mut rig, Command::SessionTermination, end), result::UNKNOWN_SESSION_ID);
        let events = rig.double.service().poll(Time::ZERO);
        let host = || "phone".to_owned();
        let gbr = Bitrate::from_kbps(2_500);
        let expected =
            [PcrfEvent::Established { host: host(), gbr }, PcrfEvent::Released { host: host() }];
        assert_eq!(events, expected);
        assert_eq!(rig.double.fault(), None);
    }

    #[test]
    fn hosts_without_bearers_are_accepted_and_get_none() {
        let (mut rig, cell) = rig(Behaviour::Normal);
        assert_eq!(ask(&mut rig, Command::Aa, aar(2, 2_500)), result::SUCCESS);
        assert!(locked(&cell.0).is_empty());
        let unknown = ask(&mut rig, Command::Aa, aar(3, 2_500));
        assert_eq!(unknown, result::IP_CAN_SESSION_NOT_AVAILABLE);
    }

    #[test]
    fn what_the_policy_does_not_allow_is_refused_with_a_reason() {
        let (mut high, cell) = rig(Behaviour::Normal);
        let refused = ask(&mut high, Command::Aa, aar(1, 3_001));
        assert_eq!(refused, result::REQUESTED_SERVICE_NOT_AUTHORIZED);
        let events = high.double.service().poll(Time::ZERO);
        let [PcrfEvent::Refused { reason, .. }] = &events[..] else { panic!("{events:?}") };
        assert!(reason.contains("the policy allows 3"), "{reason}");
        let (mut all, _) = rig(Behaviour::Refuse);
        let refused = ask(&mut all, Command::Aa, aar(1, 100));
        assert_eq!(refused, result::REQUESTED_SERVICE_NOT_AUTHORIZED);
        assert!(locked(&cell.0).is_empty());
    }

    #[test]
    fn a_silent_pcrf_answers_only_the_watchdog() {
        let (mut rig, _) = rig(Behaviour::Silent);
        rig.send(Application::Rx, Command::Aa, aar(1, 2_500));
        // The answer that arrives is that of the later request.
        let answer = rig.ask(Application::Base, Command::DeviceWatchdog, Vec::new());
        assert_eq!(answer.command, Command::DeviceWatchdog.code());
    }

    #[test]
    fn the_bearers_of_a_lost_p_cscf_are_released_after_a_time() {
        let (mut rig, cell) = rig(Behaviour::Normal);
        assert_eq!(ask(&mut rig, Command::Aa, aar(1, 2_500)), result::SUCCESS);
        let double = rig.disconnect();
        let lost = || {
            let sessions = locked(&double.service().sessions);
            sessions.values().all(|session| session.lost)
        };
        for _ in 0..500 {
            if lost() {
                break;
            }
            std::thread::sleep(Span::from_millis(10));
        }
        assert!(lost());
        double.service().poll(Time::from_secs(20));
        double.service().poll(Time::from_secs(29));
        assert_eq!(locked(&cell.0).len(), 1);
        double.service().poll(Time::from_secs(30));
        assert!(locked(&cell.0).is_empty());
    }
}
