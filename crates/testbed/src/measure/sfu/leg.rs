//! One endpoint of a call that Janus takes: translates between the messages of Janus and those of a
//! page.

use super::connection::{Connection, refused};
use super::error::JanusError;
use serde_json::{Value, json};
use server::signalling::{FromPage, IceCandidate, Membership, ToPage};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// The interval of keep-alives. Janus ends a session without messages after 60 s (Janus
/// configuration, `session_timeout`).
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// The identifier of the only publisher in its room.
const FEED: u64 = 1;

/// The role of Janus in the call.
pub(super) enum Role {
    /// Janus receives the media of the page.
    Publish {
        /// The stream's room.
        room: u64,
        /// Set when media can be received.
        is_up: watch::Sender<bool>,
    },
    /// Janus sends the page a stream that another page publishes.
    Subscribe {
        /// The stream's room.
        room: u64,
        /// Whether the media of that stream can be received.
        is_up: watch::Receiver<bool>,
    },
}

/// An endpoint of a call.
pub(super) struct Leg {
    participant: Membership,
    connection: Connection,
    role: Role,
    keep_alive: Interval,
    /// Whether the call has started.
    has_started: bool,
    /// Whether Janus has been asked for its offer.
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
    /// Makes a leg; must be called within a tokio runtime.
    pub(super) fn new(participant: Membership, connection: Connection, role: Role) -> Self {
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

    /// Runs until the call is over.
    pub(super) async fn run(mut self) {
        let end = match self.send_to_page(FromPage::Ready) {
            Ok(()) => self.converse().await,
            Err(end) => end,
        };
        // The room may be closed already; then the message has no receiver.
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
                _ = self.keep_alive.tick() => self.send(json!({ "janus": "keepalive" })).await,
                () = published(&mut self.role), if self.has_started && !self.has_subscribed => self.subscribe().await,
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    fn send_to_page(&mut self, message: FromPage) -> Result<(), LegEnd> {
        self.participant.take(message).map_err(|_| LegEnd::Over)
    }

    async fn send(&mut self, message: Value) -> Result<(), LegEnd> {
        self.connection.send(message).await.map(drop).map_err(LegEnd::Failed)
    }

    async fn take_from_page(&mut self, message: ToPage) -> Result<(), LegEnd> {
        match message {
            ToPage::Start { .. } => self.has_started = true,
            ToPage::Offer { sdp } => {
                let Role::Publish { room, .. } = &self.role else { return Ok(()) };
                let body = json!({ "request": "joinandconfigure", "ptype": "publisher", "room": room, "id": FEED });
                let jsep = json!({ "type": "offer", "sdp": sdp });
                self.send(json!({ "janus": "message", "body": body, "jsep": jsep })).await?;
            }
            ToPage::Answer { sdp } => {
                let jsep = json!({ "type": "answer", "sdp": sdp });
                let body = json!({ "request": "start" });
                self.send(json!({ "janus": "message", "body": body, "jsep": jsep })).await?;
            }
            ToPage::Candidate { candidate } => {
                self.send(json!({ "janus": "trickle", "candidate": trickled(&candidate) })).await?;
            }
            ToPage::Stop | ToPage::Error { .. } => return Err(LegEnd::Over),
            ToPage::Welcome { .. }
            | ToPage::PeerJoined
            | ToPage::PeerLeft
            | ToPage::Register
            | ToPage::Bye => {}
        }
        Ok(())
    }

    /// Subscribes to the stream.
    async fn subscribe(&mut self) -> Result<(), LegEnd> {
        self.has_subscribed = true;
        let Role::Subscribe { room, .. } = &self.role else { return Ok(()) };
        let streams = json!([{ "feed": FEED }]);
        let body =
            json!({ "request": "join", "ptype": "subscriber", "room": room, "streams": streams });
        self.send(json!({ "janus": "message", "body": body })).await
    }

    fn take_from_janus(&mut self, message: &Value) -> Result<(), LegEnd> {
        match message["janus"].as_str() {
            Some("event") => {
                if let Some(reason) = refused(&message["plugindata"]["data"]) {
                    return Err(LegEnd::Failed(reason));
                }
                let sdp = message["jsep"]["sdp"].as_str().map(str::to_owned);
                match (message["jsep"]["type"].as_str(), sdp) {
                    (Some("offer"), Some(sdp)) => self.send_to_page(FromPage::Offer { sdp }),
                    (Some("answer"), Some(sdp)) => self.send_to_page(FromPage::Answer { sdp }),
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
                let reason = message["reason"].as_str().unwrap_or("no reason is given");
                self.send_to_page(FromPage::Log {
                    message: format!("Janus has hung up: {reason}"),
                })?;
                self.state("failed")
            }
            Some("trickle") => candidate(&message["candidate"])
                .map_or(Ok(()), |candidate| self.send_to_page(FromPage::Candidate { candidate })),
            Some("error") => {
                let unknown = || JanusError::Refused("no reason is given".to_owned());
                Err(LegEnd::Failed(refused(&message["error"]).unwrap_or_else(unknown)))
            }
            Some("timeout" | "detached") => Err(LegEnd::Failed(JanusError::SessionEnded)),
            _ => Ok(()),
        }
    }

    fn state(&mut self, state: &str) -> Result<(), LegEnd> {
        self.send_to_page(FromPage::ConnectionState { state: state.to_owned() })
    }
}

/// Waits until the stream to subscribe to is available; never returns for a publisher.
async fn published(role: &mut Role) {
    if let Role::Subscribe { is_up, .. } = role
        && is_up.wait_for(|is_up| *is_up).await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// The candidate of a page in the format of Janus.
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

/// The candidate of Janus in the format of a page; `None` after the last.
fn candidate(message: &Value) -> Option<IceCandidate> {
    Some(IceCandidate {
        candidate: message["candidate"].as_str()?.to_owned(),
        sdp_mid: message["sdpMid"].as_str().map(str::to_owned),
        sdp_m_line_index: message["sdpMLineIndex"]
            .as_u64()
            .and_then(|index| u16::try_from(index).ok()),
        username_fragment: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_translated_in_both_directions() {
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
