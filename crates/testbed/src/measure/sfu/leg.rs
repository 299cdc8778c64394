//! A seat of a call that Janus has: what it says becomes what a page would say, and the other way
//! round.

use super::connection::{Connection, refused};
use super::error::JanusError;
use serde_json::{Value, json};
use server::signalling::{FromPage, IceCandidate, Place, ToPage};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// A session that says nothing for 60 s is ended (Janus' configuration, `session_timeout`).
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// The publisher's number in its room, which it has to itself.
const FEED: u64 = 1;

/// What Janus does in the call.
pub(super) enum Role {
    /// It takes in what the page sends.
    Publish {
        /// The stream's room.
        room: u64,
        /// Told when media can come.
        is_up: watch::Sender<bool>,
    },
    /// It sends the page what another publishes.
    Subscribe {
        /// The stream's room.
        room: u64,
        /// Whether that other's media can come.
        is_up: watch::Receiver<bool>,
    },
}

/// A seat.
pub(super) struct Leg {
    participant: Place,
    connection: Connection,
    role: Role,
    keep_alive: Interval,
    /// Whether the call has has_started.
    has_started: bool,
    /// Whether Janus has been has_subscribed for its offer.
    has_subscribed: bool,
}

/// Why a leg ends.
enum LegEnd {
    /// The call is over.
    Over,
    /// Something failed.
    Failed(JanusError),
}

