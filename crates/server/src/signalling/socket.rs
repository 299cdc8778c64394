//! A page's connection.

use super::message::{FromPage, Reason, ToPage};
use super::room::{Hall, Place, Refusal};
use super::{MAX_MESSAGE, MAX_STATS_MESSAGE, MESSAGE_BURST, MESSAGES_PER_SECOND};
use axum::body::Bytes;
use axum::extract::ws::{Message, WebSocket};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

/// How long a page may take for its first message, and for taking a message in.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks whether a page is still there: of one whose connection broke without a word,
/// its seat is free after two.
pub(super) const PULSE: Duration = Duration::from_secs(15);
/// How long the page may take to answer that the connection is closed.
const LINGER: Duration = Duration::from_secs(2);

pub(super) const fn longest_message(measured: bool) -> usize {
    if measured { MAX_STATS_MESSAGE } else { MAX_MESSAGE }
}

/// Serves one page until it leaves or is turned away.
pub(super) async fn serve(mut socket: WebSocket, hall: Arc<Hall>, room: &str) {
    let mut allowance = Allowance::new();
    let entered = timeout(PATIENCE, enter(&mut socket, &mut allowance, &hall, room)).await;
    let late = || Refusal::new(Reason::BadMessage, "the page did not say hello in time");
    let refused = match entered.unwrap_or_else(|_| Err(late())) {
        Ok(Some(place)) => stay(&mut socket, &mut allowance, place).await.err(),
        Ok(None) => None,
        Err(refusal) => Some(refusal),
    };
    if let Some(Refusal(reason, message)) = refused {
        say(&mut socket, &ToPage::Error { reason, message }).await;
    }
    // It may be gone already.
    let _ = timeout(PATIENCE, socket.send(Message::Close(None))).await;
    // A connection that is closed before all that came is read is reset, and the page may never
    // read why.
    let _ = timeout(LINGER, async { while let Some(Ok(_)) = socket.recv().await {} }).await;
}

/// Awaits the hello; none if the page leaves instead.
async fn enter(
    socket: &mut WebSocket,
    allowance: &mut Allowance,
    hall: &Arc<Hall>,
    room: &str,
) -> Result<Option<Place>, Refusal> {
    loop {
        let heard = socket.recv().await;
        allowance.take()?;
        return match understood(heard)? {
            Heard::Gone => Ok(None),
            Heard::Nothing => continue,
            Heard::Message(FromPage::Hello { seat, key }) => {
                hall.enter(room, seat, key.as_deref()).map(Some)
            }
            Heard::Message(_) => {
                Err(Refusal::new(Reason::BadMessage, "the first message is hello"))
            }
        };
    }
}

/// Passes messages both ways.
async fn stay(
    socket: &mut WebSocket,
    allowance: &mut Allowance,
    mut place: Place,
) -> Result<(), Refusal> {
    let mut pulse = interval_at(Instant::now() + PULSE, PULSE);
    pulse.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_there = true;
    loop {
        tokio::select! {
            heard = socket.recv() => {
                is_there = true;
                allowance.take()?;
                match understood(heard)? {
                    Heard::Gone => return Ok(()),
                    Heard::Nothing => {}
                    Heard::Message(message) => place.take(message)?,
                }
            }
            _ = pulse.tick() => {
                // Browsers answer pings by themselves (RFC 6455, section 5.5.3).
                let asked = timeout(PATIENCE, socket.send(Message::Ping(Bytes::new()))).await;
                if !is_there || !matches!(asked, Ok(Ok(()))) {
                    return Ok(());
                }
                is_there = false;
            }
            message = place.next() => match message {
                None => return Err(Refusal::new(Reason::TooSlow, "the page does not read what it is sent")),
                Some(last @ ToPage::Error { .. }) => {
                    say(socket, &last).await;
                    return Ok(());
                }
                Some(message) => if !say(socket, &message).await {
                    return Ok(());
                },
            },
        }
    }
}

enum Heard {
    Gone,
    Nothing,
    Message(FromPage),
}

/// What the page said. The words of a refusal hold nothing of what it said, which may be secret.
fn understood(heard: Option<Result<Message, axum::Error>>) -> Result<Heard, Refusal> {
    let bad = || Refusal::new(Reason::BadMessage, "a message is not of the kind that pages send");
    let long = || Refusal::new(Reason::TooLong, "a message is too long");
    let text = match heard {
        Some(Ok(Message::Text(text))) => text,
        Some(Ok(Message::Ping(_) | Message::Pong(_))) => return Ok(Heard::Nothing),
        Some(Ok(Message::Binary(_))) => return Err(bad()),
        Some(Err(error)) if error.to_string().contains("too long") => return Err(long()),
        Some(Ok(Message::Close(_)) | Err(_)) | None => return Ok(Heard::Gone),
    };
    let message: FromPage = serde_json::from_str(&text).map_err(|_| bad())?;
    if text.len() > MAX_MESSAGE && !matches!(message, FromPage::Stats { .. }) {
        return Err(long());
    }
    Ok(Heard::Message(message))
}

/// Sends; false if the page does not take it in.
async fn say(socket: &mut WebSocket, message: &ToPage) -> bool {
    let Ok(text) = serde_json::to_string(message) else { return false };
    matches!(timeout(PATIENCE, socket.send(Message::Text(text.into()))).await, Ok(Ok(())))
}

/// How many messages a page may send: a token bucket.
struct Allowance {
    left: f64,
    since: Instant,
}

impl Allowance {
    fn new() -> Self {
        Self { left: f64::from(MESSAGE_BURST), since: Instant::now() }
    }

    fn take(&mut self) -> Result<(), Refusal> {
        let now = Instant::now();
        let earned = (now - self.since).as_secs_f64() * f64::from(MESSAGES_PER_SECOND);
        self.left = (self.left + earned).min(f64::from(MESSAGE_BURST)) - 1.0;
        self.since = now;
        if self.left < 0.0 {
            return Err(Refusal::new(Reason::TooFast, "the page sends too many messages"));
        }
        Ok(())
    }
}
