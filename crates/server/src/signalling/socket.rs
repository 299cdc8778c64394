//! The WebSocket of a page.

use super::message::{FromPage, ToPage};
use super::room::{Membership, Refusal, RoomRegistry};
use super::{MAX_MESSAGE, MAX_STATS_MESSAGE, MESSAGE_BURST, MESSAGES_PER_SECOND};
use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket};
use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::tungstenite::{self, error::CapacityError};

/// The time limit for the first message of a page, and for sending one message to it.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);
/// The interval between pings. A page whose connection was lost is removed from its room after two
/// intervals.
pub(super) const PING_INTERVAL: Duration = Duration::from_secs(15);
/// The time limit for the page's answer to the close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// The length limit of a WebSocket message, bytes.
pub(super) const fn max_message_length(is_measured: bool) -> usize {
    if is_measured { MAX_STATS_MESSAGE } else { MAX_MESSAGE }
}

/// Serves one page until it leaves or is refused.
pub(super) async fn serve(
    mut socket: WebSocket,
    registry: Arc<RoomRegistry>,
    room: &str,
    client: IpAddr,
) {
    let mut bucket = TokenBucket::new();
    let joined = join(&mut socket, &mut bucket, &registry, (room, client));
    let joined = timeout(TIMEOUT, joined).await;
    let refusal = match joined.unwrap_or(Err(Refusal::HelloLate)) {
        Ok(Some(membership)) => relay(&mut socket, &mut bucket, membership).await.err(),
        Ok(None) => None,
        Err(refusal) => Some(refusal),
    };
    if let Some(refusal) = refusal {
        send(&mut socket, &refusal.to_message()).await;
    }
    // The page may have closed the connection already.
    let _ = timeout(TIMEOUT, socket.send(Message::Close(None))).await;
    // If a connection is closed while received data is unread, TCP resets it, and the page may not
    // get the error message. Therefore everything is read first.
    let _ = timeout(CLOSE_TIMEOUT, async { while let Some(Ok(_)) = socket.recv().await {} }).await;
}

/// Waits for `hello` and joins the room; `None` if the page leaves before.
async fn join(
    socket: &mut WebSocket,
    bucket: &mut TokenBucket,
    registry: &Arc<RoomRegistry>,
    (room, client): (&str, IpAddr),
) -> Result<Option<Membership>, Refusal> {
    loop {
        let received = socket.recv().await;
        bucket.take()?;
        return match parse(received)? {
            Received::Closed => Ok(None),
            Received::Control => continue,
            Received::Message(FromPage::Hello { role, key }) => {
                registry.join(room, role, key.as_deref(), Some(client)).map(Some)
            }
            Received::Message(_) => Err(Refusal::HelloMissing),
        };
    }
}

/// Passes messages in both directions until the page leaves.
async fn relay(
    socket: &mut WebSocket,
    bucket: &mut TokenBucket,
    mut membership: Membership,
) -> Result<(), Refusal> {
    let mut pings = interval_at(Instant::now() + PING_INTERVAL, PING_INTERVAL);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_alive = true;
    loop {
        tokio::select! {
            received = socket.recv() => {
                is_alive = true;
                bucket.take()?;
                match parse(received)? {
                    Received::Closed => return Ok(()),
                    Received::Control => {}
                    Received::Message(message) => membership.take(message)?,
                }
            }
            _ = pings.tick() => {
                // Browsers answer pings without the page (RFC 6455 § 5.5.3).
                let sent = timeout(TIMEOUT, socket.send(Message::Ping(Bytes::new()))).await;
                if !is_alive || !matches!(sent, Ok(Ok(()))) {
                    return Ok(());
                }
                is_alive = false;
            }
            message = membership.next() => match message {
                None => return Err(Refusal::PageTooSlow),
                Some(last @ ToPage::Error { .. }) => {
                    send(socket, &last).await;
                    return Ok(());
                }
                Some(message) => if !send(socket, &message).await {
                    return Ok(());
                },
            },
        }
    }
}

/// What came from the page.
enum Received {
    /// The connection is closed or lost.
    Closed,
    /// A ping or a pong.
    Control,
    Message(FromPage),
}

fn parse(received: Option<Result<Message, axum::Error>>) -> Result<Received, Refusal> {
    let text = match received {
        Some(Ok(Message::Text(text))) => text,
        Some(Ok(Message::Ping(_) | Message::Pong(_))) => return Ok(Received::Control),
        Some(Ok(Message::Binary(_))) => return Err(Refusal::UnknownMessage),
        Some(Err(error)) if is_too_long(&error) => return Err(Refusal::TooLong),
        Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(Received::Closed),
    };
    let message: FromPage = serde_json::from_str(&text).map_err(|_| Refusal::UnknownMessage)?;
    if text.len() > MAX_MESSAGE && !matches!(message, FromPage::Stats { .. }) {
        return Err(Refusal::TooLong);
    }
    Ok(Received::Message(message))
}

/// Whether the error is that a message exceeds [`max_message_length`].
fn is_too_long(error: &axum::Error) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref());
    matches!(source, Some(tungstenite::Error::Capacity(CapacityError::MessageTooLong { .. })))
}

/// Sends a message; `false` if the connection is closed or the page does not read within
/// [`TIMEOUT`].
async fn send(socket: &mut WebSocket, message: &ToPage) -> bool {
    let Ok(text) = serde_json::to_string(message) else { return false };
    matches!(timeout(TIMEOUT, socket.send(Message::Text(text.into()))).await, Ok(Ok(())))
}

/// Limits the rate of messages from a page: [`MESSAGE_BURST`] tokens, refilled with
/// [`MESSAGES_PER_SECOND`].
struct TokenBucket {
    tokens: f64,
    updated: Instant,
}

impl TokenBucket {
    fn new() -> Self {
        Self { tokens: f64::from(MESSAGE_BURST), updated: Instant::now() }
    }

    /// Takes the token of one message.
    fn take(&mut self) -> Result<(), Refusal> {
        let now = Instant::now();
        let added = (now - self.updated).as_secs_f64() * f64::from(MESSAGES_PER_SECOND);
        self.tokens = (self.tokens + added).min(f64::from(MESSAGE_BURST)) - 1.0;
        self.updated = now;
        if self.tokens < 0.0 { Err(Refusal::TooFast) } else { Ok(()) }
    }
}