impl Leg {
    /// Must be called within a runtime.
    pub(super) fn new(participant: Place, connection: Connection, role: Role) -> Self {
        let mut keep_alive = interval(KEEP_ALIVE);
        keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            participant,
            connection,
            role,
            keep_alive,
            has_started: false,
            has_subscribed: false,
        }
    }

    /// Until the call is over.
    pub(super) async fn run(mut self) {
        let end = match self.say(FromPage::Ready) {
            Ok(()) => self.converse().await,
            Err(end) => end,
        };
        // The room may be closed, and nobody there to be told.
        let _ = match end {
            LegEnd::Over => self.participant.take(FromPage::Bye),
            LegEnd::Failed(error) => {
                self.participant.take(FromPage::Failed { message: error.to_string() })
            }
        };
        self.connection.close().await;
    }

    async fn converse(&mut self) -> LegEnd {
        loop {
            let done = tokio::select! {
                message = self.participant.next() => match message {
                    Some(message) => self.take_from_page(message).await,
                    None => Err(LegEnd::Over),
                },
                message = self.connection.next() => match message {
                    Ok(message) => self.take_from_janus(&message),
                    Err(error) => Err(LegEnd::Failed(error)),
                },
                _ = self.keep_alive.tick() => self.tell(json!({ "janus": "keepalive" })).await,
                () = published(&mut self.role), if self.has_started && !self.has_subscribed => self.subscribe().await,
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    fn say(&mut self, message: FromPage) -> Result<(), LegEnd> {
        self.participant.take(message).map_err(|_| LegEnd::Over)
    }

    async fn tell(&mut self, message: Value) -> Result<(), LegEnd> {
        self.connection.tell(message).await.map(drop).map_err(LegEnd::Failed)
    }

    async fn take_from_page(&mut self, message: ToPage) -> Result<(), LegEnd> {
        match message {
            ToPage::Start { .. } => self.has_started = true,
            ToPage::Offer { sdp } => {
                let Role::Publish { room, .. } = &self.role else { return Ok(()) };
                let body = json!({ "request": "joinandconfigure", "ptype": "publisher", "room": room, "id": FEED });
                let jsep = json!({ "type": "offer", "sdp": sdp });
                self.tell(json!({ "janus": "message", "body": body, "jsep": jsep })).await?;
            }
            ToPage::Answer { sdp } => {
                let jsep = json!({ "type": "answer", "sdp": sdp });
                let body = json!({ "request": "start" });
                self.tell(json!({ "janus": "message", "body": body, "jsep": jsep })).await?;
            }
            ToPage::Candidate { candidate } => {
                self.tell(json!({ "janus": "trickle", "candidate": trickled(&candidate) })).await?;
            }
            ToPage::Stop | ToPage::Error { .. } => return Err(LegEnd::Over),
            ToPage::Welcome { .. } | ToPage::PeerJoined | ToPage::PeerLeft | ToPage::Bye => {}
        }
        Ok(())
    }

    /// Asks for the stream.
    async fn subscribe(&mut self) -> Result<(), LegEnd> {
        self.has_subscribed = true;
        let Role::Subscribe { room, .. } = &self.role else { return Ok(()) };
        let streams = json!([{ "feed": FEED }]);
        let body =
            json!({ "request": "join", "ptype": "subscriber", "room": room, "streams": streams });
        self.tell(json!({ "janus": "message", "body": body })).await
    }

    fn take_from_janus(&mut self, message: &Value) -> Result<(), LegEnd> {
        match message["janus"].as_str() {
            Some("event") => {
                if let Some(reason) = refused(&message["plugindata"]["data"]) {
                    return Err(LegEnd::Failed(reason));
                }
                let sdp = message["jsep"]["sdp"].as_str().map(str::to_owned);
                match (message["jsep"]["type"].as_str(), sdp) {
                    (Some("offer"), Some(sdp)) => self.say(FromPage::Offer { sdp }),
                    (Some("answer"), Some(sdp)) => self.say(FromPage::Answer { sdp }),
                    _ => Ok(()),
                }
            }
            Some("webrtcup") => {
                if let Role::Publish { is_up, .. } = &self.role {
                    is_up.send_replace(true);
                }
                self.state("connected")
            }
            Some("hangup") => {
                let reason = message["reason"].as_str().unwrap_or("it does not say why");
                self.say(FromPage::Log { message: format!("Janus has hung up: {reason}") })?;
                self.state("failed")
            }
            Some("trickle") => candidate(&message["candidate"])
                .map_or(Ok(()), |candidate| self.say(FromPage::Candidate { candidate })),
            Some("error") => {
                let unknown = || JanusError::Refused("it gives no reason".to_owned());
                Err(LegEnd::Failed(refused(&message["error"]).unwrap_or_else(unknown)))
            }
            Some("timeout" | "detached") => Err(LegEnd::Failed(JanusError::SessionEnded)),
            _ => Ok(()),
        }
    }

    fn state(&mut self, state: &str) -> Result<(), LegEnd> {
        self.say(FromPage::ConnectionState { state: state.to_owned() })
    }
}

/// Waits until the stream that is to be subscribed to is there; for ever where there is none.
async fn published(role: &mut Role) {
    if let Role::Subscribe { is_up, .. } = role
        && is_up.wait_for(|is_up| *is_up).await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// A page's candidate in Janus' words.
fn trickled(candidate: &IceCandidate) -> Value {
    if candidate.candidate.is_empty() {
        return json!({ "completed": true });
    }
    json!({
        "candidate": candidate.candidate,
        "sdpMid": candidate.sdp_mid,
        "sdpMLineIndex": candidate.sdp_m_line_index,
    })
}

/// Janus' candidate for a page; none after the last.
fn candidate(told: &Value) -> Option<IceCandidate> {
    Some(IceCandidate {
        candidate: told["candidate"].as_str()?.to_owned(),
        sdp_mid: told["sdpMid"].as_str().map(str::to_owned),
        sdp_m_line_index: told["sdpMLineIndex"]
            .as_u64()
            .and_then(|index| u16::try_from(index).ok()),
        username_fragment: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_go_both_ways() {
        let one = IceCandidate {
            candidate: "candidate:1 1 udp 2 10.0.0.1 9 typ host".to_owned(),
            sdp_mid: Some("0".to_owned()),
            sdp_m_line_index: Some(0),
            username_fragment: None,
        };
        assert!(candidate(&trickled(&one)) == Some(one.clone()));
        let last = IceCandidate { candidate: String::new(), ..one };
        assert_eq!(trickled(&last), json!({ "completed": true }));
        assert!(candidate(&trickled(&last)).is_none());
    }
}
