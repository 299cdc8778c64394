//! coturn as a measured run starts it, and what it refuses; and the broker that listens beyond
//! loopback. Both run in a network namespace.
//!
//! Needs root, /dev/net/tun and coturn; without them the tests are skipped with a message.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use bytes::BytesMut;
use emulator::{Host, Testbed};
use rtc_shared::{TransportContext, TransportMessage, TransportProtocol};
use rtc_turn::client::{Client, ClientConfig, Event};
use sansio::Protocol;
use server::Secret;
use server::broker::{Api, Broker, Class, Config, Credentials, Relay, Service};
use server::signalling::{Options, Server};
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use testbed::measure::relay::{Coturn, PROGRAM};

/// The address of the only host.
const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time without packets after which a packet counts as not relayed.
const SILENCE: Duration = Duration::from_millis(500);
const SECRET: &str = "the secret of this relay";

/// A host, and the lock that allows one testbed at a time.
struct Bench {
    testbed: Testbed,
    _turn: MutexGuard<'static, ()>,
}

/// `None` if hosts or relays cannot be made here.
#[expect(clippy::disallowed_methods, reason = "printed past the capture of the test runner")]
fn bench() -> Option<Bench> {
    static TURN: Mutex<()> = Mutex::new(());
    let root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let device = fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    if !root || device.is_err() || PROGRAM.find().is_none() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let _ = std::io::stderr().write_all(b"skipped: needs root, /dev/net/tun and coturn\n");
        });
        return None;
    }
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Some(Bench { testbed: Testbed::new(&["turn".to_owned()]).unwrap(), _turn: turn })
}

impl Bench {
    fn host(&self) -> &Host {
        &self.testbed.hosts()[0]
    }

    fn relay(&self) -> Coturn {
        Coturn::start(self.host(), ADDRESS, &Secret::new(SECRET), &AtomicBool::new(false)).unwrap()
    }
}

/// Credentials that expire after this many seconds.
fn credentials(secret: &str, user: &str, seconds: i64) -> Credentials {
    #[expect(clippy::disallowed_methods, reason = "a real relay has the real time")]
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    Credentials::new(&Secret::new(secret), user, now.checked_add_signed(seconds).unwrap()).unwrap()
}

#[expect(clippy::disallowed_methods, reason = "a real relay has the real time")]
fn now() -> Instant {
    Instant::now()
}

/// A client of the relay, on the host of the relay.
struct Turn {
    client: Client,
    socket: UdpSocket,
    relayed: Option<SocketAddr>,
}

impl Turn {
    /// A client with an allocation; the error if the relay refuses.
    fn allocate(credentials: Credentials) -> Result<Self, String> {
        let socket = UdpSocket::bind((ADDRESS, 0)).unwrap();
        let config = ClientConfig {
            turn_serv_addr: format!("{ADDRESS}:3478"),
            local_addr: socket.local_addr().unwrap(),
            transport_protocol: TransportProtocol::UDP,
            username: credentials.username,
            password: credentials.password,
            ..ClientConfig::default()
        };
        let client = Client::new(config, rtc_crypto::default_provider().unwrap()).unwrap();
        let mut turn = Self { client, socket, relayed: None };
        turn.client.allocate(now()).unwrap();
        let allocated = turn.until(|event| match event {
            Event::AllocateResponse(_, relayed) => Some(Ok(relayed)),
            Event::AllocateError(_, error) => Some(Err(error.to_string())),
            Event::TransactionTimeout(_) => Some(Err("no answer".to_owned())),
            _ => None,
        });
        turn.relayed = Some(allocated.expect("the relay answers")?);
        Ok(turn)
    }

    /// Requests a permission for a peer; the error if the relay refuses.
    fn permit(&mut self, peer: SocketAddr) -> Result<(), String> {
        let relayed = self.relayed.unwrap();
        self.client.relay(relayed).unwrap().create_permission(now(), peer).unwrap();
        let permitted = self.until(|event| match event {
            Event::CreatePermissionResponse(..) => Some(Ok(())),
            Event::CreatePermissionError(_, error) => Some(Err(error.to_string())),
            Event::TransactionTimeout(_) => Some(Err("no answer".to_owned())),
            _ => None,
        });
        permitted.expect("the relay answers")
    }

