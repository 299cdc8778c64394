//! A Diameter server that stands for a network element that is not packaged: it listens on its host,
//! exchanges capabilities, and passes requests to its application.
//!
//! A double is strict. A request that it does not know, that lacks an AVP, or that has a mandatory
//! AVP which the request of 3GPP does not have, is answered with the error of RFC 6733 and ends the
//! run ([`Double::fault`]).

use crate::diameter::{
    Application, Avp, Command, DecodeError, Message, VENDOR_3GPP, code, frame_length, result,
};
use emulator::Host;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The vendor of the AVPs that 3GPP has defined.
pub(super) const VENDOR: Option<u32> = Some(VENDOR_3GPP);
/// The port of Diameter (RFC 6733 § 2.1).
pub(super) const PORT: u16 = 3_868;
/// The time between two looks at the stop flag.
const TICK: Duration = Duration::from_millis(50);
/// AVPs that every request may have (RFC 6733 § 6), besides those of its command.
const COMMON: [u32; 10] = [
    code::SESSION_ID,
    code::ORIGIN_HOST,
    code::ORIGIN_REALM,
    code::ORIGIN_STATE_ID,
    code::DESTINATION_HOST,
    code::DESTINATION_REALM,
    code::AUTH_SESSION_STATE,
    code::AUTH_APPLICATION_ID,
    code::VENDOR_SPECIFIC_APPLICATION_ID,
    code::PROXY_INFO,
];

/// What the application of a double does with a request.
pub(super) enum Reply {
    /// An answer with these AVPs after those that every answer of the application has.
    Answer(Vec<Avp>),
    /// No answer.
    Silence,
}

/// Why a request cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// The command is not of the application.
    #[error("the command {0} is not supported")]
    Command(u32),
    /// A mandatory AVP is unknown.
    #[error("the AVP {0} is not supported")]
    Unsupported(u32),
    /// An AVP is missing, or its value is wrong.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A value is not allowed.
    #[error("AVP {code}: '{value}' is not supported")]
    Value {
        /// The AVP.
        code: u32,
        /// Its value.
        value: String,
    },
}

impl Refusal {
    fn result_code(&self) -> u32 {
        match self {
            Self::Command(_) => result::COMMAND_UNSUPPORTED,
            Self::Unsupported(_) => result::AVP_UNSUPPORTED,
            Self::Decode(DecodeError::Missing(_)) => result::MISSING_AVP,
            Self::Decode(_) | Self::Value { .. } => result::INVALID_AVP_VALUE,
        }
    }
}

/// The application of a double.
pub(super) trait Service: Send + Sync + 'static {
    /// The application whose requests it answers.
    const APPLICATION: Application;

    /// The AVPs that every answer has besides session and origin.
    fn common_avps(&self) -> Vec<Avp>;

    /// The AVPs that a command's request may have besides [`COMMON`]; `None` if the command is
    /// unknown.
    fn known(&self, command: Command) -> Option<&'static [u32]>;

    /// Answers a request.
    fn answer(&self, command: Command, request: &Message) -> Result<Reply, Refusal>;

    /// The connection of this peer has ended without a DPR.
    fn peer_lost(&self, peer: &str) {
        let _ = peer;
    }
}

