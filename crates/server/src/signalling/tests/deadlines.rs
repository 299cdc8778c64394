//! Connections and pages that exceed a time limit are closed. Client and server run on one thread
//! and exchange data in memory, so that tokio can advance its paused clock to the next deadline as
//! soon as no task is ready. The measured times are therefore exact on any machine.

use crate::broker;
use crate::connections::{self, MAX_REQUESTS, MAX_REQUESTS_PER_ADDRESS};
use crate::signalling::room::{Refusal, RoomRegistry};
use crate::signalling::{
    MAX_CONNECTIONS, MAX_CONNECTIONS_PER_ADDRESS, MAX_MESSAGE, MAX_ROOMS, MAX_ROOMS_PER_ADDRESS,
    pages, socket,
};
use axum::Router;
use axum::serve::Listener;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{WebSocketStream, client_async};

/// Longer than every time limit of the server.
const LONG: Duration = Duration::from_secs(300);
/// What has not happened by then is taken not to happen.
const NEVER: Duration = Duration::from_secs(3600);
/// The buffer of a connection, bytes: enough for the head of an answer, too small for the longest
/// message.
const BUFFER: usize = 16 << 10;
const REQUEST: &[u8] = b"GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// The address of a client that is not given another one.
const CLIENT: IpAddr = address(1);

/// The address of client `number`.
const fn address(number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, number))
}

struct MemoryListener(UnboundedReceiver<(DuplexStream, SocketAddr)>);

impl Listener for MemoryListener {
    type Io = DuplexStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (DuplexStream, SocketAddr) {
        match self.0.recv().await {
            Some(accepted) => accepted,
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok((CLIENT, 1).into())
    }
}

struct MemoryServer {
    clients: UnboundedSender<(DuplexStream, SocketAddr)>,
    registry: Arc<RoomRegistry>,
}

impl MemoryServer {
    fn start() -> Self {
        let registry = Arc::new(RoomRegistry::new(Arc::new(|_: &str| ())));
        Self::with(pages::router(Arc::clone(&registry), None, None), registry)
    }

    fn with(router: Router, registry: Arc<RoomRegistry>) -> Self {
        let (clients, receiver) = unbounded_channel();
        tokio::spawn(connections::serve(MemoryListener(receiver), router));
        Self { clients, registry }
    }

    fn connect(&self) -> DuplexStream {
        self.connect_from(CLIENT)
    }

    fn connect_from(&self, client: IpAddr) -> DuplexStream {
        let (ours, theirs) = duplex(BUFFER);
        self.clients.send((theirs, (client, 1).into())).unwrap();
        ours
    }

    /// The first line of the answer to [`REQUEST`], and the seconds until it comes.
    async fn ask_from(&self, client: IpAddr) -> (String, u64) {
        let (since, mut stream) = (Instant::now(), self.connect_from(client));
        // The server may have closed the connection already.
        let _ = stream.write_all(REQUEST).await;
        let mut word = [0; 12];
        in_time(stream.read_exact(&mut word)).await.unwrap();
        (String::from_utf8_lossy(&word).into_owned(), since.elapsed().as_secs())
    }

    /// A page that has sent nothing yet; the HTTP status if the server refuses it.
    async fn page(&self, room: &str) -> Result<Page, u16> {
        self.page_from(CLIENT, room).await
    }

