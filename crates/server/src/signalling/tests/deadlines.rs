//! What keeps a place too long loses it. Everything is in one thread and in memory, so tokio's
//! clock can leap to the next deadline as soon as nobody has anything to do: the times are exact,
//! whatever the machine does meanwhile.

use crate::signalling::room::Hall;
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

/// Longer than any deadline.
const LONG: Duration = Duration::from_secs(300);
/// What has not come by then never does.
const NEVER: Duration = Duration::from_secs(3600);
/// What a connection holds of what was sent and not read, bytes: the head of an answer, not the
/// longest message.
const BUFFER: usize = 16 << 10;
const REQUEST: &[u8] = b"GET /style.css HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Where all of them come from.
const CLIENT: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1));

struct Door(UnboundedReceiver<DuplexStream>);

impl Listener for Door {
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

struct House(UnboundedSender<DuplexStream>);

impl House {
    fn open() -> Self {
        let (sender, receiver) = unbounded_channel();
        let hall = Arc::new(Hall::new(Arc::new(|_: &str| ())));
        tokio::spawn(connections::serve(Door(receiver), pages::router(hall, None, None)));
        Self(sender)
    }

    fn connect(&self) -> DuplexStream {
        let (ours, theirs) = duplex(BUFFER);
        self.0.send(theirs).unwrap();
        ours
    }

    /// A page that has said nothing yet; if it is not let in, the status.
    async fn page(&self, room: &str) -> Result<Page, u16> {
        let mut request = format!("ws://localhost/ws/{room}").into_client_request().unwrap();
        request.headers_mut().insert("origin", "http://localhost".parse().unwrap());
        match client_async(request, self.connect()).await {
            Ok((socket, _)) => Ok(Page(socket)),
            Err(Error::Http(answer)) => Err(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    /// A page that has been let into a room.
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

    /// The next message, while pings are answered; null when the server has closed.
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

/// What comes of a connection until the server closes it.
async fn rest(mut stream: DuplexStream) -> Vec<u8> {
    let mut rest = Vec::new();
    in_time(stream.read_to_end(&mut rest)).await.unwrap();
    rest
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_request_is_closed() {
    let house = House::open();
    for begun in [&b""[..], b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n"] {
        let since = Instant::now();
        let mut stream = house.connect();
        stream.write_all(begun).await.unwrap();
        assert!(rest(stream).await.is_empty());
        assert_eq!(since.elapsed().as_secs(), connections::PATIENCE.as_secs());
    }
    // One that drips is no better.
    let (since, mut stream) = (Instant::now(), house.connect());
    let dripping = async {
        while stream.write_all(b"G").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    in_time(dripping).await;
    assert!(since.elapsed() < connections::PATIENCE + Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_not_used_again_is_closed() {
    let house = House::open();
    let (since, mut stream) = (Instant::now(), house.connect());
    stream.write_all(REQUEST).await.unwrap();
    tokio::time::sleep(connections::PATIENCE / 2).await;
    stream.write_all(REQUEST).await.unwrap();
    let answers = String::from_utf8(rest(stream).await).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 2);
    assert_eq!(since.elapsed().as_secs(), (connections::PATIENCE * 3 / 2).as_secs());
}

#[tokio::test(start_paused = true)]
async fn there_are_only_so_many_connections() {
    let house = House::open();
    let answer = async || {
        let (since, mut stream) = (Instant::now(), house.connect());
        stream.write_all(REQUEST).await.unwrap();
        let mut word = [0; 12];
        in_time(stream.read_exact(&mut word)).await.unwrap();
        assert_eq!(&word, b"HTTP/1.1 200");
        since.elapsed().as_secs()
    };
    let mut idle: Vec<_> = (1..MAX_REQUESTS).map(|_| house.connect()).collect();
    assert_eq!(answer().await, 0);
    idle.push(house.connect());
    assert_eq!(answer().await, connections::PATIENCE.as_secs(), "it waited for the others to go");
}

#[tokio::test(start_paused = true)]
async fn there_are_only_so_many_pages_and_they_are_no_requests() {
    let house = House::open();
    let mut pages = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        pages.push(house.page("a").await.unwrap());
    }
    assert_eq!(house.page("a").await.err(), Some(503));
    drop(pages.pop());
    // Until the server has noticed.
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert!(house.page("a").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_page_that_says_no_hello_is_turned_away() {
    let house = House::open();
    let since = Instant::now();
    let mut silent = house.page("a").await.unwrap();
    let refused = silent.hear().await;
    assert_eq!(refused["reason"], "bad-message", "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("in time"), "{refused}");
    assert_eq!(silent.hear().await, Value::Null);
    assert_eq!(since.elapsed().as_secs(), socket::PATIENCE.as_secs());
}

#[tokio::test(start_paused = true)]
async fn a_page_that_answers_no_ping_loses_its_seat_and_one_that_does_keeps_it() {
    let house = House::open();
    let mut here = house.enter("a").await;
    let since = Instant::now();
    let gone = house.enter("a").await;
    assert_eq!(here.hear().await["type"], "peer-joined");
    assert_eq!(here.hear().await["type"], "peer-left");
    assert_eq!(since.elapsed().as_secs(), 2 * socket::PULSE.as_secs());
    drop(gone);
    let mut other = house.enter("a").await;
    assert_eq!(here.hear().await["type"], "peer-joined");
    let (one, two) = tokio::join!(timeout(LONG, here.hear()), timeout(LONG, other.hear()));
    assert!(one.is_err() && two.is_err(), "both sit there and hear nothing: {one:?} {two:?}");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_takes_nothing_in_loses_its_seat() {
    let house = House::open();
    let mut here = house.enter("a").await;
    let stuck = house.enter("a").await;
    assert_eq!(here.hear().await["type"], "peer-joined");
    let since = Instant::now();
    here.say(&json!({"type": "offer", "sdp": "x".repeat(MAX_MESSAGE - 100)})).await;
    assert_eq!(here.hear().await["type"], "peer-left");
    assert_eq!(since.elapsed().as_secs(), socket::PATIENCE.as_secs());
    drop(stuck);
}