/// A running double. Dropping it ends it.
pub(super) struct Double<S> {
    shared: Arc<Shared<S>>,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared<S> {
    service: S,
    /// Its Diameter identity: the name of its host.
    host: String,
    realm: String,
    address: Ipv4Addr,
    stop: AtomicBool,
    /// The identities of the connected peers.
    peers: Mutex<BTreeSet<String>>,
    fault: Mutex<Option<String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<S: Service> Double<S> {
    /// Listens on a host of this address.
    pub(super) fn start(
        host: &Host,
        address: Ipv4Addr,
        realm: &str,
        service: S,
    ) -> io::Result<Self> {
        let bind = move || TcpListener::bind((address, PORT));
        let listener = host.within(bind).map_err(io::Error::other)??;
        Self::serve(listener, host.name(), address, realm, service)
    }

    fn serve(
        listener: TcpListener,
        name: &str,
        address: Ipv4Addr,
        realm: &str,
        service: S,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let shared = Arc::new(Shared {
            service,
            host: name.to_owned(),
            realm: realm.to_owned(),
            address,
            stop: AtomicBool::new(false),
            peers: Mutex::default(),
            fault: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        let acceptor = std::thread::spawn(move || accept(&listener, &accepting));
        Ok(Self { shared, acceptor: Some(acceptor) })
    }

    pub(super) fn service(&self) -> &S {
        &self.shared.service
    }

    /// Whether all of these peers are connected.
    pub(super) fn has_peers(&self, wanted: &[&str]) -> bool {
        let peers = locked(&self.shared.peers);
        wanted.iter().all(|peer| peers.contains(*peer))
    }

    /// The first request that the double did not understand, with its reason.
    pub(super) fn fault(&self) -> Option<String> {
        locked(&self.shared.fault).clone()
    }
}

impl<S> Drop for Double<S> {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        // A panic in a thread of the double is reported by its connections' end.
        let _ = self.acceptor.take().map(JoinHandle::join);
    }
}

fn accept<S: Service>(listener: &TcpListener, shared: &Arc<Shared<S>>) {
    let mut connections = Vec::new();
    while !shared.stop.load(Ordering::Relaxed) {
        match listener.accept() {
            Ok((stream, _)) => {
                let shared = Arc::clone(shared);
                connections.push(std::thread::spawn(move || converse(stream, &shared)));
            }
            Err(_) => std::thread::sleep(TICK / 5),
        }
    }
    for connection in connections {
        let _ = connection.join();
    }
}

/// Answers the requests of one connection.
fn converse<S: Service>(mut stream: TcpStream, shared: &Shared<S>) {
    let prepared = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_nodelay(true))
        .and_then(|()| stream.set_read_timeout(Some(TICK)));
    if prepared.is_err() {
        return;
    }
    let mut peer = None;
    let mut regular = false;
    while let Ok(Some(bytes)) = read(&mut stream, &shared.stop) {
        let (answer, goes_on) = match Message::decode(&bytes) {
            Ok(message) => shared.handle(&message, &mut peer),
            Err(error) => {
                shared.blame(format!("a message cannot be read: {error}"));
                (None, false)
            }
        };
        let sent = answer.map_or(Ok(()), |answer| stream.write_all(&answer.encode()));
        regular = !goes_on;
        if sent.is_err() || !goes_on {
            break;
        }
    }
    if let Some(peer) = peer {
        locked(&shared.peers).remove(&peer);
        if !regular && !shared.stop.load(Ordering::Relaxed) {
            shared.service.peer_lost(&peer);
        }
    }
}

/// Reads a message; `None` at the end of the stream, or when `stop` is set.
fn read(stream: &mut TcpStream, stop: &AtomicBool) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; 4];
    if !fill(stream, &mut bytes, stop)? {
        return Ok(None);
    }
    let start = bytes.first_chunk().copied().unwrap_or_default();
    let length = frame_length(start).map_err(io::Error::other)?;
    bytes.resize(length, 0);
    let rest = &mut bytes[4..];
    Ok(fill(stream, rest, stop)?.then_some(bytes))
}