    /// The first wanted event, or `None` within [`PATIENCE`].
    fn until<T>(&mut self, mut wanted: impl FnMut(Event) -> Option<T>) -> Option<T> {
        let end = now() + PATIENCE;
        while now() < end {
            if let Some(found) = self.turn(&mut wanted) {
                return Some(found);
            }
        }
        None
    }

    /// Sends pending packets and reads those that have arrived.
    fn turn<T>(&mut self, wanted: &mut impl FnMut(Event) -> Option<T>) -> Option<T> {
        while let Some(transmit) = self.client.poll_write() {
            self.socket.send_to(&transmit.message, transmit.transport.peer_addr).unwrap();
        }
        while let Some(event) = self.client.poll_event() {
            if let Some(found) = wanted(event) {
                return Some(found);
            }
        }
        self.socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        let mut bytes = [0; 2_048];
        if let Ok((length, from)) = self.socket.recv_from(&mut bytes) {
            let transport = TransportContext {
                local_addr: self.socket.local_addr().unwrap(),
                peer_addr: from,
                transport_protocol: TransportProtocol::UDP,
                ecn: None,
            };
            let message = BytesMut::from(&bytes[..length]);
            self.client.handle_read(TransportMessage { now: now(), transport, message }).unwrap();
        }
        self.client.handle_timeout(now()).unwrap();
        None
    }

    /// Sends to a peer through the relay, also without a permission.
    fn send(&mut self, peer: SocketAddr, data: &[u8]) {
        let relayed = self.relayed.unwrap();
        // Without a permission the client requests one, which may be refused.
        let _ = self.client.relay(relayed).unwrap().send_to(now(), data, peer);
        let end = now() + SILENCE;
        while now() < end {
            self.turn(&mut |_| None::<()>);
        }
    }
}

/// A peer that listens on an address of the host.
fn peer(address: impl Into<std::net::IpAddr>) -> UdpSocket {
    let socket = UdpSocket::bind((address.into(), 0)).unwrap();
    socket.set_read_timeout(Some(SILENCE)).unwrap();
    socket
}

#[test]
fn only_a_user_with_valid_credentials_is_relayed() {
    let Some(bench) = bench() else { return };
    let _relay = bench.relay();
    let relayed = || {
        let mut turn = Turn::allocate(credentials(SECRET, "alice", 60)).unwrap();
        let peer = peer(ADDRESS);
        let at = peer.local_addr().unwrap();
        turn.permit(at).unwrap();
        turn.send(at, b"hello");
        let mut bytes = [0; 16];
        peer.set_read_timeout(Some(PATIENCE)).unwrap();
        let (length, from) = peer.recv_from(&mut bytes).unwrap();
        assert_eq!((&bytes[..length], Some(from)), (&b"hello"[..], turn.relayed));
    };
    bench.host().within(relayed).unwrap();
    let mine = credentials(SECRET, "alice", 60);
    let foreign = Credentials { password: credentials(SECRET, "bob", 60).password, ..mine.clone() };
    let longer =
        Credentials { password: mine.password.clone(), ..credentials(SECRET, "alice", 6_000) };
    let none = Credentials { username: String::new(), password: String::new() };
    for (what, credentials) in [
        ("expired", credentials(SECRET, "alice", -60)),
        ("forged", credentials("the secret of another relay", "alice", 60)),
        ("another user's", foreign),
        ("with an expiry put off", longer),
        ("none", none),
    ] {
        let error = bench.host().within(|| Turn::allocate(credentials).err()).unwrap();
        let error = error.unwrap_or_else(|| panic!("{what}: an allocation"));
        assert!(error.contains("401") || error.contains("Unauthorized"), "{what}: {error}");
    }
}