    async fn page_from(&self, client: IpAddr, room: &str) -> Result<Page, u16> {
        let mut request = format!("ws://localhost/ws/{room}").into_client_request().unwrap();
        request.headers_mut().insert("origin", "http://localhost".parse().unwrap());
        match client_async(request, self.connect_from(client)).await {
            Ok((socket, _)) => Ok(Page(socket)),
            Err(Error::Http(answer)) => Err(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    /// A page that has joined a room with this key, and the key of the room.
    async fn enter_with(&self, room: &str, key: &Value) -> (Page, Value) {
        let mut page = self.page(room).await.unwrap();
        page.say(&json!({"type": "hello", "key": key})).await;
        let welcome = page.hear().await;
        assert_eq!(welcome["type"], "welcome", "{welcome}");
        (page, welcome["key"].clone())
    }
}

struct Page(WebSocketStream<DuplexStream>);

impl Page {
    async fn say(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    /// The next message; pings are answered meanwhile. Null after the server has closed the
    /// connection.
    async fn hear(&mut self) -> Value {
        loop {
            match in_time(self.0.next()).await {
                Some(Ok(Message::Text(text))) => return serde_json::from_str(&text).unwrap(),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return Value::Null,
                Some(Ok(_)) => {}
            }
        }
    }
}

async fn in_time<T>(it: impl Future<Output = T>) -> T {
    timeout(NEVER, it).await.unwrap()
}

/// The data of a connection until the server closes it.
async fn rest(mut stream: DuplexStream) -> Vec<u8> {
    let mut rest = Vec::new();
    in_time(stream.read_to_end(&mut rest)).await.unwrap();
    rest
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_complete_request_is_closed() {
    let server = MemoryServer::start();
    for begun in [&b""[..], b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n"] {
        let since = Instant::now();
        let mut stream = server.connect();
        stream.write_all(begun).await.unwrap();
        assert!(rest(stream).await.is_empty());
        assert_eq!(since.elapsed().as_secs(), connections::TIMEOUT.as_secs());
    }
    // A client that sends single bytes is closed too.
    let (since, mut stream) = (Instant::now(), server.connect());
    let trickle = async {
        while stream.write_all(b"G").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    in_time(trickle).await;
    assert!(since.elapsed() < connections::TIMEOUT + Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_is_closed() {
    let server = MemoryServer::start();
    let (since, mut stream) = (Instant::now(), server.connect());
    stream.write_all(REQUEST).await.unwrap();
    tokio::time::sleep(connections::TIMEOUT / 2).await;
    stream.write_all(REQUEST).await.unwrap();
    let answers = String::from_utf8(rest(stream).await).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 2);
    assert_eq!(since.elapsed().as_secs(), (connections::TIMEOUT * 3 / 2).as_secs());
}

#[tokio::test(start_paused = true)]
async fn the_number_of_connections_is_limited() {
    let server = MemoryServer::start();
    let clients = (0..MAX_REQUESTS).map(|number| address(1 + u8::from(number % 2 == 0)));
    let mut idle: Vec<_> = clients.map(|client| server.connect_from(client)).collect();
    drop(idle.pop());
    let ok = "HTTP/1.1 200".to_owned();
    assert_eq!(server.ask_from(address(3)).await, (ok.clone(), 0));
    idle.push(server.connect());
    let waited = connections::TIMEOUT.as_secs();
    assert_eq!(server.ask_from(address(3)).await, (ok, waited), "until an idle connection closed");
}

#[tokio::test(start_paused = true)]
async fn one_address_has_half_of_the_connections() {
    let server = MemoryServer::start();
    let _idle: Vec<_> = (0..2 * MAX_REQUESTS).map(|_| server.connect()).collect();
    assert_eq!(server.ask_from(address(2)).await, ("HTTP/1.1 200".to_owned(), 0));
    let refused = ("HTTP/1.1 429".to_owned(), 0);
    assert_eq!(server.ask_from(CLIENT).await, refused, "{MAX_REQUESTS_PER_ADDRESS} are taken");
    tokio::time::sleep(connections::TIMEOUT).await;
    assert_eq!(server.ask_from(CLIENT).await.0, "HTTP/1.1 200");
    let network: IpAddr = "2001:db8::1".parse().unwrap();
    let _idle: Vec<_> =
        (0..MAX_REQUESTS_PER_ADDRESS).map(|_| server.connect_from(network)).collect();
    assert_eq!(server.ask_from("2001:db8::2".parse().unwrap()).await, refused, "the same /64");
}

/// Clients from many addresses that send requests and read nothing take all connections.
async fn unread_answers_lose_their_places(server: MemoryServer, request: &str) {
    let since = Instant::now();
    let requests = request.repeat(1_000);
    let mut unread = Vec::new();
    for number in 0..MAX_REQUESTS {
        let client = address(u8::try_from(number % 250).unwrap());
        let mut stream = server.connect_from(client);
        let requests = requests.clone();
        unread.push(tokio::spawn(async move {
            // Until the server reads no more, and then closes the connection.
            while stream.write_all(requests.as_bytes()).await.is_ok() {}
        }));
    }
    tokio::time::sleep(Duration::from_millis(1)).await;
    let (answer, _) = server.ask_from(address(251)).await;
    assert!(answer.starts_with("HTTP/1.1 "), "{answer}");
    assert!(since.elapsed() <= connections::WRITE_TIMEOUT, "{:?}", since.elapsed());
    for client in unread {
        in_time(client).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn clients_that_do_not_read_pages_lose_their_places() {
    let request = String::from_utf8(REQUEST.to_vec()).unwrap();
    unread_answers_lose_their_places(MemoryServer::start(), &request).await;
}

#[tokio::test(start_paused = true)]
async fn clients_that_do_not_read_answers_of_the_broker_lose_their_places() {
    let service = broker::Service { name: "meet".to_owned(), specialised: false };
    let lifetime = units::Duration::from_secs(600);
    let config = broker::Config { lifetime, relays: Vec::new(), services: vec![service] };
    let token = Some(crate::Secret::new("0123456789abcdef"));
    // The clients have no token.
    for token in [None, token] {
        let api = broker::Api::new(broker::Broker::new(config.clone()), token);
        let registry = Arc::new(RoomRegistry::new(Arc::new(|_: &str| ())));
        let server = MemoryServer::with(api.standalone_router(), registry);
        let request = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
        unread_answers_lose_their_places(server, request).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_has_a_lifetime() {
    let server = MemoryServer::start();
    let (since, mut stream) = (Instant::now(), server.connect());
    // One byte of the answers per second is read, so that writing never stops for long.
    let trickle = async {
        let mut byte = [0];
        while stream.write_all(REQUEST).await.is_ok() && stream.read_exact(&mut byte).await.is_ok()
        {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    in_time(trickle).await;
    assert!(since.elapsed() >= connections::LIFETIME, "{:?}", since.elapsed());
    assert!(since.elapsed() < NEVER / 2, "{:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_number_of_web_sockets_is_limited_separately() {
    let server = MemoryServer::start();
    let mut pages = Vec::new();
    for client in [address(1), address(2)] {
        for _ in 0..MAX_CONNECTIONS_PER_ADDRESS {
            pages.push(server.page_from(client, "a").await.unwrap());
        }
        if pages.len() < MAX_CONNECTIONS {
            assert_eq!(server.page_from(client, "a").await.err(), Some(429));
        }
    }
    assert_eq!(server.page_from(address(3), "a").await.err(), Some(503));
    drop(pages.pop());
    // Lets the server notice that the connection is closed.
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(server.page_from(address(3), "a").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn two_hundred_rooms_with_two_pages_each_are_held() {
    let server = MemoryServer::start();
    let mut rooms = Vec::new();
    for number in 0..200 {
        let room = format!("room-{number}");
        let (first, key) = server.enter_with(&room, &Value::Null).await;
        let (second, _) = server.enter_with(&room, &key).await;
        rooms.push([first, second]);
    }
    for [first, second] in &mut rooms {
        assert_eq!(first.hear().await["type"], "peer-joined");
        first.say(&json!({"type": "offer", "sdp": "v=0"})).await;
        assert_eq!(second.hear().await["type"], "offer");
    }
}

#[tokio::test]
async fn the_number_of_rooms_is_limited_in_total_and_per_address() {
    let server = MemoryServer::start();
    let open = |client: u8, number: usize| {
        let name = format!("room-{client}-{number}");
        server.registry.join(&name, None, None, Some(address(client)))
    };
    let mut rooms = Vec::new();
    for client in [1, 2] {
        rooms.extend((0..MAX_ROOMS_PER_ADDRESS).map(|number| open(client, number).ok().unwrap()));
        let expected =
            if client == 1 { Refusal::TooManyRoomsOfAddress } else { Refusal::TooManyRooms };
        assert_eq!(open(client, MAX_ROOMS_PER_ADDRESS).err(), Some(expected));
    }
    assert_eq!(rooms.len(), MAX_ROOMS);
    assert_eq!(open(3, 0).err(), Some(Refusal::TooManyRooms));
    // A room is free again after its page has left.
    drop(rooms.pop());
    assert!(open(3, 0).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_page_that_sends_no_hello_is_refused() {
    let server = MemoryServer::start();
    let since = Instant::now();
    let mut silent = server.page("a").await.unwrap();
    let refused = silent.hear().await;
    assert_eq!(refused["reason"], "bad-message", "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("in time"), "{refused}");
    assert_eq!(silent.hear().await, Value::Null);
    assert_eq!(since.elapsed().as_secs(), socket::TIMEOUT.as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_page_that_answers_no_ping_is_removed_and_one_that_answers_stays() {
    let server = MemoryServer::start();
    let (mut here, key) = server.enter_with("a", &Value::Null).await;
    let since = Instant::now();
    let (gone, _) = server.enter_with("a", &key).await;
    assert_eq!(here.hear().await["type"], "peer-joined");
    assert_eq!(here.hear().await["type"], "peer-left");
    assert_eq!(since.elapsed().as_secs(), 2 * socket::PING_INTERVAL.as_secs());
    drop(gone);
    let (mut other, _) = server.enter_with("a", &key).await;
    assert_eq!(here.hear().await["type"], "peer-joined");
    let (one, two) = tokio::join!(timeout(LONG, here.hear()), timeout(LONG, other.hear()));
    assert!(
        one.is_err() && two.is_err(),
        "both stay in the room and receive nothing: {one:?} {two:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_page_that_does_not_read_is_removed() {
    let server = MemoryServer::start();
    let (mut here, key) = server.enter_with("a", &Value::Null).await;
    let (stuck, _) = server.enter_with("a", &key).await;
    assert_eq!(here.hear().await["type"], "peer-joined");
    let since = Instant::now();
    here.say(&json!({"type": "offer", "sdp": "x".repeat(MAX_MESSAGE - 100)})).await;
    assert_eq!(here.hear().await["type"], "peer-left");
    assert_eq!(since.elapsed().as_secs(), socket::TIMEOUT.as_secs());
    drop(stuck);
}