fn fill(stream: &mut TcpStream, mut bytes: &mut [u8], stop: &AtomicBool) -> io::Result<bool> {
    while !bytes.is_empty() {
        match stream.read(bytes) {
            Ok(0) => return Ok(false),
            Ok(read) => bytes = &mut bytes[read..],
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if stop.load(Ordering::Relaxed) {
                    return Ok(false);
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

impl<S: Service> Shared<S> {
    fn blame(&self, fault: String) {
        locked(&self.fault).get_or_insert(fault);
    }

    /// The answer to a message, and whether the connection goes on.
    fn handle(&self, message: &Message, peer: &mut Option<String>) -> (Option<Message>, bool) {
        if !message.request {
            self.blame(format!("an answer to command {} without a request", message.command));
            return (None, true);
        }
        let command = Command::of(message.command);
        let name =
            command.map_or_else(|| "a request".to_owned(), |it| it.request_name().to_owned());
        let from = message.find(code::ORIGIN_HOST, None).and_then(|avp| avp.as_text().ok());
        match self.answer(command, message) {
            Ok(answer) => {
                if command == Some(Command::CapabilitiesExchange) {
                    *peer = from.map(str::to_owned);
                    locked(&self.peers).extend(peer.clone());
                }
                (answer, command != Some(Command::DisconnectPeer))
            }
            Err(refusal) => {
                self.blame(format!("{name} of {}: {refusal}", from.unwrap_or("an unknown peer")));
                let failed = match refusal {
                    Refusal::Unsupported(code) => {
                        message.avps.iter().find(|avp| avp.code == code).cloned()
                    }
                    _ => None,
                };
                let (host, realm) = (&self.host, &self.realm);
                (Some(message.failure(host, realm, refusal.result_code(), failed)), true)
            }
        }
    }

    fn answer(
        &self,
        command: Option<Command>,
        message: &Message,
    ) -> Result<Option<Message>, Refusal> {
        let command = command.ok_or(Refusal::Command(message.command))?;
        let ok = Avp::number(code::RESULT_CODE, result::SUCCESS);
        let answer = |avps| Ok(Some(message.answer(avps)));
        match command {
            Command::CapabilitiesExchange => {
                let capabilities = [
                    Avp::address(code::HOST_IP_ADDRESS, self.address),
                    Avp::number(code::VENDOR_ID, VENDOR_3GPP),
                    Avp::text(code::PRODUCT_NAME, "weir"),
                    Avp::number(code::SUPPORTED_VENDOR_ID, VENDOR_3GPP),
                    application_id::<S>(),
                ];
                answer([ok].into_iter().chain(self.origin()).chain(capabilities).collect())
            }
            Command::DeviceWatchdog | Command::DisconnectPeer => {
                answer([ok].into_iter().chain(self.origin()).collect())
            }
            _ => {
                let known = self.service.known(command).ok_or(Refusal::Command(message.command))?;
                if message.application != S::APPLICATION.id() {
                    return Err(Refusal::Command(message.command));
                }
                let strange = message.avps.iter().find(|avp| {
                    avp.mandatory && !COMMON.contains(&avp.code) && !known.contains(&avp.code)
                });
                if let Some(avp) = strange {
                    return Err(Refusal::Unsupported(avp.code));
                }
                message.required(code::SESSION_ID, None)?;
                let Reply::Answer(avps) = self.service.answer(command, message)? else {
                    return Ok(None);
                };
                let first = self.service.common_avps();
                answer(first.into_iter().chain(self.origin()).chain(avps).collect())
            }
        }
    }

    fn origin(&self) -> [Avp; 2] {
        [Avp::text(code::ORIGIN_HOST, &self.host), Avp::text(code::ORIGIN_REALM, &self.realm)]
    }
}

/// Vendor-Specific-Application-Id of the application.
pub(super) fn application_id<S: Service>() -> Avp {
    let ids = [
        Avp::number(code::VENDOR_ID, VENDOR_3GPP),
        Avp::number(code::AUTH_APPLICATION_ID, S::APPLICATION.id()),
    ];
    Avp::group(code::VENDOR_SPECIFIC_APPLICATION_ID, None, &ids)
}

/// The successful result of a request.
pub(super) fn success() -> Avp {
    Avp::number(code::RESULT_CODE, result::SUCCESS)
}

/// A result of 3GPP.
pub(super) fn experimental(result_code: u32) -> Avp {
    let result = [
        Avp::number(code::VENDOR_ID, VENDOR_3GPP),
        Avp::number(code::EXPERIMENTAL_RESULT_CODE, result_code),
    ];
    Avp::group(code::EXPERIMENTAL_RESULT, None, &result)
}

/// The text of a required AVP of 3GPP.
pub(super) fn text(message: &Message, avp: u32) -> Result<String, Refusal> {
    Ok(message.required(avp, Some(VENDOR_3GPP))?.as_text()?.to_owned())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A double on the loopback, and a connection to it after the exchange of capabilities.
    pub(in crate::measure::ims) struct Rig<S: Service> {
        pub(in crate::measure::ims) double: Double<S>,
        stream: TcpStream,
        number: u32,
    }

    impl<S: Service> Rig<S> {
        pub(in crate::measure::ims) fn new(service: S) -> Self {
            let address = Ipv4Addr::LOCALHOST;
            let listener = TcpListener::bind((address, 0)).unwrap();
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            let double = Double::serve(listener, "double", address, "ims.test", service).unwrap();
            let mut rig = Self { double, stream, number: 0 };
            let answer = rig.ask(Application::Base, Command::CapabilitiesExchange, Vec::new());
            assert!(answer.find(code::VENDOR_SPECIFIC_APPLICATION_ID, None).is_some());
            assert!(rig.double.has_peers(&["cscf"]));
            rig
        }

        /// Sends a request with these AVPs after the origin and a session, and reads the answer.
        pub(in crate::measure::ims) fn ask(
            &mut self,
            application: Application,
            command: Command,
            avps: Vec<Avp>,
        ) -> Message {
            self.send(application, command, avps);
            let never = AtomicBool::new(false);
            let bytes = read(&mut self.stream, &never).unwrap().unwrap();
            let answer = Message::decode(&bytes).unwrap();
            assert_eq!((answer.request, answer.hop_by_hop), (false, self.number));
            answer
        }

        pub(in crate::measure::ims) fn send(
            &mut self,
            application: Application,
            command: Command,
            avps: Vec<Avp>,
        ) {
            self.number += 1;
            let mut request = Message::request(command, application, self.number);
            request.avps = vec![
                Avp::text(code::SESSION_ID, "cscf;1"),
                Avp::text(code::ORIGIN_HOST, "cscf"),
                Avp::text(code::ORIGIN_REALM, "ims.test"),
            ];
            request.avps.extend(avps);
            self.stream.write_all(&request.encode()).unwrap();
        }

        /// The result of an answer, of RFC 6733 or of 3GPP.
        pub(in crate::measure::ims) fn result(answer: &Message) -> u32 {
            if let Some(code) = answer.find(code::RESULT_CODE, None) {
                return code.as_number().unwrap();
            }
            let result = answer.required(code::EXPERIMENTAL_RESULT, None).unwrap();
            result.avps().unwrap()[1].as_number().unwrap()
        }

        /// Ends the connection without a DPR.
        pub(in crate::measure::ims) fn disconnect(self) -> Double<S> {
            drop(self.stream);
            self.double
        }
    }

    struct Empty;

    impl Service for Empty {
        const APPLICATION: Application = Application::Cx;

        fn common_avps(&self) -> Vec<Avp> {
            Vec::new()
        }

        fn known(&self, command: Command) -> Option<&'static [u32]> {
            (command == Command::LocationInfo).then_some(&[])
        }

        fn answer(&self, _: Command, _: &Message) -> Result<Reply, Refusal> {
            Ok(Reply::Answer(vec![success()]))
        }
    }

    #[test]
    fn requests_that_a_double_does_not_know_are_refused_and_reported() {
        let mut rig = Rig::new(Empty);
        let answer = rig.ask(Application::Base, Command::DeviceWatchdog, Vec::new());
        assert_eq!(Rig::<Empty>::result(&answer), result::SUCCESS);
        let answer = rig.ask(Application::Cx, Command::LocationInfo, Vec::new());
        assert_eq!(Rig::<Empty>::result(&answer), result::SUCCESS);
        assert_eq!(rig.double.fault(), None);
        let strange = Avp::text(9_999, "?");
        let answer = rig.ask(Application::Cx, Command::LocationInfo, vec![strange.clone()]);
        assert_eq!(Rig::<Empty>::result(&answer), result::AVP_UNSUPPORTED);
        let failed = answer.required(code::FAILED_AVP, None).unwrap();
        assert_eq!(failed.avps().unwrap(), [strange]);
        let answer = rig.ask(Application::Rx, Command::Aa, Vec::new());
        assert_eq!(Rig::<Empty>::result(&answer), result::COMMAND_UNSUPPORTED);
        assert!(answer.error);
        let fault = rig.double.fault().unwrap();
        assert_eq!(fault, "LIR of cscf: the AVP 9999 is not supported", "the first");
    }
}