#[test]
fn nothing_is_relayed_to_the_loopback_of_the_relays_host() {
    let Some(bench) = bench() else { return };
    let _relay = bench.relay();
    let tried = || {
        let mut turn = Turn::allocate(credentials(SECRET, "alice", 60)).unwrap();
        let service = peer(Ipv4Addr::LOCALHOST);
        let port = service.local_addr().unwrap().port();
        for address in
            ["127.0.0.1", "127.8.9.10", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "224.0.0.1"]
        {
            let peer: SocketAddr = format!("{address}:{port}").parse().unwrap();
            let error = turn.permit(peer).expect_err(address);
            assert!(error.contains("403") || error.contains("443"), "{address}: {error}");
        }
        turn.send((Ipv4Addr::LOCALHOST, port).into(), b"hello");
        assert!(service.recv_from(&mut [0; 16]).is_err(), "the service has received a packet");
    };
    bench.host().within(tried).unwrap();
}

#[test]
fn a_relay_ends_with_its_owner_and_its_end_is_reported() {
    let Some(bench) = bench() else { return };
    let mut relay = bench.relay();
    relay.is_alive().unwrap();
    let servers = || {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let ours = |pid: &u32| {
            let read = |name: &str| fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
            let (command, environment) = (read("cmdline"), read("environ"));
            let mark = format!("WEIR_RUN={}-", std::process::id());
            let is_marked =
                environment.split(|byte| *byte == 0).any(|word| word.starts_with(mark.as_bytes()));
            is_marked && String::from_utf8_lossy(&command).contains("turnserver")
        };
        pids.filter(ours).collect::<Vec<_>>()
    };
    let [pid] = servers()[..] else { panic!("{:?}", servers()) };
    let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    assert!(!command.contains(SECRET), "the secret is in the list of processes");
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    let end = now() + PATIENCE;
    let error = loop {
        match relay.is_alive() {
            Err(error) => break error.to_string(),
            Ok(()) => assert!(now() < end, "the end of the relay is not detected"),
        }
    };
    assert!(error.contains("turn: the relay, turnserver: it has ended (signal: 9"), "{error}");
    assert!(!error.contains(SECRET), "{error}");
    drop(relay);
    drop(bench.relay());
    assert!(servers().is_empty(), "{:?}", servers());
}

fn broker(token: Option<&str>) -> std::sync::Arc<Api> {
    let relay = Relay {
        name: "turn".to_owned(),
        urls: vec![format!("turn:{ADDRESS}:3478")],
        secret: Secret::new(SECRET),
        class: Class::Basic,
        capacity: 1,
        distances: Vec::new(),
    };
    let services = vec![Service { name: "meet".to_owned(), specialised: false }];
    let config = Config { lifetime: units::Duration::from_secs(60), relays: vec![relay], services };
    Api::new(Broker::new(config), token.map(Secret::new))
}

#[test]
fn a_broker_beyond_loopback_requires_its_token() {
    const TOKEN: &str = "0123456789abcdef";
    let Some(bench) = bench() else { return };
    let open = || bench.host().within(|| TcpListener::bind((ADDRESS, 0)).unwrap()).unwrap();
    let server = Server::start(Vec::new(), Options::default()).unwrap();
    let error = {
        let broker = broker(None);
        server.add_router(open(), broker.standalone_router(), broker.has_token())
    }
    .unwrap_err()
    .to_string();
    assert!(error.contains("needs a token"), "{error}");
    let listener = open();
    let address = listener.local_addr().unwrap();
    let broker = broker(Some(TOKEN));
    server.add_router(listener, broker.standalone_router(), broker.has_token()).unwrap();
    let ask = move |path: &str, token: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let head = format!(
            "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: {token}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let asked = move || {
        for path in ["/broker/v1/health", "/metrics", "/openapi.json", "/", "/call", "/ws/a"] {
            for token in ["", "Bearer", "Bearer 0123456789abcdee"] {
                let answer = ask(path, token);
                assert!(answer.starts_with("HTTP/1.1 401"), "{path}: {answer}");
            }
        }
        let bearer = format!("Bearer {TOKEN}");
        assert!(ask("/broker/v1/health", &bearer).starts_with("HTTP/1.1 200"));
        assert!(ask("/call", &bearer).starts_with("HTTP/1.1 404"), "the pages are elsewhere");
    };
    bench.host().within(asked).unwrap();
}
