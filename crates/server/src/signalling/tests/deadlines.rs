//! Connections and pages that exceed a time limit are closed. Client and server run on one thread
//! and exchange data in memory, so that tokio can advance its paused clock to the next deadline as
//! soon as no task is ready. The measured times are therefore exact on any machine.

use crate::signalling::room::RoomRegistry;
use crate::signalling::{MAX_CONNECTIONS, MAX_MESSAGE, MAX_REQUESTS, connections, pages, socket};
use axum::serve::Listener;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
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

/// The address of every client.
const CLIENT: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1));

struct MemoryListener(UnboundedReceiver<DuplexStream>);

impl Listener for MemoryListener {
    type Io = DuplexStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (DuplexStream, SocketAddr) {
        match self.0.recv().await {
            Some(stream) => (stream, CLIENT),
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(CLIENT)
    }
}

struct MemoryServer(UnboundedSender<DuplexStream>);

impl MemoryServer {
    fn start() -> Self {
        let (sender, receiver) = unbounded_channel();
        let registry = Arc::new(RoomRegistry::new(Arc::new(|_: &str| ())));
        tokio::spawn(connections::serve(
            MemoryListener(receiver),
            pages::router(registry, None, None),
        ));
        Self(sender)
    }

    fn connect(&self) -> DuplexStream {
        let (ours, theirs) = duplex(BUFFER);
        self.0.send(theirs).unwrap();
        ours
    }

    /// A page that has sent nothing yet; the HTTP status if the server refuses it.
    async fn page(&self, room: &str) -> Result<Page, u16> {
        let mut request = format!("ws://localhost/ws/{room}").into_client_request().unwrap();
        request.headers_mut().insert("origin", "http://localhost".parse().unwrap());
        match client_async(request, self.connect()).await {
            Ok((socket, _)) => Ok(Page(socket)),
            Err(Error::Http(answer)) => Err(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    /// A page that has joined a room.
    async fn enter(&self, room: &str) -> Page {
        let mut page = self.page(room).await.unwrap();
        page.say(&json!({"type": "hello"})).await;
        assert_eq!(page.hear().await["type"], "welcome");
        page
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
    let answer = async || {
        let (since, mut stream) = (Instant::now(), server.connect());
        stream.write_all(REQUEST).await.unwrap();
        let mut word = [0; 12];
        in_time(stream.read_exact(&mut word)).await.unwrap();
        assert_eq!(&word, b"HTTP/1.1 200");
        since.elapsed().as_secs()
    };
    let mut idle: Vec<_> = (1..MAX_REQUESTS).map(|_| server.connect()).collect();
    assert_eq!(answer().await, 0);
    idle.push(server.connect());
    assert_eq!(
        answer().await,
        connections::TIMEOUT.as_secs(),
        "the request waited until an idle connection was closed"
    );
}

#[tokio::test(start_paused = true)]
async fn the_number_of_web_sockets_is_limited_separately() {
    let server = MemoryServer::start();
    let mut pages = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        pages.push(server.page("a").await.unwrap());
    }
    assert_eq!(server.page("a").await.err(), Some(503));
    drop(pages.pop());
    // Lets the server notice that the connection is closed.
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(server.page("a").await.is_ok());
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
    let mut here = server.enter("a").await;
    let since = Instant::now();
    let gone = server.enter("a").await;
    assert_eq!(here.hear().await["type"], "peer-joined");
    assert_eq!(here.hear().await["type"], "peer-left");
    assert_eq!(since.elapsed().as_secs(), 2 * socket::PING_INTERVAL.as_secs());
    drop(gone);
    let mut other = server.enter("a").await;
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
    let mut here = server.enter("a").await;
    let stuck = server.enter("a").await;
    assert_eq!(here.hear().await["type"], "peer-joined");
    let since = Instant::now();
    here.say(&json!({"type": "offer", "sdp": "x".repeat(MAX_MESSAGE - 100)})).await;
    assert_eq!(here.hear().await["type"], "peer-left");
    assert_eq!(since.elapsed().as_secs(), socket::TIMEOUT.as_secs());
    drop(stuck);
}
